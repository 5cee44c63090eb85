#include "app/options/client/client_options.hpp"

#include "app/text/units.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <utility>

namespace yodel {

namespace {

constexpr auto rate_in_thousandths = value_parser(
    [](std::string_view text) {
        const auto rate = parse_rate(text);
        return rate && *rate >= 0.001 && *rate <= 10e6
                   ? std::optional<std::uint64_t>(std::llrint(*rate * 1000))
                   : std::nullopt;
    },
    "a rate from 0.001 to 10M per second, such as 50, 2.5 or 20k");
constexpr auto time_value =
    value_parser(parse_timestamp, "a time such as 2026-12-01T10:00:00Z, or +5s");
constexpr auto lifetime_value = value_parser(
    parse_duration, "a number of messages, or a time up to 100 years with a unit, such as 10s");

// With two rates, such as 1k..20k, the rate climbs from the first to the second.
void set_rate(LoadOptions& to, const std::string& text) {
    const std::size_t dots = text.find("..");
    const std::uint64_t first = rate_in_thousandths(text.substr(0, dots));
    to.run.pace = Pace::per_1000_seconds(first);
    to.last_rate.reset();
    if (dots == text.npos) return;
    const std::uint64_t last = rate_in_thousandths(text.substr(dots + 2));
    if (last <= first)
        throw UsageError(in_quotes(text) + " does not climb: the second rate must be higher");
    to.last_rate = static_cast<double>(last) / 1000;
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

// The word `auto` means one thread per processor, but at most `max` threads.
void set_threads(LoadOptions& to, const std::string& text) {
    constexpr unsigned max = 1024;
    to.may_reduce_threads = text == "auto";
    to.run.threads = to.may_reduce_threads ? std::min(ev::processor_count(), max)
                                           : number_up_to(max, ", or auto")(text);
}

// Adds the settings that exclude or need options, as if the settings were options themselves. A
// row has a text for errors, names, and what the setting excludes and needs.
void add_load_settings(LoadOptions& options) {
    const RunOptions& run = options.run;
    const auto& length = run.session.max_time;
    CommandLine& line = options.line;
    line.add_if(options.has_random_arrivals, {"--arrivals poisson", "arrivals=poisson"});
    line.add_if(run.connections > 1, {"--connections", "many"});
    line.add_if(options.wants_generated_messages() && options.messages_file.empty(),
                {line.written("generated") + " without --messages", "generator"});
    line.add_if(run.session.expect == Expect::none,
                {line.written("expect") + " none", "", "",
                 "rate, because no reply triggers the next message"});
    if (run.warm_up && length && *run.warm_up > *length)
        line.given.push_back({"--warm-up " + duration_text(*run.warm_up), "",
                              "max-time, which is only " + duration_text(*length)});
    line.add_if(run.churn > 0, {"--churn " + std::to_string(run.churn), "",
                                "z, which sends no messages; give a time such as 10s"});
    line.add_if(run.lifetime == ev::Duration::zero(),
                {"--churn 0s", "", "", "z, because it leaves no time for messages"});
    line.add_if(options.last_rate && !length,
                {"a rate that climbs", "", "", "m, the length of the climb"});
    const std::string count_text = std::to_string(run.threads);
    line.add_if(!options.may_reduce_threads && run.threads > run.connections,
                {"--threads " + count_text, "", "",
                 "connections=" + count_text + ", at least one for each thread"});
}

OwnMessages read_messages(const std::string& file, const LineReader::Options& lines) {
    constexpr std::size_t max_size = 64 << 20;
    errno = 0;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> input(std::fopen(file.c_str(), "re"),
                                                                std::fclose);
    LineReader reader(lines);
    char* const space = reader.bytes().reserve(max_size + 1);
    const std::size_t size = input ? std::fread(space, 1, max_size + 1, input.get()) : 0;
    if (!input || std::ferror(input.get()) != 0)
        throw FileError(input_failed, "--messages: " + file, errno);
    if (size > max_size)
        throw FileError(usage_error, "--messages: " + file + " is larger than 64 MiB");
    reader.bytes().commit(size);
    reader.end();
    std::deque<std::string> messages;
    while (const auto message = reader.next()) {
        messages.emplace_back(message->payload);
        reader.pop(*message);
    }
    if (const Trouble trouble = reader.trouble(); !trouble.text.empty())
        throw FileError(trouble.status, trouble.text);
    return std::make_shared<const std::deque<std::string>>(std::move(messages));
}

}  // namespace

// Rows: label, help, action, excludes, needs, implies.
std::vector<Option> load_table(LoadOptions& to) {
    RunOptions& run = to.run;
    const std::vector<Option> load = {
        {"Load:"},
        {"--connections=N", "number of connections (1)",
         into(run.connections, number_up_to(1'000'000)), "repetition"},
        {"--connect-rate=R", "open R connections per second (unlimited)",
         [&](auto& text) {
             run.connect_pace = Pace::per_1000_seconds(rate_in_thousandths(text));
         },
         "repetition"},
        {"--rate=R|R..R", "send R messages per second in total; R..R climbs",
         [&](auto& text) { set_rate(to, text); }, "z", "", "generated"},
        {"--arrivals=KIND", "gaps between messages: even or poisson (even)",
         into(to.has_random_arrivals, one_of<bool>({{"even", false}, {"poisson", true}})), "",
         "rate"},
        {"--seed=N", "seed of --arrivals poisson (1)",
         into(run.seed, number_up_to(4'000'000'000)), "", "arrivals=poisson"},
        {"--churn=N|D", "replace a connection after N messages or time D",
         [&](auto& text) { set_churn(run, text); }, "repetition"},
        {"--threads=N|auto", "spread connections over N threads (1)",
         [&](auto& text) { set_threads(to, text); }, "repetition"},
        {"--start-at=TIME|+D", "send the first message at TIME (UTC), or after D",
         into(to.start_at, start_time_value), "z"},
        {"--no-sessionid", "do not resume TLS sessions; use full handshakes",
         set(to.tls.may_resume, false), "udp", "tls"}};
    const std::vector<Option> rest = {
        {"--window=N", "maximum messages in flight on a connection (1)",
         into(run.window, number_up_to(1'000'000)), "z rate expect=none"},
        {"--messages=FILE", "send FILE's lines over and over, or stdin (-) once",
         into(to.messages_file), "z size", "", "generated"},
        {"--warm-up=D", "send messages for D first, counted separately",
         into(run.warm_up, duration_value), "z", "", "generated"},
        {"Results:"},
        {"--require=LIST", "fail unless all hold: p99<5ms,lost<0.1%,rate>10k",
         [&](auto& text) {
             for (const Requirement& each : parse_requirements(text))
                 to.report.required.push_back(each);
         }},
        {"--json", "print JSON: progress or messages, and the results",
         set(to.report.form, Reporter::Form::json)},
        {"-v", "report connections; print replies to input lines", into(to.report.is_verbose)},
        {"--no-tui", "do not show the page, even on a terminal"},
        {"--quiet", "print only the summary", into(to.report.is_quiet)}};
    return joined({load, generated_options(to, "Messages of the load:"), rest, common_options(),
                   connection_options(to), tls_options(to), message_options(to)});
}

LoadOptions parse_load_options(int argc, char* argv[]) {
    LoadOptions options;
    CommandLine& line = options.line;
    YodelOptions unused;
    line = parse_command_line(argc, argv, load_table(options), {"yodel", yodel_table(unused)});
    if (line.has("help version")) return options;
    add_load_settings(options);
    complete_client_options(
        options, "only one target is allowed; to compare two servers, run once for each, and "
                 "compare with results.py --compare OLD NEW");
    return options;
}

void plan_load(LoadOptions& options) {
    using From = RunOptions::From;
    RunOptions& run = options.run;
    options.report.is_load = !run.probe_interval;
    // A load sends the lines of standard input, unless that is a terminal, or an option sets
    // the length of the run, asks for generated messages, or selects a probe.
    const bool is_generated = run.is_probe || options.wants_generated_messages() ||
                              run.session.max_time || ::isatty(STDIN_FILENO) == 1;
    run.from = options.shares_stdin() ? From::shared_input
               : is_generated         ? From::generator
                                      : From::input;
    const bool needs_one_thread = run.from != From::generator;
    if (needs_one_thread && run.threads > 1 && !options.may_reduce_threads)
        throw UsageError("--threads needs generated messages (as with -c or -m) or --messages "
                         "FILE, because a single thread reads standard input");
    run.threads = needs_one_thread ? 1 : std::min(run.threads, run.connections);
    if (run.is_probe && !run.probe_interval) {
        run.length = std::exchange(run.session.max_time, std::nullopt);
        run.session.early_close = "closed before the end of the run";
    }
    if (!run.shares_source()) return;
    run.length = run.session.max_time;
    if (options.last_rate) run.pace = run.pace->climbing_to(*options.last_rate, *run.length);
    if (options.has_random_arrivals) run.seed = run.seed.value_or(1);
    run.size = options.size.value_or(std::min(run.size, run.session.max_frame));
    if (run.from != From::generator || options.messages_file.empty()) return;
    LineReader::Options lines = run.line_options();
    lines.messages_file = options.messages_file;
    run.messages = read_messages(options.messages_file, lines);
    for (const std::string& each : *run.messages) run.size = std::max(run.size, each.size());
}

std::string load_help() {
    LoadOptions unused;
    return "usage: yodel-load [options] [TARGET]\n"
           "Sends messages on many connections, with --rate at planned times. Measures and\n"
           "checks every reply. TARGET: [tcp|tls|udp|ws|wss://]HOST[:PORT][/PATH] [PORT]\n"
           "Without TARGET, yodel-load starts an echo server and measures it.\n" +
           help_text(load_table(unused)) + argument_help(false) +
           "See yodel-load(1). yodel talks to a server; yodeld is an echo server.\n";
}

}  // namespace yodel
