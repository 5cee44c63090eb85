#include "app/server/faults.hpp"

#include "app/text/units.hpp"

#include <algorithm>

namespace yodel {

using bufio::Stream;

namespace {

// Limits the work of one call if many small messages wait.
constexpr int max_messages = 4096;

// A reply in its frame.
struct FramedReply {
    std::string bytes;
    std::size_t payload_offset = 0;  // in `bytes`
    std::size_t payload_size = 0;
    std::size_t used = 0;  // bytes of input to consume
};

class FaultyResponder final : public Responder {
public:
    FaultyResponder(ev::Loop& loop, const Faults& faults, const Framing& framing,
                    EchoLimits limits, std::uint64_t connection)
        : loop_(loop),
          faults_(faults),
          framing_(framing),
          limits_(limits),
          decoder_(framing, max_message()),
          dice_(faults, connection) {}

    void greet(Stream& stream) override {
        stream.pause_reading(faults_.no_read);
        if (faults_.stall_handshake) return;
        stream.write(framing_.greeting);
        stream.write(framing_.banner(faults_.banner));
        if (faults_.half_close) stream.finish();
    }

    std::optional<ev::Time> answer(Stream& stream) override {
        if (faults_.stall_handshake) {
            stream.consume(stream.received().size());
            return std::nullopt;
        }
        const bool more = take_some(stream);
        send(stream);
        close_when_due(stream);
        if (more && may_take()) return ev::Time{};
        if (held_.empty() || stream.pending() > 0) return std::nullopt;
        return held_.first_due();
    }

    bool has_pending() const override { return !held_.empty(); }

private:
    struct Held {
        std::string bytes;
        std::size_t sent = 0;
    };

    // Messages are held whole, so the buffer also limits their size.
    std::size_t max_message() const {
        return framing_.has_length() ? limits_.message : limits_.buffer;
    }
    bool may_take() const { return !end_ && !all_taken() && held_.memory() < limits_.buffer; }
    bool all_taken() const {
        return taken_ >= std::min(faults_.close_after.value_or(UINT64_MAX),
                                  faults_.reset_after.value_or(UINT64_MAX));
    }

    // Returns true if it stopped although another whole message may be available. For an
    // incomplete message, the stream must keep reading even above its high-water mark.
    bool take_some(Stream& stream) {
        for (int i = 0; i < max_messages && may_take(); ++i) {
            if (take(stream)) continue;
            stream.set_min_readable(stream.received().size() + 1);
            return false;
        }
        stream.set_min_readable(0);
        return true;
    }

    // Returns false if there is no whole message left.
    bool take(Stream& stream) {
        stream.consume(framing_.stray_size(stream.received()));
        std::optional<FramedReply> reply = next_reply(stream.received(), stream.input_ended());
        if (!reply) return false;
        stream.consume(reply->used);
        ++taken_;
        hold(std::move(*reply));
        return true;
    }

    // `last`: the input has ended. The rest of it then counts as a message, except with a
    // length-prefixed framing.
    std::optional<FramedReply> next_reply(std::string_view bytes, bool last) {
        const Decoder::Decoded cut = decoder_.next(bytes);
        if (cut.kind == Decoder::Decoded::Kind::error) {
            end_ = {bufio::Reason::limit, bufio::By::us, "a message exceeds the limit of",
                    std::to_string(max_message()) +
                        (framing_.has_length() ? " (--max-frame)" : "")};
        }
        if (cut.kind == Decoder::Decoded::Kind::message)
            return reply_to(bytes.substr(0, cut.used), cut.payload);
        if (end_ || !last || bytes.empty()) return std::nullopt;
        if (!framing_.has_length()) return reply_to(bytes, framing_.partial_payload(bytes));
        end_ = end_inside_message(framing_, bytes);
        return std::nullopt;
    }

    FramedReply reply_to(std::string_view frame, std::string_view payload) const {
        if (framing_.reply) return {framing_.reply(payload), 0, payload.size(), frame.size()};
        return {std::string(frame), static_cast<std::size_t>(payload.data() - frame.data()),
                payload.size(), frame.size()};
    }

    void hold(FramedReply reply) {
        const FaultDice::Plan plan = dice_.next();
        if (plan.drop) return;
        if (plan.corrupt)
            corrupt(reply.bytes.data() + reply.payload_offset, reply.payload_size, plan.place,
                    framing_.delimiter);
        if (plan.corrupt) framing_.update_type(reply.bytes);
        const ev::Time due = std::max(held_.last_due(), loop_.after(plan.delay));
        for (int copies = plan.dup ? 2 : 1; copies > 0; --copies)
            held_.push({reply.bytes}, due);
    }

    // Writes the next chunk only after the system has accepted the previous one. Otherwise the
    // system would join them.
    void send(Stream& stream) {
        const int pieces = faults_.chunk > 0 ? 1 : max_writes;
        for (int i = 0; i < pieces && stream.pending() == 0; ++i) stream.write(next_piece());
    }

    // Removes and returns bytes that are due: with --chunk one chunk of a reply, otherwise up
    // to max_write bytes of several replies.
    std::string next_piece() {
        const std::size_t size =
            std::min(faults_.chunk > 0 ? faults_.chunk : max_write, limits_.buffer);
        std::string due;
        while (due.size() < size && held_.first_due() <= loop_.now()) {
            if (faults_.chunk > 0 && !due.empty()) break;
            Held& first = held_.front();
            const std::string_view part =
                std::string_view(first.bytes).substr(first.sent, size - due.size());
            due += part;
            first.sent += part.size();
            if (first.sent < first.bytes.size()) break;
            held_.pop();
        }
        return due;
    }

    void close_when_due(Stream& stream) {
        if (!all_taken() || has_pending() || stream.pending() > 0 || !stream.is_open()) return;
        if (faults_.reset_after) return stream.abort();
        end_ = {bufio::Reason::aborted, bufio::By::us, "closed after",
                count_text(taken_, "message")};
    }

    ev::Loop& loop_;
    const Faults& faults_;
    const Framing& framing_;
    EchoLimits limits_;
    Decoder decoder_;
    FaultDice dice_;
    std::uint64_t taken_ = 0;  // messages read from the input
    DelayQueue<Held> held_;
};

}  // namespace

bool Faults::any() const {
    return delay > ev::Duration::zero() || jitter > ev::Duration::zero() || drop > 0 ||
           corrupt > 0 || dup > 0 || chunk > 0 || close_after || reset_after || half_close ||
           no_read || stall_handshake || !banner.empty();
}

// Every message draws the same number of random values, so that its fate never affects the next
// message.
FaultDice::Plan FaultDice::next() {
    Plan plan{};
    plan.drop = random_.fraction() < faults_.drop;
    plan.dup = random_.fraction() < faults_.dup;
    plan.corrupt = random_.fraction() < faults_.corrupt;
    plan.place = random_.number();
    const double deviation = 2 * random_.fraction() - 1;
    plan.delay =
        faults_.delay + std::chrono::duration_cast<ev::Duration>(faults_.jitter * deviation);
    return plan;
}

void corrupt(char* payload, std::size_t size, std::uint64_t place, std::string_view reserved) {
    if (size == 0) return;
    char& byte = payload[place % size];
    for (unsigned bit = 0; bit < 8; ++bit) {
        const char turned = static_cast<char>(byte ^ (1 << ((place >> 32) + bit) % 8));
        if (reserved.find(turned) != std::string_view::npos) continue;
        byte = turned;
        return;
    }
}

std::unique_ptr<Responder> make_faulty_responder(ev::Loop& loop, const Faults& faults,
                                                 const Framing& framing, EchoLimits limits,
                                                 std::uint64_t connection) {
    return std::make_unique<FaultyResponder>(loop, faults, framing, limits, connection);
}

}  // namespace yodel
