// Decides by content which datagram answers which message; see Matcher.
//
// The network loses, duplicates and reorders datagrams, so their order proves nothing.
//
// With Expect::echo a reply answers the oldest message in flight that it equals, or else an
// equal late message. With Expect::given it is compared with the reply given for each message
// instead. A reply that equals none is a duplicate if it equals the reply to an answered
// message. Any other reply is a bad reply to the oldest message in flight that expects a reply
// of its length. If payloads are numbered, the message with the reply's number is preferred.
// Without such a message the reply is unsolicited. A reply that may answer an evicted late
// message is also unsolicited.
//
// With Expect::any a reply answers the oldest message in flight, or else the oldest late one.
// With Expect::none every reply is unsolicited.
//
// Messages and replies have the frames of datagram_framing().
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
        // Each payload begins with a decimal number, and the numbers increase.
        bool numbered = false;
        std::function<bool(std::string_view)> expected_unsolicited = {};  // see OrderedMatcher
        // The maximum count of answers remembered to detect duplicates, and also of late
        // messages; and the maximum total payload of the late messages.
        std::size_t max_remembered = 16384;
        std::size_t max_late_bytes = 1024 * 1024;
    };

    explicit ContentMatcher(const Options& options) : options_(options) {}

    QueuedIds queue(std::string_view payload, ev::Time planned,
                    std::optional<std::string_view> reply) override;
    std::uint64_t reserve_id() override;
    bool flushed() const override { return queued_frames_.empty(); }
    std::string_view flush(ev::Time now) override;
    void record_written(std::uint64_t bytes, ev::Time time) override;
    void void_round_trips() override;

    std::optional<Event> next(std::string_view& received, ev::Time read_at) override;
    // Returns the event for a reply. `last_id`: the last message queued before the reply was
    // read.
    Event match(std::string_view reply, ev::Time read_at, std::uint64_t last_id);
    std::optional<Event> next_resolved() override;
    void mark_oldest_late() override;
    void lose(bool unwritten_stay) override;  // also loses unwritten messages
    void restart() override {
        written_ = remaining_input_ = 0;
        last_evicted_.reset();
    }

    std::size_t in_flight() const override { return in_flight_; }
    std::size_t in_flight_bytes() const override { return in_flight_bytes_; }
    std::uint64_t last_id() const override { return first_id_ + entries_.size() - 1; }
    ev::Time oldest_sent_at() const override { return oldest().sent; }  // or queued, if unsent
    bool has_unwritten() const override { return false; }
    ev::Duration max_round_trip() const override { return max_round_trip_; }

private:
    enum class State { in_flight, late, over };
    struct Entry {
        std::uint64_t id = 0;
        std::uint64_t number = 0;  // number of the payload, or of the last numbered payload
        std::string payload = {};
        // Expected reply with Expect::given; null if none is expected.
        std::shared_ptr<const std::string> reply = {};
        ev::Time planned{};
        ev::Time sent{};
        State state = State::over;
        std::size_t unwritten = 0;  // size of the frame, until it is written
        bool untimed = false;
    };
    using Condition = std::function<bool(const Entry&)>;

    std::size_t place(std::uint64_t id) const {
        return static_cast<std::size_t>(id - first_id_);
    }
    const Entry& oldest() const { return entries_[place(oldest_id_)]; }
    bool given() const { return options_.expect == Expect::given; }
    std::optional<std::string_view> expected(const Entry& entry) const;
    Entry* find_awaited(const Condition& meets);
    Entry* find_in_flight(const Condition& meets);
    Entry* find_number(std::uint64_t number);
    Entry* find_equal(std::string_view reply);
    Entry* find_of_equal_length(std::string_view reply);
    std::size_t hash_of(std::string_view reply) const;
    bool answered_before(std::string_view reply) const;
    void remember_answer(std::string_view bytes);
    Event answer(Entry& entry, std::string_view reply, ev::Time read_at);
    Message message() const;
    void set_current(Entry entry);
    Entry extract(Entry& entry);
    void drop_finished();
    void remember_late(Entry entry);

    const Options options_;
    // Messages in flight, and finished messages between them, with consecutive ids.
    ContiguousQueue<Entry> entries_;
    std::uint64_t first_id_ = 1;            // id of the first entry
    std::uint64_t oldest_id_ = 1;           // id of the oldest message in flight, if any
    std::uint64_t first_unwritten_id_ = 1;  // id of the oldest unwritten message
    std::uint64_t written_ = 0;             // bytes of the frames written on this connection
    std::string queued_frames_;
    std::string flushed_frames_;
    std::size_t remaining_input_ = 0;  // bytes of input that next() left
    std::size_t in_flight_ = 0;
    std::size_t in_flight_bytes_ = 0;
    std::uint64_t last_number_ = 0;
    ContiguousQueue<Entry> late_;
    std::size_t late_bytes_ = 0;
    // Number of the late message evicted last on this connection; 0 if payloads are not
    // numbered.
    std::optional<std::uint64_t> last_evicted_;
    std::uint64_t read_id_ = 0;  // id of the last message queued before the reply was read
    std::uint64_t highest_answered_id_ = 0;
    ev::Duration max_round_trip_{};
    // Ring buffer with hashes of the expected and the received replies to answered messages.
    // The newest hash is just before `next_answer_index_`.
    std::vector<std::size_t> answer_hashes_;
    std::size_t next_answer_index_ = 0;
    std::deque<Entry> lost_;  // lost messages to report
    Entry current_;           // message viewed by the last event
    std::string spare_;       // memory for the next payload
};

}  // namespace yodel
