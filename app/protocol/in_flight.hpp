// Queues the messages of one connection that are in flight or late, and their frames, in the
// order of sending. It uses no socket and no clock, and does not judge replies.
//
// If the framing has delimiters, messages that are queued together may share one entry, which
// costs much less than one entry each. An entry is split when only some of its messages are
// written, answered, or late.
#pragma once

#include "app/protocol/contiguous_queue.hpp"
#include "app/protocol/event.hpp"
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

// Messages that were sent together and correctly echoed together.
struct Batch {
    // The first message, except that its payload extends to the end of the last message. The
    // ids are consecutive.
    Message first;
    std::size_t count = 0;
    std::string_view frames = {};  // as sent; valid until the queue changes
};

// The consecutive ids of the messages that a call has queued. A count of 0 means none.
struct QueuedIds {
    std::uint64_t first = 0;
    std::size_t count = 0;
    explicit operator bool() const { return count > 0; }
};

class InFlight {
public:
    struct Options {
        bool expected = true;   // replies are expected; if not, sent messages are not stored
        bool coalesce = false;  // messages queued together become one entry
        // Each message is queued with its expected reply. Otherwise the message itself is the
        // expected reply. Excludes `coalesce`.
        bool given = false;
        // Maximum memory of late messages, which are stored to match late replies. The oldest
        // are evicted first.
        std::uint32_t max_late_bytes = 1024 * 1024;
        const Expression* mask = nullptr;  // find() ignores the parts of replies that match
    };
    InFlight(const Framing& framing, Options options) : framing_(&framing), options_(options) {}

    // Queues a message, or several if for_each_piece() cuts the payload. `planned` defaults to
    // the time of the flush. `reply`: the expected reply, or nullopt if none is expected;
    // ignored without the option `given`.
    QueuedIds queue(std::string_view payload, ev::Time planned = {},
                    std::optional<std::string_view> reply = {});
    // Queue a message without copying it; only if a frame is just the payload. reserve()
    // returns space for a message, and queue_reserved() queues its first `size` bytes.
    char* reserve(std::size_t size) { return frames_.reserve(size); }
    QueuedIds queue_reserved(std::size_t size) {
        frames_.commit(size);
        return record_queued(1, {});
    }
    // Returns an id for a message that is not queued.
    std::uint64_t reserve_id() { return ++last_id_; }
    std::uint64_t last_id() const { return last_id_; }
    std::uint64_t total() const { return total_; }  // messages queued so far

    bool flushed() const { return flushed_offset_ == queued_offset(); }
    // Returns the frames queued since the last call, to be written now.
    std::string_view flush(ev::Time now);
    // Records at `time` that the first `bytes` bytes of the connection have been written.
    void record_written(std::uint64_t bytes, ev::Time time);
    void void_round_trips();

    // Return message counts. Late messages are the oldest; all others are in flight.
    std::size_t count() const { return message_count_; }
    std::size_t late() const { return late_count_; }
    std::size_t in_flight() const { return message_count_ - late_count_; }
    std::size_t in_flight_bytes() const {
        return between(begin(late_count_), queued_offset()).size();
    }
    // Returns when the oldest message in flight was sent. There must be one.
    ev::Time oldest_sent_at() const { return entries_[late_count_].sent; }
    // Returns the number of messages that are fully written or late, and so cannot be sent
    // again.
    std::size_t written() const;
    bool all_written() const { return unwritten_entries_ == 0; }
    // Returns true if a late message was evicted on this connection.
    bool late_evicted() const { return late_evicted_; }
    // Counts a reply that equals no message as the reply to an evicted message, and returns
    // true. Returns false if no evicted message can still be answered. Replies come in order,
    // so none can be answered once a later message was removed.
    bool match_evicted();
    // Returns the id of the oldest message, late or not; 0 if there is none.
    std::uint64_t oldest_id() const { return entries_.empty() ? 0 : entries_.front().first; }
    // Returns the oldest message, valid until the queue changes. There must be one.
    Message oldest() {
        split_first(0);
        return message(0);
    }
    // Returns the frames of all messages, oldest first.
    std::string_view frames() const { return frames_.view().substr(answered_bytes_); }
    // Returns the number of messages before the oldest message that expects this reply; none if
    // no message expects it. Takes logarithmic time, plus the time to index each message once.
    std::optional<std::size_t> find(std::string_view reply);

    // Removes the oldest message. Its bytes stay in memory until the next one is removed, or
    // until a release function frees them.
    Message remove_oldest();
    // Splits the first entry after the messages that lie entirely in the first `bytes` bytes of
    // frames(). Returns true if there is such a message; remove_within() then removes them all.
    bool split_within(std::size_t bytes) {
        return message_count_ > 0 && split(0, begin(0) + bytes);
    }
    Batch remove_within();
    // Returns true if the message removed last has this payload.
    bool equals_last_removed(std::string_view payload) const;
    // Frees the memory of the removed messages.
    void release_removed() { release(message_count_ == 0 ? frames_.size() : answered_bytes_); }
    // Frees the memory of the removed messages if the queue is empty, unless the memory is
    // small enough to retain for equals_last_removed().
    void release_idle();
    // Frees the memory of a removed batch except its last message.
    void release_all_but_last();

    Message mark_oldest_late();  // marks the oldest message in flight

    // Prepares the remaining messages for the next connection.
    void rebase();

private:
    // One message, or several that were queued together.
    struct Entry {
        std::uint64_t end = 0;    // offset of its end in the bytes of the connection
        std::size_t count = 1;    // messages
        std::uint64_t first = 0;  // id of the first message
        ev::Time planned{};
        ev::Time sent{};
        bool late = false;
        bool untimed = false;
    };
    struct Index {
        std::set<std::pair<std::size_t, std::uint64_t>> ids;  // hash of the expected reply, id
        std::uint64_t last = 0;                               // last id in the index
    };

    QueuedIds record_queued(std::size_t count, ev::Time planned);
    std::uint64_t queued_offset() const { return base_offset_ + frames_.size(); }
    std::uint64_t begin(std::size_t i) const;
    std::string_view between(std::uint64_t begin, std::uint64_t end) const;
    std::string_view frame(std::size_t i) const { return between(begin(i), entries_[i].end); }
    std::string_view payload(std::size_t i) const { return framing_->payload(frame(i)); }
    std::optional<std::string_view> expected(std::size_t i) const;
    Message message(std::size_t i) const;
    bool split(std::size_t i, std::uint64_t end);
    void split_first(std::size_t i);
    void split_all_from(std::size_t place);
    std::size_t entry_of(std::uint64_t id) const;
    void index_new_messages();
    void drop_index();
    void release(std::size_t bytes);

    const Framing* framing_;
    const Options options_;
    std::uint64_t last_id_ = 0;
    std::uint64_t total_ = 0;
    // Frames in the order of sending. The first `answered_bytes_` bytes belong to the messages
    // removed last. Frames for the next flush are at the end.
    bufio::Buffer frames_;
    std::size_t answered_bytes_ = 0;
    std::uint64_t base_offset_ = 0;     // offset of frames_ in the bytes of the connection
    std::uint64_t flushed_offset_ = 0;  // bytes of the connection that were flushed
    ContiguousQueue<Entry> entries_;    // a late message is an entry of its own
    ContiguousQueue<std::optional<std::string>> replies_;  // with `given`, one for each entry
    std::optional<std::string> removed_reply_;  // expected by the message removed last
    std::size_t message_count_ = 0;             // messages in entries_
    std::size_t late_count_ = 0;
    std::size_t unwritten_entries_ = 0;  // entries at the end that are not fully written
    bool late_evicted_ = false;
    std::uint64_t evicted_count_ = 0;  // evicted messages whose replies may still come
    std::unique_ptr<Index> index_;     // created by the first find(), emptied with the queue
};

}  // namespace yodel
