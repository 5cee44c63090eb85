#include "app/echo.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace yodel {

using bufio::Stream;

namespace {

class FaithfulEcho : public Echo {
public:
    explicit FaithfulEcho(std::size_t limit) : limit_(limit) {}

    // What the system takes at once has made room again, and no event will tell.
    void answer(Stream& stream) final {
        for (bool more = true; more && !end_;) {
            const std::size_t room = limit_ - std::min(limit_, stream.pending());
            const std::string_view bytes = stream.received().substr(0, room);
            more = !bytes.empty() && answer(stream, bytes);
        }
    }

private:
    // The bytes have room. Whether some of them were consumed.
    virtual bool answer(Stream& stream, std::string_view bytes) = 0;

    std::size_t limit_;
};

class PlainEcho final : public FaithfulEcho {
public:
    using FaithfulEcho::FaithfulEcho;

private:
    bool answer(Stream& stream, std::string_view bytes) override {
        if (!stream.write(bytes)) return false;
        stream.consume(bytes.size());
        return true;
    }
};

// Follows the frames through the bytes without keeping any; a prefix is answered once it is
// whole, so that one that tells too much is not, or can't become so.
class CheckedEcho final : public FaithfulEcho {
public:
    CheckedEcho(const Framing& framing, EchoLimits limits)
        : FaithfulEcho(limits.buffer), framing_(framing), longest_(limits.message) {}

private:
    bool answer(Stream& stream, std::string_view bytes) override {
        std::size_t good = check(bytes);
        const bool last = stream.input_ended() && bytes.size() == stream.received().size();
        if (last && !end_) good = bytes.size();
        if (good == 0 || !stream.write(bytes.substr(0, good))) return false;
        stream.consume(good);
        return true;
    }

    // How many of the bytes are in order.
    std::size_t check(std::string_view bytes) {
        std::size_t at = 0;
        for (;;) {
            const std::size_t step = std::min(left_, bytes.size() - at);
            at += step;
            left_ -= step;
            if (bytes.size() - at < framing_.prefix) return at;
            const std::size_t length = framing_.told_size(bytes.substr(at));
            if (length > longest_) return refuse(length), at;
            left_ = framing_.prefix + length;
        }
    }

    void refuse(std::size_t length) {
        end_ = {bufio::Reason::limit, "a message of " + std::to_string(length) +
                                          " bytes is over the limit of " +
                                          std::to_string(longest_) + " (--max-frame)"};
    }

    const Framing& framing_;
    std::size_t longest_;
    std::size_t left_ = 0;  // bytes of the current frame still to come
};

class CaretEcho final : public FaithfulEcho {
public:
    using FaithfulEcho::FaithfulEcho;

    void greet(Stream& stream) override { stream.write(caret_greeting); }

private:
    bool answer(Stream& stream, std::string_view bytes) override {
        std::string reply;
        for (std::string_view rest = bytes; !rest.empty();) {
            const std::size_t mark = std::min(rest.find(inside_ ? '$' : '^'), rest.size());
            if (inside_) reply += caret_reply(rest.substr(0, mark));
            if (mark == rest.size()) break;
            inside_ = !inside_;
            rest.remove_prefix(mark + 1);
        }
        if (!stream.write(reply)) return false;
        stream.consume(bytes.size());
        return true;
    }

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
