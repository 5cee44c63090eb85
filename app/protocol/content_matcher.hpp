// Decides which datagram answers which message, by its content; see Matcher.
//
// Datagrams are lost, duplicated and reordered, so replies are matched by their content.
//
// With Expect::echo a reply answers the oldest message in flight that it equals, or else a late
// one. With Expect::given it is compared with the reply that was given with each message
// instead. A reply that equals none is a duplicate if it equals an earlier answer. Any other
// reply answers the oldest message in flight for which a reply of its length is expected, as a
// wrong reply; if payloads are numbered, the message with its number comes first. Without such
// a message it is unsolicited. So is a reply that may belong to a late message that was
// forgotten, because it was not compared.
//
// With Expect::any a reply answers the oldest message in flight. With Expect::none nothing is
// awaited.
//
// Events are pulled:
//
//     const auto event = matcher.match(datagram, read_at, last_id);
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
        const Expression* pattern = nullptr;  // see SessionOptions; outlives the matcher
        // Each payload begins with a decimal number, and these numbers increase.
        bool numbered = false;
        std::function<bool(std::string_view)> expected_unsolicited = {};  // see OrderedMatcher
        // Upper limits. `remembered`: answers, kept to recognise duplicates, and late
        // messages. `late_bytes`: payload of the late messages.
        std::size_t remembered = 16384;
        std::size_t late_bytes = 1024 * 1024;
    };

    explicit ContentMatcher(const Options& options) : options_(options) {}

    // Queues a message at time `now`, to be sent after all earlier ones. The planned time
    // defaults to the time of sending. `reply`: see InFlight::queue().
    Queued queue(std::string_view payload, ev::Time planned, ev::Time now,
                 std::optional<std::string_view> reply = {});
    std::uint64_t reserve_id() override;
    // Records that `total` datagrams have left the queue since the last restart(), the newest
    // of them at `time`.
    void record_written(std::uint64_t total, ev::Time time);
    void void_round_trips() override;

    // Returns the event of a reply. `last_id`: the last message queued before the reply was
    // read.
    Event match(std::string_view reply, ev::Time read_at, std::uint64_t last_id);
    std::optional<Event> next_resolved() override;
    void mark_late() override;
    void lose(bool unwritten_stay) override;  // all messages, written or not
    void restart() override {
        written_ = 0;
        forgotten_.reset();
    }

    std::size_t in_flight() const override { return in_flight_; }
    std::size_t in_flight_bytes() const override { return in_flight_bytes_; }
    std::uint64_t last_id() const override { return first_id_ + entries_.size() - 1; }
    ev::Time oldest_sent() const override { return oldest().sent; }  // or queued, if unsent
    bool has_unwritten() const override { return false; }
    ev::Duration longest_round_trip() const { return longest_round_trip_; }

private:
    enum class State { in_flight, late, over };
    struct Entry {
        std::uint64_t id = 0;
        std::uint64_t number = 0;  // if payloads are numbered: of this one, or the last
        std::string payload = {};
        // With Expect::given; null if no reply is expected.
        std::shared_ptr<const std::string> reply = {};
        ev::Time planned{};
        ev::Time sent{};
        State state = State::over;
        bool written = true;  // or there is nothing to write
        bool untimed = false;
    };
    using Wanted = std::function<bool(const Entry&)>;

    std::size_t place(std::uint64_t id) const {
        return static_cast<std::size_t>(id - first_id_);
    }
    const Entry& oldest() const { return entries_[place(oldest_)]; }
    bool given() const { return options_.expect == Expect::given; }
    std::optional<std::string_view> expected(const Entry& entry) const;
    Entry* find_awaited(const Wanted& wanted);
    Entry* find_in_flight(const Wanted& wanted);
    Entry* find_number(std::uint64_t number);
    Entry* find_equal(std::string_view reply);
    Entry* find_of_equal_length(std::string_view reply);
    std::size_t hash_of(std::string_view reply) const;
    bool answered_before(std::string_view reply) const;
    void remember_answer(std::string_view bytes);
    Event answer(Entry& entry, std::string_view reply, ev::Time read_at);
    Message message() const;
    void make_current(Entry entry);
    Entry take(Entry& entry);
    void drop_finished();
    void remember_late(Entry entry);

    const Options options_;
    // The messages in flight, and finished ones between them. Their ids are consecutive.
    ContiguousQueue<Entry> entries_;
    std::uint64_t first_id_ = 1;   // the first entry's id
    std::uint64_t oldest_ = 1;     // id of the oldest in flight, if there is one
    std::uint64_t unwritten_ = 1;  // id of the oldest unwritten message
    std::uint64_t written_ = 0;
    std::size_t in_flight_ = 0;
    std::size_t in_flight_bytes_ = 0;
    std::uint64_t last_number_ = 0;
    ContiguousQueue<Entry> late_;
    std::size_t late_bytes_ = 0;
    // The number of the last late message that was forgotten on this connection; 0 if payloads
    // are not numbered.
    std::optional<std::uint64_t> forgotten_;
    std::uint64_t read_id_ = 0;  // id of the last message before the reply was read
    std::uint64_t highest_answered_ = 0;
    ev::Duration longest_round_trip_{};
    // A ring of hashes of the received and the expected replies to answered messages. The
    // newest one is before `next_answer_`.
    std::vector<std::size_t> answers_;
    std::size_t next_answer_ = 0;
    std::deque<Entry> lost_;  // to be reported
    Entry current_;           // message of the event returned last, which views it
    std::string spare_;       // memory for the next payload
};

}  // namespace yodel
