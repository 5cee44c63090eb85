#include "ui/utf8.hpp"

namespace ui {

namespace {

constexpr CodePoint not_utf8{0, 0};

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

}  // namespace ui
