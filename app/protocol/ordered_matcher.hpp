// Decides which reply answers which message, if replies come in the order of the messages; see
// Matcher.
//
// With Expect::echo the reply that equals a message answers it, and the messages before it are
// lost or were answered wrongly. With Expect::given the same holds for the reply that was given
// with each message; a message may also expect none. With Expect::any the next reply answers
// the oldest message. With Expect::none nothing is awaited. Without frames, a reply is as long
// as the expected one.
//
// Events are pulled:
//
//     while (auto event = matcher.next(received, read_at)) ...
//
// An unmatched reply equals no message: it is a wrong answer, or unsolicited. It is kept until
// a later reply matches, until each message in flight has an unmatched reply, or until
// resolve_unmatched(). Events keep the order in which replies arrived. A reply never answers a
// message that was queued after it was read.
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
        bool coalesce = false;  // report messages of one send() that are echoed together as one
        // Limit of the memory of unmatched replies.
        std::uint32_t unmatched_bytes = 1024 * 1024;
        const Expression* pattern = nullptr;  // see SessionOptions; outlives the matcher
        // With Expect::given: returns true for an unsolicited message that is expected about
        // now. It is not taken for a wrong answer. Empty: none is expected.
        std::function<bool(std::string_view)> expected_unsolicited = {};
    };

    explicit OrderedMatcher(const Options& options);

    InFlight& messages() { return messages_; }
    const InFlight& messages() const { return messages_; }

    // Returns the next event of the received bytes, and removes the processed bytes from their
    // front. Returns none if it needs more bytes. `received`: all bytes not yet removed. Bytes
    // beyond the rest of the last call were read since, and may answer the messages that are
    // queued now.
    std::optional<Event> next(std::string_view& received, ev::Time read_at);
    std::optional<Event> next_resolved() override;
    // Assigns the unmatched replies to the late messages first, then to messages in flight.
    void resolve_unmatched() override;
    void lose(bool unwritten_stay) override;
    // A message that expects no reply is dropped, unless older late messages precede it.
    void mark_late() override;
    void restart() override;
    void void_round_trips() override { messages_.void_round_trips(); }

    // Called before the first message of a connection is sent: the bytes received until now
    // answer nothing. Returns true if the framing needs no greeting, or it has arrived.
    bool greeted(std::string_view received);
    bool greeting_possible() const override;
    void rule_out_greeting() override;
    bool echoed() const { return echoed_; }  // this connection has echoed a message

    std::uint64_t reserve_id() override { return messages_.reserve_id(); }
    std::uint64_t last_id() const override { return messages_.last_id(); }
    std::uint64_t oldest_id() const override { return messages_.oldest_id(); }
    std::size_t in_flight() const override { return messages_.in_flight(); }
    std::size_t in_flight_bytes() const override { return messages_.in_flight_bytes(); }
    ev::Time oldest_sent() const override { return messages_.oldest_sent(); }
    bool has_unwritten() const override { return !messages_.all_written(); }

private:
    struct Unmatched {
        std::string payload;
        ev::Time read_at{};
        std::uint64_t queued = 0;  // messages that had been queued when it was read
        bool unsolicited = false;  // equals the message removed last, or was expected
        bool duplicate = false;    // a duplicate of an echo
    };
    // The unmatched replies in the order of their arrival.
    class UnmatchedQueue {
    public:
        void push(Unmatched reply);
        // Removes the oldest one, which stays readable until the next one is removed.
        const Unmatched& take();
        bool empty() const { return replies_.empty(); }
        const Unmatched& front() const { return replies_.front(); }
        std::size_t memory() const { return memory_; }  // bytes, with their overhead
        // Number of replies that may answer a message.
        std::size_t answers() const { return replies_.size() - unsolicited_; }
        // Returns how many of the oldest `messages` the last replies can answer, in their
        // order: each answers a message that was queued before it was read. `before`: number
        // of messages that had been queued before these.
        std::size_t answerable(std::size_t messages, std::uint64_t before) const;

    private:
        ContiguousQueue<Unmatched> replies_;
        std::size_t unsolicited_ = 0;
        std::size_t memory_ = 0;
        Unmatched taken_;
    };
    // How the oldest messages are paired with the unmatched replies, in this order.
    struct Resolution {
        std::size_t unsolicited = 0;  // replies that belong to no message
        std::size_t skipped = 0;      // late messages that stay lost
        std::size_t answered = 0;     // messages with a wrong answer
        std::size_t lost = 0;         // messages without an answer
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
    bool repeats(std::string_view payload) const;  // echoes the message removed last again
    Event unawaited(std::string_view payload) const;
    Event unsolicited(std::string_view payload) const;
    std::optional<Event> next_differing(std::string_view received);
    void resolve_if_decided();
    void resolve(std::size_t messages);
    std::size_t awaiting() const;
    std::size_t answerable(std::size_t messages) const;
    Message take_oldest();
    Message take_late();

    Options options_;
    Decoder decoder_;
    InFlight messages_;
    std::uint64_t queued_ = 0;  // messages that had been queued when the input was read
    std::size_t left_ = 0;      // bytes of input that the last call of next() has left
    std::size_t same_ = 0;      // bytes at the front of the input that equal the right ones
    UnmatchedQueue unmatched_;
    std::optional<Resolution> resolution_;
    bool greeted_ = false;      // the greeting of the framing was received
    bool identified_ = false;   // a reply of this connection was identified
    bool echoed_ = false;       // a message of this connection was echoed
    bool last_echoed_ = false;  // the message removed last was echoed
    bool differing_ = false;    // the reply that is arriving was reported as differing
    // If replies have no frames:
    std::size_t arrived_ = 0;  // bytes at the front of the input, reported as Arrived
    std::string right_;  // the right reply to the oldest message, if it is not the message
};

}  // namespace yodel
