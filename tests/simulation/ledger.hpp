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
#include <utility>

namespace simulation {

using namespace yodel;

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
    Ledger(const Session::Options& options, Complaint& complaint)
        : options_(options), complaint_(complaint) {}

    // Records the messages of a payload that the session has accepted, with these ids. With
    // given replies, `reply` is the expected reply, if any.
    void sent(std::string_view payload, QueuedIds ids, ev::Time now,
              const std::optional<std::string>& reply) {
        const std::uint64_t before = last_id_;
        for (std::string_view rest = payload;;) {
            const std::size_t end = framing_.delimiter.empty() || !framing_.can_echo()
                                        ? rest.npos
                                        : rest.find(framing_.delimiter);
            add(rest.substr(0, end), last_id_ + 1, now, reply);
            if (end == rest.npos) break;
            rest.remove_prefix(end + framing_.delimiter.size());
        }
        require(ids.first == before + 1 && ids.count == last_id_ - before, before + 1,
                "has another id, or another count of pieces");
    }

    // Records the flush time of all messages that were not flushed before.
    void flushed(ev::Time now) {
        for (auto at = open_.rbegin(); at != open_.rend(); ++at) {
            if (at->second.flushed_at != ev::Time::max()) break;
            at->second.flushed_at = now;
        }
    }

    void add(const Event& event) {
        if (event.fate == Fate::read) return;
        if (!has_message(event.fate)) {
            ++counts_.answers_to_none;
            return;
        }
        if (event.fate == Fate::lost) return lost(event.message, event.at);
        if (event.frames.empty()) return answered(event.message, event.reply, event.at);
        echoed(event);
    }

    // Records an id that the session reserved for a message that is not sent.
    void skipped(std::uint64_t id) {
        require(id == last_id_ + 1, id, "is not the next one");
        last_id_ = id;
    }

    // Messages without a verdict, and the bytes of their payloads.
    std::size_t open() const { return open_.size(); }
    std::size_t open_bytes() const { return open_bytes_; }
    // Lost messages that may still be answered, and the bytes of their payloads.
    std::size_t late() const { return late_.size(); }
    std::size_t late_bytes() const { return late_bytes_; }
    // The bytes of the given replies of open messages.
    std::size_t given_bytes() const { return given_bytes_; }
    // The earliest flush of an open message; max() if there is none.
    ev::Time oldest_flush() const {
        return open_.empty() ? ev::Time::max() : open_.begin()->second.flushed_at;
    }

    struct Counts {
        std::size_t sent = 0;
        std::size_t right = 0;  // includes late replies
        std::size_t bad = 0;
        std::size_t lost = 0;  // without late replies
        std::size_t answers_to_none = 0;
    };
    const Counts& counts() const { return counts_; }

private:
    struct Sent {
        std::string payload;
        std::optional<std::string> reply;
        ev::Time at{};
        ev::Time flushed_at = ev::Time::max();
    };

    void answered(const Message& message, const Reply& reply, ev::Time now) {
        const Sent sent = take(message);
        if (complaint_) return;
        compare(sent, message, reply, now);
        if (message.is_late) --counts_.lost;
        ++(reply.is_right ? counts_.right : counts_.bad);
        if (framing_.uses_datagrams) return;
        require(message.id > last_answered_, message.id, "was answered after a later one");
        last_answered_ = message.id;
    }

    void echoed(const Event& batch) {
        std::string frames;
        for (std::uint64_t id = batch.message.id; id < batch.message.id + batch.count; ++id) {
            const auto sent = open_.find(id);
            const std::string payload = sent == open_.end() ? "" : sent->second.payload;
            frames += framing_.header(payload) + payload + std::string(framing_.delimiter);
            Message message;
            message.id = id;
            message.payload = payload;
            message.is_late = batch.message.is_late;
            take(message);
            require(id > last_answered_, id, "was answered after a later one");
            last_answered_ = id;
        }
        require(batch.count > 1 && batch.frames == frames, batch.message.id,
                "begins a wrong batch");
        counts_.right += batch.count;
    }

    void lost(const Message& message, ev::Time now) {
        Message open = message;
        open.is_late = false;
        Sent sent = take(open);
        const bool overdue = sent.flushed_at <= now - options_.reply_timeout;
        require(!message.is_late || overdue, message.id, "is late too early");
        ++counts_.lost;
        if (!message.is_late) return;
        late_bytes_ += sent.payload.size();
        late_[message.id] = std::move(sent);
    }

    void add(std::string_view payload, std::uint64_t id, ev::Time now,
             const std::optional<std::string>& reply) {
        last_id_ = id;
        ++counts_.sent;
        if (expect_ == Expect::none) return;
        Sent& sent = open_[id];
        sent.payload = payload;
        sent.at = now;
        sent.reply = framing_.reply ? framing_.reply(payload) : sent.payload;
        if (expect_ == Expect::given) sent.reply = reply;
        open_bytes_ += payload.size();
        given_bytes_ += given_bytes(sent);
    }

    Sent take(const Message& message) {
        auto& from = message.is_late ? late_ : open_;
        auto taken = from.extract(message.id);
        require(!taken.empty(), message.id,
                message.is_late ? "is late, but was not lost" : "has a second verdict");
        if (taken.empty()) return {};
        if (message.is_late) {
            late_bytes_ -= taken.mapped().payload.size();
        } else {
            open_bytes_ -= taken.mapped().payload.size();
            given_bytes_ -= given_bytes(taken.mapped());
        }
        require(taken.mapped().payload == message.payload, message.id, "has another payload");
        return std::move(taken.mapped());
    }

    std::size_t given_bytes(const Sent& sent) const {
        return expect_ == Expect::given && sent.reply ? sent.reply->size() : 0;
    }

    void compare(const Sent& sent, const Message& message, const Reply& reply, ev::Time now) {
        const bool equal = sent.reply && reply.payload == *sent.reply;
        require(reply.is_right == equal || expect_ == Expect::any, message.id, "is misjudged");
        require(sent.flushed_at <= now, message.id, "was answered before it was flushed");
        const auto taken = reply.round_trip.value_or(ev::Duration::zero());
        require(taken >= ev::Duration::zero() && taken <= now - sent.at, message.id,
                "has a round trip that is longer than it was out");
    }

    void require(bool right, std::uint64_t id, const std::string& sentence) {
        if (!right) complaint_.require(false, "message " + std::to_string(id) + " " + sentence);
    }

    const Session::Options& options_;
    const Framing& framing_ = *options_.framing;
    const Expect expect_ = options_.expect;
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
