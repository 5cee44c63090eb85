#include "app/server/responder.hpp"

#include "app/text/units.hpp"

#include <algorithm>

namespace yodel {

using bufio::Stream;

namespace {

// Maximum bytes of one write, and writes in one call. Without these limits, a peer that reads
// as fast as we write would keep the loop from serving other connections.
constexpr std::size_t max_write = 64 * 1024;
constexpr int max_writes = 4;

// Limits the work of one call if many small messages wait.
constexpr int max_messages = 4096;

// Echoes every byte as it arrives, or sends the reply that the framing defines to each payload.
// Leaves a message with a length in the input until it is whole, and sends it from there piece
// by piece, so that a message is in memory only once, whatever its length.
class FaithfulResponder final : public Responder {
public:
    // The buffers of TLS, and input that waits for space, take memory in addition to the
    // output. A limit above 8 * max_write is reduced by 2 * max_write, so that the sum stays
    // within the original limit.
    FaithfulResponder(const Framing& framing, EchoLimits limits, Stream& stream)
        : Responder(stream),
          framing_(framing),
          limit_(limits.max_buffer > 8 * max_write ? limits.max_buffer - 2 * max_write
                                                   : limits.max_buffer),
          max_message_(limits.max_message) {
        stream.write(framing.greeting);
    }

    // A write that completes immediately frees space without any event, so answering continues
    // until nothing more can be answered, or max_writes is reached.
    ev::Time answer() override {
        for (int i = 0; i < max_writes; ++i) {
            if (end_) return ev::Time::max();
            const std::size_t space = limit_ - std::min(limit_, stream_.pending());
            const std::size_t max = std::min(space, max_write);
            const std::size_t count = framing_.has_length() ? whole_frames_size(max) : max;
            const std::string_view bytes = stream_.received().substr(0, count);
            if (bytes.empty() || !stream_.write(framing_.reply ? reply_to(bytes) : bytes))
                return ev::Time::max();
            stream_.consume(bytes.size());
        }
        return ev::Time{};
    }

private:
    std::string_view reply_to(std::string_view bytes) {
        reply_.clear();
        while (!bytes.empty()) {
            const std::size_t stray = is_in_message_ ? 0 : framing_.stray_size(bytes);
            if (stray == bytes.size()) break;
            if (!is_in_message_) bytes.remove_prefix(stray + framing_.head.size());
            const std::size_t end = std::min(bytes.find(framing_.delimiter), bytes.size());
            reply_ += framing_.reply(bytes.substr(0, end));
            is_in_message_ = end == bytes.size();
            bytes.remove_prefix(std::min(end + 1, bytes.size()));
        }
        return reply_;
    }

    // Returns how many bytes at the front, at most `max`, belong to whole messages. The caller
    // must then consume them. Sets end_ if a message is too long or truncated.
    std::size_t whole_frames_size(std::size_t max) {
        const std::string_view bytes = stream_.received();
        max = std::min(max, bytes.size());
        std::size_t taken = std::min(message_bytes_left_, max);
        message_bytes_left_ -= taken;
        while (message_bytes_left_ == 0 && taken < max) {
            const std::string_view rest = bytes.substr(taken);
            const std::size_t frame = framing_.frame_size(rest);
            const bool is_whole = frame <= rest.size();
            stream_.set_min_readable(is_whole ? 0 : frame);
            if (frame > framing_.overhead() + max_message_) {
                const std::size_t size = frame - framing_.overhead();
                end_ = {bufio::Reason::limit, bufio::By::us, "",
                        above_limit_text("a message of " + bytes_text(size), max_message_)};
            } else if (stream_.input_ended() && !is_whole) {
                end_ = end_inside_message(framing_, rest);
            }
            if (end_ || !is_whole) break;
            const std::size_t step = std::min(frame, max - taken);
            message_bytes_left_ = frame - step;
            taken += step;
        }
        return taken;
    }

    const Framing& framing_;
    const std::size_t limit_;
    const std::size_t max_message_;
    bool is_in_message_ = false;          // a part was answered; only with framing_.reply
    std::size_t message_bytes_left_ = 0;  // bytes to be sent of a message already begun
    std::string reply_;
};

class FaultyResponder final : public Responder {
public:
    FaultyResponder(ev::Loop& loop, const Faults& faults, const Framing& framing,
                    EchoLimits limits, std::uint64_t connection_number, Stream& stream)
        : Responder(stream),
          loop_(loop),
          faults_(faults),
          framing_(framing),
          limits_(limits),
          decoder_(framing, max_message()),
          dice_(faults, connection_number) {
        stream.pause_reading(faults.must_not_read);
        if (faults.is_handshake_stalled) return;
        stream.write(framing.greeting);
        stream.write(framing.banner(faults.banner));
        if (faults.is_half_closed) stream.finish();
    }

    ev::Time answer() override {
        if (faults_.is_handshake_stalled) {
            stream_.consume(stream_.received().size());
            return ev::Time::max();
        }
        // If the next message is incomplete, the stream must keep reading, even above its
        // high-water mark.
        bool may_continue = true;
        for (int i = 0; may_continue && i < max_messages && may_take(); ++i)
            may_continue = take_message();
        stream_.set_min_readable(may_continue ? 0 : stream_.received().size() + 1);
        // The next chunk is written only after the system has accepted the previous one, so
        // that one write never contains both.
        const int pieces = faults_.chunk > 0 ? 1 : max_writes;
        for (int i = 0; i < pieces && stream_.pending() == 0; ++i) stream_.write(next_piece());
        if (all_taken() && !has_pending() && stream_.pending() == 0 && stream_.is_open()) {
            if (faults_.reset_after)
                stream_.abort();
            else
                end_ = {bufio::Reason::aborted, bufio::By::us, "closed after",
                        count_text(taken_, "message")};
        }
        if (may_continue && may_take()) return ev::Time{};
        return stream_.pending() > 0 ? ev::Time::max() : held_.first_due_at();
    }

    bool has_pending() const override { return !held_.empty(); }

private:
    struct Held {
        std::string bytes;
        std::size_t sent = 0;
    };

    // Messages are held whole, so the buffer limits their size. Messages with a length prefix
    // have their own limit.
    std::size_t max_message() const {
        return framing_.has_length() ? limits_.max_message : limits_.max_buffer;
    }
    bool may_take() const {
        return !end_ && !all_taken() && held_.memory() < limits_.max_buffer;
    }
    bool all_taken() const {
        return taken_ >= std::min(faults_.close_after.value_or(UINT64_MAX),
                                  faults_.reset_after.value_or(UINT64_MAX));
    }

    // Returns false if the next message is incomplete or too long. After the end of the input,
    // the rest counts as a message, except with a length-prefixed framing.
    bool take_message() {
        using Kind = Decoder::Decoded::Kind;
        stream_.consume(framing_.stray_size(stream_.received()));
        const std::string_view bytes = stream_.received();
        const Decoder::Decoded cut = decoder_.next(bytes);
        const bool is_last = stream_.input_ended() && !bytes.empty();
        if (cut.kind == Kind::message) {
            hold(bytes.substr(0, cut.used), cut.payload);
            stream_.consume(cut.used);
            return true;
        }
        if (cut.kind == Kind::error) {
            end_ = {bufio::Reason::limit, bufio::By::us, "a message exceeds the limit of",
                    std::to_string(max_message()) +
                        (framing_.has_length() ? " (--max-frame)" : "")};
        } else if (is_last && framing_.has_length()) {
            end_ = end_inside_message(framing_, bytes);
        } else if (is_last) {
            hold(bytes, framing_.partial_payload(bytes));
            stream_.consume(bytes.size());
            return true;
        }
        return false;
    }

    void hold(std::string_view frame, std::string_view payload) {
        ++taken_;
        const FaultDice::Plan plan = dice_.next();
        if (plan.is_dropped) return;
        const auto offset = framing_.reply ? 0 : payload.data() - frame.data();
        std::string reply = framing_.reply ? framing_.reply(payload) : std::string(frame);
        if (plan.is_corrupted) {
            corrupt(reply.data() + offset, payload.size(), plan.bit_choice, framing_.delimiter);
            framing_.update_type(reply);
        }
        const ev::Time due_at = std::max(held_.last_due_at(), loop_.after(plan.delay));
        for (int copies = plan.is_duplicated ? 2 : 1; copies > 0; --copies)
            held_.push({reply}, due_at);
    }

    // Removes and returns bytes that are due: with --chunk one chunk of a reply, otherwise up
    // to max_write bytes of several replies.
    std::string next_piece() {
        const std::size_t size =
            std::min(faults_.chunk > 0 ? faults_.chunk : max_write, limits_.max_buffer);
        std::string due;
        while (due.size() < size && held_.first_due_at() <= loop_.now()) {
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

// Every message draws the same number of random values, so that its fate never affects the next
// message.
FaultDice::Plan FaultDice::next() {
    Plan plan{};
    plan.is_dropped = random_.fraction() < faults_.drop;
    plan.is_duplicated = random_.fraction() < faults_.dup;
    plan.is_corrupted = random_.fraction() < faults_.corrupt;
    plan.bit_choice = random_.number();
    const double deviation = 2 * random_.fraction() - 1;
    plan.delay =
        faults_.delay + std::chrono::duration_cast<ev::Duration>(faults_.jitter * deviation);
    return plan;
}

void corrupt(char* payload, std::size_t size, std::uint64_t bit_choice,
             std::string_view reserved) {
    if (size == 0) return;
    char& byte = payload[bit_choice % size];
    for (unsigned bit = 0; bit < 8; ++bit) {
        const char flipped = static_cast<char>(byte ^ (1 << ((bit_choice >> 32) + bit) % 8));
        if (reserved.find(flipped) != std::string_view::npos) continue;
        byte = flipped;
        return;
    }
}

std::unique_ptr<Responder> make_responder(ev::Loop& loop, const Faults& faults,
                                          const Framing& framing, EchoLimits limits,
                                          std::uint64_t connection_number, Stream& stream) {
    if (!faults.any()) return std::make_unique<FaithfulResponder>(framing, limits, stream);
    return std::make_unique<FaultyResponder>(loop, faults, framing, limits, connection_number,
                                             stream);
}

}  // namespace yodel
