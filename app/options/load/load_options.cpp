#include "app/options/load/load_options.hpp"

#include "app/text/units.hpp"
#include "ev/threads/loop_thread.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace yodel {

namespace {

// `auto`: one thread per processor.
std::size_t threads_value(const std::string& text) {
    constexpr unsigned max = 1024;
    if (text == "auto") return std::min(ev::processor_count(), max);
    return checked(parse_number(text, 1, max), text,
                   "a number from 1 to " + std::to_string(max) + ", or auto");
}

// --- Values.

std::uint64_t rate_in_thousandths(const std::string& text) {
    const auto rate = parse_rate(text);
    checked_text(rate && *rate >= 0.001 && *rate <= 10e6, text,
                 "a rate from 0.001 to 10M per second, such as 50, 2.5 or 20k");
    return static_cast<std::uint64_t>(std::llrint(*rate * 1000));
}

// Two rates are the first and the last rate of a climb.
void set_rate(LoadPlan& to, const std::string& text) {
    const std::size_t dots = text.find("..");
    to.rate_thousandths = rate_in_thousandths(text.substr(0, dots));
    to.last_rate_thousandths.reset();
    if (dots == text.npos) return;
    to.last_rate_thousandths = rate_in_thousandths(text.substr(dots + 2));
    if (*to.last_rate_thousandths <= *to.rate_thousandths)
        throw UsageError(in_quotes(text) + " does not climb: the second rate must be higher");
}

std::chrono::system_clock::time_point start_time_value(const std::string& text) {
    const auto now = std::chrono::system_clock::now();
    const auto delay = text.starts_with('+') ? parse_duration(text.substr(1)) : std::nullopt;
    const auto start =
        delay ? now + std::chrono::duration_cast<std::chrono::system_clock::duration>(*delay)
              : checked(parse_timestamp(text), text,
                        "a time such as 2026-12-01T10:00:00Z, or +5s");
    if (start < now) throw UsageError(in_quotes(text) + " has passed");
    return start;
}

// A number without a unit counts messages.
void set_churn(RunOptions& to, const std::string& text) {
    const bool number = is_number(text);
    to.lifetime = number ? std::nullopt : parse_duration(text);
    to.churn = number ? number_up_to(4'000'000'000)(text) : 0;
    checked_text(to.churns(), text, "a number of messages or a time with a unit, such as 10s");
}

void add_requirements(LoadOptions& to, const std::string& text) {
    const std::vector<Requirement> parsed = parse_requirements(text);
    std::vector<Requirement>& list = to.report.required;
    list.insert(list.end(), parsed.begin(), parsed.end());
}

// --- Checks.

void check_messages(const LoadOptions& options) {
    if (options.escapes && options.wants_generated_messages() &&
        options.plan.messages_file.empty())
        throw UsageError("--escapes cannot be combined with " +
                         options.line.written("generated") + " without --messages");
    const auto& length = options.run.session.max_time;
    if (options.run.warm_up && length && *options.run.warm_up > *length)
        throw UsageError("--warm-up " + duration_text(*options.run.warm_up) +
                         " is longer than the run (-m " + duration_text(*length) + ")");
}

void check_load(const LoadOptions& options) {
    const RunOptions& run = options.run;
    if (run.churn > 0 && run.probe)
        throw UsageError("--churn " + std::to_string(run.churn) +
                         " counts messages, but -z sends none; give a time such as 10s");
    if (run.lifetime == ev::Duration::zero() && !run.probe)
        throw UsageError("--churn 0s needs -z, because it leaves no time for messages");
    if (options.expects_no_reply() && !options.plan.rate_thousandths)
        throw UsageError(
            "--expect none needs --rate, because no reply triggers the next message");
    if (options.plan.last_rate_thousandths &&
        !run.session.max_time.value_or(ev::Duration()).count())
        throw UsageError("a rate that climbs needs -m, the length of the climb");
    if (run.connections > 1 && !run.session.endpoint.source_port.empty())
        throw UsageError("-p cannot be combined with --connections");
    if (!options.plan.threads_auto && run.threads > run.connections)
        throw UsageError("--threads " + std::to_string(run.threads) +
                         " exceeds the number of connections (--connections " +
                         std::to_string(run.connections) + ")");
}

}  // namespace

// Rows: letter, name, argument, help, action, excludes, needs, implies.
std::vector<OptionGroup> load_table(LoadOptions& to) {
    RunOptions& run = to.run;
    LoadPlan& plan = to.plan;
    std::vector<Option> messages = generated_options(to);
    messages.push_back({0, "window", "N", "maximum messages in flight on a connection (1)",
                        into(plan.window, number_up_to(1'000'000)), "z rate expect=none"});
    messages.push_back({0, "messages", "FILE", "send the lines of FILE over and over; -: stdin",
                        into(plan.messages_file), "z size", "", "generated"});
    messages.push_back({0, "warm-up", "D", "send messages for D first, counted separately",
                        into(run.warm_up, duration_value), "z", "", "generated"});
    return {
        {"Load",
         {{0, "connections", "N", "number of connections (1)",
           into(run.connections, number_up_to(1'000'000))},
          {0, "connect-rate", "R", "open R connections per second (all at once)",
           [&](auto& text) { run.connect_pace = Pace::per_second(rate_in_thousandths(text)); }},
          {0, "rate", "R|R..R", "send R messages per second in total; R..R: climb",
           [&](auto& text) { set_rate(plan, text); }, "z", "", "generated"},
          {0, "arrivals", "KIND", "gaps between messages: even or poisson (even)",
           into(plan.random_arrivals, one_of<bool>({{"even", false}, {"poisson", true}})), "",
           "rate"},
          {0, "seed", "N", "seed of --arrivals poisson (1)",
           into(plan.seed, number_up_to(4'000'000'000)), "", "arrivals=poisson"},
          {0, "churn", "N|D", "replace a connection after N messages or time D",
           [&](auto& text) { set_churn(run, text); }},
          {0, "threads", "N|auto", "spread connections over N threads (1)",
           [&](auto& text) {
               run.threads = threads_value(text);
               plan.threads_auto = text == "auto";
           }},
          {0, "start-at", "TIME|+D", "send the first message at this time, in UTC",
           into(to.start, start_time_value), "z"},
          {0, "no-sessionid", absent, "do not resume TLS sessions: full handshakes only",
           set(to.tls.resume, false), "udp", "tls"}}},
        {"Messages of the load", std::move(messages)},
        {"Results",
         with_output_options(
             {{0, "require", "LIST", "fail unless all hold: p99<5ms,lost<0.1%,rate>10k",
               [&](auto& text) { add_requirements(to, text); }},
              {0, "json", absent, "print JSON: an object each second, and the results",
               set(to.report.form, Reporter::Form::json)},
              {'v', absent, absent, "report connections; print replies to input lines",
               into(to.report.verbose)},
              {0, "no-tui", absent, "do not show the page, even on a terminal",
               into(to.no_tui)}},
             to)},
        connection_options(to),
        tls_options(to),
        message_options(to)};
}

LoadOptions parse_load_options(int argc, char* argv[]) {
    LoadOptions options;
    options.line =
        parse_command_line(argc, argv, load_table(options), {"yodel", only_yodel, only_load});
    if (options.help || options.version) return options;
    if (options.plan.random_arrivals)
        options.line.given.push_back({"--arrivals poisson", "arrivals=poisson"});
    finish_client(options,
                  "to compare two servers, run once for each, and compare with results.py "
                  "--compare OLD NEW");
    check_messages(options);
    check_load(options);
    options.plan.generated = options.wants_generated_messages();
    return options;
}

std::string load_help() {
    LoadOptions unused;
    return "usage: yodel-load [options] [TARGET]\n"
           "Sends messages on many connections at planned times, and times and checks every\n"
           "reply. TARGET: [tcp|tls|udp|ws|wss://]HOST[:PORT][/PATH] [PORT]; none: its own\n" +
           help_text(load_table(unused)) + argument_help() +
           "See yodel-load(1). yodel talks to a server; yodeld is an echo server.\n";
}

}  // namespace yodel
