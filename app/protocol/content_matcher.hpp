// Decides which datagram answers which message, by its content; see Matcher.
//
// Datagrams are lost, duplicated and reordered, so replies are matched by their content.
//
// With Expect::echo a reply answers the oldest message in flight that it equals, or else a late
// one; otherwise it may be a duplicate. If payloads are numbered, a reply that equals no
// message is the damaged answer to the one message from which it differs in a single byte, or
// else to the message with its number. Any other reply is kept until there is one for each
// message in flight, or until a message is overdue. Likeness then decides which message it
// answers, but never one that was queued after the reply was read. With Expect::any a reply
// answers the oldest message in flight. With Expect::none nothing is awaited.
//
// With Expect::given a reply is compared with the reply that was given with each message. A
// server that has changed may send equal replies to different messages. So while messages are
// in flight, a reply that has come before is kept. If the right reply comes, the kept one was a
// duplicate. If a message becomes overdue, it gets the kept reply as a wrong one, and from then
// on such replies are kept like others. Once a duplicate was found, no reply that has come
// before answers a message.
//
// Events are pulled:
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
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

class ContentMatcher final : public Matcher {
public:
    struct Options {
        Expect expect = Expect::echo;
        // Each payload begins with a decimal number, and these numbers increase.
        bool numbered = false;
        std::function<bool(std::string_view)> expected_unsolicited = {};  // see OrderedMatcher
        // Messages that are remembered to know their repeated and their late replies: this many
        // at most of each, and of the late ones this many bytes.
        std::size_t remembered = 16384;
        std::size_t late_bytes = 1024 * 1024;
    };

    explicit ContentMatcher(const Options& options) : options_(options) {}

    // Queues a message, now, to be sent after those queued before. Without a planned time, that
    // is when it is sent. `reply`: see InFlight::queue().
    Queued queue(std::string_view payload, ev::Time planned, ev::Time now,
                 std::optional<std::string_view> reply = {});
    std::uint64_t reserve_id() override;
    // Records that `total` datagrams have left the queue since the last restart(), the newest
    // of them at `time`.
    void record_written(std::uint64_t total, ev::Time time);
    void void_round_trips() override;
    // The messages in flight have reached nobody, and nothing has come: they are to be sent
    // again, to somebody else, before any other. Returns their payloads in this order, valid
    // until the next call. Each keeps its planned time and is sent again;
    // record_written() counts from the first of them.
    std::vector<std::string_view> take_back();

    // Returns the event of a reply; none if it is kept.
    std::optional<Event> match(std::string_view reply, ev::Time read_at) {
        return match(reply, read_at, last_id());
    }
    // The same if messages have been queued since the reply was read. `last_id` is the id of
    // the last message before.
    std::optional<Event> match(std::string_view reply, ev::Time read_at, std::uint64_t last_id);
    std::optional<Event> next_resolved() override;
    void mark_late() override;
    void lose(bool unwritten_stay) override;  // all of them
    void restart() override { written_ = 0; }

    std::size_t in_flight() const override { return in_flight_; }
    std::size_t in_flight_bytes() const override { return in_flight_bytes_; }
    std::uint64_t last_id() const override { return first_id_ + entries_.size() - 1; }
    ev::Time oldest_sent() const override { return oldest().sent; }  // or queued, until then
    bool has_unwritten() const override { return false; }
    ev::Duration longest_round_trip() const { return longest_round_trip_; }

private:
    enum class State { in_flight, late, over };
    struct Entry {
        std::uint64_t id = 0;
        std::uint64_t number = 0;  // if payloads are numbered; without one, the last number
        std::string payload = {};
        // With Expect::given; null: none is expected.
        std::shared_ptr<const std::string> reply = {};
        ev::Time planned{};
        ev::Time sent{};
        State state = State::over;
        bool written = true;  // or it never will be
        bool untimed = false;
    };
    struct Unmatched {
        std::string payload;
        ev::Time read_at{};
        std::uint64_t last_id =
            0;                  // of the messages when it was read, which alone it can answer
        bool repeated = false;  // with Expect::given: it has come before
    };
    // An event that next_resolved() is to report.
    struct Due {
        enum class Kind { answered, lost, late, unsolicited, repeated } kind;
        Entry entry = {};
        Unmatched reply = {};
    };

    std::size_t place(std::uint64_t id) const {
        return static_cast<std::size_t>(id - first_id_);
    }
    const Entry& oldest() const { return entries_[place(oldest_)]; }
    // True if the reply may answer a message in flight, and the oldest one in any case.
    bool awaiting() const { return in_flight_ > 0 && oldest_ <= read_id_; }
    bool given() const { return options_.expect == Expect::given; }
    bool right(const Entry& entry, std::string_view reply) const;
    std::string_view expected(const Entry& entry) const;
    Entry* find_equal(std::string_view reply);
    Entry* find_number(std::uint64_t number);
    Entry* find_awaited(const std::function<bool(const Entry&)>& wanted);
    Entry* find_damaged(std::string_view reply);
    bool answered_before(std::string_view reply) const;
    bool can_answer(const Unmatched& reply) const;
    void remember_answer(std::string_view bytes);
    Event answer(Entry& entry, std::string_view reply, ev::Time read_at);
    Event report_answer(std::string_view reply, ev::Time read_at);
    std::optional<Event> keep(std::string_view reply, ev::Time read_at);
    bool all_answerable() const;
    std::optional<Unmatched> take_likeliest(const Entry& entry);
    void give_up_unmatched();
    void resolve_if_decided();
    void resolve_oldest(Due::Kind without_reply);
    Message message() const;
    void make_current(Entry entry);
    Entry take(Entry& entry);
    void drop_finished();
    void remember_late(Entry entry);

    const Options options_;
    // The messages in flight, and those between them that are over. Their ids follow each
    // other.
    ContiguousQueue<Entry> entries_;
    std::uint64_t first_id_ = 1;   // of the first entry
    std::uint64_t oldest_ = 1;     // id of the oldest in flight; there is none before it
    std::uint64_t unwritten_ = 1;  // id of the oldest that is not written
    std::uint64_t written_ = 0;
    std::size_t in_flight_ = 0;
    std::size_t in_flight_bytes_ = 0;
    std::uint64_t last_number_ = 0;
    ContiguousQueue<Entry> late_;
    std::size_t late_bytes_ = 0;
    std::uint64_t read_id_ = 0;  // of the last message before the reply was read
    std::uint64_t highest_answered_ = 0;
    ev::Duration longest_round_trip_{};
    // Hashes of received and of expected replies to answered messages, as a ring: the newest
    // one is before `next_answer_`.
    std::vector<std::size_t> answers_;
    std::size_t next_answer_ = 0;
    std::deque<Unmatched> unmatched_;
    bool repeats_ = false;  // a reply has been found to be repeated
    bool alike_ = false;    // before that, one that seemed so was the only one to its message
    std::deque<Due> due_;
    Entry current_;      // of the event returned last, whose views refer to it
    Unmatched reply_;    // its reply, if it was kept
    std::string spare_;  // memory for the next payload
};

}  // namespace yodel
