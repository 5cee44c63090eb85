#include "app/pipe_client.hpp"

#include "app/escapes.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace yodel {

namespace {

// Bytes read at once, and sent as one message where there is no framing.
constexpr std::size_t chunk = 64 * 1024;
// Bytes waiting for the socket, or for the reader of our output, above which the side that
// brings them is not asked for more. More would be no faster.
constexpr std::size_t high_water = 64 * 1024;

// Where no window was asked for: messages in flight, or bytes of them, whichever is more. Half
// as many bytes leave a server on another processor idle, more leave the caches.
constexpr std::size_t usual_window = 64;
constexpr std::size_t usual_window_bytes = 128 * 1024;

// Of raw: chunks under way to a peer whose round trips take less than the time.
constexpr std::size_t near_window = 2;
constexpr ev::Duration near_time = std::chrono::milliseconds(1);

// Whether lines go out, and their echoes to a file or pipe, as they came, without a look at
// each.
bool lines_pass(const PipeClient::Options& options) {
    return options.session.framing == find_framing("line") && !options.window &&
           !options.escapes && options.session.max_frame >= usual_window_bytes &&
           options.report.form == Reporter::Form::payload && options.report.log.empty() &&
           ::isatty(STDOUT_FILENO) == 0;
}

PipeClient::Options completed(PipeClient::Options options) {
    options.session.together = lines_pass(options);
    return options;
}

std::string system_text(const char* what, int code) {
    return std::string(what) + ": " + std::generic_category().message(code);
}

}  // namespace

PipeClient::PipeClient(ev::Loop& loop, Options options)
    : options_(completed(std::move(options))),
      lines_(*find_framing("line"), options_.session.max_frame),
      watch_(loop, STDIN_FILENO, ev::none, [this](ev::Events) { read_input(); }),
      session_(loop, options_.session, *this),
      reporter_(loop, options_.report, session_, high_water) {
    session_.connect();
}

void PipeClient::leave() {
    leaving_ = true;
    session_.disconnect();
}

void PipeClient::session_changed() {
    if (told_ != session_.state()) entered(told_ = session_.state());
    reporter_.flush();
    send_input();
}

void PipeClient::entered(Session::State state) {
    if (state == Session::State::open) reporter_.connected();
    if (state == Session::State::open && options_.report.probe) input_ended_ = true;
    if (state == Session::State::waiting) reporter_.retrying();
    if (state == Session::State::closed) reporter_.ended(trouble_);
}

void PipeClient::session_answered(const Message& message, const Reply& reply) {
    reporter_.answered(message, reply);
}

// Who leaves early does not say that what is under way was lost.
void PipeClient::session_lost(const Message& message) {
    if (!leaving_) reporter_.lost(message);
}

void PipeClient::session_unasked(std::string_view payload) { reporter_.unasked(payload); }

void PipeClient::session_received(std::string_view bytes) { reporter_.received(bytes); }

void PipeClient::read_input() {
    if (session_.state() != Session::State::open) return watch_.want(ev::none);
    const std::size_t size = bytes_pass() ? std::min(chunk, options_.session.max_frame) : chunk;
    char* const room = bytes_pass() ? session_.reserve(size) : input_.reserve(size);
    const ssize_t count = ::read(STDIN_FILENO, room, size);
    const bool later = count < 0 && (errno == EINTR || errno == EAGAIN);
    if (count < 0 && !later) refuse_input(system_text("standard input", errno));
    if (count > 0) take_input({room, static_cast<std::size_t>(count)});
    if (count == 0) input_ended_ = true;
    send_input();
}

// From where it was read to.
void PipeClient::take_input(std::string_view bytes) {
    if (!bytes_pass()) return input_.commit(bytes.size());
    session_.send_reserved(bytes.size());
    reporter_.sent(bytes);
}

// Sends what the window and the socket have room for; reads on when nothing more can be sent of
// what was read.
void PipeClient::send_input() {
    if (session_.state() != Session::State::open) return watch_.want(ev::none);
    while (!options_.report.probe && has_room())
        if (!send_next()) break;
    session_.flush();
    if (session_.state() != Session::State::open) return;
    if (session_.input_ended() && session_.options().expect != Expect::none) give_up_input();
    watch_.want(has_room() && !input_ended_ ? ev::readable : ev::none);
    if (input_ended_ && input_.empty()) session_.finish();
}

bool PipeClient::has_room() const {
    if (raw()) return session_.awaited() < raw_window() && session_.pending() < chunk;
    const bool few = session_.awaited() < options_.window.value_or(usual_window);
    const bool small = !options_.window && session_.awaited_bytes() < usual_window_bytes;
    return (few || small) && session_.pending() < high_water;
}

// Little under way stays in the processor's caches; where the way is long, more must be.
std::size_t PipeClient::raw_window() const {
    const std::size_t window = options_.window.value_or(usual_window);
    const bool near = reporter_.tally().round_trips.min() < near_time;
    return near ? std::min(window, near_window) : window;
}

// False if there is no whole message left.
bool PipeClient::send_next() {
    if (const std::string_view lines = whole_lines(); !lines.empty()) {
        if (!send(lines.substr(0, lines.size() - 1))) return false;
        lines_.restart();
        input_.consume(lines.size());
        return true;
    }
    const Decoder::Cut cut = next_message();
    if (cut.kind == Decoder::Cut::Kind::error) refuse_input("standard input: " + cut.error);
    if (cut.kind != Decoder::Cut::Kind::message) return false;
    if (!options_.escapes) {
        if (!send(cut.payload)) return false;
    } else if (const auto plain = unescaped(cut.payload)) {
        if (!send(*plain)) return false;
    } else {
        refuse_input(std::string("standard input: ") + escapes_expected + " (--escapes)");
        return false;
    }
    input_.consume(cut.used);
    return true;
}

// As many as may be in flight.
std::string_view PipeClient::whole_lines() const {
    const std::size_t awaited = session_.awaited_bytes();
    if (!options_.session.together || awaited >= usual_window_bytes) return {};
    const std::string_view bytes = input_.view().substr(0, usual_window_bytes - awaited);
    return bytes.substr(0, bytes.rfind('\n') + 1);
}

bool PipeClient::send(std::string_view payload) {
    const std::uint64_t before = session_.last_id();
    if (const std::uint64_t id = session_.send(payload); id != 0) {
        reporter_.sent(payload, id - before);
        return true;
    }
    if (session_.state() != Session::State::open) return false;
    refuse_input("standard input: a message of " + std::to_string(payload.size()) +
                 " bytes does not fit into -f " +
                 std::string(session_.options().framing->name));
    return false;
}

Decoder::Cut PipeClient::next_message() {
    const std::string_view bytes = input_.view();
    const auto whole = [](std::string_view payload) {
        return Decoder::Cut{Decoder::Cut::Kind::message, payload, payload.size(), {}};
    };
    if (raw() && !bytes.empty()) return whole(bytes.substr(0, chunk));
    Decoder::Cut cut = lines_.next(bytes);
    const bool last =
        cut.kind == Decoder::Cut::Kind::incomplete && input_ended_ && !bytes.empty();
    return last ? whole(bytes) : cut;
}

// The input can't be gone on with: what was sent before still gets its replies.
void PipeClient::refuse_input(std::string why) {
    trouble_ = std::move(why);
    input_ended_ = true;
    input_.consume(input_.size());
}

// The server has closed its side: what would be sent now gets no reply.
void PipeClient::give_up_input() {
    int unread = 0;
    const bool more = ::ioctl(STDIN_FILENO, FIONREAD, &unread) == 0 && unread > 0;
    if (!input_.empty() || more)
        return refuse_input("the server closed before all input was sent");
    input_ended_ = true;
}

}  // namespace yodel
