#include "bufio/stream.hpp"

#include "bufio/address.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cassert>

namespace bufio {

namespace {

// Bytes read at once. Larger is no faster, and smaller costs: half of it a tenth, a quarter of
// it half again as much time per byte.
constexpr std::size_t chunk = 64 * 1024;

// Bytes written at once: a peer that is fast enough would otherwise take all that is pending in
// one turn of the loop.
constexpr std::size_t most_pushed = 1024 * 1024;

// An idle connection keeps no memory larger than this many bytes.
constexpr std::size_t keep = 1024;

// All streams of a thread read into this one, so that an idle connection owns no buffer.
char* shared_room() {
    static thread_local std::array<char, chunk> room;
    return room.data();
}

}  // namespace

// Whether the stream outlives a call to its user, who may also throw.
class Stream::Alive {
public:
    explicit Alive(bool*& word) : word_(word) { word_ = &destroyed_; }
    ~Alive() {
        if (!destroyed_) word_ = nullptr;
    }
    Alive(const Alive&) = delete;
    Alive& operator=(const Alive&) = delete;
    explicit operator bool() const { return !destroyed_; }

private:
    bool*& word_;
    bool destroyed_ = false;
};

Stream::Stream(ev::Loop& loop, std::unique_ptr<Transport> transport, User& user, Limits limits)
    : transport_(std::move(transport)),
      user_(user),
      limits_(limits),
      output_(limits.output),
      watch_(loop, transport_->descriptor(), ev::none, [this](ev::Events e) { on_events(e); }),
      again_(loop, [this] { on_again(); }),
      deadline_(loop, [this] {
          end_with({Reason::timeout, "the peer has not closed in time"});
          notify();
      }) {
    handshake();
    update();
}

Stream::~Stream() {
    if (destroyed_) *destroyed_ = true;
}

std::string_view Stream::received() const { return fresh_.empty() ? input_.view() : fresh_; }

void Stream::consume(std::size_t count) {
    assert(count <= received().size());
    if (!fresh_.empty()) return fresh_.remove_prefix(count);
    input_.consume(count);
    if (input_.empty() && input_.capacity() > keep) input_.release();
    update();
}

bool Stream::write(std::string_view bytes) {
    if (end_ || finishing_ || bytes.size() > output_.limit() - output_.size()) return false;
    if (ready_ && !broken_ && output_.empty()) push(bytes);
    output_.append(bytes);
    update();
    return true;
}

void Stream::set_min_readable(std::size_t bytes) {
    if (bytes == needed_) return;
    needed_ = bytes;
    update();
}

void Stream::pause_reading(bool paused) {
    reading_paused_ = paused;
    update();
}

void Stream::finish() {
    if (end_ || finishing_) return;
    finishing_ = true;
    if (ready_ && !broken_ && output_.empty()) close_output();
    update();
}

void Stream::finish(ev::Duration deadline) {
    finish();
    if (!end_) deadline_.start(deadline);
}

void Stream::close() {
    std::uint64_t before = 0;
    do {
        before = bytes_written_;
        if (wants_output()) flush();
    } while (bytes_written_ != before);
    finish();
    end_with({Reason::aborted, "closed"});
    update();
}

void Stream::abort() {
    const linger at_once{1, 0};
    ::setsockopt(transport_->descriptor(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    end_with({Reason::aborted, "aborted"});
    update();
}

Stream::News Stream::news() const {
    return {bytes_read_,  bytes_written_, ready_,
            input_ended_, output_closed_, static_cast<bool>(end_)};
}

void Stream::on_events(ev::Events events) {
    const News before = news();
    if (!ready_) {
        handshake();
    } else {
        if (wants_output() && (events & write_waits_)) flush();
        if (wants_input() && (events & read_waits_)) read();
        if (input_ended_ && (events & (ev::hangup | ev::error))) end_with(gone());
    }
    notify_of_change(before);
}

void Stream::on_again() {
    const News before = news();
    if (wants_input()) read();
    notify_of_change(before);
}

void Stream::handshake() {
    switch (transport_->handshake().status) {
    case IoStatus::done:
        ready_ = true;
        unseen_ = transport_->buffers_input();
        if (!output_.empty() || finishing_) flush();
        break;
    case IoStatus::wants_read: handshake_waits_ = ev::readable; break;
    case IoStatus::wants_write: handshake_waits_ = ev::writable; break;
    case IoStatus::end_of_input:
    case IoStatus::failed: end_with(transport_->failure()); break;
    }
}

// Input that nobody has left over is handed to the user where it was read; the rest is kept.
void Stream::read() {
    char* const room = input_.empty() ? shared_room() : input_.reserve(chunk);
    const IoResult last = transport_->read(room, chunk);
    bytes_read_ += last.count;
    if (input_.empty()) {
        fresh_ = {room, last.count};
    } else {
        input_.commit(last.count);
    }
    unseen_ = last.status == IoStatus::done && transport_->buffers_input();
    read_waits_ = last.status == IoStatus::wants_write ? ev::writable : ev::readable;
    if (last.status == IoStatus::end_of_input) input_ended_ = true;
    if (last.status == IoStatus::failed) end_with(transport_->failure());
    if (broken_ && last.status != IoStatus::done) end_with(broken_);
    end_if_both_closed();
}

void Stream::flush() {
    std::string_view rest = output_.view();
    push(rest);
    output_.consume(output_.size() - rest.size());
    if (!output_.empty() || broken_) return;
    if (output_.capacity() > keep) output_.release();
    if (finishing_) close_output();
}

// Writes what the system takes, but no more than one turn may, and leaves the rest in `bytes`.
void Stream::push(std::string_view& bytes) {
    for (std::size_t left = std::min(bytes.size(), most_pushed); left > 0;) {
        const IoResult result = transport_->write(bytes.data(), left);
        write_waits_ = result.status == IoStatus::wants_read ? ev::readable : ev::writable;
        if (result.status == IoStatus::failed) fail_output();
        if (result.status != IoStatus::done) return;
        bytes.remove_prefix(result.count);
        bytes_written_ += result.count;
        left -= result.count;
    }
}

void Stream::close_output() {
    const IoResult result = transport_->close_output();
    write_waits_ = result.status == IoStatus::wants_read ? ev::readable : ev::writable;
    if (result.status == IoStatus::failed) fail_output();
    output_closed_ = result.status == IoStatus::done;
    end_if_both_closed();
}

void Stream::fail_output() {
    broken_ = transport_->failure();
    if (input_ended_) end_with(broken_);
}

void Stream::end_if_both_closed() {
    if (input_ended_ && output_closed_) end_with({Reason::clean, "closed"});
}

void Stream::end_with(End end) {
    if (end_) return;
    end_ = std::move(end);
    deadline_.cancel();
    again_.start(ev::Duration::zero());  // unless the user is told earlier
}

// The peer, who had said before that it sends no more, takes nothing more either.
End Stream::gone() const {
    const int code = pending_socket_error(transport_->descriptor());
    return code == 0 ? End{Reason::clean, "closed"} : system_end(Reason::send, "sending", code);
}

// The last words of a peer that takes nothing more are no more than the system holds already,
// and the user may wait for room to send before it consumes: the marks don't count then.
bool Stream::wants_input() const {
    return ready_ && !end_ && !input_ended_ && !reading_paused_ && (!full_ || broken_);
}

bool Stream::wants_output() const {
    return ready_ && !end_ && !broken_ && (!output_.empty() || (finishing_ && !output_closed_));
}

std::size_t Stream::low_mark() const { return std::max(limits_.input_low, needed_); }

std::size_t Stream::high_mark() const {
    if (needed_ <= limits_.input_low) return limits_.input_high;
    return std::max(limits_.input_high, needed_ + chunk);
}

// The one place that decides what is waited for; called after every change of state.
void Stream::update() {
    const std::size_t waiting = received().size();
    full_ = waiting > (full_ ? low_mark() : high_mark());
    ev::Events events = ev::none;
    if (!ready_ && !end_) events |= handshake_waits_;
    if (wants_input()) events |= read_waits_;
    if (wants_output()) events |= write_waits_;
    const bool half_open = ready_ && !end_ && input_ended_;  // the peer may go altogether
    watch_.want(events == ev::none && half_open ? ev::hangup : events);
    if ((unseen_ || broken_) && wants_input() && !again_.pending())
        again_.start(ev::Duration::zero());
}

// An end that came of a call by the user is told though nothing has changed since.
void Stream::notify_of_change(const News& before) {
    if (end_ || news() != before) return notify();
    update();
}

void Stream::notify() {
    if (end_) again_.cancel();  // it is told now
    const Alive alive(destroyed_);
    user_.stream_changed(*this);
    if (!alive) return;
    input_.append(fresh_);
    fresh_ = {};
    update();
}

}  // namespace bufio
