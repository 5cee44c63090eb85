// Decides which reply answers which message if replies come in the order of the messages; see
// Matcher.
//
// With Expect::echo a reply answers the message that it equals. Messages before that one are
// lost, or had bad replies. With Expect::given a reply is compared with the reply given for
// each message, which may be none. With Expect::any the next reply answers the oldest message.
// With Expect::none every reply is unsolicited. Without frames, a reply is as long as the
// expected reply.
//
// The caller pulls events:
//
//     while (auto event = matcher.next(received, read_at)) ...
//
// An unmatched reply equals no message, so it is bad or unsolicited. It is held until a later
// reply matches, until each message in flight has an unmatched reply, or until
// resolve_unmatched(). Events come in the order of the replies. A reply never answers a message
// that was queued after the reply was read.
#pragma once

#include "app/protocol/contiguous_queue.hpp"
#include "app/protocol/framing.hpp"
#include "app/protocol/in_flight.hpp"
#include "app/protocol/matcher.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

class OrderedMatcher final : public Matcher {
public:
    struct Options {
        const Framing* framing = find_framing("line");
        std::size_t max_frame = 32 * 1024 * 1024;  // bytes
        Expect expect = Expect::echo;
        bool greeted = false;   // no greeting precedes the replies, whatever the framing
        bool coalesce = false;  // one event for messages sent and echoed together
        // Maximum memory of the unmatched replies.
        std::uint32_t unmatched_bytes = 1024 * 1024;
        const Expression* pattern = nullptr;  // see SessionOptions; outlives the matcher
        // With Expect::given: returns true for an unsolicited message that is expected now.
        // Such a message is not a bad reply. Empty: none is expected.
        std::function<bool(std::string_view)> expected_unsolicited = {};
    };

    explicit OrderedMatcher(const Options& options);

    const InFlight& messages() const { return messages_; }

    QueuedIds queue(std::string_view payload, ev::Time planned,
                    std::optional<std::string_view> reply) override {
        return messages_.queue(payload, planned, reply);
    }
    char* reserve(std::size_t size) override { return messages_.reserve(size); }
    QueuedIds queue_reserved(std::size_t size) override {
        return messages_.queue_reserved(size);
    }
    bool flushed() const override { return messages_.flushed(); }
    std::string_view flush(ev::Time now) override { return messages_.flush(now); }
    void record_written(std::uint64_t bytes, ev::Time time) override {
        messages_.record_written(bytes, time);
    }
    void release_idle() override { messages_.release_idle(); }

    std::optional<Event> next(std::string_view& received, ev::Time read_at) override;
    std::optional<Event> next_resolved() override;
    // Assigns the unmatched replies first to late messages, then to messages in flight.
    void resolve_unmatched() override;
    void lose(bool unwritten_stay) override;
    // Drops a message that expects no reply, unless late messages precede it.
    void mark_oldest_late() override;
    void restart() override;
    void void_round_trips() override { messages_.void_round_trips(); }

    bool greeted(std::string_view received) override;
    bool greeting_possible() const override;
    void rule_out_greeting() override;
    bool echoed() const override { return echoed_; }

    std::uint64_t reserve_id() override { return messages_.reserve_id(); }
    std::uint64_t last_id() const override { return messages_.last_id(); }
    std::uint64_t oldest_id() const override { return messages_.oldest_id(); }
    std::size_t in_flight() const override { return messages_.in_flight(); }
    std::size_t in_flight_bytes() const override { return messages_.in_flight_bytes(); }
    ev::Time oldest_sent_at() const override { return messages_.oldest_sent_at(); }
    bool has_unwritten() const override { return !messages_.all_written(); }

private:
    struct Unmatched {
        std::string payload;
        ev::Time read_at{};
        std::uint64_t queued = 0;  // messages queued before the reply was read
        // Equals the message removed last, answers an evicted message, or was expected as an
        // unsolicited message.
        bool unsolicited = false;
        bool duplicate = false;  // a duplicate of an echo
    };
    // Unmatched replies in order of arrival.
    class UnmatchedQueue {
    public:
        void push(Unmatched reply);
        // Removes the oldest reply, which stays valid until the next call.
        const Unmatched& pop();
        bool empty() const { return replies_.empty(); }
        const Unmatched& front() const { return replies_.front(); }
        std::size_t memory() const { return memory_; }  // bytes, including overhead
        // Returns the number of replies that may answer a message.
        std::size_t answer_count() const { return replies_.size() - unsolicited_; }
        // Returns how many of the oldest `messages` the newest replies can answer in sequence.
        // A reply can answer only a message queued before the reply was read. `before`: number
        // of messages queued before these.
        std::size_t answerable(std::size_t messages, std::uint64_t before) const;

    private:
        ContiguousQueue<Unmatched> replies_;
        std::size_t unsolicited_ = 0;
        std::size_t memory_ = 0;
        Unmatched popped_;
    };
    // Numbers of replies and messages still to process, in this order.
    struct Resolution {
        std::size_t unsolicited = 0;  // replies that belong to no message
        std::size_t skipped = 0;      // late messages without a reply, already reported
        std::size_t answered = 0;     // messages with a bad reply
        std::size_t lost = 0;         // messages without a reply
        std::size_t overdue = 0;      // messages to mark as late
    };

    std::optional<Event> next_event(std::string_view& received, ev::Time read_at);
    std::optional<Event> next_greeting(std::string_view& received);
    std::optional<Event> next_echoed(std::string_view& received, ev::Time read_at);
    std::optional<Event> next_framed(std::string_view& received, ev::Time read_at);
    std::optional<Event> next_unframed(std::string_view& received, ev::Time read_at);
    std::optional<Event> match(std::string_view payload, ev::Time read_at);
    std::optional<Event> match_bytes(std::string_view& received, ev::Time read_at);
    Event answer_any(std::string_view payload, ev::Time read_at);
    std::string_view expected_bytes();
    const Framing& framing() const { return *options_.framing; }
    bool given() const { return options_.expect == Expect::given; }
    bool answers_nothing(std::string_view payload) const;
    bool is_duplicate(std::string_view payload) const;  // duplicates the last echo
    Event not_awaited_event(std::string_view payload) const;
    Event unsolicited_event(std::string_view payload) const;
    void resolve_if_decided();
    void resolve(std::size_t messages);
    std::size_t awaiting_count() const;
    std::size_t answerable(std::size_t messages) const;
    Message remove_oldest();
    Message expire_oldest();

    const Options options_;
    Decoder decoder_;
    InFlight messages_;
    std::uint64_t queued_before_read_ = 0;  // messages queued before the input was read
    std::size_t remaining_input_ = 0;       // bytes of input that next() or greeted() left
    std::size_t equal_bytes_ = 0;  // leading bytes of the input that equal the expected bytes
    UnmatchedQueue unmatched_;
    std::optional<Resolution> resolution_;
    bool greeted_ = false;             // the framing's greeting was received
    bool greeting_ruled_out_ = false;  // the first reply is known not to be a greeting
    bool echoed_ = false;              // this connection has echoed a message
    bool last_echoed_ = false;         // the message removed last was echoed
    // If replies have no frames:
    std::size_t arrived_bytes_ = 0;  // bytes at the front of the input reported as Arrived
    std::string right_reply_;  // right reply to the oldest message, if not the message itself
};

}  // namespace yodel
