#include "app/pipe_client.hpp"

#include "app/exit_status.hpp"
#include "ui/text.hpp"

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
// brings them is not asked for more.
constexpr std::size_t high_water = 1024 * 1024;
constexpr std::size_t low_water = high_water / 4;

std::string system_text(const char* what, int code) {
    return std::string(what) + ": " + std::generic_category().message(code);
}

}  // namespace

PipeClient::PipeClient(ev::Loop& loop, Options options)
    : loop_(loop),
      options_(std::move(options)),
      visible_(::isatty(STDOUT_FILENO) == 1),
      lines_(*find_framing("line"), options_.session.max_frame),
      output_(loop, STDOUT_FILENO, [this] { output_changed(); }),
      watch_(loop, STDIN_FILENO, ev::none, [this](ev::Events) { read_input(); }),
      session_(loop, options_.session, *this) {
    session_.connect();
}

void PipeClient::leave() { session_.disconnect(); }

int PipeClient::report() const {
    const bufio::End& end = session_.end();
    if (!input_error_.empty()) complain("yodel", input_error_);
    if (output_.error() != 0)
        complain("yodel", system_text("standard output", output_.error()));
    const int status = exit_status(end);
    if (status != 0) complain("yodel", explain(end, session_.tls()));
    if (!options_.quiet && (status == 0 || tally_.sent > 0))
        complain("yodel", tally_.summary());
    if (status != 0) return status;
    const bool failed =
        tally_.bad > 0 || tally_.lost > 0 || !input_error_.empty() || output_.error() != 0;
    return failed ? reply_wrong_or_lost : all_well;
}

void PipeClient::session_changed() {
    output_.flush();
    if (output_.error() != 0) session_.disconnect();
    if (output_.pending() > high_water) session_.hold(true);
    if (session_.state() == Session::State::closed) return stop_if_done();
    if (session_.state() == Session::State::open) send_input();
}

void PipeClient::session_answered(const Message& message, const Reply& reply) {
    if (message.late) --tally_.lost;
    ++(reply.right ? tally_.echoed : tally_.bad);
    if (reply.round_trip) tally_.round_trips.record(*reply.round_trip);
    if (!reply.right && tally_.bad == 1)
        complain("yodel", "reply " + std::to_string(message.id) +
                              " differs from its message at byte " +
                              std::to_string(reply.difference));
    if (!raw()) print(reply.payload);
}

void PipeClient::session_lost(const Message&) { ++tally_.lost; }

void PipeClient::session_unasked(std::string_view payload) {
    ++tally_.unasked;
    if (!raw()) print(payload);
}

void PipeClient::session_received(std::string_view bytes) {
    if (!raw()) return;
    std::size_t end = 0;
    while (visible_ && (end = bytes.find('\n')) != std::string_view::npos) {
        print(bytes.substr(0, end));
        bytes.remove_prefix(end + 1);
    }
    append(bytes);
}

void PipeClient::print(std::string_view payload) {
    append(payload);
    output_.append("\n");
}

void PipeClient::append(std::string_view bytes) {
    if (visible_) return output_.append(ui::printable(bytes));
    output_.append(bytes);
}

void PipeClient::read_input() {
    const ssize_t count = ::read(STDIN_FILENO, input_.reserve(chunk), chunk);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count < 0) refuse_input(system_text("standard input", errno));
    if (count > 0) input_.commit(static_cast<std::size_t>(count));
    if (count == 0) input_ended_ = true;
    send_input();
}

// Sends what the window and the socket have room for; reads on when nothing more can be sent of
// what was read.
void PipeClient::send_input() {
    if (session_.state() != Session::State::open) return watch_.want(ev::none);
    while (has_room())
        if (!send_next()) break;
    session_.flush();
    if (session_.state() != Session::State::open) return;
    if (session_.input_ended() && session_.options().expect != Expect::none) give_up_input();
    watch_.want(has_room() && !input_ended_ ? ev::readable : ev::none);
    if (input_ended_ && input_.empty()) session_.finish();
}

bool PipeClient::has_room() const {
    return session_.awaited() < options_.window && session_.pending() < high_water;
}

// False if there is no whole message left.
bool PipeClient::send_next() {
    const Decoder::Cut cut = next_message();
    if (cut.kind == Decoder::Cut::Kind::error) refuse_input("standard input: " + cut.error);
    if (cut.kind != Decoder::Cut::Kind::message) return false;
    if (session_.send(cut.payload) == 0) {
        refuse_input("standard input: a message of " + std::to_string(cut.payload.size()) +
                     " bytes does not fit into -f " +
                     std::string(session_.options().framing->name));
        return false;
    }
    ++tally_.sent;
    input_.consume(cut.used);
    return true;
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
    input_error_ = std::move(why);
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

void PipeClient::output_changed() {
    if (output_.error() != 0) {
        session_.disconnect();
        return stop_if_done();
    }
    if (output_.pending() < low_water) session_.hold(false);
    stop_if_done();
}

void PipeClient::stop_if_done() {
    const bool written = output_.pending() == 0 || output_.error() != 0;
    if (session_.state() == Session::State::closed && written) loop_.stop();
}

}  // namespace yodel
