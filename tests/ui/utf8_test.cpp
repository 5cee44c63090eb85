#include "ui/utf8.hpp"

#include "tests/support/catch.hpp"

#include <string_view>

TEST_CASE("decodes characters, and returns size 0 for everything else") {
    const struct {
        std::string_view bytes;
        char32_t value;
        std::size_t size;
    } cases[] = {
        {"a", U'a', 1},
        {"\x7f", 0x7f, 1},
        {"\xc2\x80", 0x80, 2},
        {"\xdf\xbf", 0x7ff, 2},
        {"\xe0\xa0\x80", 0x800, 3},
        {"\xef\xbf\xbf", 0xffff, 3},
        {"\xf0\x90\x80\x80", 0x10000, 4},
        {"\xf4\x8f\xbf\xbf", 0x10ffff, 4},
        {"\x80", 0, 0},              // the beginning is missing
        {"\xc3", 0, 0},              // the end is missing
        {"\xe4\xbdz", 0, 0},         // the end is missing
        {"\xc1\xbf", 0, 0},          // over-long
        {"\xe0\x9f\xbf", 0, 0},      // over-long
        {"\xf0\x8f\xbf\xbf", 0, 0},  // over-long
        {"\xed\xa0\x80", 0, 0},      // a surrogate
        {"\xf4\x90\x80\x80", 0, 0},  // beyond Unicode
        {"\xff", 0, 0},
    };
    for (const auto& each : cases) {
        CAPTURE(static_cast<unsigned>(each.value), each.bytes.size());
        const ui::CodePoint point = ui::decode(each.bytes, 0);
        CHECK(point.size == each.size);
        if (each.size > 0) CHECK(point.value == each.value);
        if (each.size > 0) CHECK(ui::encoded_size(each.bytes[0]) == each.size);
    }
}
