#include "app/client_options.hpp"

#include "app/arguments.hpp"
#include "app/command_line.hpp"
#include "app/target.hpp"
#include "app/units.hpp"

#include <sys/socket.h>

#include <algorithm>

namespace yodel {

namespace {

std::size_t size(const std::string& text) {
    return checked(parse_size(text), text, "a size such as 512, 64k or 32M");
}

unsigned retries(const std::string& text) {
    if (text == "forever") return Session::forever;
    return checked(parse_number(text, 0, 1'000'000), text,
                   "a number up to 1000000, or \"forever\"");
}

Expect expectation(const std::string& text) {
    if (text == "echo") return Expect::echo;
    if (text == "any") return Expect::any;
    if (text == "none") return Expect::none;
    throw UsageError("\"" + text + "\" is not one of echo, any, none");
}

ui::Color color(const std::string& text) {
    if (text == "auto") return ui::Color::automatic;
    if (text == "always") return ui::Color::always;
    if (text == "never") return ui::Color::never;
    throw UsageError("\"" + text + "\" is not one of auto, always, never");
}

std::string port(const std::string& text) {
    if (!parse_number(text, 1, 65535))
        throw UsageError("\"" + text + "\" is not a port, from 1 to 65535");
    return text;
}

int tls_version(const std::string& text) {
    if (text == "1.2") return 0x0303;
    if (text == "1.3") return 0x0304;
    throw UsageError("\"" + text + "\" is not a version of TLS spoken here: 1.2 or 1.3");
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> list;
    for (std::size_t begin = 0, end = 0; end != text.npos; begin = end + 1) {
        end = text.find(',', begin);
        list.push_back(text.substr(begin, end - begin));
        if (list.back().empty() || list.back().size() > 255)
            throw UsageError("a protocol's name has 1 to 255 bytes");
    }
    return list;
}

std::string pin(const std::string& text) {
    // SHA-256 in base64: 32 bytes in 44 characters.
    const std::string scheme = "sha256//";
    if (!text.starts_with(scheme) || text.size() != scheme.size() + 44)
        throw UsageError("\"" + text + "\" is not a pin: sha256// and 44 characters of base64");
    return text;
}

// The options, in the manual's groups and in the order of the help.

std::vector<Option> connection_options(ClientOptions& to) {
    Session::Options& session = to.session;
    return {
        {'4', nullptr, nullptr, "IPv4 only", [&](auto&) { session.endpoint.family = AF_INET; }},
        {'6', nullptr, nullptr, "IPv6 only",
         [&](auto&) { session.endpoint.family = AF_INET6; }},
        {'n', nullptr, nullptr, "numeric addresses only, no look-up",
         [&](auto&) { session.endpoint.numeric = true; }},
        {'s', "source", "ADDR", "connect from this address",
         [&](auto& text) { session.endpoint.source_host = text; }},
        {'p', "source-port", "PORT", "connect from this port",
         [&](auto& text) { session.endpoint.source_port = port(text); }},
        {'U', "unixsock", "PATH", "connect to a unix-domain socket",
         [&](auto& text) { session.endpoint.path = text; }},
        {'w', "connect-timeout", "D", "for look-up, TCP and TLS together (10s)",
         [&](auto& text) { session.connect_timeout = duration_argument(text); }},
        {'m', "max-time", "D", "for all of it (0: off)",
         [&](auto& text) { session.max_time = limit_argument(text); }},
        {'z', nullptr, nullptr, "connect, tell so, and leave",
         [&](auto&) { to.report.probe = true; }},
        {0, "retry", "N", "tries after a failed one, or forever (screen: forever, pipe: 0)",
         [&](auto& text) { to.retries = retries(text); }},
        {0, "retry-delay", "D", "before the first of them, doubling to 30s (0.5s)",
         [&](auto& text) { session.retry_delay = duration_argument(text); }},
        {0, "idle-timeout", "D", "end when nothing comes or goes for so long (0: off)",
         [&](auto& text) { session.idle_timeout = limit_argument(text); }},
    };
}

// Naming a file, a name or a protocol for TLS does not switch it on: a forgotten --tls is a
// mistake that should show.
std::vector<Option> tls_options(ClientOptions& to) {
    bufio::TlsClientOptions& tls = to.tls;
    return {
        {0, "tls", nullptr, "speak TLS, certificate and name verified",
         [&](auto&) { to.use_tls = true; }},
        {0, "cacert", "FILE", "trust these certificates instead of the system's",
         [&](auto& text) { tls.ca_file = text; }},
        {0, "capath", "DIR", "the same, as a hashed directory",
         [&](auto& text) { tls.ca_directory = text; }},
        {0, "crl", "FILE", "refuse the certificates that this list revokes",
         [&](auto& text) { tls.crl_file = text; }},
        {'E', "cert", "FILE", "our own certificate, PEM with its chain",
         [&](auto& text) { tls.certificate = text; }},
        {0, "key", "FILE", "its key (in the certificate's file)",
         [&](auto& text) { tls.key = text; }},
        {0, "servername", "NAME", "the name sent to the server (HOST)",
         [&](auto& text) { tls.server_name = text; }},
        {0, "verify-hostname", "NAME", "what the certificate must name (HOST)",
         [&](auto& text) { tls.verify_name = text; }},
        {0, "alpn", "A,B", "application protocols offered",
         [&](auto& text) { tls.alpn = split(text); }},
        {0, "tls-min", "V", "at least this version: 1.2 or 1.3 (1.2)",
         [&](auto& text) { tls.min_version = tls_version(text); }},
        {0, "tls-max", "V", "at most this version",
         [&](auto& text) { tls.max_version = tls_version(text); }},
        {0, "pinnedpubkey", "PIN", "trust this key, sha256//BASE64, and no other",
         [&](auto& text) { tls.pins.push_back(pin(text)); }},
        {'k', "insecure", nullptr, "accept any certificate",
         [&](auto&) { tls.verify = false; }},
    };
}

std::vector<Option> message_options(ClientOptions& to) {
    Session::Options& session = to.session;
    return {
        {'f', "framing", "F", "how messages are told apart (line); see below",
         [&](auto& text) { session.framing = framing_argument(text); }},
        {'C', nullptr, nullptr, "the same as -f crlf",
         [&](auto&) { session.framing = find_framing("crlf"); }},
        {0, "max-frame", "SIZE", "the longest message (32M)",
         [&](auto& text) { session.max_frame = size(text); }},
        {0, "expect", "WHAT", "echo, any reply, or none (echo)",
         [&](auto& text) { session.expect = expectation(text); }},
        {'W', "reply-timeout", "D", "for each reply (5s)",
         [&](auto& text) { session.reply_timeout = duration_argument(text); }},
        {0, "window", "N", "pipe: messages in flight at once (64, or 128k of them)",
         [&](auto& text) {
             to.window =
                 checked(parse_number(text, 1, 1'000'000), text, "a number from 1 to 1000000");
         }},
        {0, "scrollback", "N", "screen: messages kept to scroll back to (100000)",
         [&](auto& text) {
             to.scrollback = checked(parse_number(text, 1, 10'000'000), text,
                                     "a number from 1 to 10000000");
         }},
        {'q', nullptr, "D", "wait for the server's end after ours (5s)",
         [&](auto& text) { session.close_timeout = duration_argument(text); }},
        {'c', "count", "N", "send N messages made up here instead of input",
         [&](auto& text) {
             to.count = checked(parse_number(text, 1, 4'000'000'000), text,
                                "a number from 1 to 4000000000");
         }},
        {'i', "interval", "D", "between them (1s); 0: as fast as replies come",
         [&](auto& text) { to.interval = duration_argument(text); }},
        {0, "size", "SIZE", "of each of them (64)", [&](auto& text) { to.size = size(text); }},
        {0, "escapes", nullptr, "input holds \\n \\r \\t \\0 \\\\ \\xNN",
         [&](auto&) { to.escapes = true; }},
    };
}

std::vector<Option> output_options(ClientOptions& to) {
    return {
        {0, "json", nullptr, "pipe: one object for each message",
         [&](auto&) { to.report.form = Reporter::Form::json; }},
        {'x', "hex", nullptr, "replies in hex", [&](auto&) { to.hex = true; }},
        {'o', "log", "FILE", "note every message there, with its time",
         [&](auto& text) { to.report.log = text; }},
        {0, "color", "WHEN", "auto, always or never (auto: unless NO_COLOR is set)",
         [&](auto& text) { to.color = color(text); }},
        {'v', nullptr, nullptr, "pipe: tell connections too",
         [&](auto&) { to.report.verbose = true; }},
        {0, "quiet", nullptr, "pipe: no summary; with -c: nothing else",
         [&](auto&) { to.report.quiet = true; }},
        {0, "no-tui", nullptr, "pipe mode also on a terminal",
         [&](auto&) { to.no_tui = true; }},
        {'h', "help", nullptr, "this text", [&](auto&) { to.help = true; }},
        {'V', "version", nullptr, "the version", [&](auto&) { to.version = true; }},
    };
}

std::vector<Option> table(ClientOptions& to) {
    std::vector<Option> all;
    for (const auto group :
         {connection_options, tls_options, message_options, output_options}) {
        const std::vector<Option> rows = group(to);
        all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
}

// What is asked for together must make sense together.
void check(const ClientOptions& options) {
    const bufio::TlsClientOptions& tls = options.tls;
    const bool tls_needed =
        !tls.ca_file.empty() || !tls.ca_directory.empty() || !tls.crl_file.empty() ||
        !tls.certificate.empty() || !tls.key.empty() || !tls.server_name.empty() ||
        !tls.verify_name.empty() || !tls.alpn.empty() || !tls.pins.empty() || !tls.verify ||
        tls.min_version != 0 || tls.max_version != 0;
    if (tls_needed && !options.use_tls)
        throw UsageError("an option for TLS is given, but not --tls");
    if (!tls.key.empty() && tls.certificate.empty()) throw UsageError("--key needs --cert");
    if (tls.max_version != 0 && tls.max_version < tls.min_version)
        throw UsageError("--tls-max is below --tls-min");
}

void check_pipe(const ClientOptions& options) {
    const bool json = options.report.form == Reporter::Form::json;
    if (json && options.hex) throw UsageError("--json and -x are two forms of one output");
    if (options.report.probe && options.unattended())
        throw UsageError("-z sends nothing, but -c, -i or --size is given");
    if (options.unattended() && (options.escapes || options.hex))
        throw UsageError("--escapes and -x are for input, but -c, -i or --size is given");
    if (options.escapes && options.session.framing->kind == Framing::Kind::raw)
        throw UsageError("--escapes reads lines, but -f raw has none");
    const Framing& framing = *options.session.framing;
    const std::size_t limit = options.session.max_frame;
    if (limit == 0) throw UsageError("--max-frame 0 lets no message pass");
    if (options.size && *options.size > limit)
        throw UsageError("--size " + std::to_string(*options.size) + " is over the limit of " +
                         std::to_string(limit) + " (--max-frame)");
    const std::size_t least = framing.replies_framed() ? 0 : 1;
    if (options.size && (*options.size < least || *options.size > framing.longest()))
        throw UsageError("--size " + std::to_string(*options.size) + " does not fit into -f " +
                         std::string(framing.name));
}

// One thing asks for one form of output.
void choose_form(ClientOptions& options) {
    Reporter::Form& form = options.report.form;
    if (options.hex) form = Reporter::Form::hex;
    if (options.unattended() && form != Reporter::Form::json) form = Reporter::Form::sequence;
}

}  // namespace

ClientOptions parse_client_options(int argc, char* argv[]) {
    ClientOptions options;
    const std::vector<std::string> words = parse_command_line(argc, argv, table(options));
    if (options.help || options.version) return options;
    const bool path_given = !options.session.endpoint.path.empty();
    if (path_given && !words.empty()) throw UsageError("-U is given, and a target too");
    options.own_server = words.empty() && !path_given;
    if (!words.empty()) {
        const Target target = parse_target(words);
        bufio::Endpoint& endpoint = options.session.endpoint;
        endpoint.host = target.host;
        endpoint.service = target.service;
        endpoint.path = target.path;
        if (target.scheme == Target::Scheme::tcp && options.use_tls)
            throw UsageError("tcp:// is without TLS, but --tls is given");
        if (target.scheme == Target::Scheme::tls) options.use_tls = true;
    }
    check(options);
    check_pipe(options);
    choose_form(options);
    return options;
}

std::string client_help() {
    ClientOptions unused;
    return "usage: yodel [options] [[tcp://|tls://|unix:]HOST[:PORT] [PORT]]\n"
           "Talks to a service, above all an echo server: sends what is typed or piped in, "
           "times\n"
           "and checks every reply. Without a target it starts an echo server of its own.\n\n" +
           help_text(table(unused)) + "\nframings: " + framing_names() +
           "\nD is a number of seconds, or one with ms, s, m or h.\n";
}

}  // namespace yodel
