#include "ui/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace ui {

namespace {

constexpr CodePoint not_utf8{0, 0};

// Returns the number of leading ASCII bytes, rounded down to whole blocks.
std::size_t ascii_blocks(std::string_view bytes) {
    std::uint64_t block[2];
    std::size_t at = 0;
    for (; bytes.size() - at >= sizeof block; at += sizeof block) {
        std::memcpy(block, bytes.data() + at, sizeof block);
        if (((block[0] | block[1]) & 0x8080808080808080) != 0) break;
    }
    return at;
}

// True if a character can begin with these bytes. Tries only the lowest and the highest
// continuation, because one of these is valid if any continuation is.
bool may_begin(std::string_view bytes) {
    const std::size_t size = encoded_size(bytes.front());
    const std::size_t missing = size - bytes.size();
    return decode(std::string(bytes) + std::string(missing, '\x80'), 0).size > 0 ||
           decode(std::string(bytes) + std::string(missing, '\xbf'), 0).size > 0;
}

}  // namespace

std::size_t encoded_size(char lead) {
    const auto byte = static_cast<unsigned char>(lead);
    if (byte < 0x80) return 1;
    if (byte < 0xc2 || byte > 0xf4) return 0;
    return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

CodePoint decode(std::string_view bytes, std::size_t at) {
    static constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const auto lead = static_cast<unsigned char>(bytes[at]);
    const std::size_t size = encoded_size(bytes[at]);
    if (size == 1) return {lead, 1};
    if (size == 0 || size > bytes.size() - at) return not_utf8;
    char32_t value = lead & (0xffu >> (size + 1));
    for (std::size_t i = 1; i < size; ++i) {
        const auto byte = static_cast<unsigned char>(bytes[at + i]);
        if ((byte & 0xc0) != 0x80) return not_utf8;
        value = value << 6 | (byte & 0x3fu);
    }
    const bool surrogate = value >= 0xd800 && value <= 0xdfff;
    if (value < smallest[size] || surrogate || value > 0x10ffff) return not_utf8;
    return {value, size};
}

void append_utf8(std::string& to, char32_t value) {
    const auto byte = [&](char32_t bits) { to += static_cast<char>(bits); };
    const auto rest = [&](unsigned shift) { byte(0x80 | (value >> shift & 0x3f)); };
    if (value < 0x80) return byte(value);
    if (value < 0x800) {
        byte(0xc0 | value >> 6);
        return rest(0);
    }
    if (value < 0x10000) {
        byte(0xe0 | value >> 12);
    } else {
        byte(0xf0 | value >> 18);
        rest(12);
    }
    rest(6);
    rest(0);
}

bool Utf8Check::add(std::string_view bytes) {
    while (!incomplete_.empty() && !bytes.empty()) {
        incomplete_ += bytes.front();
        bytes.remove_prefix(1);
        if (!may_begin(incomplete_)) return false;
        if (incomplete_.size() == encoded_size(incomplete_.front())) incomplete_.clear();
    }
    for (;;) {
        bytes.remove_prefix(ascii_blocks(bytes));
        if (bytes.empty()) return true;
        if (encoded_size(bytes.front()) > bytes.size()) break;
        const std::size_t size = decode(bytes, 0).size;
        if (size == 0) return false;
        bytes.remove_prefix(size);
    }
    incomplete_ = bytes;
    return may_begin(incomplete_);
}

bool is_utf8(std::string_view bytes) {
    Utf8Check check;
    return check.add(bytes) && check.complete();
}

}  // namespace ui
