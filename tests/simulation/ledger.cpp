#include "tests/simulation/ledger.hpp"

#include <algorithm>
#include <utility>

namespace simulation {

using namespace yodel;

void Ledger::require(bool right, std::uint64_t id, const std::string& sentence) {
    if (!right) complaint_.require(false, "message " + std::to_string(id) + " " + sentence);
}

void Ledger::sent(std::string_view payload, QueuedIds ids, ev::Time now,
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

void Ledger::add(std::string_view payload, std::uint64_t id, ev::Time now,
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

std::size_t Ledger::given_bytes(const Sent& sent) const {
    return expect_ == Expect::given && sent.reply ? sent.reply->size() : 0;
}

void Ledger::skipped(std::uint64_t id) {
    require(id == last_id_ + 1, id, "is not the next one");
    last_id_ = id;
}

// Records the flush time of all messages that were not flushed before.
void Ledger::flushed(ev::Time now) {
    for (auto at = open_.rbegin(); at != open_.rend(); ++at) {
        if (at->second.flushed_at != ev::Time::max()) break;
        at->second.flushed_at = now;
    }
}

ev::Time Ledger::oldest_flush() const {
    return open_.empty() ? ev::Time::max() : open_.begin()->second.flushed_at;
}

Ledger::Sent Ledger::take(const Message& message) {
    auto& from = message.late ? late_ : open_;
    auto taken = from.extract(message.id);
    require(!taken.empty(), message.id,
            message.late ? "is late, but was not lost" : "has a second verdict");
    if (taken.empty()) return {};
    if (message.late) {
        late_bytes_ -= taken.mapped().payload.size();
    } else {
        open_bytes_ -= taken.mapped().payload.size();
        given_bytes_ -= given_bytes(taken.mapped());
    }
    require(taken.mapped().payload == message.payload, message.id, "has another payload");
    return std::move(taken.mapped());
}

void Ledger::add(const Event& event) {
    if (event.fate == Fate::read) return;
    if (event.fate == Fate::duplicate) ++counts_.duplicates;
    if (event.fate == Fate::unsolicited || event.fate == Fate::stale) ++counts_.unsolicited;
    if (!has_message(event.fate)) return;
    if (event.fate == Fate::lost) return lost(event.message, event.at);
    if (event.frames.empty()) return answered(event.message, event.reply, event.at);
    echoed(event);
}

void Ledger::answered(const Message& message, const Reply& reply, ev::Time now) {
    const Sent sent = take(message);
    if (complaint_) return;
    compare(sent, message, reply, now);
    if (message.late) --counts_.lost;
    ++(reply.right ? counts_.right : counts_.bad);
    if (framing_.in_datagrams) return;
    require(message.id > last_answered_, message.id, "was answered after a later one");
    last_answered_ = message.id;
}

void Ledger::compare(const Sent& sent, const Message& message, const Reply& reply,
                     ev::Time now) {
    const bool equal = sent.reply && reply.payload == *sent.reply;
    require(reply.right == equal || expect_ == Expect::any, message.id, "is misjudged");
    require(sent.flushed_at <= now, message.id, "was answered before it was flushed");
    const auto taken = reply.round_trip.value_or(ev::Duration::zero());
    require(taken >= ev::Duration::zero() && taken <= now - sent.at, message.id,
            "has a round trip that is longer than it was out");
}

void Ledger::echoed(const Event& batch) {
    std::string frames;
    for (std::uint64_t id = batch.message.id; id < batch.message.id + batch.count; ++id) {
        const auto sent = open_.find(id);
        const std::string payload = sent == open_.end() ? "" : sent->second.payload;
        frames += framing_.header(payload) + payload + std::string(framing_.delimiter);
        Message message;
        message.id = id;
        message.payload = payload;
        message.late = batch.message.late;
        take(message);
        require(id > last_answered_, id, "was answered after a later one");
        last_answered_ = id;
    }
    require(batch.count > 1 && batch.frames == frames, batch.message.id,
            "begins a wrong batch");
    counts_.right += batch.count;
}

void Ledger::lost(const Message& message, ev::Time now) {
    Message open = message;
    open.late = false;
    Sent sent = take(open);
    const bool overdue = sent.flushed_at <= now - options_.reply_timeout;
    require(!message.late || overdue, message.id, "is late too early");
    ++counts_.lost;
    if (!message.late) return;
    late_bytes_ += sent.payload.size();
    late_[message.id] = std::move(sent);
}

}  // namespace simulation
