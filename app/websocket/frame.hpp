// Frames of the WebSocket protocol (RFC 6455, section 5): their heads, their masks, and a
// reader that turns them into messages. Nothing in this file uses a socket.
//
// The code that uses this room sees a message as a type (one byte, 0 for text and 1 for
// binary), a length (four bytes in network order) and a payload. It never sees a fragment.
#pragma once

#include "app/text/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace yodel::websocket {

enum class Opcode : unsigned char { continuation, text, binary, close = 8, ping, pong };

using Key = std::uint32_t;  // masking key, with its bytes in memory order

constexpr std::size_t message_head_size = 5;         // bytes before the payload of a message
std::size_t payload_size(std::string_view message);  // from its head
constexpr std::size_t max_frame_head = 14;
constexpr std::size_t max_control_payload = 125;  // payload bytes of a control frame

// Status codes of a close frame.
constexpr unsigned normal_closure = 1000;
constexpr unsigned going_away = 1001;
constexpr unsigned protocol_error = 1002;
constexpr unsigned no_status = 1005;  // stands for a close frame without a code
constexpr unsigned invalid_data = 1007;
constexpr unsigned too_big = 1009;

// Writes the head of an unfragmented frame, and returns the head's size. A null `key` leaves
// the frame unmasked, as a server must.
std::size_t write_head(char* to, Opcode opcode, std::uint64_t size, const Key* key);

// Copies bytes and masks or unmasks them. The first byte is at the offset `at` of the payload.
// The ranges must not overlap unless they are equal.
void mask(char* to, const char* from, std::size_t size, Key key, std::uint64_t at);

struct Closure {
    unsigned code = no_status;
    std::string reason = {};

    // Returns "1001 going away: REASON" and the like.
    std::string text() const;
};

class FrameReader {
public:
    // With `is_masked`, the peer is a client, which must mask its frames. `max_message` is in
    // bytes, and reduced to 2^32 - 1, because a message contains its length in four bytes.
    FrameReader(bool is_masked, std::uint64_t max_message)
        : is_masked_(is_masked),
          max_message_(std::min(max_message, std::uint64_t{UINT32_MAX})) {}

    enum class Stop {
        blocked,  // more bytes or more space are needed
        control,  // a ping or a pong was read; see opcode() and control()
        closed,   // a close frame was read; see closure()
        failed,   // the peer has broken the protocol or max_message; see closure()
    };
    // Reads frames from `wire`, and writes messages to `to`. Removes the used part from the
    // front of both. Leaves an incomplete head on the wire.
    Stop next(std::string_view& wire, std::span<char>& to);
    // Returns true if `wire` contains a whole head or, after a head, a part of the payload.
    bool can_use(std::string_view wire) const;

    // If true, next() has output to write, even without more input.
    bool has_output() const { return !is_fragmented_ && !held_.empty(); }
    bool has_partial_input() const { return is_fragmented_ || has_head_; }
    // Returns 1 plus the number of payload bytes received of a fragmented message, which is
    // held until it is complete. Returns 0 if no such message is held.
    std::size_t held() const {
        return is_fragmented_ ? held_.size() - message_head_size + 1 : 0;
    }
    Opcode opcode() const { return opcode_; }
    std::string_view control() const { return control_; }
    // The close frame of the peer. After a failure, the code to send, and a clause with the
    // reason.
    const Closure& closure() const { return closure_; }

private:
    bool pass_held(std::span<char>& to);
    bool begin_frame(std::string_view head);
    const char* fault(std::string_view head) const;
    bool read_closure();
    bool take_payload(std::string_view& wire, std::span<char>& to);
    bool fail(unsigned code, std::string text);

    bool is_masked_;
    std::uint64_t max_message_;
    // The frame in progress.
    Opcode opcode_ = Opcode::continuation;
    bool is_final_ = true;
    Key key_ = 0;
    std::uint64_t payload_size_ = 0;
    std::uint64_t payload_left_ = 0;  // bytes of its payload still to be read
    bool has_head_ = false;           // if false, the next byte belongs to a head
    std::string control_;             // the payload of the last control frame
    // The message in progress.
    bool is_fragmented_ = false;
    bool is_text_ = false;
    ui::Utf8Check utf8_check_;      // checks a text; complete between messages
    std::string held_;              // the message's head, and its payload if fragmented
    std::size_t written_size_ = 0;  // bytes of held_ already written
    Closure closure_;
};

}  // namespace yodel::websocket
