// Checks the outcome of messages: each gets exactly one verdict and only the bytes that were
// sent. It does not depend on sessions, and uses the simplest rules possible.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/protocol/ledger.hpp"
#include "app/protocol/session.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace simulation {

// The first failure. Later failures are ignored, because they follow from it.
class Complaint {
public:
    void require(bool right, const std::string& sentence) {
        if (!right && sentence_.empty()) sentence_ = sentence;
    }
    const std::string& sentence() const { return sentence_; }
    explicit operator bool() const { return !sentence_.empty(); }

private:
    std::string sentence_;
};

class Ledger {
public:
    Ledger(const yodel::Session::Options& options, Complaint& complaint)
        : options_(options), complaint_(complaint) {}

    // Records the messages of a payload that the session has accepted, with these ids. With
    // given replies, `reply` is the expected reply, if any.
    void sent(std::string_view payload, yodel::QueuedIds ids, ev::Time now,
              const std::optional<std::string>& reply);
    void flushed(ev::Time now);
    void add(const yodel::Event& event);
    // Records an id that the session reserved for a message that is not sent.
    void skipped(std::uint64_t id);

    // Messages without a verdict, and the bytes of their payloads.
    std::size_t open() const { return open_.size(); }
    std::size_t open_bytes() const { return open_bytes_; }
    // Lost messages that may still be answered, and the bytes of their payloads.
    std::size_t late() const { return late_.size(); }
    std::size_t late_bytes() const { return late_bytes_; }
    // The bytes of the given replies of open messages.
    std::size_t given_bytes() const { return given_bytes_; }
    // The earliest flush of an open message; max() if there is none.
    ev::Time oldest_flush() const;

    struct Counts {
        std::size_t sent = 0;
        std::size_t right = 0;  // includes late replies
        std::size_t bad = 0;
        std::size_t lost = 0;  // without late replies
        std::size_t unsolicited = 0;
        std::size_t duplicates = 0;
    };
    const Counts& counts() const { return counts_; }

private:
    struct Sent {
        std::string payload;
        std::optional<std::string> reply;
        ev::Time at{};
        ev::Time flushed_at = ev::Time::max();
    };

    void answered(const yodel::Message& message, const yodel::Reply& reply, ev::Time now);
    void echoed(const yodel::Event& batch);
    void lost(const yodel::Message& message, ev::Time now);
    void add(std::string_view payload, std::uint64_t id, ev::Time now,
             const std::optional<std::string>& reply);
    Sent take(const yodel::Message& message);
    std::size_t given_bytes(const Sent& sent) const;
    void compare(const Sent& sent, const yodel::Message& message, const yodel::Reply& reply,
                 ev::Time now);
    void require(bool right, std::uint64_t id, const std::string& sentence);

    const yodel::Session::Options& options_;
    const yodel::Framing& framing_ = *options_.framing;
    const yodel::Expect expect_ = options_.expect;
    Complaint& complaint_;
    std::map<std::uint64_t, Sent> open_;
    std::map<std::uint64_t, Sent> late_;
    std::size_t open_bytes_ = 0;
    std::size_t late_bytes_ = 0;
    std::size_t given_bytes_ = 0;
    std::uint64_t last_id_ = 0;
    std::uint64_t last_answered_ = 0;
    Counts counts_;
};

}  // namespace simulation
