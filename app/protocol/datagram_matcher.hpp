// Decides which datagram answers which message.  Pure: it knows no socket and no loop, and
// times are arguments, so that its tests are tables of strings.
//
// Datagrams are lost, come twice, and overtake each other; so the place of a reply says
// nothing, and it is matched by its content. With Expect::echo it answers the oldest message in
// flight that it equals; or one that was late; or it has come before. Where payloads are
// numbered, one that equals none is the damaged answer to the message of its number. Otherwise
// it is kept until as many are kept as messages are in flight, or until a message is overdue:
// which of them it answers is then decided by likeness. With Expect::any it answers the oldest
// message in flight; with Expect::none nothing is awaited.
//
// Events are pulled, and their views are valid until the next call:
//
//     if (auto event = matcher.match(datagram, read_at)) ...
//     while (auto event = matcher.next_resolved()) ...
#pragma once

#include "app/protocol/contiguous_queue.hpp"
#include "app/protocol/in_flight.hpp"
#include "app/protocol/matcher.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace yodel {

class DatagramMatcher {
public:
    struct Options {
        Expect expect = Expect::echo;
        bool numbered = false;  // each payload begins with the id of its message
        // Messages that are remembered to know their late and repeated replies: this many at
        // most, and of the late ones this many bytes.
        std::size_t remembered = 4096;
        std::size_t late_bytes = 1024 * 1024;
    };

    struct Answered {
        Message message;
        Reply reply;
    };
    struct Lost {
        Message message;
    };
    struct Repeated {
        std::string_view payload;
    };
    struct Unsolicited {
        std::string_view payload;
    };
    using Event = std::variant<Answered, Lost, Repeated, Unsolicited>;

    explicit DatagramMatcher(const Options& options) : options_(options) {}

    // Queues a message, now, to be sent after those queued before. Without a planned time, that
    // is when it is sent.
    Queued queue(std::string_view payload, ev::Time planned, ev::Time now);
    std::uint64_t reserve_id();
    // As many datagrams have left the queue since the last restart() as `total`, the newest of
    // them at `time`.
    void record_written(std::uint64_t total, ev::Time time);
    void void_round_trips();

    // Returns the event of a reply; none if it is kept.
    std::optional<Event> match(std::string_view reply, ev::Time read_at);
    // Returns the next of the events that the calls below, and match(), have made due.
    std::optional<Event> next_resolved();
    // The oldest message in flight gets no reply in time: it is lost, until a late one comes.
    void mark_late();
    // The socket has ended: no message gets a reply any more, and the next are for another one.
    void restart();

    std::size_t in_flight() const { return in_flight_; }  // messages queued or sent
    std::size_t in_flight_bytes() const { return in_flight_bytes_; }
    std::uint64_t last_id() const { return first_id_ + entries_.size() - 1; }
    // When the oldest message in flight was sent; until then, when it was queued.
    ev::Time oldest_sent() const { return entries_[oldest_].sent; }

private:
    enum class State { queued, sent, late, answered, gone };
    struct Entry {
        std::string payload = {};  // empty once it is answered
        std::size_t hash = 0;      // of the payload, once it is answered
        ev::Time planned{};
        ev::Time sent{};
        State state = State::gone;
        bool untimed = false;
    };
    struct Unmatched {
        std::string payload;
        ev::Time read_at;
    };
    // An event that next_resolved() is to report.
    struct Due {
        enum class Kind { answered, lost, late, unsolicited } kind;
        std::size_t place = 0;  // of the entry
        Unmatched reply = {};
    };
    static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

    static bool in_flight(const Entry& entry) {
        return entry.state == State::queued || entry.state == State::sent;
    }
    std::size_t find_equal(std::string_view reply) const;
    std::size_t place_by_number(std::string_view reply) const;
    std::size_t oldest_late() const;
    bool awaited(std::size_t place) const;
    bool equals_answered(std::size_t place, std::size_t hash) const;
    bool answered_before(std::string_view reply) const;
    Event answer(std::size_t place, std::string_view reply, ev::Time read_at);
    std::optional<Event> match_any(std::string_view reply, ev::Time read_at);
    std::optional<Event> keep(std::string_view reply, ev::Time read_at);
    Unmatched take_likeliest(const Entry& entry);
    void resolve_if_decided();
    void resolve(std::size_t place, Due::Kind without_reply);
    Message message(std::size_t place);
    void leave_flight(std::size_t place, State state);
    void forget();

    const Options options_;
    ContiguousQueue<Entry> entries_;  // their ids follow each other
    std::uint64_t first_id_ = 1;      // of the first entry
    std::size_t oldest_ = 0;          // place of the oldest in flight; there is none before it
    std::size_t unwritten_ = 0;       // place of the oldest queued; there is none before it
    std::uint64_t written_ = 0;
    std::size_t in_flight_ = 0;
    std::size_t in_flight_bytes_ = 0;
    std::size_t late_bytes_ = 0;
    std::uint64_t highest_answered_ = 0;
    std::deque<Unmatched> unmatched_;
    std::deque<Due> due_;
    std::string message_;  // the payload of the event returned last
    Unmatched reply_;      // its reply, where that was kept
};

}  // namespace yodel
