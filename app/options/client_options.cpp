#include "app/options/client_options.hpp"

#include "app/options/option_values.hpp"
#include "app/options/target.hpp"
#include "app/protocol/journal.hpp"

#include <sys/socket.h>

#include <algorithm>

namespace yodel {

namespace {

bool has_interval(const ClientOptions& options) {
    return options.interval && *options.interval > ev::Duration::zero();
}

bool silent(const ClientOptions& options) { return options.session.expect == Expect::none; }

// --- The modes that the options choose.

// Returns two modes if only the terminal decides between them.
Modes run_mode(const ClientOptions& options) {
    const LoadOptions& load = options.load;
    if (!options.merge.empty()) return mode::merge;
    if (options.report.probe) return load.given() ? mode::probe_load : mode::probe;
    if (options.replay.given()) return mode::replay;
    if (load.given()) return mode::load;
    if (options.generated()) return mode::generated;
    const bool piped = options.no_tui || options.report.form == Reporter::Form::json;
    return piped ? mode::input : mode::input | mode::screen;
}

ActiveMode link_mode(const ClientOptions& options) {
    const bufio::Endpoint& endpoint = options.session.endpoint;
    if (endpoint.datagrams) return {mode::datagrams, chosen_by(options.given, mode::datagrams)};
    if (!endpoint.path.empty()) return {mode::path, chosen_by(options.given, mode::path)};
    if (options.session.websocket)
        return {mode::websocket, chosen_by(options.given, mode::websocket)};
    return chosen(options.given, mode::tcp, mode::stream);
}

ActiveMode schedule_mode(const ClientOptions& options) {
    if (options.load.rate) return {mode::rate, "--rate"};
    if (has_interval(options))
        return {mode::interval, chosen_by(options.given, mode::interval)};
    return {mode::unpaced};
}

std::vector<ActiveMode> active_modes(const ClientOptions& options) {
    const Modes run = run_mode(options);
    const bool raw = !options.session.framing->has_frames();
    std::vector<ActiveMode> active;
    active.push_back({run, chosen_by(options.given, run)});
    if (run == mode::merge) return active;
    active.push_back(chosen(options.given, mode::v6, mode::v4));
    active.push_back(link_mode(options));
    active.push_back(chosen(options.given, mode::tls, mode::plain));
    active.push_back(chosen(options.given, mode::json, mode::text));
    active.push_back({raw ? mode::raw : mode::framed, raw ? "-f raw" : ""});
    if (options.load.connections.value_or(1) > 1)
        active.push_back({mode::several, "--connections"});
    const std::string expect = chosen_by(options.given, mode::no_reply);
    if (!expect.empty() && options.session.expect != Expect::any)
        active.push_back(silent(options) ? ActiveMode{mode::no_reply, expect + " none"}
                                         : ActiveMode{mode::echo_reply, expect + " echo"});
    active.push_back(schedule_mode(options));
    return active;
}

// --- Checks that the modes do not cover.

void check_tls(const ClientOptions& options) {
    const bufio::TlsClientOptions& tls = options.tls;
    if (!tls.key.empty() && tls.certificate.empty()) throw UsageError("--key needs --cert");
    const std::string& host = options.session.endpoint.host;
    if (options.use_tls && !host.empty()) host_name_value(host);
    if (tls.max_version && *tls.max_version < tls.min_version)
        throw UsageError("--tls-max is below --tls-min");
}

void check_messages(const ClientOptions& options) {
    const bool own = !options.messages.empty();
    if (own && options.size) throw UsageError("--size cannot be combined with --messages");
    if (options.load.seed && !options.load.random_arrivals)
        throw UsageError("--seed needs --arrivals poisson");
    if (options.escapes && options.generated() && !own)
        throw UsageError("--escapes cannot be combined with " +
                         chosen_by(options.given, mode::generated) + " without --messages");
    const auto& length = options.session.max_time;
    if (options.warm_up && length && *options.warm_up > *length)
        throw UsageError("--warm-up " + duration_text(*options.warm_up) +
                         " is longer than the run (-m " + duration_text(*length) + ")");
}

void check_sizes(const ClientOptions& options) {
    const Framing& framing = *options.session.framing;
    const std::size_t limit = options.session.max_frame;
    if (limit == 0) throw UsageError("--max-frame 0 allows no messages");
    if (!options.size) return;
    const std::string size = "--size " + std::to_string(*options.size);
    if (*options.size > limit)
        throw UsageError(size + " exceeds the limit of " + std::to_string(limit) +
                         " (--max-frame)");
    if (*options.size < framing.shortest() || *options.size > framing.longest())
        throw UsageError(size + " does not fit into " + framing.holder());
}

void check_load(const ClientOptions& options) {
    const LoadOptions& load = options.load;
    if (!load.given()) return;
    if (load.churn && options.report.probe)
        throw UsageError("--churn " + std::to_string(*load.churn) +
                         " counts messages, and -z sends none: give a time such as 10s");
    if (load.lifetime == ev::Duration::zero() && !options.report.probe)
        throw UsageError("--churn 0s leaves no time for messages, and needs -z");
    if (silent(options) && !load.rate && !has_interval(options))
        throw UsageError(
            "--expect none needs --rate or -i, because no reply triggers the next message");
    const unsigned connections = load.connections.value_or(1);
    if (!load.threads_auto && load.threads.value_or(1) > connections)
        throw UsageError("--threads " + std::to_string(*load.threads) +
                         " exceeds the number of connections (--connections " +
                         std::to_string(connections) + ")");
}

// Refuses a name with -n, and a source address and a target of two families.
void check_families(const bufio::Endpoint& endpoint) {
    check_family(endpoint.family, endpoint.host);
    const int source = numeric_family(endpoint.source_host);
    const int target = numeric_family(endpoint.host);
    if (endpoint.numeric && !endpoint.host.empty() && target == AF_UNSPEC)
        throw UsageError("-n: " + in_quotes(endpoint.host) + " is not a numeric address");
    if (source != AF_UNSPEC && target != AF_UNSPEC && source != target)
        throw UsageError("-s " + endpoint.source_host + " and " + endpoint.host +
                         " are of different address families");
}

// Takes all words that are not options as further files.
void check_merge(ClientOptions& options, const CommandLine& line) {
    std::vector<std::string>& files = options.merge;
    files.insert(files.end(), line.words.begin(), line.words.end());
    std::vector<std::string> sorted = files;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) throw UsageError("--merge: " + *twice + " is given twice");
}

void choose_form(ClientOptions& options) {
    Reporter::Form& form = options.report.form;
    if (options.report.hex && !options.replay.given()) form = Reporter::Form::hex;
    if (options.generated() && form != Reporter::Form::json) form = Reporter::Form::sequence;
}

void prepare_match(ClientOptions& options) {
    Session::Options& session = options.session;
    if (!session.pattern || options.replay.given()) return;
    if (!session.framing->replies_framed())
        throw UsageError("--match cannot be combined with -f " +
                         std::string(session.framing->name) + ", whose replies have no frames");
    session.expect = Expect::any;
}

// --- The target.

void set_target(ClientOptions& options, const std::vector<std::string>& words) {
    bufio::Endpoint& endpoint = options.session.endpoint;
    const bool path_given = !endpoint.path.empty();
    if (path_given && !words.empty())
        throw UsageError(chosen_by(options.given, mode::path) +
                         " cannot be combined with the target " + words[0]);
    options.own_server = words.empty() && !path_given;
    if (words.empty()) return;
    const Target target = parse_target(words);
    endpoint.host = target.host;
    endpoint.service = target.service;
    endpoint.path = target.path;
    if (!target.scheme) return;
    const Scheme& scheme = *target.scheme;
    options.given.push_back({std::string(scheme.written), scheme.modes, scheme.chooses});
    if ((scheme.chooses & mode::datagrams) != 0) endpoint.datagrams = true;
    if ((scheme.chooses & mode::tls) != 0) options.use_tls = true;
    if (!target.websocket()) return;
    websocket::Request& request = options.session.websocket.emplace(options.websocket);
    request.host = endpoint.text();
    if (request.host.ends_with(scheme.port))
        request.host.resize(request.host.size() - scheme.port.size());
    request.path = target.resource;
}

// Datagrams and WebSocket messages need no frames, regardless of their content.
void prepare_framing(ClientOptions& options) {
    Session::Options& session = options.session;
    const bool datagrams = session.endpoint.datagrams;
    if (!datagrams && !session.websocket) return;
    const std::string option = chosen_by(options.given, mode::framed | mode::raw);
    if (!option.empty() && !(datagrams && !session.framing->has_frames()))
        throw UsageError(option + " cannot be combined with " +
                         chosen_by(options.given, mode::datagrams | mode::websocket) +
                         ": each " + (datagrams ? "datagram" : "WebSocket message") +
                         " is one message");
    session.framing = datagrams ? datagram_framing() : websocket_framing();
}

// A service whose replies are framed unlike messages can only be expected to answer.
void choose_expectation(ClientOptions& options) {
    const Framing& framing = *options.session.framing;
    if (framing.can_echo()) return;
    const bool given = !chosen_by(options.given, mode::no_reply).empty();
    Expect& expect = options.session.expect;
    if (given && expect == Expect::echo)
        throw UsageError("--expect echo cannot be combined with " + framing.holder() +
                         ", whose replies never equal messages");
    if (!given) expect = Expect::any;
}

}  // namespace

ClientOptions parse_client_options(int argc, char* argv[]) {
    ClientOptions options;
    const CommandLine line = parse_command_line(argc, argv, client_table(options));
    if (options.help || options.version) return options;
    options.given = line.given;
    if (!options.merge.empty()) {
        check_modes(options.given, active_modes(options));
        check_merge(options, line);
        return options;
    }
    set_target(options, line.words);
    prepare_framing(options);
    choose_expectation(options);
    check_modes(options.given, active_modes(options));
    prepare_match(options);
    check_tls(options);
    check_families(options.session.endpoint);
    check_messages(options);
    check_sizes(options);
    check_load(options);
    if (options.report.log.recording && !options.session.framing->has_frames())
        throw UsageError("-o " + options.report.log.path +
                         " cannot record with -f raw, which has no messages");
    choose_form(options);
    return options;
}

bool may_have_screen(const ClientOptions& options) {
    return (run_mode(options) & mode::screen) != 0;
}

void check_display(const ClientOptions& options, bool screen) {
    const Modes other = screen ? mode::input : mode::screen;
    check_modes(options.given, {{run_mode(options) & ~other}});
    const bool delayed =
        std::any_of(options.given.begin(), options.given.end(),
                    [](auto& each) { return each.written == "--retry-delay"; });
    if (delayed && !screen && options.retries.value_or(0) == 0)
        throw UsageError("--retry-delay needs --retry in pipe mode");
}

std::string client_help() {
    ClientOptions unused;
    return "usage: yodel [options] [[SCHEME://]HOST[:PORT][/PATH] [PORT]]\n"
           "Sends typed or piped lines to a service, usually an echo server, and times and\n"
           "checks every reply. Without a target it starts its own echo server. Pipe mode is\n"
           "selected by -z, -c, -i, --size, --messages, --json, --replay and --no-tui.\n" +
           help_text(client_table(unused)) +
           "\n"
           "SCHEME: tcp, tls, udp, ws or wss; or write unix:PATH\n"
           "F: " +
           joined(framing_list(), ", ") +
           "\n"
           "D: seconds, or a number with us, ms, s, m or h; SIZE: bytes, or with k, M or G\n"
           "\n"
           "Examples:\n"
           "  yodel                                  with an echo server inside; F1: keys\n"
           "  yodel -c 10 -i 200ms localhost 7000    ten messages, and a summary\n"
           "  seq 1000 | yodel localhost 7000        each line is a message\n"
           "See yodel(1) for details.\n";
}

}  // namespace yodel
