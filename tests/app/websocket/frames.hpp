// Frames as a peer may send them, right or wrong, made without the code under test.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace test {

// A frame with any first byte: the final bit, the reserved bits and the opcode.
struct Frame {
    unsigned first;
    std::string payload = {};
};

inline std::string network_order(std::uint64_t number, unsigned bytes) {
    std::string text;
    while (bytes > 0) text += static_cast<char>(number >> (8 * --bytes));
    return text;
}

// `key`: four bytes, or empty for a frame that is not masked.
inline std::string encoded(const Frame& frame, std::string_view key) {
    const std::size_t size = frame.payload.size();
    const unsigned more = size < 126 ? 0 : size < 65536 ? 2 : 8;
    const std::uint64_t second = more == 0 ? size : more == 2 ? 126 : 127;
    std::string bytes(1, static_cast<char>(frame.first));
    bytes += network_order(second | (key.empty() ? 0 : 0x80), 1) + network_order(size, more);
    bytes += key;
    for (std::size_t i = 0; i < size; ++i)
        bytes += static_cast<char>(frame.payload[i] ^ (key.empty() ? 0 : key[i % 4]));
    return bytes;
}

inline std::string encoded(const std::vector<Frame>& frames, bool masked) {
    std::string bytes;
    for (const Frame& frame : frames) bytes += encoded(frame, masked ? "\x37\xfa\x21\x3d" : "");
    return bytes;
}

// Takes the whole frames from the front of the bytes, and unmasks them.
inline std::vector<Frame> decoded(std::string& bytes) {
    std::vector<Frame> frames;
    const auto number = [&](std::size_t at, std::size_t count) {
        std::size_t value = 0;
        for (std::size_t i = 0; i < count; ++i)
            value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
        return value;
    };
    while (bytes.size() >= 2) {
        const std::size_t second = number(1, 1);
        const std::size_t more = (second & 0x7f) == 127 ? 8 : (second & 0x7f) == 126 ? 2 : 0;
        const std::size_t head = 2 + more + (second >= 0x80 ? 4 : 0);
        if (bytes.size() < head) break;
        const std::size_t size = more == 0 ? second & 0x7f : number(2, more);
        if (bytes.size() - head < size) break;
        Frame frame{static_cast<unsigned>(number(0, 1)), bytes.substr(head, size)};
        for (std::size_t i = 0; i < size && second >= 0x80; ++i)
            frame.payload[i] = static_cast<char>(frame.payload[i] ^ bytes[head - 4 + i % 4]);
        frames.push_back(std::move(frame));
        bytes.erase(0, head + size);
    }
    return frames;
}

// A message as it is above the room app/websocket.
inline std::string message(std::string_view payload, bool text = true) {
    return std::string(1, text ? '\0' : '\1') + network_order(payload.size(), 4) +
           std::string(payload);
}

// The payload of a close frame.
inline std::string closing(unsigned code, std::string_view reason = {}) {
    return network_order(code, 2) + std::string(reason);
}

constexpr unsigned text_frame = 0x81;
constexpr unsigned binary_frame = 0x82;
constexpr unsigned close_frame = 0x88;
constexpr unsigned ping_frame = 0x89;
constexpr unsigned pong_frame = 0x8a;

}  // namespace test
