#include "app/echo.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace yodel {

using bufio::Stream;

namespace {

// What was received and may be answered without passing the limit.
std::string_view answerable(const Stream& stream, std::size_t limit) {
    return stream.received().substr(0, limit - std::min(limit, stream.pending()));
}

class PlainEcho final : public Echo {
public:
    explicit PlainEcho(std::size_t limit) : limit_(limit) {}

    void answer(Stream& stream) override {
        const std::string_view bytes = answerable(stream, limit_);
        if (!bytes.empty() && stream.write(bytes)) stream.consume(bytes.size());
    }

private:
    std::size_t limit_;
};

// Follows the frames through the bytes without keeping any; a prefix is answered once it is
// whole, so that one that tells too much is not, or can't become so.
class CheckedEcho final : public Echo {
public:
    CheckedEcho(const Framing& framing, EchoLimits limits)
        : framing_(framing), limits_(limits) {}

    void answer(Stream& stream) override {
        const std::string_view bytes = answerable(stream, limits_.buffer);
        std::size_t good = check(bytes);
        const bool last = stream.input_ended() && bytes.size() == stream.received().size();
        if (last && !end_) good = bytes.size();
        if (good > 0 && stream.write(bytes.substr(0, good))) stream.consume(good);
    }

private:
    // How many of the bytes are in order.
    std::size_t check(std::string_view bytes) {
        std::size_t at = 0;
        for (;;) {
            const std::size_t step = std::min(left_, bytes.size() - at);
            at += step;
            left_ -= step;
            if (bytes.size() - at < framing_.prefix) return at;
            const std::size_t length = framing_.told_size(bytes.substr(at));
            if (length > limits_.message) return refuse(length), at;
            left_ = framing_.prefix + length;
        }
    }

    void refuse(std::size_t length) {
        end_ = {bufio::Reason::limit, "a message of " + std::to_string(length) +
                                          " bytes is over the limit of " +
                                          std::to_string(limits_.message) + " (--max-frame)"};
    }

    const Framing& framing_;
    EchoLimits limits_;
    std::size_t left_ = 0;  // bytes of the current frame still to come
};

class CaretEcho final : public Echo {
public:
    explicit CaretEcho(std::size_t limit) : limit_(limit) {}

    void greet(Stream& stream) override { stream.write(caret_greeting); }

    void answer(Stream& stream) override {
        const std::string_view bytes = answerable(stream, limit_);
        std::string reply;
        for (std::string_view rest = bytes; !rest.empty();) {
            const std::size_t mark = std::min(rest.find(inside_ ? '$' : '^'), rest.size());
            if (inside_) reply += caret_reply(rest.substr(0, mark));
            if (mark == rest.size()) break;
            inside_ = !inside_;
            rest.remove_prefix(mark + 1);
        }
        if (stream.write(reply)) stream.consume(bytes.size());
    }

private:
    std::size_t limit_;
    bool inside_ = false;  // a message
};

}  // namespace

std::unique_ptr<Echo> make_faithful_echo(const Framing& framing, EchoLimits limits) {
    if (framing.kind == Framing::Kind::caret) return std::make_unique<CaretEcho>(limits.buffer);
    if (framing.kind == Framing::Kind::prefixed)
        return std::make_unique<CheckedEcho>(framing, limits);
    return std::make_unique<PlainEcho>(limits.buffer);
}

}  // namespace yodel
