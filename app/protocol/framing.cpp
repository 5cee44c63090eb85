#include "app/protocol/framing.hpp"

#include "app/text/units.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace yodel {

namespace {

using namespace std::string_view_literals;

std::string increased(std::string_view payload) {
    std::string reply(payload);
    for (char& byte : reply) byte = static_cast<char>(byte + 1);
    return reply;
}

constexpr Framing table[] = {
    {.name = "line", .delimiter = "\n"},
    {.name = "crlf", .delimiter = "\r\n"},
    {.name = "nul", .delimiter = "\0"sv},
    {.name = "len1", .prefix = 1},
    {.name = "len2", .prefix = 2},
    {.name = "len4", .prefix = 4},
    {.name = "len2le", .prefix = 2, .little_endian = true},
    {.name = "len4le", .prefix = 4, .little_endian = true},
    {.name = "caret", .delimiter = "$", .head = "^", .greeting = "*", .reply = increased},
    {.name = "raw"},
};

constexpr bool valid(const Framing& framing) {
    if (framing.delimiter.empty()) return framing.head.empty() && framing.reply == nullptr;
    return framing.prefix == 0 && framing.delimiter.size() <= 2 && framing.head.size() <= 1;
}
static_assert(std::all_of(std::begin(table), std::end(table), valid));

// The blocks have a length that the compiler knows and a count that fits into a byte, so that
// the compiler compares many bytes at once.
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

// Returns the place in the prefix of byte `i` of the length; byte 0 is the lowest one.
std::size_t place(const Framing& framing, std::size_t i) {
    return framing.little_endian ? i : framing.prefix - 1 - i;
}

// Returns true if the bytes are whole messages. Each length counts `own` bytes of itself.
bool is_cut_by(const Framing& framing, std::string_view bytes, std::size_t own) {
    while (bytes.size() >= framing.prefix) {
        const std::size_t used = framing.prefix - own + framing.decode_length(bytes);
        if (used < framing.prefix || used > bytes.size()) return false;
        bytes.remove_prefix(used);
    }
    return bytes.empty();
}

}  // namespace

std::size_t Framing::longest() const {
    constexpr auto all = std::numeric_limits<std::size_t>::max();
    constexpr std::size_t longest_datagram = 65507;  // in a packet of IPv4
    if (datagrams) return longest_datagram;
    return prefix > 0 ? all >> (8 * (sizeof all - prefix)) : all;
}

std::string Framing::header(std::size_t size) const {
    std::string length(prefix, '\0');
    for (std::size_t i = 0; i < prefix; ++i)
        length[place(*this, i)] = static_cast<char>(size >> (8 * i));
    return std::string(head) + length;
}

std::string_view Framing::payload(std::string_view frame) const {
    frame.remove_prefix(head.size() + prefix);
    frame.remove_suffix(delimiter.size());
    return frame;
}

std::size_t Framing::decode_length(std::string_view bytes) const {
    std::size_t size = 0;
    for (std::size_t i = 0; i < prefix; ++i)
        size |= std::size_t{static_cast<unsigned char>(bytes[place(*this, i)])} << (8 * i);
    return size;
}

std::size_t Framing::stray(std::string_view bytes) const {
    return std::min(bytes.find(head), bytes.size());
}

const Framing* find_framing(std::string_view name) {
    const auto* const it =
        std::find_if(std::begin(table), std::end(table),
                     [&](const Framing& framing) { return framing.name == name; });
    return it == std::end(table) ? nullptr : it;
}

const Framing* datagram_framing() {
    static constexpr Framing datagram{.name = "datagram", .datagrams = true};
    return &datagram;
}

std::string Framing::holder() const {
    return datagrams ? "a " + std::string(name) : "-f " + std::string(name);
}

std::string Framing::misfit(std::size_t size) const {
    return "a message of " + std::to_string(size) + " bytes does not fit into " + holder();
}

std::vector<std::string> framing_list() {
    std::vector<std::string> names;
    for (const Framing& framing : table) names.emplace_back(framing.name);
    return names;
}

std::string framing_names() {
    std::string names;
    for (const std::string& name : framing_list()) names += (names.empty() ? "" : ", ") + name;
    return names;
}

std::size_t count_pieces(const Framing& framing, std::string_view payload) {
    if (framing.delimiter.size() == 1) return 1 + count_byte(payload, framing.delimiter[0]);
    std::size_t count = 0;
    for_each_piece(framing, payload, [&](std::string_view) { ++count; });
    return count;
}

bool sendable(const Framing& framing, std::size_t max_frame, std::string_view payload) {
    const std::size_t shortest = framing.replies_framed() ? 0 : 1;
    const std::size_t longest = std::min(framing.longest(), max_frame);
    if (shortest == 0 && payload.size() <= longest) return true;
    bool all = true;
    for_each_piece(framing, payload, [&](std::string_view piece) {
        all = all && piece.size() >= shortest && piece.size() <= longest;
    });
    return all;
}

void encode(const Framing& framing, std::string_view payload, std::string& to) {
    to += framing.header(payload.size());
    to += payload;
    to += framing.delimiter;
}

std::string misread_length(const Framing& framing, std::string_view bytes,
                           std::size_t max_frame) {
    if (framing.prefix == 0 || bytes.size() < framing.prefix) return {};
    const std::size_t size = framing.decode_length(bytes);
    const std::string reads = "the length reads " + std::to_string(size);
    for (const Framing& other : table) {
        if (other.prefix != framing.prefix || other.little_endian == framing.little_endian)
            continue;
        const std::size_t reversed = other.decode_length(bytes);
        if (size > max_frame ? reversed <= max_frame : is_cut_by(other, bytes, 0))
            return reads + "; as " + (other.little_endian ? "little" : "big") +
                   "-endian it is " + std::to_string(reversed) + ": -f " +
                   std::string(other.name);
    }
    if (is_cut_by(framing, bytes, framing.prefix))
        return reads + "; does it include its own " + bytes_text(framing.prefix) + "?";
    const std::string_view length = bytes.substr(0, framing.prefix);
    const bool text = std::all_of(length.begin(), length.end(),
                                  [](char byte) { return byte >= ' ' && byte <= '~'; });
    if (!text || framing.prefix == 1) return {};
    return reads + ", the text \"" + std::string(length) + "\"; is the length missing?";
}

Decoder::Cut Decoder::next(std::string_view bytes) {
    if (bytes.empty()) return {};
    const std::size_t stray = searched_ == 0 ? framing_->stray(bytes) : 0;
    if (stray > 0)
        return {.kind = Cut::Kind::stray, .payload = bytes.substr(0, stray), .used = stray};
    if (framing_->prefix > 0) return next_prefixed(bytes);
    if (framing_->has_frames()) return next_delimited(bytes);
    return {.kind = Cut::Kind::message, .payload = bytes, .used = bytes.size()};
}

Decoder::Cut Decoder::next_delimited(std::string_view bytes) {
    const std::string_view delimiter = framing_->delimiter;
    const std::size_t head = framing_->head.size();
    const std::size_t end = bytes.find(delimiter, std::max(searched_, head));
    if (end == std::string_view::npos) {
        if (bytes.size() - head > max_frame_ + delimiter.size())
            return too_long(bytes.size() - head);
        searched_ = bytes.size() - std::min(bytes.size(), delimiter.size() - 1);
        return {};
    }
    searched_ = 0;
    if (end - head > max_frame_) return too_long(end - head);
    return {.kind = Cut::Kind::message,
            .payload = bytes.substr(head, end - head),
            .used = end + delimiter.size()};
}

Decoder::Cut Decoder::next_prefixed(std::string_view bytes) {
    if (bytes.size() < framing_->prefix) return {};
    const std::size_t size = framing_->decode_length(bytes);
    if (size > max_frame_) {
        const std::string hint = begun_ ? "" : misread_length(*framing_, bytes, max_frame_);
        if (hint.empty()) return too_long(size);
        return {.kind = Cut::Kind::error, .error = hint};
    }
    const std::size_t used = framing_->prefix + size;
    if (bytes.size() < used) return {};
    begun_ = true;
    return {.kind = Cut::Kind::message,
            .payload = bytes.substr(framing_->prefix, size),
            .used = used};
}

Decoder::Cut Decoder::too_long(std::size_t size) const {
    return {.kind = Cut::Kind::error,
            .error = "a message of " + std::to_string(size) +
                     " bytes or more exceeds the limit of " + std::to_string(max_frame_) +
                     " (--max-frame)"};
}

}  // namespace yodel
