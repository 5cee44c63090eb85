// The messages of one connection that have no reply yet, and the frames that they go out as: a
// queue in the order of sending.  It knows no socket, reads no clock, and judges no reply.
//
// What goes out of it at once is timed at once: between delimiters several messages may be kept
// as one group, which costs much less than each of them.  A group parts where its messages fare
// differently.
#pragma once

#include "app/framing.hpp"
#include "bufio/buffer.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

namespace yodel {

// Or several that went out together, and came back so.
struct Message {
    std::uint64_t id;          // from 1, in the order of sending; of several, the first one's
    std::size_t count;         // how many
    std::string_view payload;  // to be read before anything more is sent; of several, all of
                               // them, the framing's delimiter between them
    std::string_view frame;    // what was sent; to be read as the payload is
    ev::Time sent;     // when its last byte was handed over; before: when it was flushed
    ev::Time flushed;  // when it was to go out, whether or not the system took it
    bool late;         // its user was told that no reply came in time
    bool voided;       // its round-trip time would be wrong
};

class Outstanding {
public:
    // Those that expect no reply are sent and forgotten.
    Outstanding(const Framing& framing, bool expected, bool together)
        : framing_(framing), expected_(expected), together_(together) {}

    // Queues a message, or several where the framing could not tell it from several.
    void queue(std::string_view payload);
    // Where a message is its frame, the same without a copy: room for it, and what was put
    // there.
    char* reserve(std::size_t size) { return frames_.reserve(size); }
    void queue_reserved(std::size_t size);
    // An id for a message that is not even queued.
    std::uint64_t skip() { return ++last_id_; }
    std::uint64_t last_id() const { return last_id_; }
    bool flushed() const { return flushed_ == queued(); }
    // What was queued since the last time, to be written now.
    std::string_view flush(ev::Time now);
    // So many bytes of this connection the system has taken by that time.
    void stamp(std::uint64_t written, ev::Time time);
    void void_round_trips();

    // Messages; the late ones are the oldest.
    std::size_t count() const { return count_; }
    std::size_t late() const { return late_; }
    std::size_t awaited() const { return count_ - late_; }
    std::size_t awaited_bytes() const { return between(begin(late_), queued()).size(); }
    ev::Time awaited_since() const { return groups_[late_].sent; }  // the oldest of these
    bool all_sent() const { return unstamped_ == 0; }               // whole
    // All can go out again: none was handed over whole, or told to be late.
    bool none_sent() const { return groups_.size() == unstamped_ && late_ == 0; }

    // The frames of these, and those queued behind them.
    std::string_view frames() const { return frames_.view().substr(taken_); }
    std::string_view oldest_payload() const { return payload(0); }
    // The place, from 0, of the oldest message with that payload.
    std::optional<std::size_t> find(std::string_view payload);

    // Takes the oldest message. Its payload stays until the next is taken or it is forgotten.
    Message take();
    // Whether the oldest lies within so many bytes of frames(); take_group() then takes it, and
    // with it those that went out together with it and do so too.
    bool any_within(std::size_t bytes) { return count_ > 0 && ends_by(0, begin(0) + bytes); }
    Message take_group();
    std::size_t taken_bytes() const { return taken_; }  // of the frames taken last
    bool taken_last(std::string_view payload) const;    // the message taken last has that one
    void forget_taken();
    void forget_taken_but_last();

    Message mark_late();  // the oldest that is not late

    // What is left goes out over another connection.
    void count_anew();

private:
    // A message, or several that went out together.
    struct Group {
        std::uint64_t end = 0;  // the connection's count of bytes once all of it has gone
        std::size_t count = 1;  // messages
        std::uint64_t id = 0;   // of the first
        ev::Time sent{};        // as in Message
        ev::Time flushed{};
        bool late = false;
        bool voided = false;
    };

    void note_queued(std::uint64_t end, std::size_t count = 1);
    std::uint64_t queued() const { return base_ + frames_.size(); }
    std::uint64_t begin(std::size_t i) const;
    std::string_view between(std::uint64_t begin, std::uint64_t end) const;
    std::string_view frame(std::size_t i) const { return between(begin(i), groups_[i].end); }
    std::string_view payload(std::size_t i) const { return framing_.payload(frame(i)); }
    Message message(std::size_t i) const;
    bool ends_by(std::size_t i, std::uint64_t end);
    void part(std::size_t i);
    void forget(std::size_t bytes);

    const Framing& framing_;
    bool expected_;
    bool together_;
    std::uint64_t last_id_ = 0;
    // Frames, in the order of sending: those taken last, of `taken_` bytes; those outstanding;
    // at their end those that go out with the next flush.
    bufio::Buffer frames_;
    std::size_t taken_ = 0;
    std::uint64_t base_ = 0;     // bytes of this connection before these
    std::uint64_t flushed_ = 0;  // bytes of this connection that were flushed
    std::deque<Group> groups_;   // each late message is a group of its own
    std::size_t count_ = 0;      // messages in these
    std::size_t late_ = 0;
    std::size_t unstamped_ = 0;  // groups, at the end, not yet handed over whole
};

}  // namespace yodel
