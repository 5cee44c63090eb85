// How messages are put into bytes and cut out of them.
//
// A framing is a row of data, and no other file asks which framing it is: a new one is a row in
// the table of framing.cpp and a case in its test. A frame is head, length, payload and
// delimiter in this order, each of which may be absent:
//
//     line    hi\n              a delimiter
//     len2    \0\2hi            a length
//     caret   ^hi$              a head and a delimiter
//     raw     hi                nothing: the bytes have no messages in them
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// A row has a length, or a delimiter, or neither. A head or a reply of its own needs a
// delimiter.
struct Framing {
    std::string_view name;            // of -f
    std::string_view delimiter = {};  // at most two bytes, which no payload contains
    unsigned prefix = 0;              // bytes of the length before the payload
    bool little_endian = false;       // of the length; otherwise its first byte is the highest
    std::string_view head = {};       // one byte; bytes before it are in no frame
    bool datagrams = false;           // each message is a datagram, which needs no frame
    std::string_view greeting = {};   // sent by the server before any reply
    // Returns the right reply to a payload, which comes without a frame and is as long as the
    // payload. Each byte depends on the same byte of the payload only, so that a server can
    // answer parts. Null: the right reply is the message itself, in its frame.
    std::string (*reply)(std::string_view payload) = nullptr;

    // True if the bytes of a connection are cut into messages.
    bool has_frames() const { return prefix > 0 || !delimiter.empty() || datagrams; }
    // True if replies are cut likewise; otherwise each reply has the size of its message.
    bool replies_framed() const { return has_frames() && reply == nullptr; }
    // True if the frames of several messages are, without the last delimiter, one payload that
    // is not yet cut into pieces.
    bool joins_pieces() const {
        return replies_framed() && prefix == 0 && head.empty() && !datagrams;
    }

    // Returns the part of a frame before a payload of `size` bytes.
    std::string header(std::size_t size) const;
    // Returns the payload of a whole frame.
    std::string_view payload(std::string_view frame) const;
    // Returns the size of the payload whose length, `prefix` bytes, is at the front.
    std::size_t decode_length(std::string_view bytes) const;
    // Returns the number of bytes at the front, between two frames, that belong to no frame.
    std::size_t stray(std::string_view bytes) const;
    // Returns the size of the longest payload that a frame can have.
    std::size_t longest() const;
    // Returns "-f line" and the like, or "a datagram": for sentences about it.
    std::string holder() const;
};

// Returns null if there is no framing of that name. The rows live as long as the program.
const Framing* find_framing(std::string_view name);
const Framing* datagram_framing();  // that of datagrams, which has no name on command lines
std::vector<std::string> framing_list();
std::string framing_names();  // "line, crlf, …"

// Cuts a payload at the delimiters in it, because the framing could not tell such a payload
// from several messages. Most payloads are one piece; an empty payload is one empty piece.
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
// True if each piece can be sent: it is no longer than `max_frame` and the framing allow; and,
// where replies are distinguished by their size, it is not empty.
bool sendable(const Framing& framing, std::size_t max_frame, std::string_view payload);
// Appends the frame of the payload, which must be one piece and no longer than longest().
void encode(const Framing& framing, std::string_view payload, std::string& to);

// Returns what may be wrong with the length at the front of these bytes, which is too long or
// waits for more of them: its order, that it counts itself, or that it is text. Empty: nothing
// that makes sense of all bytes.
std::string misread_length(const Framing& framing, std::string_view bytes,
                           std::size_t max_frame);

// Cuts the messages of one connection out of its bytes, one after the other, in linear time
// however the bytes arrive. The framing must outlive the decoder, which keeps no bytes itself:
// the caller keeps all bytes that it has received and not yet consumed, and after each call
// consumes `used` of them from the front.
class Decoder {
public:
    // A payload of more than `max_frame` bytes is an error.
    Decoder(const Framing& framing, std::size_t max_frame)
        : framing_(&framing), max_frame_(max_frame) {}

    struct Cut {
        enum class Kind {
            incomplete,  // there is no whole message yet
            message,
            stray,  // bytes before a head, which belong to no message
            error,  // the connection cannot be decoded any further
        };
        Kind kind = Kind::incomplete;
        std::string_view payload =
            {};                  // a view into the bytes given: the message or stray bytes
        std::size_t used = 0;    // bytes to consume: the frame, or the stray bytes
        std::string error = {};  // a sentence that says what is wrong with the frame
    };
    // Looks for a message at the front of all bytes received and not yet consumed. Without
    // frames a message is whatever has arrived.
    Cut next(std::string_view bytes);
    // Must be called when bytes other than `used` were consumed.
    void restart() {
        searched_ = 0;
        begun_ = true;
    }

private:
    Cut next_delimited(std::string_view bytes);
    Cut next_prefixed(std::string_view bytes);
    Cut too_long(std::size_t size) const;

    const Framing* framing_;
    std::size_t max_frame_;
    std::size_t searched_ = 0;  // bytes at the front that are known to hold no delimiter
    bool begun_ = false;        // a message was cut: the framing is the right one
};

}  // namespace yodel
