#include "app/pipe/pipe_client.hpp"

#include "app/pipe/sending_limits.hpp"
#include "app/text/escapes.hpp"
#include "app/text/exit_status.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace yodel {

namespace {

// Bytes read at once, and sent as one message where there is no framing.
constexpr std::size_t chunk = 64 * 1024;
// Where no window was asked for, so many bytes may be in flight if they are more than
// `usual_window` messages. Half as many leave a server on another processor idle, more leave
// the caches.
constexpr std::size_t usual_window_bytes = 128 * 1024;

// The chunks of raw that are in flight to a near peer, whose round trips take less than the
// time below.
constexpr std::size_t near_window = 2;
constexpr ev::Duration near_time = std::chrono::milliseconds(1);

// Lines are sent, and their echoes passed to a file or pipe, as they came and without a look at
// each, where nothing asks for that look.
bool lines_pass(const PipeClient::Options& options) {
    return options.session.framing == find_framing("line") && !options.window &&
           !options.escapes && options.session.max_frame >= usual_window_bytes &&
           options.report.form == Reporter::Form::payload && options.report.log.empty() &&
           ::isatty(STDOUT_FILENO) == 0;
}

// With Expect::any a greeting that comes after the first message is taken for its reply. A
// replay of that would fail with the same server, because it waits for what comes first.
bool waits_for_greeting(const PipeClient::Options& options) {
    const bool recorded = options.report.payloads || Recorder::wanted(options.report.log);
    return recorded && options.session.expect == Expect::any && !options.report.probe &&
           !options.session.framing->datagrams;
}

PipeClient::Options completed(PipeClient::Options options) {
    options.session.coalesce = lines_pass(options);
    options.session.closed_early = "the server closed before the end of the input";
    return options;
}

}  // namespace

PipeClient::PipeClient(ev::Loop& loop, Options options)
    : PipeMode(loop, {completed(options).session, options.report}, input_high_water),
      options_(completed(std::move(options))),
      lines_(*find_framing("line"), options_.session.max_frame),
      watch_(loop, STDIN_FILENO, ev::none, [this](ev::Events) { read_input(); }),
      greeting_(loop, [this] { send(); }) {}

void PipeClient::connected() {
    if (options_.report.probe) input_ended_ = true;
    if (waits_for_greeting(options_)) greeting_.start(options_.session.greeting_time);
}

void PipeClient::read_input() {
    if (session().state() != AnySession::State::open) return watch_.want(ev::none);
    const std::size_t size = bytes_pass() ? std::min(chunk, options_.session.max_frame) : chunk;
    char* const space = bytes_pass() ? session().reserve(size) : input_.reserve(size);
    const ssize_t count = ::read(STDIN_FILENO, space, size);
    const bool later = count < 0 && (errno == EINTR || errno == EAGAIN);
    if (count < 0 && !later)
        give_up_input(
            {input_failed, "standard input: " + std::generic_category().message(errno)});
    if (count > 0) take_input({space, static_cast<std::size_t>(count)});
    if (count == 0) input_ended_ = true;
    send();
}

// The bytes are where reserve() has made space for them.
void PipeClient::take_input(std::string_view bytes) {
    if (!bytes_pass()) return input_.commit(bytes.size());
    const Queued queued = session().send_reserved(bytes.size());
    reporter().sent(bytes, queued);
}

// Sends what the window and the socket have space for, and reads on when no more can be sent of
// what was read.
void PipeClient::send() {
    if (session().state() != AnySession::State::open) return watch_.want(ev::none);
    if (greeting_.pending()) return;
    while (!options_.report.probe && has_space())
        if (!send_next()) break;
    session().flush();
    if (session().state() != AnySession::State::open) return;
    watch_.want(has_space() && !input_ended_ ? ev::readable : ev::none);
    if (input_ended_ && input_.empty()) session().finish();
}

bool PipeClient::has_space() const {
    const std::size_t in_flight = session().in_flight();
    const std::size_t bytes = session().in_flight_bytes();
    if (!options_.window && window_lifted()) return session().pending() < input_high_water;
    if (raw()) return in_flight < raw_window() && session().pending() < chunk;
    if (!options_.window && way_full()) return false;
    const bool few = in_flight < options_.window.value_or(usual_window);
    const bool small =
        session().has_back_pressure() && !options_.window && bytes < usual_window_bytes;
    return (few || small) && session().pending() < input_high_water;
}

// On a near link a small window keeps the bytes in the processor's caches; where a round trip
// takes longer, only the full window keeps the link busy.
std::size_t PipeClient::raw_window() const {
    const std::size_t window = options_.window.value_or(usual_window);
    const bool near = reporter().results().round_trips.min() < near_time;
    return near ? std::min(window, near_window) : window;
}

// Returns false if there is no whole message left.
bool PipeClient::send_next() {
    if (const std::string_view lines = whole_lines(); !lines.empty()) return send_lines(lines);
    const Decoder::Cut cut = next_message();
    if (cut.kind == Decoder::Cut::Kind::error)
        give_up_input({reply_wrong_or_lost, "standard input: " + cut.error});
    return cut.kind == Decoder::Cut::Kind::message && send_message(cut);
}

bool PipeClient::send_lines(std::string_view lines) {
    if (!send_payload(lines.substr(0, lines.size() - 1))) return false;
    lines_.restart();
    input_.consume(lines.size());
    return true;
}

bool PipeClient::send_message(const Decoder::Cut& cut) {
    std::optional<std::string> plain;
    if (options_.escapes) {
        plain = unescaped(cut.payload);
        if (!plain)
            give_up_input({reply_wrong_or_lost, std::string("standard input: ") +
                                                    escapes_expected + " (--escapes)"});
        if (!plain) return false;
    }
    if (!send_payload(plain ? *plain : cut.payload)) return false;
    if (cut.used == cut.payload.size()) reporter().leave_last_line_open();
    input_.consume(cut.used);
    return true;
}

// Returns as many whole lines as may be in flight.
std::string_view PipeClient::whole_lines() const {
    const std::size_t in_flight = session().in_flight_bytes();
    if (!options_.session.coalesce || in_flight >= usual_window_bytes) return {};
    const std::string_view bytes = input_.view().substr(0, usual_window_bytes - in_flight);
    return bytes.substr(0, bytes.rfind('\n') + 1);
}

bool PipeClient::send_payload(std::string_view payload) {
    if (const Queued queued = session().send(payload)) {
        reporter().sent(payload, queued);
        return true;
    }
    if (session().state() != AnySession::State::open) return false;
    give_up_input({reply_wrong_or_lost,
                   "standard input: a message of " + std::to_string(payload.size()) +
                       " bytes does not fit into " + session().options().framing->holder()});
    return false;
}

Decoder::Cut PipeClient::next_message() {
    const std::string_view bytes = input_.view();
    const auto whole = [](std::string_view payload) {
        return Decoder::Cut{
            .kind = Decoder::Cut::Kind::message, .payload = payload, .used = payload.size()};
    };
    if (raw() && !bytes.empty()) return whole(bytes.substr(0, chunk));
    Decoder::Cut cut = lines_.next(bytes);
    const bool last =
        cut.kind == Decoder::Cut::Kind::incomplete && input_ended_ && !bytes.empty();
    return last ? whole(bytes) : cut;
}

// The messages sent before still get their replies.
void PipeClient::give_up_input(Reporter::Trouble trouble) {
    reporter().record(std::move(trouble));
    input_ended_ = true;
    input_.consume(input_.size());
}

}  // namespace yodel
