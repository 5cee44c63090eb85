#include "app/protocol/framing.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace yodel {

namespace {

using Kind = Framing::Kind;
using namespace std::string_view_literals;

constexpr Framing table[] = {
    {"line", Kind::delimited, "\n", 0, false},
    {"crlf", Kind::delimited, "\r\n", 0, false},
    {"nul", Kind::delimited, "\0"sv, 0, false},
    {"len1", Kind::prefixed, "", 1, false},
    {"len2", Kind::prefixed, "", 2, false},
    {"len4", Kind::prefixed, "", 4, false},
    {"len2le", Kind::prefixed, "", 2, true},
    {"len4le", Kind::prefixed, "", 4, true},
    {"caret", Kind::caret, "$", 0, false, caret_greeting, caret_reply},
    {"raw", Kind::raw, "", 0, false},
};

// In blocks of a length that the compiler knows, and whose counts fit into a byte, it compares
// many bytes at once.
std::size_t count_byte(std::string_view bytes, char byte) {
    constexpr std::size_t block = 240;
    std::size_t count = 0;
    for (; bytes.size() >= block; bytes.remove_prefix(block)) {
        std::uint8_t some = 0;
        for (std::size_t i = 0; i < block; ++i)
            some = static_cast<std::uint8_t>(some + (bytes[i] == byte));
        count += some;
    }
    return count + static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), byte));
}

// The place of byte `i` of a length in its prefix, counted from the least significant one.
std::size_t place(const Framing& framing, std::size_t i) {
    return framing.little_endian ? i : framing.prefix - 1 - i;
}

}  // namespace

std::size_t Framing::longest() const {
    constexpr auto all = std::numeric_limits<std::size_t>::max();
    return kind == Kind::prefixed ? all >> (8 * (sizeof all - prefix)) : all;
}

std::string Framing::head(std::size_t size) const {
    if (kind == Kind::caret) return "^";
    std::string length(prefix, '\0');
    for (std::size_t i = 0; i < prefix; ++i)
        length[place(*this, i)] = static_cast<char>(size >> (8 * i));
    return length;
}

std::string_view Framing::payload(std::string_view frame) const {
    frame.remove_prefix(kind == Kind::caret ? 1 : prefix);
    frame.remove_suffix(delimiter.size());
    return frame;
}

std::size_t Framing::told_size(std::string_view bytes) const {
    std::size_t size = 0;
    for (std::size_t i = 0; i < prefix; ++i)
        size |= std::size_t{static_cast<unsigned char>(bytes[place(*this, i)])} << (8 * i);
    return size;
}

std::string caret_reply(std::string_view message) {
    std::string reply(message);
    for (char& byte : reply) byte = static_cast<char>(byte + 1);
    return reply;
}

const Framing* find_framing(std::string_view name) {
    const auto* const it =
        std::find_if(std::begin(table), std::end(table),
                     [&](const Framing& framing) { return framing.name == name; });
    return it == std::end(table) ? nullptr : it;
}

std::string framing_names() {
    std::string names;
    for (const Framing& framing : table)
        names += (names.empty() ? "" : ", ") + std::string(framing.name);
    return names;
}

std::size_t count_pieces(const Framing& framing, std::string_view payload) {
    if (framing.delimiter.size() == 1) return 1 + count_byte(payload, framing.delimiter[0]);
    std::size_t count = 0;
    for_each_piece(framing, payload, [&](std::string_view) { ++count; });
    return count;
}

std::vector<std::string_view> pieces(const Framing& framing, std::string_view payload) {
    std::vector<std::string_view> list;
    for_each_piece(framing, payload, [&](std::string_view piece) { list.push_back(piece); });
    return list;
}

void encode(const Framing& framing, std::string_view payload, std::string& to) {
    to += framing.head(payload.size());
    to += payload;
    to += framing.delimiter;
}

Decoder::Cut Decoder::next(std::string_view bytes) {
    switch (framing_->kind) {
    case Kind::delimited: return next_delimited(bytes);
    case Kind::prefixed: return next_prefixed(bytes);
    case Kind::caret:
    case Kind::raw: break;
    }
    if (bytes.empty()) return {Cut::Kind::incomplete, {}, 0, {}};
    return {Cut::Kind::message, bytes, bytes.size(), {}};
}

Decoder::Cut Decoder::next_delimited(std::string_view bytes) {
    const std::string_view delimiter = framing_->delimiter;
    const std::size_t end = bytes.find(delimiter, searched_);
    if (end == std::string_view::npos) {
        if (bytes.size() > max_frame_ + delimiter.size()) return too_long(bytes.size());
        searched_ = bytes.size() - std::min(bytes.size(), delimiter.size() - 1);
        return {Cut::Kind::incomplete, {}, 0, {}};
    }
    searched_ = 0;
    if (end > max_frame_) return too_long(end);
    return {Cut::Kind::message, bytes.substr(0, end), end + delimiter.size(), {}};
}

Decoder::Cut Decoder::next_prefixed(std::string_view bytes) const {
    if (bytes.size() < framing_->prefix) return {Cut::Kind::incomplete, {}, 0, {}};
    const std::size_t size = framing_->told_size(bytes);
    if (size > max_frame_) return too_long(size);
    const std::size_t used = framing_->prefix + size;
    if (bytes.size() < used) return {Cut::Kind::incomplete, {}, 0, {}};
    return {Cut::Kind::message, bytes.substr(framing_->prefix, size), used, {}};
}

Decoder::Cut Decoder::too_long(std::size_t size) const {
    return {Cut::Kind::error,
            {},
            0,
            "a message of " + std::to_string(size) + " bytes or more is over the limit of " +
                std::to_string(max_frame_) + " (--max-frame)"};
}

}  // namespace yodel
