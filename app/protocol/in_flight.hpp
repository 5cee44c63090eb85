// The messages of one connection that are in flight, and the frames that carry them: a queue in
// the order of sending.  It knows no socket, reads no clock, and judges no reply.
//
// Messages that are queued together may share one entry if the framing has delimiters, which
// costs much less than an entry for each. An entry is split when only some of its messages are
// written, answered, or late.
#pragma once

#include "app/protocol/contiguous_queue.hpp"
#include "app/protocol/framing.hpp"
#include "app/text/expression.hpp"
#include "bufio/buffer.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace yodel {

struct Message {
    std::uint64_t id = 0;      // from 1, in the order of sending
    std::string_view payload;  // valid until the queue is changed again
    ev::Time planned{};        // when it was due
    ev::Time sent{};           // when the system took its last byte; until then, when flushed
    bool late = false;         // reported as lost: no reply came in time
    bool untimed = false;      // its round-trip time would be wrong
    bool resent = false;       // see Session::Options::mark_resent
    // With Expect::given: the expected reply, valid as long as the payload; none: no reply is
    // expected.
    std::optional<std::string_view> expected = {};
};

// Messages that were sent together and echoed together, undamaged.
struct Batch {
    // The first message, except that its payload extends to the end of the last one. The ids
    // are consecutive.
    Message first;
    std::size_t count = 0;
    std::string_view frames = {};  // as sent; valid until the queue is changed again
};

// The ids that a call to send has assigned; none if nothing was sent.
struct Queued {
    std::uint64_t first = 0;
    std::size_t count = 0;
    explicit operator bool() const { return count > 0; }
};

class InFlight {
public:
    struct Options {
        bool expected = true;   // replies are expected; else messages are forgotten once sent
        bool coalesce = false;  // messages queued together become one entry
        // The expected reply is queued with each message; otherwise it is the message itself.
        // Excludes `coalesce`.
        bool given = false;
        // Upper limit for the memory of late messages, which are kept to match late replies.
        // The oldest are dropped first.
        std::uint32_t late_bytes = 1024 * 1024;
        const Expression* mask = nullptr;  // find() ignores the parts of replies that match
    };
    InFlight(const Framing& framing, Options options) : framing_(framing), options_(options) {}

    // Queues a message, or several if the framing could not distinguish it from several.
    // Without a planned time, the time of the flush counts. `reply`: with the option `given`
    // the expected reply; none: no reply is expected.
    Queued queue(std::string_view payload, ev::Time planned = {},
                 std::optional<std::string_view> reply = {});
    // The same without a copy, if a message is its own frame: returns space for it, from which
    // queue_reserved() then takes the first `size` bytes.
    char* reserve(std::size_t size) { return frames_.reserve(size); }
    Queued queue_reserved(std::size_t size) {
        frames_.commit(size);
        return record_queued(1, {});
    }
    // Returns an id for a message that is not queued.
    std::uint64_t reserve_id() { return ++last_id_; }
    std::uint64_t last_id() const { return last_id_; }
    std::uint64_t total() const { return total_; }  // messages queued so far

    bool flushed() const { return flushed_ == queued(); }
    // Returns the frames queued since the last call, to be written now.
    std::string_view flush(ev::Time now);
    // Records that by `time` the system has taken this number of bytes of the connection.
    void record_written(std::uint64_t bytes, ev::Time time);
    void void_round_trips();

    // Numbers of messages. The late ones are the oldest; the others are in flight.
    std::size_t count() const { return count_; }
    std::size_t late() const { return late_; }
    std::size_t in_flight() const { return count_ - late_; }
    std::size_t in_flight_bytes() const { return between(begin(late_), queued()).size(); }
    // When the oldest message in flight was sent; there must be one.
    ev::Time oldest_sent() const { return entries_[late_].sent; }
    // Number of messages that can't be sent again: the system has taken them whole, or they
    // are late.
    std::size_t written() const;
    bool all_written() const { return unwritten_ == 0; }
    // True once late messages were dropped on this connection.
    bool forgot_late() const { return forgot_late_; }
    // Returns true if a reply that equals no message may answer a dropped one, and counts it.
    // Returns false once a later message is removed, because replies come in order.
    bool take_forgotten();
    // The id of the oldest message, late or not; 0: there is none.
    std::uint64_t oldest_id() const { return entries_.empty() ? 0 : entries_.front().first; }
    // Returns the oldest message; there must be one. It is valid until the queue is changed.
    Message oldest() {
        split_first(0);
        return message(0);
    }
    // True if one of the first `count` messages, or the message removed last, may be echoed by
    // a frame that begins like this.
    bool may_echo(std::string_view fragment, std::size_t count);

    // The frames of all messages, oldest first.
    std::string_view frames() const { return frames_.view().substr(answered_); }
    // Returns the number of messages before the oldest message that expects this reply. Takes
    // logarithmic time, after the first call has indexed all messages.
    std::optional<std::size_t> find(std::string_view reply);

    // Removes the oldest message, which stays readable until the next one is removed.
    Message remove_oldest();
    // Splits the entry of the oldest message after the messages that lie entirely in the first
    // `bytes` bytes of frames(). Returns true if there is one; remove_within() then removes
    // these messages.
    bool split_within(std::size_t bytes) { return count_ > 0 && split(0, begin(0) + bytes); }
    Batch remove_within();
    // True if the message removed last has that payload.
    bool removed_last(std::string_view payload) const;
    // Frees the memory of the removed messages.
    void release_removed() { release(count_ == 0 ? frames_.size() : answered_); }
    // The same if nothing is in flight, but a small message stays for removed_last().
    void release_idle();
    // Frees the memory of a removed batch but for its last message.
    void release_all_but_last();

    Message mark_late();  // the oldest that is in flight

    // Prepares the messages that are left for another connection.
    void rebase();

private:
    // A message, or several that were queued together.
    struct Entry {
        std::uint64_t end = 0;    // end of its frames, in bytes of the connection
        std::size_t count = 1;    // messages
        std::uint64_t first = 0;  // id of the first
        ev::Time planned{};
        ev::Time sent{};
        bool late = false;
        bool untimed = false;
    };
    struct Index {
        std::set<std::pair<std::size_t, std::uint64_t>> ids;  // by the hash of the payload
        std::uint64_t last = 0;                               // last id in the index
    };

    Queued record_queued(std::size_t count, ev::Time planned);
    std::uint64_t queued() const { return base_ + frames_.size(); }
    std::uint64_t begin(std::size_t i) const;
    std::string_view between(std::uint64_t begin, std::uint64_t end) const;
    std::string_view frame(std::size_t i) const { return between(begin(i), entries_[i].end); }
    std::string_view payload(std::size_t i) const { return framing_.payload(frame(i)); }
    std::optional<std::string_view> expected(std::size_t i) const;
    Message message(std::size_t i) const;
    bool split(std::size_t i, std::uint64_t end);
    void split_first(std::size_t i);
    void split_all_from(std::size_t place);
    std::size_t entry_of(std::uint64_t id) const;
    void index_new_messages();
    void drop_index();
    void release(std::size_t bytes);

    const Framing& framing_;
    Options options_;
    std::uint64_t last_id_ = 0;
    std::uint64_t total_ = 0;
    // Frames in the order of sending: `answered_` bytes of the messages removed last, then the
    // messages in flight, and at the end the frames for the next flush.
    bufio::Buffer frames_;
    std::size_t answered_ = 0;
    std::uint64_t base_ = 0;          // bytes of this connection before frames_
    std::uint64_t flushed_ = 0;       // bytes of this connection that were flushed
    ContiguousQueue<Entry> entries_;  // a late message is an entry of its own
    ContiguousQueue<std::optional<std::string>> replies_;  // with `given`: one for each entry
    std::optional<std::string> removed_reply_;  // expected by the message removed last
    std::size_t count_ = 0;                     // messages in entries_
    std::size_t late_ = 0;
    std::size_t unwritten_ = 0;  // entries at the end that are not fully written
    bool forgot_late_ = false;
    std::uint64_t forgotten_ = 0;   // dropped late messages whose replies may still come
    std::unique_ptr<Index> index_;  // made by the first find(), emptied with the queue
};

}  // namespace yodel
