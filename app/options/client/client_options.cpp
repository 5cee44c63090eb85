#include "app/options/client/client_options.hpp"

#include "app/options/option_values.hpp"
#include "app/options/target.hpp"

#include <sys/socket.h>

#include <chrono>
#include <cstdlib>
#include <utility>

namespace yodel {

namespace {

// Adds the values that act like options.
void add_facts(ClientOptions& options) {
    if (!options.run.session.framing->has_frames())
        options.given.push_back({"-f raw", "raw", "escapes"});
    const std::string expect = given_with(options.given, "expect");
    if (expect.empty() || options.run.session.expect == Expect::any) return;
    options.given.push_back(options.expects_no_reply()
                                ? GivenOption{expect + " none", "expect-none"}
                                : GivenOption{expect + " echo", "expect-echo"});
}

// --- Checks that the table does not cover.

void check_tls(ClientOptions& options) {
    bufio::TlsClientOptions& tls = options.tls;
    if (!tls.key.empty() && tls.certificate.empty()) throw UsageError("--key needs --cert");
    if (options.run.session.starttls && options.own_server)
        throw UsageError("--starttls needs a target");
    const std::string& host = options.run.session.endpoint.host;
    if (options.use_tls && !host.empty()) host_name_value(host);
    if (tls.max_version && *tls.max_version < tls.min_version)
        throw UsageError("--tls-max is below --tls-min");
    const char* const key_log = std::getenv("SSLKEYLOGFILE");
    if (key_log && options.use_tls) tls.key_log_file = key_log;
}

void check_sizes(const ClientOptions& options) {
    const Framing& framing = *options.run.session.framing;
    const std::size_t limit = options.run.session.max_frame;
    if (limit == 0) throw UsageError("--max-frame 0 allows no messages");
    if (!options.size) return;
    const std::string size = "--size " + std::to_string(*options.size);
    if (*options.size > limit) throw UsageError(above_limit_text(size, limit));
    if (*options.size < framing.min_payload() || *options.size > framing.max_payload())
        throw UsageError(size + " does not fit into " + framing.label());
}

// Refuses a host name with -n, and a source address and a target of different families.
void check_families(const bufio::Endpoint& target) {
    const bufio::Endpoint endpoint = target.dialed();
    check_family(endpoint.family, endpoint.host);
    const int source_family = numeric_family(endpoint.source_host);
    const int target_family = numeric_family(endpoint.host);
    if (endpoint.numeric && !endpoint.host.empty() && target_family == AF_UNSPEC)
        throw UsageError("-n: " + in_quotes(endpoint.host) + " is not a numeric address");
    if (source_family != AF_UNSPEC && target_family != AF_UNSPEC &&
        source_family != target_family)
        throw UsageError("-s " + endpoint.source_host + " and " + endpoint.host +
                         " are of different address families");
}

void prepare_match(ClientOptions& options) {
    Session::Options& session = options.run.session;
    if (given_with(options.given, "match").empty()) return;
    if (!session.framing->replies_framed())
        throw UsageError("--match cannot be combined with -f " +
                         std::string(session.framing->name) + ", whose replies have no frames");
    session.expect = Expect::any;
}

// With -z, the options for generated messages are about attempts to connect.
void prepare_repetition(ClientOptions& options) {
    RunOptions& run = options.run;
    if (!run.probe || !options.wants_generated_messages()) return;
    const std::string other =
        given_with(options.given, "connections connect-rate churn threads retry");
    if (!other.empty())
        throw UsageError(other + " cannot be combined with -z " +
                         given_with(options.given, "generated"));
    run.repeat = options.interval.value_or(std::chrono::seconds(1));
    run.length = std::exchange(run.session.max_time, std::nullopt);
    if (!options.json()) options.report.form = Reporter::Form::sequence;
}

// --- The target.

// --starttls smtp implies -f smtp, because the service continues in these words. Each datagram
// or WebSocket message is one message, so any other framing is refused, except -f raw with
// datagrams.
void prepare_framing(ClientOptions& options) {
    Session::Options& session = options.run.session;
    const bool datagrams = session.endpoint.udp;
    if (session.starttls && !framing_of(*session.starttls)->can_echo() &&
        given_with(options.given, "framing C").empty())
        session.framing = framing_of(*session.starttls);
    if (!datagrams && !session.websocket) return;
    const std::string option = given_with(options.given, "framing C");
    if (!option.empty() && !(datagrams && !session.framing->has_frames()))
        throw UsageError(option + " cannot be combined with " +
                         given_with(options.given, "udp ws") + ", because each " +
                         (datagrams ? "datagram" : "WebSocket message") + " is one message");
    session.framing = datagrams ? datagram_framing() : websocket_framing();
}

// If replies and messages have different framings, replies can't be echoes. The default is then
// to expect any answer.
void choose_expectation(ClientOptions& options) {
    const Framing& framing = *options.run.session.framing;
    if (framing.can_echo() || options.listens) return;
    const bool given = !given_with(options.given, "expect").empty();
    Expect& expect = options.run.session.expect;
    if (given && expect == Expect::echo)
        throw UsageError("--expect echo cannot be combined with " + framing.label() +
                         ", whose replies never equal messages");
    if (!given) expect = Expect::any;
}

void set_endpoint(ClientOptions& options, const Target& target) {
    bufio::Endpoint& endpoint = options.run.session.endpoint;
    endpoint.host = target.host;
    endpoint.service = target.service;
    endpoint.path = target.path;
    if (!target.scheme) return;
    const Scheme& scheme = *target.scheme;
    options.given.push_back(
        {std::string(scheme.prefix), std::string(scheme.facts), std::string(scheme.excludes)});
    endpoint.udp = endpoint.udp || scheme.facts == "udp";
    options.use_tls = options.use_tls || scheme.facts.ends_with("tls");
    if (!target.websocket()) return;
    websocket::Request& request = options.run.session.websocket.emplace(options.websocket);
    request.host = endpoint.text();
    const std::string default_port = ":" + std::string(scheme.default_port);
    if (request.host.ends_with(default_port))
        request.host.resize(request.host.size() - default_port.size());
    request.path = target.resource;
}

// Messages from a client answer nothing, so no reply is expected.
void set_listening_endpoint(ClientOptions& options, const std::vector<std::string>& operands) {
    Session::Options& session = options.run.session;
    session.expect = Expect::none;
    session.endpoint.passive = true;
    if (!operands.empty()) set_endpoint(options, parse_accepting_target(operands));
    if (session.endpoint.text() == ":") throw UsageError("-l needs a port: -l [ADDR:]PORT");
    if (session.endpoint.host.empty() && session.endpoint.path.empty())
        session.endpoint.host = session.endpoint.family == AF_INET6 ? "::1" : "127.0.0.1";
    if (!session.framing->greeting.empty())
        throw UsageError("-l cannot be combined with " + session.framing->label() +
                         ", whose greeting only a server can send");
}

}  // namespace

void set_target(ClientOptions& options, const std::vector<std::string>& operands,
                const char* comparing) {
    const bool path_given = !options.run.session.endpoint.path.empty();
    if (path_given && !operands.empty())
        throw UsageError(given_with(options.given, "unixsock") +
                         " cannot be combined with the target " + operands[0]);
    options.own_server = operands.empty() && !path_given && !options.listens;
    if (options.listens) {
        set_listening_endpoint(options, operands);
    } else if (!operands.empty()) {
        std::vector<std::string> rest = operands;
        set_endpoint(options, take_target(rest));
        if (rest.size() == 2 || (rest.size() == 1 && rest[0].find(':') != std::string::npos))
            throw UsageError(comparing);
        if (!rest.empty()) throw UsageError("unexpected argument " + in_quotes(rest[0]));
    }
    prepare_framing(options);
    // A client of such a service sends lines.
    const Framing*& framing = options.run.session.framing;
    if (options.listens && !framing->can_echo()) framing = find_framing("crlf");
    choose_expectation(options);
}

void check_client(ClientOptions& options) {
    add_facts(options);
    check_given(options.given);
    const bufio::Endpoint& endpoint = options.run.session.endpoint;
    if (options.own_server && !endpoint.connect_host.empty())
        throw UsageError("--connect-to needs a target, whose name it keeps");
    prepare_match(options);
    check_tls(options);
    check_families(endpoint);
    check_sizes(options);
    prepare_repetition(options);
}

std::string argument_help() {
    return "F: " + join(framing_list(), " ") +
           "\nD: seconds, or a number with us, ms, s, m or h; SIZE: bytes, or with k, M or G\n";
}

}  // namespace yodel
