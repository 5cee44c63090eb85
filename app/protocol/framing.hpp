// How messages are encoded as bytes and cut out of them again.
//
// A framing is a row of data, and no other file asks which framing it is. To add one, add a
// row to the table of framing.cpp and a case to its test. A frame is head, length, payload and
// delimiter in this order, each of which may be absent:
//
//     line    hi\n              a delimiter
//     len2    \0\2hi            a length
//     caret   ^hi$              a head and a delimiter
//     raw     hi                none: the bytes are not divided into messages
//
// The replies of a service that does not echo may have frames of another kind. Such a framing
// has a function that reads the lines of a reply:
//
//     resp    PING\r\n          $4\r\nPONG\r\n
//     smtp    EHLO me\r\n       250-mail\r\n250 SIZE\r\n
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// What a line of a reply contains and announces.
struct ReplyLine {
    std::uint64_t body = 0;  // bytes after its delimiter, with a second delimiter at their end
    std::uint64_t more = 0;  // lines to follow, with their bodies
    const char* fault = nullptr;  // why no reply contains such a line, as a clause
};

// A row defines a length, or a delimiter, or neither. A head or a function needs a delimiter.
struct Framing {
    std::string_view name;  // argument of -f, if it is_option()
    // At most two bytes. Ends a message, and a line of a reply.
    std::string_view delimiter = {};
    unsigned prefix = 0;         // size in bytes of the length before the payload
    bool typed = false;          // the first byte of the prefix is a type; see update_type()
    bool little_endian = false;  // byte order of the length; otherwise big-endian
    std::string_view head = {};  // one byte; bytes before it belong to no frame
    bool datagrams = false;      // each message is a datagram, which needs no frame
    std::string_view greeting = {};  // sent by the server before any reply
    // Returns the right reply to a payload, without a frame and as long as the payload. Each
    // byte depends only on the same byte of the payload, so that a server can answer parts.
    // Null: the right reply is the message itself, in its frame.
    std::string (*reply)(std::string_view payload) = nullptr;
    // Reads a line of a reply that is framed unlike a message. `before`: the earlier lines of
    // the reply.
    ReplyLine (*reply_line)(std::string_view line, std::string_view before) = nullptr;
    std::string_view push = {};  // with reply_line: first byte of a message that is no reply
    // The sides take turns: the server begins with a greeting, and a message should wait for
    // the reply to the last one.
    bool turns = false;

    bool is_option() const { return !datagrams && !typed; }
    // True if the connection carries WebSocket messages.
    bool websocket() const { return typed; }
    // True if a frame states the size of its payload.
    bool sized() const { return prefix > 0; }
    // True if messages are lines of text, as in a file.
    bool is_lines() const { return delimiter == "\n" && joins_pieces(); }
    // True if the bytes of a connection are cut into messages.
    bool has_frames() const { return prefix > 0 || !delimiter.empty() || datagrams; }
    // True if replies have frames as well; otherwise each reply is as long as its message.
    bool replies_framed() const { return has_frames() && reply == nullptr; }
    // True if the frames of several messages are, without the last delimiter, one payload that
    // is not yet cut into pieces.
    bool joins_pieces() const {
        return replies_framed() && prefix == 0 && head.empty() && !datagrams && can_echo();
    }
    // True if a reply can equal its message. Otherwise a message that contains delimiters is
    // sent as it is, and has a single reply.
    constexpr bool can_echo() const { return reply_line == nullptr; }

    std::size_t around() const { return head.size() + prefix + delimiter.size(); }
    std::size_t length_bytes() const { return prefix - (typed ? 1 : 0); }
    // Returns the part of a frame before the payload.
    std::string header(std::string_view payload) const;
    // With types, which are 0 for text and 1 for binary data: changes the type of a whole frame
    // to 1 if its payload is no longer UTF-8.
    void update_type(std::string& frame) const;
    // Returns the payload of a whole frame.
    std::string_view payload(std::string_view frame) const;
    // Returns the size of the payload, decoded from the first `prefix` bytes.
    std::size_t decode_length(std::string_view bytes) const;
    // The same of a frame that is not whole. It may end with a part of the delimiter.
    std::string_view begun_payload(std::string_view fragment) const {
        return fragment.substr(std::min(fragment.size(), head.size() + prefix));
    }
    // Returns the size of the payload that a frame states; none: there is no whole length.
    std::optional<std::size_t> payload_size(std::string_view fragment) const;
    // Returns the bytes that a server sends before all replies, so that they are a message if
    // there are types.
    std::string banner(std::string_view text) const {
        return (typed && !text.empty() ? header(text) : "") + std::string(text);
    }
    // Returns how much of a message a fragment of its frame contains, as the end of a sentence:
    // "after 2 bytes of it (of 5)".
    std::string fragment_text(std::string_view fragment) const;
    std::string delimiter_name() const;  // "a newline" and the like
    // Returns the number of bytes at the front, between two frames, that belong to no frame.
    std::size_t stray(std::string_view bytes) const {
        return head.empty() ? 0 : std::min(bytes.find(head), bytes.size());
    }
    // Return the size of the shortest and of the longest payload that a frame can have. Empty
    // messages would have empty replies without frames, and services that do not echo may
    // ignore them.
    std::size_t shortest() const { return replies_framed() && can_echo() ? 0 : 1; }
    std::size_t longest() const;
    // Returns "-f line" and the like, or "a datagram", or "a WebSocket message", for messages
    // to the user.
    std::string holder() const;
    // Returns "a message of 256 bytes does not fit into -f len1" and the like.
    std::string misfit(std::size_t size) const;
};

// Returns null if there is no framing of that name. The rows live as long as the program.
const Framing* find_framing(std::string_view name);
// These are not arguments of -f.
const Framing* datagram_framing();
const Framing* websocket_framing();  // between a session and its transport (app/websocket)
// `can_echo`: only framings in which a service can echo.
std::vector<std::string> framing_list(bool can_echo = false);

// Cuts a payload at the delimiters in it, because the framing could not distinguish such a
// payload from several messages. Most payloads are one piece; an empty payload is one empty
// piece.
template <class Take>
void for_each_piece(const Framing& framing, std::string_view payload, Take take) {
    while (framing.can_echo() && !framing.delimiter.empty()) {
        const std::size_t end = payload.find(framing.delimiter);
        if (end == std::string_view::npos) break;
        take(payload.substr(0, end));
        payload.remove_prefix(end + framing.delimiter.size());
    }
    take(payload);
}
std::size_t count_pieces(const Framing& framing, std::string_view payload);
// True if each piece can be sent: it is no longer than `max_frame` and the framing allow, and
// not shorter than shortest().
bool sendable(const Framing& framing, std::size_t max_frame, std::string_view payload);
// Appends the frame of the payload, which must be one piece and no longer than longest().
template <class Bytes>
void encode(const Framing& framing, std::string_view payload, Bytes& to) {
    to.append(framing.header(payload));
    to.append(payload);
    to.append(framing.delimiter);
}

// Returns "a message of 70 bytes exceeds the limit of 64 (--max-frame)".
std::string above_limit(const std::string& what, std::size_t limit);

// Explains the length at the front of these bytes, which is too long or exceeds them: wrong
// byte order, a length that counts itself, or text. Returns an empty text if no explanation
// fits all bytes.
std::string misread_length(const Framing& framing, std::string_view bytes,
                           std::size_t max_frame);

// Finds the beginnings and ends of messages in the bytes of one direction. The caller passes
// each byte once, in order, in pieces of any size. The cursor buffers no payload. The framing
// must outlive the cursor.
class FrameCursor {
public:
    explicit FrameCursor(const Framing& framing) : framing_(&framing) {}

    struct Step {
        std::size_t used = 0;           // bytes at the front that were passed
        std::string_view payload = {};  // the part of a payload in them
        bool whole = false;             // a message ends with them
    };
    // Passes bytes up to the end of a message, or to the end of `bytes`. Without frames each
    // call passes a message.
    Step next(std::string_view bytes);
    // The next byte begins a message.
    void restart() {
        inside_ = length_read_ = false;
        length_size_ = 0;
    }
    bool inside() const { return inside_; }  // a message has begun and is not whole
    // Returns how many bytes that message needs at least to be whole.
    std::size_t missing() const { return inside_ ? missing_ : 0; }

private:
    Step next_delimited(std::string_view bytes);
    Step next_prefixed(std::string_view bytes);

    const Framing* framing_;
    std::size_t missing_ = 0;
    char length_[8];  // the first bytes of a length that comes in pieces
    std::uint8_t length_size_ = 0;
    bool inside_ = false;
    bool length_read_ = false;  // it is known; `missing_` is the rest of the payload
};

// Cuts the messages of one connection out of its bytes, one after the other, in linear time
// however the bytes arrive. The framing must outlive the decoder. The decoder stores no bytes:
// the caller keeps the received bytes until they are consumed, and after each call consumes
// `used` of them from the front.
class Decoder {
public:
    // A payload of more than `max_frame` bytes is an error.
    Decoder(const Framing& framing, std::size_t max_frame)
        : framing_(&framing), max_frame_(max_frame), cursor_(framing) {}

    struct Cut {
        enum class Kind {
            incomplete,  // there is no whole message yet
            message,
            stray,  // bytes that answer nothing: before a head, a greeting, a push
            error,  // the connection can no longer be decoded
        };
        Kind kind = Kind::incomplete;
        std::string_view payload = {};  // message or stray bytes, a view of the argument
        std::size_t used = 0;           // bytes to consume: the frame, or the stray bytes
        std::string error = {};         // the error in the frame, as a sentence
    };
    // Looks for a message at the front of all bytes received and not yet consumed. Without
    // frames a message is whatever has arrived.
    Cut next(std::string_view bytes);
    // True if the framing needs no greeting, or it has arrived, or a wrong one.
    bool greeted(std::string_view bytes);
    // Must be called when bytes other than `used` were consumed.
    void restart() {
        cursor_.restart();
        passed_ = line_ = 0;
        lines_left_ = 1;
        begun_ = true;
    }

private:
    bool pass_frame(std::string_view bytes);
    Cut read(std::string_view bytes);
    Cut refuse(std::string_view line, const std::string& fault) const;
    Cut too_long(std::string_view bytes, std::uint64_t size) const;

    const Framing* framing_;
    std::size_t max_frame_;
    // About the frame at the front:
    FrameCursor cursor_;
    std::size_t passed_ = 0;        // bytes that the cursor has passed
    std::size_t line_ = 0;          // bytes before the next line of a reply
    std::uint64_t lines_left_ = 1;  // lines still to come

    bool begun_ = false;  // a message was cut, so the framing is right
};

}  // namespace yodel
