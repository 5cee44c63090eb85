#include "app/server/responder.hpp"

#include "app/text/units.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace yodel {

using bufio::Stream;

namespace {

// Echoes every byte as it arrives, or sends the reply that the framing defines to each payload.
class FaithfulResponder : public Responder {
public:
    // The buffers of TLS, and input that waits for space, take memory in addition to the
    // output. A limit above 8 * max_write is reduced by 2 * max_write, so that the sum stays
    // within it.
    FaithfulResponder(const Framing& framing, std::size_t limit)
        : framing_(framing), limit_(limit > 8 * max_write ? limit - 2 * max_write : limit) {}

    void greet(Stream& stream) final { stream.write(framing_.greeting); }

    // A write that completes at once frees space without any event, so this continues until
    // nothing more can be answered, or max_writes is reached.
    std::optional<ev::Time> answer(Stream& stream) final {
        for (int i = 0; i < max_writes; ++i) {
            const std::size_t space = limit_ - std::min(limit_, stream.pending());
            if (end_ || !answer_some(stream, std::min(space, max_write))) return std::nullopt;
        }
        return ev::Time{};
    }

protected:
    // Answers the first `count` bytes received. Returns true if it consumed any.
    bool echo(Stream& stream, std::size_t count) {
        const std::string_view bytes = stream.received().substr(0, count);
        if (bytes.empty() || !stream.write(framing_.reply ? reply_to(bytes) : bytes))
            return false;
        stream.consume(bytes.size());
        return true;
    }

    const Framing& framing_;
    FrameCursor cursor_{framing_};

private:
    // Answers at most `max` of the bytes received. Returns true if it consumed any.
    virtual bool answer_some(Stream& stream, std::size_t max) { return echo(stream, max); }

    std::string_view reply_to(std::string_view bytes) {
        reply_.clear();
        while (!bytes.empty()) {
            const FrameCursor::Step step = cursor_.next(bytes);
            reply_ += framing_.reply(step.payload);
            bytes.remove_prefix(step.used);
        }
        return reply_;
    }

    std::size_t limit_;
    std::string reply_;
};

// Leaves a message in the input until it is whole, and sends it from there piece by piece, so
// that a message is in memory only once, whatever its length.
class WholeResponder final : public FaithfulResponder {
public:
    WholeResponder(const Framing& framing, EchoLimits limits)
        : FaithfulResponder(framing, limits.buffer), max_message_(limits.message) {}

private:
    bool answer_some(Stream& stream, std::size_t max) override {
        const std::size_t ready = whole_frames(stream, max);
        const std::string_view rest = stream.received().substr(ready);
        const bool last = stream.input_ended() && message_bytes_left_ == 0 && ready < max;
        if (last && !end_ && !rest.empty()) end_ = end_inside_message(framing_, rest);
        return echo(stream, ready);
    }

    // Returns the number of bytes at the front, at most `max`, that belong to whole messages.
    std::size_t whole_frames(Stream& stream, std::size_t max) {
        std::size_t at = std::min(message_bytes_left_, max);
        message_bytes_left_ -= at;
        while (message_bytes_left_ == 0 && at < max) {
            const std::string_view rest = stream.received().substr(at);
            const std::size_t frame = frame_size(rest);
            stream.set_min_readable(frame);
            if (end_ || rest.empty() || rest.size() < frame) break;
            const std::size_t step = std::min(frame, max - at);
            message_bytes_left_ = frame - step;
            at += step;
        }
        return at;
    }

    // Returns the size of the whole frame, or of the prefix while the prefix is incomplete.
    std::size_t frame_size(std::string_view bytes) {
        cursor_.restart();
        const std::size_t frame = cursor_.next(bytes).used + cursor_.missing();
        const std::size_t size = frame - framing_.overhead();
        if (frame > framing_.overhead() + max_message_)
            end_ = {bufio::Reason::limit, bufio::By::us, "",
                    above_limit_text("a message of " + bytes_text(size), max_message_)};
        return frame;
    }

    std::size_t max_message_;
    std::size_t message_bytes_left_ = 0;  // bytes of a message already begun
};

}  // namespace

std::unique_ptr<Responder> make_faithful_responder(const Framing& framing, EchoLimits limits) {
    if (framing.has_length()) return std::make_unique<WholeResponder>(framing, limits);
    return std::make_unique<FaithfulResponder>(framing, limits.buffer);
}

}  // namespace yodel
