// Frames as a peer may send them, right or wrong, made without the code under test.
#pragma once

#include "tests/support/escapes.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test {

// A frame with any first byte: the final bit, the reserved bits and the opcode.
struct Frame {
    unsigned first;
    std::string payload = {};
};

inline std::size_t number(std::string_view bytes) {
    std::size_t value = 0;
    for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
}

inline std::string network_order(std::uint64_t number, unsigned bytes) {
    std::string text;
    while (bytes > 0) text += static_cast<char>(number >> (8 * --bytes));
    return text;
}

// The key has four bytes, or none for a frame that is not masked.
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

// Removes the whole frames from the front of the bytes, and unmasks them.
inline std::vector<Frame> decoded(std::string& bytes) {
    std::vector<Frame> frames;
    std::string_view rest = bytes;
    while (rest.size() >= 2) {
        const std::size_t second = number(rest.substr(1, 1));
        const std::size_t more = (second & 0x7f) == 127 ? 8 : (second & 0x7f) == 126 ? 2 : 0;
        const std::size_t head = 2 + more + (second >= 0x80 ? 4 : 0);
        if (rest.size() < head) break;
        const std::size_t size = more == 0 ? second & 0x7f : number(rest.substr(2, more));
        if (rest.size() - head < size) break;
        Frame frame{static_cast<unsigned char>(rest[0]), std::string(rest.substr(head, size))};
        for (std::size_t i = 0; i < size && second >= 0x80; ++i)
            frame.payload[i] = static_cast<char>(frame.payload[i] ^ rest[head - 4 + i % 4]);
        frames.push_back(std::move(frame));
        rest.remove_prefix(head + size);
    }
    bytes.erase(0, bytes.size() - rest.size());
    return frames;
}

// Returns a message as app/websocket passes it to the stream.
inline std::string message(std::string_view payload, bool text = true) {
    return std::string(1, text ? '\0' : '\1') + network_order(payload.size(), 4) +
           std::string(payload);
}

// Removes the whole messages from the front of the bytes, as frames.
inline std::vector<Frame> messages_in(std::string& bytes) {
    std::vector<Frame> found;
    while (bytes.size() >= 5) {
        const std::size_t size = number(std::string_view(bytes).substr(1, 4));
        if (bytes.size() < 5 + size) break;
        found.push_back({bytes[0] == 0 ? 0x81U : 0x82U, bytes.substr(5, size)});
        bytes.erase(0, 5 + size);
    }
    return found;
}

// --- Frames in tables.

// The payload of a close frame.
inline std::string closing(unsigned code, std::string_view reason = {}) {
    return network_order(code, 2) + std::string(reason);
}

inline const std::vector<std::pair<std::string, unsigned>> frame_names = {
    {"text", 0x81}, {"binary", 0x82}, {"close", 0x88}, {"ping", 0x89}, {"pong", 0x8a}};

// Makes frames from "text hello | close 1000 why | 83 payload"; 83 stands for any first byte.
inline std::vector<Frame> frames_of(const std::string& text) {
    std::vector<Frame> frames;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(" | ", at), text.size());
        const std::string each = text.substr(at, end - at);
        const std::size_t space = std::min(each.find(' '), each.size());
        const std::string name = each.substr(0, space);
        std::string rest = test::bytes(each.substr(std::min(space + 1, each.size())));
        std::size_t digits = 0;
        if (name == "close" && !rest.empty()) {
            const auto code = static_cast<unsigned>(std::stoul(rest, &digits));
            rest = closing(code, rest.substr(std::min(digits + 1, rest.size())));
        }
        const auto row = std::find_if(frame_names.begin(), frame_names.end(),
                                      [&](const auto& known) { return known.first == name; });
        const auto first = row == frame_names.end()
                               ? static_cast<unsigned>(std::stoul(name, nullptr, 16))
                               : row->second;
        frames.push_back({first, rest});
        at = end + 3;
    }
    return frames;
}

// Describes a frame in the form that frames_of() reads.
inline std::string described(const Frame& frame) {
    std::string text = "?";
    for (const auto& [name, first] : frame_names)
        if (first == frame.first) text = name;
    std::string payload = frame.payload;
    if (text == "close" && payload.size() >= 2) {
        text += " " + std::to_string(number(std::string_view(payload).substr(0, 2)));
        payload.erase(0, 2);
    }
    return payload.empty() ? text : text + " " + shown(payload);
}

inline void add_to(std::string& list, const std::string& text) {
    if (!text.empty()) list += (list.empty() ? "" : ", ") + text;
}

}  // namespace test
