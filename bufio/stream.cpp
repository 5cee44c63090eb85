#include "bufio/stream.hpp"

#include "bufio/address.hpp"
#include "bufio/fd.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

namespace bufio {

std::string End::text(std::string_view peer) const {
    std::string text(by == By::peer ? peer : "");
    for (const std::string_view part : {std::string_view(what), std::string_view(detail)}) {
        if (!text.empty() && !part.empty()) text += " ";
        text += part;
    }
    return text;
}

// A failed write reports a reset as a failed read does. EPIPE means that the peer has closed.
End system_end(Reason reason, const char* what, int code) {
    if (code == EPIPE) return {Reason::closed_early, By::peer, "has closed the connection"};
    const std::string message = std::generic_category().message(code);
    if (code == ECONNRESET && (reason == Reason::send || reason == Reason::receive))
        return {Reason::reset, By::system, "receiving failed:", message};
    if (code == ECONNREFUSED && reason == Reason::connect) reason = Reason::refused;
    return {reason, By::system, what, message};
}

// --- The plain transport.

namespace {

// Bytes to read in one call. Larger reads are no faster. Reads of half the size take 10 % more
// time per byte, those of a quarter 50 % more.
constexpr std::size_t read_size = 64 * 1024;

// Bytes that one call may write. Without this limit, a fast peer could accept all of the
// pending output in one turn and starve the loop's other streams.
constexpr std::size_t max_write_size = 1024 * 1024;

// Maximum memory, in bytes, that an empty queue retains.
constexpr std::size_t max_idle_capacity = 1024;

class PlainTransport final : public Transport {
public:
    explicit PlainTransport(Fd fd) : fd_(std::move(fd)) {}

    int descriptor() const override { return fd_.get(); }

    IoResult read(char* to, std::size_t size) override {
        const ssize_t count = ::recv(fd_.get(), to, size, 0);
        if (count > 0) return {IoStatus::done, static_cast<std::size_t>(count)};
        if (count == 0) return {IoStatus::end_of_input};
        if (would_block(errno)) return {IoStatus::wants_read};
        return fail(system_end(Reason::receive, "receiving failed:", errno));
    }

    IoResult write(const char* from, std::size_t size) override {
        const ssize_t count = ::send(fd_.get(), from, size, MSG_NOSIGNAL);
        if (count >= 0) return {IoStatus::done, static_cast<std::size_t>(count)};
        if (would_block(errno)) return {IoStatus::wants_write};
        return fail(system_end(Reason::send, "sending failed:", errno));
    }

    IoResult close_output() override {
        // ENOTCONN means that the peer has reset the connection, which the next read reports.
        if (::shutdown(fd_.get(), SHUT_WR) == 0 || errno == ENOTCONN) return {IoStatus::done};
        return fail(system_end(Reason::send, "shutting down the sending side failed:", errno));
    }

private:
    Fd fd_;
};

}  // namespace

std::unique_ptr<Transport> make_plain_transport(Fd fd) {
    return std::make_unique<PlainTransport>(std::move(fd));
}

Stream::Stream(ev::Loop& loop, std::unique_ptr<Transport> transport, Owner& owner,
               Limits limits)
    : loop_(loop),
      transport_(std::move(transport)),
      owner_(owner),
      limits_(limits),
      output_(limits.output),
      watch_(loop, transport_->descriptor(), ev::none, [this](ev::Events e) { on_events(e); }),
      timer_(loop, [this] { on_timer(); }) {
    handshake();
    is_handshake_reported_ = is_handshake_done_ && !transport_->has_handshake();
    if (is_handshake_done_ && !is_handshake_reported_) timer_.start(ev::Duration::zero());
    update_interest();
}

std::string_view Stream::received() const {
    return shared_input_.empty() ? input_.view() : shared_input_;
}

void Stream::consume(std::size_t count) {
    assert(count <= received().size());
    if (!shared_input_.empty()) return shared_input_.remove_prefix(count);
    input_.consume(count);
    if (input_.empty() && input_.capacity() > max_idle_capacity) input_.release();
    update_interest();
}

bool Stream::write(std::string_view bytes) {
    if (has_ended_ || is_finishing_ || bytes.size() > output_.limit() - output_.size())
        return false;
    if (is_handshake_done_ && !has_output_failed_ && output_.empty()) write_to_transport(bytes);
    output_.append(bytes);
    update_interest();
    return true;
}

void Stream::ping() {
    if (!is_open() || is_finishing_ || has_output_failed_) return;
    transport_->ping();
    std::string_view nothing;
    if (output_.empty()) write_to_transport(nothing);
    update_interest();
}

void Stream::set_min_readable(std::size_t bytes) {
    if (bytes == min_readable_) return;
    min_readable_ = bytes;
    update_interest();
}

void Stream::pause_reading(bool is_paused) {
    is_reading_paused_ = is_paused;
    update_interest();
}

void Stream::finish() {
    if (has_ended_ || is_finishing_) return;
    is_finishing_ = true;
    if (is_handshake_done_ && !has_output_failed_ && output_.empty()) close_output();
    update_interest();
}

void Stream::finish(ev::Duration max_wait) {
    finish();
    if (has_ended_) return;
    if (!is_resuming()) timer_.start(max_wait);
    must_end_at_ = loop_.after(max_wait);
}

void Stream::close() {
    std::uint64_t written_before = 0;
    do {
        written_before = bytes_written_;
        if (wants_output()) flush();
    } while (bytes_written_ != written_before);
    finish();
    end_with({Reason::aborted, By::us, "closed"});
    update_interest();
}

void Stream::abort() {
    const linger immediate_reset{1, 0};
    ::setsockopt(transport_->descriptor(), SOL_SOCKET, SO_LINGER, &immediate_reset,
                 sizeof immediate_reset);
    end_with({Reason::aborted, By::us, "aborted"});
    update_interest();
}

// Returns a number that grows with each change that must be reported, except the end. None of
// its terms ever decreases, so changes can't cancel out.
std::uint64_t Stream::change_count() const {
    return traffic() + is_handshake_reported_ + has_input_ended_ + is_output_closed_ +
           is_input_rejected_ + answered_ping();
}

// Flushes output before it reads input, to make space for the owner's answers. Handles a
// hang-up last, because bytes that the peer sent earlier may still be unread. Ignores a hang-up
// until the input has ended, because read() detects the end of the input itself. After that, a
// hang-up means that the peer accepts no more bytes, which is a clean end unless the socket has
// an error.
void Stream::on_events(ev::Events events) {
    const std::uint64_t old_count = change_count();
    if (!is_handshake_done_ && !has_ended_) {
        handshake();
        if (wants_input()) read();  // bytes may have arrived with the handshake
        return notify_of_change(old_count);
    }
    if (wants_output() && (events & write_waits_for_)) flush();
    if (wants_input() && (events & read_waits_for_)) read();
    if (has_input_ended_ && (events & (ev::hangup | ev::error))) {
        const int code = pending_socket_error(transport_->descriptor());
        end_with(code == 0 ? End{Reason::clean, By::us, "closed"}
                           : system_end(Reason::send, "sending failed:", code));
    }
    notify_of_change(old_count);
}

void Stream::handshake() {
    switch (transport_->handshake().status) {
    case IoStatus::done:
        is_handshake_done_ = true;
        has_buffered_input_ = transport_->buffers_input();
        if (!output_.empty() || is_finishing_) flush();
        break;
    case IoStatus::wants_read: handshake_waits_for_ = ev::readable; break;
    case IoStatus::wants_write: handshake_waits_for_ = ev::writable; break;
    default: end_with(transport_->failure());
    }
}

// Streams with an empty input read into a buffer that a thread's streams share, so that an idle
// connection needs no buffer. The owner gets the bytes in that buffer, without a copy; notify()
// then stores the bytes that the owner does not consume.
//
// Only the first end is reported. A failure to read, such as a TLS alert, takes precedence over
// an earlier failure to send, because it explains better why the peer is gone. A failure to
// send ends the stream as soon as nothing more can be read without waiting. The end is clean
// only without any failure.
void Stream::read() {
    static thread_local const std::unique_ptr<char[]> shared_buffer{new char[read_size]};
    char* const space = input_.empty() ? shared_buffer.get() : input_.reserve(read_size);
    const std::size_t held_before = held();
    const IoResult result = transport_->read(space, read_size);
    bytes_read_ += result.count;
    if (result.count > 0 || held() != held_before) ++read_count_;
    if (input_.empty()) {
        shared_input_ = {space, result.count};
    } else {
        input_.commit(result.count);
    }
    has_buffered_input_ = result.status == IoStatus::done && transport_->buffers_input();
    read_waits_for_ = result.status == IoStatus::wants_write ? ev::writable : ev::readable;
    if (result.status == IoStatus::end_of_input) has_input_ended_ = true;
    if (result.status == IoStatus::rejected && !std::exchange(is_input_rejected_, true))
        end_ = transport_->failure();
    if (result.status == IoStatus::failed ||
        (has_output_failed_ && result.status != IoStatus::done))
        end_with(transport_->failure());
    end_if_both_closed();
}

void Stream::flush() {
    std::string_view rest = output_.view();
    write_to_transport(rest);
    output_.consume(output_.size() - rest.size());
    if (!output_.empty() || has_output_failed_) return;
    if (output_.capacity() > max_idle_capacity) output_.release();
    if (is_finishing_) close_output();
}

// Writes what the transport accepts, at most max_write_size bytes, and removes it from `bytes`.
void Stream::write_to_transport(std::string_view& bytes) {
    std::size_t remaining = std::min(bytes.size(), max_write_size);
    while (remaining > 0 || transport_->buffers_output()) {
        const IoResult result = transport_->write(bytes.data(), remaining);
        write_waits_for_ = result.status == IoStatus::wants_read ? ev::readable : ev::writable;
        if (result.status == IoStatus::failed) fail_output();
        if (result.status != IoStatus::done) return;
        bytes.remove_prefix(result.count);
        bytes_written_ += result.count;
        remaining -= result.count;
    }
}

void Stream::close_output() {
    const IoResult result = transport_->close_output();
    write_waits_for_ = result.status == IoStatus::wants_read ? ev::readable : ev::writable;
    if (result.status == IoStatus::failed) fail_output();
    is_output_closed_ = result.status == IoStatus::done;
    end_if_both_closed();
}

// The stream continues to read, unless the peer has closed its side.
void Stream::fail_output() {
    has_output_failed_ = true;
    if (has_input_ended_) end_with(transport_->failure());
}

void Stream::end_if_both_closed() {
    if (has_input_ended_ && is_output_closed_) end_with({Reason::clean, By::us, "closed"});
}

// Does nothing if the stream has already ended. The event in progress notifies the owner, or
// else the timer does.
void Stream::end_with(End end) {
    if (has_ended_) return;
    has_ended_ = true;
    if (!is_input_rejected_) end_ = std::move(end);
    must_end_at_ = ev::Time::max();
    timer_.start(ev::Duration::zero());
}

void Stream::on_timer() {
    if (loop_.now() >= must_end_at_) {
        end_with({Reason::timeout, By::peer, "did not close in time"});
        return notify();
    }
    if (must_end_at_ != ev::Time::max()) timer_.start_at(must_end_at_);
    on_events(read_waits_for_);
}

// Ignores the water marks after a failure to send. Only bytes that the system already holds can
// still arrive, and the owner may consume nothing while it waits for space in the output.
bool Stream::wants_input() const {
    return is_handshake_done_ && !has_ended_ && !has_input_ended_ && !is_reading_paused_ &&
           (!is_above_high_water_ || has_output_failed_);
}

bool Stream::wants_output() const {
    return is_handshake_done_ && !has_ended_ && !has_output_failed_ && !is_output_closed_ &&
           (!output_.empty() || is_finishing_ || transport_->buffers_output());
}

// Decides what the stream waits for. Must be called after each change of state. A stream with
// nothing else to wait for still watches a peer that has closed its side, to notice when the
// peer disappears.
void Stream::update_interest() {
    std::size_t high = limits_.input_high;
    if (min_readable_ > limits_.input_low) high = std::max(high, min_readable_ + read_size);
    const std::size_t low = std::max(limits_.input_low, min_readable_);
    is_above_high_water_ = received().size() > (is_above_high_water_ ? low : high);
    ev::Events wanted = is_handshake_done_ || has_ended_ ? ev::none : handshake_waits_for_;
    if (wants_input()) wanted |= read_waits_for_;
    if (wants_output()) wanted |= write_waits_for_;
    if (!wanted && has_input_ended_ && !has_ended_) wanted = ev::hangup;
    watch_.want(wanted);
    if ((has_buffered_input_ || has_output_failed_) && wants_input() && !is_resuming())
        timer_.start(ev::Duration::zero());
}

// Also reports an end that a call of the owner has caused.
void Stream::notify_of_change(std::uint64_t old_count) {
    is_handshake_reported_ = is_handshake_done_;
    if (has_ended_ || change_count() != old_count) return notify();
    update_interest();
}

void Stream::notify() {
    if (has_ended_) timer_.cancel();  // stream_changed() reports the end
    const Lifetime::Watch life(lifetime_);
    owner_.stream_changed(*this);
    if (life.expired()) return;
    input_.append(shared_input_);
    shared_input_ = {};
    update_interest();
}

}  // namespace bufio
