#include "app/options/load/load_options.hpp"

#include "app/text/units.hpp"
#include "ev/threads/loop_thread.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace yodel {

namespace {

constexpr auto rate_in_thousandths = kind(
    [](std::string_view text) {
        const auto rate = parse_rate(text);
        return rate && *rate >= 0.001 && *rate <= 10e6
                   ? std::optional<std::uint64_t>(std::llrint(*rate * 1000))
                   : std::nullopt;
    },
    "a rate from 0.001 to 10M per second, such as 50, 2.5 or 20k");
constexpr auto time_value =
    kind(parse_timestamp, "a time such as 2026-12-01T10:00:00Z, or +5s");
constexpr auto lifetime_value =
    kind(parse_duration, "a number of messages or a time with a unit, such as 10s");

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
              : time_value(text);
    if (start < now) throw UsageError(in_quotes(text) + " has passed");
    return start;
}

// A number without a unit counts messages.
void set_churn(RunOptions& to, const std::string& text) {
    to.lifetime.reset();
    to.churn = 0;
    if (is_number(text))
        to.churn = number_up_to(4'000'000'000)(text);
    else
        to.lifetime = lifetime_value(text);
}

// The word `auto` means one thread per processor.
void set_threads(LoadOptions& to, const std::string& text) {
    constexpr unsigned max = 1024;
    to.plan.threads_auto = text == "auto";
    to.run.threads = to.plan.threads_auto ? std::min(ev::processor_count(), max)
                                          : number_up_to(max, ", or auto")(text);
}

// Adds the settings that exclude or need options as if they were options: a text for errors,
// names, and what the setting excludes and needs.
void add_meanings_of_load(LoadOptions& options) {
    const RunOptions& run = options.run;
    const LoadPlan& plan = options.plan;
    const auto& length = run.session.max_time;
    CommandLine& line = options.line;
    line.add_if(plan.random_arrivals, {"--arrivals poisson", "arrivals=poisson"});
    line.add_if(run.connections > 1, {"--connections", "many"});
    line.add_if(options.wants_generated_messages() && plan.messages_file.empty(),
                {line.written("generated") + " without --messages", "generator"});
    line.add_if(options.expects_no_reply(),
                {line.written("expect") + " none", "", "",
                 "rate, because no reply triggers the next message"});
    if (run.warm_up && length && *run.warm_up > *length)
        line.given.push_back({"--warm-up " + duration_text(*run.warm_up), "",
                              "max-time, which is only " + duration_text(*length)});
    line.add_if(run.churn > 0, {"--churn " + std::to_string(run.churn), "",
                                "z, which sends no messages; give a time such as 10s"});
    line.add_if(run.lifetime == ev::Duration::zero(),
                {"--churn 0s", "", "", "z, because it leaves no time for messages"});
    line.add_if(plan.last_rate_thousandths && !length,
                {"a rate that climbs", "", "", "m, the length of the climb"});
    const std::string threads = std::to_string(run.threads);
    line.add_if(!plan.threads_auto && run.threads > run.connections,
                {"--threads " + threads, "", "", "connections=" + threads + ", one for each"});
}

}  // namespace

// Rows: label, help, action, excludes, needs, implies.
std::vector<Option> load_table(LoadOptions& to) {
    RunOptions& run = to.run;
    LoadPlan& plan = to.plan;
    const std::vector<Option> load = {
        {"Load:"},
        {"--connections=N", "number of connections (1)",
         into(run.connections, number_up_to(1'000'000)), "repetition"},
        {"--connect-rate=R", "open R connections per second (all together)",
         [&](auto& text) { run.connect_pace = Pace::per_second(rate_in_thousandths(text)); },
         "repetition"},
        {"--rate=R|R..R", "send R messages per second in total; R..R: climb",
         [&](auto& text) { set_rate(plan, text); }, "z", "", "generated"},
        {"--arrivals=KIND", "gaps between messages: even or poisson (even)",
         into(plan.random_arrivals, one_of<bool>({{"even", false}, {"poisson", true}})), "",
         "rate"},
        {"--seed=N", "seed of --arrivals poisson (1)",
         into(plan.seed, number_up_to(4'000'000'000)), "", "arrivals=poisson"},
        {"--churn=N|D", "replace a connection after N messages or time D",
         [&](auto& text) { set_churn(run, text); }, "repetition"},
        {"--threads=N|auto", "spread connections over N threads (1)",
         [&](auto& text) { set_threads(to, text); }, "repetition"},
        {"--start-at=TIME|+D", "send the first message at this time, in UTC",
         into(to.start, start_time_value), "z"},
        {"--no-sessionid", "do not resume TLS sessions: full handshakes only",
         set(to.tls.resume, false), "udp", "tls"},
        {"Messages of the load:"}};
    const std::vector<Option> rest = {
        {"--window=N", "maximum messages in flight on a connection (1)",
         into(plan.window, number_up_to(1'000'000)), "z rate expect=none"},
        {"--messages=FILE", "send the lines of FILE over and over; -: stdin",
         into(plan.messages_file), "z size", "", "generated"},
        {"--warm-up=D", "send messages for D first, counted separately",
         into(run.warm_up, duration_value), "z", "", "generated"},
        {"Results:"},
        {"--require=LIST", "fail unless all hold: p99<5ms,lost<0.1%,rate>10k",
         [&](auto& text) {
             for (const Requirement& each : parse_requirements(text))
                 to.report.required.push_back(each);
         }},
        {"--json", "print JSON: an object each second, and the results",
         set(to.report.form, Reporter::Form::json)},
        {"-v", "report connections; print replies to input lines", into(to.report.verbose)},
        {"--no-tui", "do not show the page, even on a terminal"},
        {"--quiet", "print results only: replies, or the summary", into(to.report.quiet)}};
    return joined({load, generated_options(to), rest, common_options(), connection_options(to),
                   tls_options(to), message_options(to)});
}

LoadOptions parse_load_options(int argc, char* argv[]) {
    LoadOptions options;
    CommandLine& line = options.line;
    line =
        parse_command_line(argc, argv, load_table(options), {"yodel", only_yodel, only_load});
    if (line.has("help version")) return options;
    add_meanings_of_load(options);
    finish_client(options,
                  "to compare two servers, run once for each, and compare with results.py "
                  "--compare OLD NEW");
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
