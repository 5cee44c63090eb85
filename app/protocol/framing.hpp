// Encodes messages as bytes, and decodes them.
//
// A framing is a row of a table. To add a framing, add a row to the table in framing.cpp and a
// case to its test. A frame consists of a head, a length, the payload and a delimiter, in this
// order. Each part except the payload may be absent:
//
//     line    hi\n              a delimiter
//     len2    \0\2hi            a length
//     caret   ^hi$              a head and a delimiter
//     raw     hi                no part, so the bytes are not divided into messages
//
// A service that does not echo may frame its replies differently. Its framing contains a
// function that reads a reply line by line:
//
//     resp    PING\r\n          $4\r\nPONG\r\n
//     smtp    EHLO me\r\n       250-mail\r\n250 SIZE\r\n
#pragma once

#include "bufio/transport.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// The result of reading one line of a reply.
struct ReplyLine {
    std::uint64_t body_size = 0;   // bytes after the line, including a delimiter of their own
    std::uint64_t more_lines = 0;  // each of which may have a body
    const char* fault = nullptr;   // why the line is invalid, as a clause
};

// A row defines a length, a delimiter, or neither. `head` and `reply_line` require a delimiter,
// and `reply` requires a delimiter of one byte.
struct Framing {
    std::string_view name;  // argument of -f, if it is_option()
    // Ends each message and each line of a reply; at most two bytes.
    std::string_view delimiter = {};
    unsigned prefix_size = 0;       // bytes that the length and any type take
    bool is_websocket = false;      // the first byte of the prefix is a type; see update_type()
    bool is_little_endian = false;  // byte order of the length; big-endian if false
    std::string_view head = {};     // at most one byte; bytes before it belong to no frame
    bool uses_datagrams = false;    // the transport carries each message in a datagram
    std::string_view greeting = {};  // sent by the server before the first reply
    // Returns the right reply to a payload. The reply is unframed and as long as the payload.
    // Each byte depends only on the payload byte at the same offset, so that a server can
    // answer in parts. If null, the right reply is the message itself, in its frame.
    std::string (*reply)(std::string_view payload) = nullptr;
    // Reads a line of a reply, if replies are framed differently. `before` contains the earlier
    // lines of the reply.
    ReplyLine (*reply_line)(std::string_view line, std::string_view before) = nullptr;
    std::string_view push_byte = {};  // with reply_line: first byte of an unsolicited message
    // With reply_line: first bytes of replies that report an error.
    std::string_view error_bytes = {};
    // The sides take turns. The server begins with a greeting, and each message should wait for
    // the reply to the previous one.
    bool takes_turns = false;

    bool is_option() const { return !uses_datagrams && !is_websocket; }
    bool has_length() const { return prefix_size > 0; }
    bool has_frames() const { return prefix_size > 0 || !delimiter.empty(); }
    // If false, a reply ends when it is as long as the expected reply.
    bool has_framed_replies() const { return has_frames() && reply == nullptr; }
    // If true, several concatenated frames, without the last delimiter, are a payload that
    // for_each_piece() cuts into the original messages.
    bool joins_pieces() const {
        return has_framed_replies() && prefix_size == 0 && head.empty() && can_echo();
    }
    // If false, a message that contains delimiters is sent unchanged, and gets one reply.
    constexpr bool can_echo() const { return reply_line == nullptr; }

    std::size_t overhead() const { return head.size() + prefix_size + delimiter.size(); }
    std::string header(std::string_view payload) const;  // the frame's part before the payload
    // Sets the type of a whole frame to 1 (binary) if its payload is not UTF-8. Type 0 is text.
    // Does nothing if the framing has no types.
    void update_type(std::string& frame) const;
    std::string_view payload(std::string_view frame) const;  // of a whole frame
    // Returns the payload of an incomplete frame, perhaps with a part of the delimiter.
    std::string_view partial_payload(std::string_view fragment) const {
        return fragment.substr(std::min(fragment.size(), head.size() + prefix_size));
    }
    // Returns the size of the frame at the front or, while it is incomplete, a minimum that
    // exceeds the size of `bytes`. The first `searched` bytes contain no whole delimiter.
    // Without frames, returns the size of `bytes`.
    std::size_t frame_size(std::string_view bytes, std::size_t searched = 0) const;
    // Returns none if the length is incomplete, or if the framing has no length.
    std::optional<std::size_t> payload_size(std::string_view fragment) const;
    // Returns the bytes with which a server greets: the text, after a header if `is_websocket`.
    std::string banner(std::string_view text) const {
        return (is_websocket && !text.empty() ? header(text) : "") + std::string(text);
    }
    // Returns the end of a sentence, such as "after 2 of 5 bytes".
    std::string fragment_text(std::string_view fragment) const;
    std::string delimiter_name() const;  // for example "a newline"
    // Returns the number of bytes before the next frame. `bytes` must begin between frames.
    std::size_t stray_size(std::string_view bytes) const {
        return head.empty() ? 0 : std::min(bytes.find(head), bytes.size());
    }
    // Return the minimum and maximum size of a payload. Empty messages are refused if the reply
    // would be empty and unframed, or if the service may ignore them.
    std::size_t min_payload() const { return has_framed_replies() && can_echo() ? 0 : 1; }
    std::size_t max_payload() const;
    // Returns "-f line", "a datagram" or "a WebSocket message", for error texts.
    std::string label() const;
    // Returns why no message may have this size: "-f raw does not allow empty messages".
    std::string misfit_text(std::size_t size, std::size_t limit) const;
};

const Framing* find_framing(std::string_view name);  // null for an unknown name
// Return the framings that are not arguments of -f, but connect a session and its transport
// (bufio/packets, app/websocket).
inline const Framing* datagram_framing() { return find_framing("datagram"); }
inline const Framing* websocket_framing() { return find_framing("websocket"); }
// Returns the arguments of -f. With `can_echo`, leaves out framings that cannot echo.
std::vector<std::string> framing_list(bool can_echo = false);

// If can_echo(), cuts a payload at its delimiters, because the peer reads each piece as a
// message. Most payloads are one piece. An empty payload is one empty piece.
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
// Returns true if the size of each piece is between min_payload() and max_payload(), and at
// most `max_frame`.
bool is_sendable(const Framing& framing, std::size_t max_frame, std::string_view payload);
// Appends the frame of the payload, which must be no longer than max_payload() and, unless
// joins_pieces(), one piece.
template <class Bytes>
void encode(const Framing& framing, std::string_view payload, Bytes& to) {
    if (framing.overhead() > framing.delimiter.size()) to.append(framing.header(payload));
    to.append(payload);
    to.append(framing.delimiter);
}

// `what` is, for example, "a message of 70 bytes".
std::string above_limit_text(const std::string& what, std::size_t limit);

// If the length at the front exceeds `max_frame` or the bytes, and seems to have the wrong byte
// order, returns a clause that names the right framing; if it is text, a clause that quotes it.
// Otherwise returns an empty text.
std::string length_hint(const Framing& framing, std::string_view bytes, std::size_t max_frame);

// Returns the end of a connection that the peer closed inside a message. `fragment` is the
// received part of the frame.
bufio::End end_inside_message(const Framing& framing, std::string_view fragment);

// Decodes the messages of one connection, in linear time however the bytes arrive. The decoder
// stores no bytes. The caller buffers the received bytes, and after each call removes `used`
// bytes from their front. The framing must outlive the decoder.
class Decoder {
public:
    // A payload of more than `max_frame` bytes is an error. With `is_greeted`, no greeting
    // precedes the replies.
    Decoder(const Framing& framing, std::size_t max_frame, bool is_greeted = false)
        : framing_(&framing), max_frame_(max_frame), is_greeted_(is_greeted) {}

    struct Decoded {
        enum class Kind {
            incomplete,  // more bytes are needed
            message,
            stray,  // answers nothing: a greeting, a push message, or bytes before a head
            error,  // the connection can no longer be decoded
        };
        Kind kind = Kind::incomplete;
        std::string_view payload = {};  // message or stray bytes, a view of the argument
        std::size_t used = 0;           // bytes to remove: the frame, or the stray bytes
        std::string error = {};         // as a sentence
    };
    // Decodes the message at the front of `bytes`, which are all received bytes not yet
    // removed. Without frames, all of them are one message.
    Decoded next(std::string_view bytes);
    // Returns true if messages need not wait for a greeting, or one has arrived, even an
    // invalid one.
    bool may_send(std::string_view bytes);
    // Begins a new frame. With `has_decoded`, this connection has received whole frames, even
    // if next() did not decode them. Otherwise another connection begins.
    void restart(bool has_decoded = true) {
        line_offset_ = searched_ = 0;
        lines_left_ = 1;
        has_decoded_ = has_decoded;
    }

private:
    Decoded read_message(std::string_view bytes);
    Decoded refusal(std::string_view line, const std::string& fault) const;
    Decoded too_long_error(std::string_view bytes, std::uint64_t size) const;

    const Framing* framing_;
    std::size_t max_frame_;
    // The frame at the front.
    std::size_t line_offset_ = 0;   // offset of the next line of a reply
    std::size_t searched_ = 0;      // bytes of that line without a whole delimiter
    std::uint64_t lines_left_ = 1;  // lines of the reply still missing

    bool has_decoded_ = false;  // a message was decoded, so the framing is right
    bool is_greeted_;
};

}  // namespace yodel
