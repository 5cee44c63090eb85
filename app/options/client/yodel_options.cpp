#include "app/options/client/client_options.hpp"

#include <algorithm>
#include <memory>

namespace yodel {

namespace {

// Sending a message takes longer than the minimum, so a shorter interval could only fall
// behind. A duration that rounds to 0 is refused, because 0 means a closed loop.
constexpr auto interval_value = value_parser(
    [](std::string_view text) {
        const auto value = parse_duration(text);
        const bool is_zero =
            value == ev::Duration::zero() && text.find_first_of("123456789") == text.npos;
        return is_zero || value >= std::chrono::microseconds(1) ? value : std::nullopt;
    },
    "0 or a duration from 1us to 100 years");

// Adds an expression. Every match of any added expression is masked.
void add_mask(std::optional<Regex>& to, const std::string& text) {
    if (to) return to->add(text);
    to.emplace(text);
}

// Sets the source and the pace of the messages, and the form of the report. If messages
// are generated, one is sent per second by default.
void plan_run(YodelOptions& options) {
    using enum RunOptions::From;
    RunOptions& run = options.run;
    const bool is_replay = options.line.has("replay");
    const bool is_generated = options.line.has("generator");
    const ev::Duration interval = options.interval.value_or(std::chrono::seconds(1));
    run.is_fast = options.interval.has_value();
    run.window = std::nullopt;
    if (run.session.framing->takes_turns) run.window = 1;
    run.from = is_replay ? recording : run.is_probe || is_generated ? generator : input;
    Reporter::Form& form = options.report.form;
    if (options.report.is_hex && !is_replay) form = Reporter::Form::hex;
    if (!is_generated) return;
    run.length = run.session.max_time;
    run.size = options.size.value_or(std::min(run.size, run.session.max_frame));
    if (interval > ev::Duration::zero()) run.pace = Pace(1, interval);
    if (!options.prints_json()) form = Reporter::Form::sequence;
}

std::string framing_text(const Framing& framing) {
    if (framing.uses_datagrams) return "datagrams (-u)";
    return framing.is_websocket ? "WebSocket (ws:// or wss://)"
                                : "-f " + std::string(framing.name);
}

}  // namespace

// Rows: label, help, action, excludes, needs, implies.
std::vector<Option> yodel_table(YodelOptions& to) {
    const std::vector<Option> listen = {{"-l, --listen",
                                         "listen on [ADDR:]PORT, and answer clients by hand",
                                         {},
                                         "z examine replay generated greeting",
                                         "port, as in -l 7000"}};
    const std::vector<Option> others = {
        {"-i, --interval=D", "send a message every D, or as replies arrive if 0",
         into(to.interval, interval_value), "examine read", "", "generated"},
        {"--examine", "check what echo servers often get wrong", {}, "other-replies"},
        {"Recording and replay:"},
        {"-r, --read=FILE", "show a recording, then connect to TARGET if given",
         into(to.recording_file), "z examine replay"},
        {"--replay=FILE", "replay a recording and require its replies", into(to.recording_file),
         "z examine"},
        {"--mask=REGEX", "ignore parts of replies that match, such as times",
         [&](auto& text) { add_mask(to.run.session.pattern, text); }, "", "replay"},
        {"Output:"},
        {"--json", "print JSON, one object per line", set(to.report.form, Reporter::Form::json),
         "read"},
        {"-x, --hex", "print replies in hex", into(to.report.is_hex),
         "z examine json generator"},
        {"-o, --log=FILE", "append a transcript to FILE, or record FILE.json",
         [&](auto& text) { to.report.log = JournalFile(text); }, "examine"},
        {"-v", "also report connections", into(to.report.is_verbose)},
        {"--no-tui", "use pipe mode, even on a terminal", {}, "examine"},
        {"--quiet", "print results only: replies, or the summary", into(to.report.is_quiet)}};
    return joined({connection_options(to), listen, tls_options(to), message_options(to),
                   generated_options(to, "Ping and examination:"), others, common_options()});
}

YodelOptions parse_yodel_options(int argc, char* argv[]) {
    YodelOptions options;
    CommandLine& line = options.line;
    LoadOptions unused;
    line = parse_command_line(argc, argv, yodel_table(options),
                              {"yodel-load", load_table(unused)});
    if (line.has("help version")) return options;
    const JournalFile& log = options.report.log;
    line.add_if(log.is_recording, {"-o " + log.path, "log", "raw"});
    line.add_if(options.wants_generated_messages() && !line.has("z replay"),
                {line.written("generated"), "generator"});
    line.add_if(
        options.interval > ev::Duration::zero(),
        {line.written("interval"), "", "replay, except -i 0, which sends as replies arrive"});
    complete_client_options(
        options, "only one target is allowed; to compare two servers, record one (yodel -o "
                 "r.json A) and replay to the other (yodel --replay r.json B)");
    line.add_if(!options.connects(),
                {line.written("read") + " without a target", "",
                 "!read no-tui quiet no-sandbox expect expect=none expect=echo match hex"});
    line.check();
    plan_run(options);
    return options;
}

bool may_have_screen(const YodelOptions& options) {
    return !options.line.has(
        options.line.has("read") ? "no-tui" : "no-tui examine z replay generated json");
}

void check_display(const YodelOptions& options, bool has_screen) {
    if (has_screen) return;
    CommandLine line = options.line;
    line.add_if(line.has("read"),
                {line.written("read") + " in pipe mode", "read", "target hex expect match"});
    line.add_if(line.has("retry-delay") && options.run.session.retries == 0,
                {"--retry-delay in pipe mode", "", "", "retry=N"});
    line.check();
}

void use_recording(YodelOptions& options, std::shared_ptr<const Recording> recording) {
    Session::Options& session = options.run.session;
    const Framing& wanted = *session.framing;
    // The samples of a load have no framing.
    const Framing& framing = recording->framing ? *recording->framing : wanted;
    if (options.connects() && session.pattern && !framing.has_framed_replies())
        throw UsageError(options.line.written("mask match") + " cannot be combined with " +
                         recording->name + ", recorded with " + framing_text(framing) +
                         ", whose replies have no frames");
    // An option for datagrams or WebSocket must be given again, but -f need not be.
    const bool is_given =
        !framing.is_option() || !wanted.is_option() || options.line.has("framing C");
    if (options.connects() && is_given && &framing != &wanted)
        throw UsageError(recording->name + " was recorded with " + framing_text(framing) +
                         ", not with " + framing_text(wanted));
    session.framing = &framing;
    if (options.line.has("read") && !session.pattern && !options.line.has("expect"))
        session.expect = recording->expect.value_or(session.expect);
    options.run.recording = std::move(recording);
}

std::string yodel_help() {
    YodelOptions unused;
    return "usage: yodel [options] [TARGET]  Sends lines; measures and checks replies.\n"
           "TARGET: [tcp|tls|udp|ws|wss://]HOST[:PORT][/PATH] [PORT]\n"
           "Without TARGET, yodel starts an echo server and connects to it.\n" +
           help_text(yodel_table(unused)) + argument_help(false) +
           "See yodel(1). yodel-load measures servers; yodeld is an echo server.\n";
}

}  // namespace yodel
