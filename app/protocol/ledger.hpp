// Stores the in-flight and the late messages of a connection, and decides which reply answers
// which message. It uses no socket and no loop, and times are arguments, so that its tests
// are tables of strings.
//
// A reply answers the message that it is right for: with Expect::echo the message that it
// equals, with Expect::given the message with this given reply, and with Expect::any the oldest
// message in flight or, if there is none, the oldest late message. With Expect::none every
// reply is unsolicited. Without frames, a reply is as long as the expected reply; with
// Expect::any it consists of all bytes that have arrived.
//
// In a stream, a reply that is right for no message, but may answer one, is held. When a right
// reply to a later message arrives, the earlier messages get the held replies in order, as bad
// replies. Messages without a held reply are lost, and held replies without a message are
// unsolicited. The same happens once each message in flight has a held reply, when time runs
// out, and when the connection ends. Events keep the order of the replies. A reply never
// answers a message that was queued after the reply was read.
//
// The order of datagrams proves nothing, because the network loses, duplicates and reorders
// them. A reply that is right for no message is a duplicate if it equals an earlier answer.
// Otherwise it is a bad reply to the message with its number if the two differ in only one
// byte, or else to a message in flight that expects a reply of the same length. If several
// messages expect this length, the reply is held until each of these messages has its own reply
// or a held reply, or until time runs out. If no message does, the reply is unsolicited.
//
// A late message was reported as lost, because its reply timeout has passed. It is remembered,
// up to a limit, in case a reply still arrives. A reply that may answer a forgotten message
// is unsolicited, because the two cannot be compared.
//
// The caller pulls events. Their views are valid until the next call:
//
//     while (auto event = ledger.next(received, read_at)) ...
#pragma once

#include "app/protocol/event.hpp"
#include "app/protocol/framing.hpp"
#include "app/protocol/session_options.hpp"
#include "bufio/buffer.hpp"
#include "bufio/transport.hpp"
#include "ev/time.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// The consecutive ids of the messages that a call has queued. A count of 0 means none.
struct QueuedIds {
    std::uint64_t first = 0;
    std::size_t count = 0;
    explicit operator bool() const { return count > 0; }
};

struct LedgerLimits {
    std::size_t held_bytes = 1024 * 1024;  // memory of the held replies
    // Maximum number of late messages, and of answers by which duplicate datagrams are
    // recognized.
    std::size_t remembered = 16384;
    std::size_t late_bytes = 1024 * 1024;
};

class Ledger {
public:
    // The options must outlive the ledger.
    explicit Ledger(const SessionOptions& options, const LedgerLimits& limits = {});

    // Sending.

    // Queues a message, or several if for_each_piece() cuts the payload. `planned_at` defaults
    // to the time of the flush. With Expect::given, `reply` is the expected reply, or none if
    // no reply is expected.
    QueuedIds queue(std::string_view payload, ev::Time planned_at = {},
                    std::optional<std::string_view> reply = {});
    // Queue a message without a copy, which requires that a frame is just the payload.
    // reserve() returns space for a message, and queue_reserved() queues its first `size`
    // bytes.
    char* reserve(std::size_t size) { return frames_.reserve(size); }
    QueuedIds queue_reserved(std::size_t size);
    std::uint64_t reserve_id() { return ++last_id_; }  // for a message that is not queued
    bool is_flushed() const { return flushed_ == queued(); }
    // Returns the frames queued since the last call, to be written now.
    std::string_view flush(ev::Time now);
    // Records that the first `bytes` bytes of the connection's frames have been written by
    // `written_at`, and frees memory that is not needed now.
    void record_written(std::uint64_t bytes, ev::Time written_at);
    void void_round_trips() { untimed_id_ = last_id_; }  // of the messages queued so far

    // Receiving.

    // Returns true if messages need not wait for a greeting, or one has arrived. Call it before
    // the connection sends its first message, so that earlier bytes answer nothing.
    bool may_send(std::string_view received);
    // Returns the next event of the received bytes, and removes the processed bytes from their
    // front. Returns none if more bytes are needed. `received` must contain all bytes not yet
    // removed. If it contains more than the last call left, the new bytes may answer any
    // message queued so far.
    std::optional<Event> next(std::string_view& received, ev::Time read_at);
    std::optional<Event> next_resolved();  // the next event that earlier calls have caused
    // Returns why the connection can no longer be decoded, or an empty end if it can.
    const bufio::End& refusal() const { return refusal_; }
    // In a stream, matches the held replies with messages now, beginning with late messages.
    void resolve_held() { settle(entries_.size(), false); }
    // Reports the oldest message in flight as lost, and remembers it as late, unless it expects
    // no reply and no message is late. If a held datagram may answer this message, reports a
    // bad reply instead. There must be a message in flight, and next_resolved() must have
    // returned none.
    Event expire_oldest();
    // Matches the held replies, and counts the other messages as lost, because the connection
    // has ended. With `keeps_unwritten`, messages in a stream that are not fully written stay
    // queued for the next connection.
    void lose(bool keeps_unwritten);
    // Prepares for the next connection, which sends the remaining messages.
    void restart();

    // Returns true while the first reply of the connection may be a greeting. Only another
    // reply can distinguish a greeting from a bad reply.
    bool has_possible_greeting() const;
    // From now on, takes no reply of this connection for a greeting, and matches the held
    // replies.
    void rule_out_greeting();
    bool has_echoed() const { return has_echoed_; }  // on this connection

    std::uint64_t last_id() const { return last_id_; }
    // Includes late messages. Returns 0 if there is no message.
    std::uint64_t oldest_id() const { return empty() ? 0 : entries_[first_].id; }
    std::size_t in_flight() const { return in_flight_.count; }        // messages, not late
    std::size_t in_flight_bytes() const { return in_flight_.bytes; }  // of their frames
    // There must be a message in flight.
    ev::Time oldest_sent_at() const { return entries_[oldest_].sent_at; }
    // If true, the next connection could still send a queued message.
    bool has_unwritten() const { return !uses_datagrams() && !all_written(); }
    ev::Duration max_round_trip() const { return max_round_trip_; }

private:
    // A message, or several that were queued together, because one entry costs much less than
    // several. Positions count the bytes of all frames.
    struct Entry {
        std::uint64_t id = 0;  // of the first message
        // Datagrams only: the payload's number or, if messages have no numbers, the hash of the
        // expected reply.
        std::uint64_t key = 0;
        ev::Time planned_at{};
        ev::Time sent_at{};
        std::uint64_t begin = 0;  // position of its frames
        std::size_t size = 0;     // bytes of its frames
        std::size_t count = 1;    // messages
        bool is_removed = false;  // removed, perhaps before an older datagram
        // The expected reply. Null if it is the message itself, or if none is expected.
        std::unique_ptr<const std::string> reply = {};

        std::uint64_t end() const { return begin + size; }
    };
    struct Held {
        std::string payload;
        ev::Time read_at{};
        std::uint64_t last_id = 0;  // last_id_ at read_at
        // `bad` if the reply may answer a message; otherwise the fate of an unsolicited message
        Fate fate = Fate::bad;
        // With datagrams only:
        std::size_t size = 0;  // see comparable_size()
        // Messages that the reply may answer, minus the held replies of its size up to this
        // one. At 0, next_resolved() answers a message with the reply.
        std::size_t spare = 0;
        std::uint64_t highest_answered_id = 0;  // highest_answered_id_ at read_at
    };
    struct Sum {
        std::size_t count = 0;
        std::size_t bytes = 0;
    };

    bool uses_datagrams() const { return framing_.uses_datagrams; }
    bool expects_given() const { return options_.expect == Expect::given; }
    // A stream keeps the order of replies, so only datagrams need numbers.
    bool has_numbers() const { return options_.has_numbers && uses_datagrams(); }

    std::uint64_t queued() const { return base_ + frames_.size(); }  // end of frames_
    bool empty() const { return first_ == entries_.size(); }
    bool all_written() const { return empty() || entries_.back().end() <= written_; }
    void record_queued(std::size_t size, std::size_t count, ev::Time planned_at,
                       std::optional<std::string_view> reply);

    std::string_view frame(const Entry& entry) const;
    std::string_view payload(const Entry& entry) const {
        return framing_.payload(frame(entry));
    }
    std::optional<std::string_view> expected(const Entry& entry) const;
    Message message(const Entry& entry, bool is_late) const;
    bool split(std::size_t i, std::size_t bytes);
    void split_first(std::size_t i);
    std::size_t skip_removed(std::size_t i) const;
    const Entry& take(std::size_t i);
    void release();
    void drop_removed();

    // A reply answers only messages that were queued before the reply was read.
    bool is_awaited(std::size_t i) const {
        return i < entries_.size() && entries_[i].id <= read_id_;
    }
    std::optional<std::size_t> find(std::string_view reply);
    std::optional<std::size_t> find_in_batch(std::size_t i, std::string_view reply);
    std::optional<std::size_t> find_number(std::optional<std::uint64_t> number);
    std::size_t comparable_size(std::string_view reply) const;
    bool fits(const Entry& entry, std::size_t size, std::uint64_t read_id) const;

    std::optional<Event> next_framed(std::string_view& received, ev::Time read_at);
    std::optional<Event> next_echoed(std::string_view& received, ev::Time read_at);
    std::optional<Event> next_unframed(std::string_view& received, ev::Time read_at);
    std::optional<Event> match(std::string_view reply, ev::Time read_at);
    std::optional<Event> match_datagram(std::string_view reply, ev::Time read_at);
    Event answer(std::size_t i, std::string_view reply, ev::Time read_at, bool is_right);
    std::size_t hash_of(std::string_view reply) const;
    void remember_answer(std::string_view reply);
    bool equals_last_removed(std::string_view reply) const {
        return keeps_last_ && payload(taken_) == reply;
    }
    Event unsolicited(std::string_view reply) const;

    void settle(std::size_t end, bool loses_others);
    std::size_t answerable_count(std::size_t end) const;
    void settle_if_decided();
    std::optional<Event> answer_by_held(std::size_t i);
    void take_held(std::list<Held>::iterator held);

    const SessionOptions& options_;
    const Framing& framing_ = *options_.framing;
    const LedgerLimits limits_;
    Decoder decoder_;
    std::uint64_t last_id_ = 0;

    // From first_ on: late messages, then those in flight, each in the order of sending. Unlike
    // a std::deque, an empty vector allocates nothing.
    std::vector<Entry> entries_;
    std::size_t first_ = 0;   // index of the first entry; those before it are removed
    std::size_t oldest_ = 0;  // index of the oldest message in flight
    Sum in_flight_, late_;
    bufio::Buffer frames_;
    std::uint64_t base_ = 0;        // position of the first byte in frames_
    std::uint64_t flushed_ = 0;     // position of the first frame that was not flushed
    std::uint64_t start_ = 0;       // position of the first byte of this connection
    std::uint64_t written_ = 0;     // position of the first byte that was not written
    std::uint64_t untimed_id_ = 0;  // messages up to this one have no round trip
    Entry taken_;                   // the messages removed last
    bool keeps_last_ = false;       // the last frame of taken_ stays in frames_
    std::size_t forgotten_ = 0;     // messages forgotten just before the oldest message
    // The number of this connection's last forgotten message, 0 without numbers; unset if no
    // message was forgotten.
    std::optional<std::uint64_t> forgotten_key_;

    std::uint64_t read_id_ = 0;        // last_id_ when the input was read
    std::size_t remaining_bytes_ = 0;  // bytes of input that next() or may_send() left
    std::size_t equal_bytes_ = 0;     // leading bytes of the input that equal the expected ones
    std::size_t reported_bytes_ = 0;  // without frames: bytes of the input reported as read
    bufio::End refusal_;

    std::list<Held> held_;
    std::size_t held_bytes_ = 0;
    std::size_t held_answers_ = 0;     // in a stream: held replies that may answer a message
    bool is_settling_ = false;         // next_resolved() may return events; see settle()
    std::size_t surplus_ = 0;          // while settling: next held replies that answer nothing
    std::uint64_t lost_below_id_ = 0;  // messages below this id are lost after the held replies
    Held settled_;                     // the held reply that was removed last

    bool is_greeted_ = false;                // the framing's greeting was received
    bool rules_out_greeting_ = false;        // the first reply is known not to be a greeting
    bool has_echoed_ = false;                // this connection has echoed a message
    bool is_last_echoed_ = false;            // the message removed last was echoed
    std::uint64_t highest_answered_id_ = 0;  // with datagrams only
    ev::Duration max_round_trip_{};
    std::vector<std::size_t> answer_hashes_;  // to recognize duplicate datagrams
    std::uint64_t hash_count_ = 0;            // in total; answer_hashes_ contains the latest
};

}  // namespace yodel
