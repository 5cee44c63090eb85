// How messages are put into bytes and cut out of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

struct Framing {
    // The replies of `raw` and `caret` have no frames: they are told apart by their size.
    enum class Kind { delimited, prefixed, raw, caret };
    std::string_view name;
    Kind kind;
    std::string_view delimiter;  // what ends a message and can't be inside one; may be empty
    unsigned prefix;             // of `prefixed`: the bytes of the length
    bool little_endian;          // of `prefixed`
    std::string_view greeting = {};  // what the server says first, before any reply
    // Returns the right reply to a payload; null where that is the payload itself.
    std::string (*reply)(std::string_view payload) = nullptr;

    bool replies_framed() const { return kind == Kind::delimited || kind == Kind::prefixed; }
    // What stands before a payload of that size, and what is left of a frame without that and
    // its delimiter.
    std::string head(std::size_t size) const;
    std::string_view payload(std::string_view frame) const;
    // Of `prefixed`: the size that a whole prefix, at the front of the bytes, tells.
    std::size_t told_size(std::string_view bytes) const;
    // The longest payload that can be put into a frame.
    std::size_t longest() const;
};

// Of `caret`: the server's first word, and its answer to a message: every byte plus one.
inline constexpr std::string_view caret_greeting = "*";
std::string caret_reply(std::string_view message);

// Null where there is none of that name.
const Framing* find_framing(std::string_view name);
std::string framing_names();  // "line, crlf, …"

// Cuts a payload where the framing could not tell it from several; most are one piece.
template <class Take>
void for_each_piece(const Framing& framing, std::string_view payload, Take take) {
    while (!framing.delimiter.empty()) {
        const std::size_t end = payload.find(framing.delimiter);
        if (end == std::string_view::npos) break;
        take(payload.substr(0, end));
        payload.remove_prefix(end + framing.delimiter.size());
    }
    take(payload);
}
std::size_t count_pieces(const Framing& framing, std::string_view payload);
std::vector<std::string_view> pieces(const Framing& framing, std::string_view payload);
// Appends a frame with the payload, which is one piece and not too long.
void encode(const Framing& framing, std::string_view payload, std::string& to);

// The messages of one connection, one after the other, in linear time however they arrive.
class Decoder {
public:
    Decoder(const Framing& framing, std::size_t max_frame)
        : framing_(&framing), max_frame_(max_frame) {}

    struct Cut {
        enum class Kind { incomplete, message, error } kind;
        std::string_view payload;  // inside the bytes given
        std::size_t used = 0;      // bytes of the frame, to be consumed
        std::string error;         // what is wrong with the frame
    };
    // What was at the front is there no more.
    void restart() { searched_ = 0; }
    // Looks for a message at the front of all bytes received and not yet consumed. Where
    // replies are not framed, a message is whatever has arrived.
    Cut next(std::string_view bytes);

private:
    Cut next_delimited(std::string_view bytes);
    Cut next_prefixed(std::string_view bytes) const;
    Cut too_long(std::size_t size) const;

    const Framing* framing_;
    std::size_t max_frame_;
    std::size_t searched_ = 0;  // so many bytes at the front hold no delimiter
};

}  // namespace yodel
