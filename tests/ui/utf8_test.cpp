#include "ui/utf8.hpp"

#include "tests/support/catch.hpp"

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

namespace {

enum class Validity { utf8, cut, invalid };

// Checks a text that arrives in two pieces, with an empty piece between them.
Validity checked(std::string_view text, std::size_t cut) {
    ui::Utf8Check check;
    for (const std::string_view piece :
         {text.substr(0, cut), text.substr(cut, 0), text.substr(cut)})
        if (!check.add(piece)) return Validity::invalid;
    return check.complete() ? Validity::utf8 : Validity::cut;
}

std::string character(unsigned code) {
    const auto last = [code](unsigned shift) {
        return static_cast<char>(0x80 | (code >> shift & 0x3f));
    };
    if (code < 0x80) return {static_cast<char>(code)};
    if (code < 0x800) return {static_cast<char>(0xc0 | code >> 6), last(0)};
    if (code < 0x10000) return {static_cast<char>(0xe0 | code >> 12), last(6), last(0)};
    return {static_cast<char>(0xf0 | code >> 18), last(12), last(6), last(0)};
}

}  // namespace

TEST_CASE("a text that arrives in pieces is judged as a whole") {
    const struct {
        std::string text;
        Validity validity;
    } cases[] = {
        {"", Validity::utf8},
        {"plain text of more than a word", Validity::utf8},
        {"\xce\xba\xe1\xbd\xb9\xcf\x83\xf0\x9f\x98\x80\xce\xb5", Validity::utf8},
        {"in words: \xf0\x9f\x98\x80 and then ASCII again, for many bytes", Validity::utf8},
        {"\xf4\x8f\xbf\xbf\xef\xbf\xbf\xdf\xbf\x7f", Validity::utf8},
        {"ends in a character \xe1\xbd", Validity::cut},
        {"\xf0\x9f\x98", Validity::cut},
        {"\xc3", Validity::cut},
        {"\xc3z", Validity::invalid},
        {"plain text of more than a word\x80", Validity::invalid},
        {"1234567\xff", Validity::invalid},
        {"12345678\xe4\xbdz", Validity::invalid},
        {"\xe4\xbd\xa0\xa0", Validity::invalid},
        {"\xe0\x9f", Validity::invalid},
        {"\xed\xa0", Validity::invalid},
        {"\xf0\x8f", Validity::invalid},
        {"\xf4\x90", Validity::invalid},
        {"\xf0\x9fz", Validity::invalid},
    };
    for (const auto& each : cases) {
        CHECK(ui::is_utf8(each.text) == (each.validity == Validity::utf8));
        for (std::size_t cut = 0; cut <= each.text.size(); ++cut) {
            CAPTURE(each.text, cut);
            CHECK(checked(each.text, cut) == each.validity);
        }
    }
}

TEST_CASE("a text fails at the first byte that makes it invalid") {
    // A set of texts of up to three bytes; strings take long in tests that are not optimized.
    std::vector<bool> beginnings(4U << 24);
    const auto place = [](const char* text, std::size_t size) {
        std::size_t number = size;  // followed by the bytes
        for (std::size_t i = 0; i < 3; ++i)
            number = number << 8 | (i < size ? static_cast<unsigned char>(text[i]) : 0);
        return number;
    };
    for (unsigned code = 0; code <= 0x10ffff; code += code < 0x10000 ? 1 : 64) {
        if (code >= 0xd800 && code <= 0xdfff) continue;
        const std::string whole = character(code);
        for (std::size_t size = 1; size <= std::min<std::size_t>(whole.size(), 3); ++size)
            if (size == whole.size() || code % 64 == 0)
                beginnings[place(whole.data(), size)] = true;
    }
    // All texts of one byte, of two bytes from 0x80 on, and of three bytes from 0xe0 on.
    int wrong = 0;
    const auto check = [&](std::initializer_list<unsigned> bytes) {
        char text[3]{};
        std::copy(bytes.begin(), bytes.end(), text);
        const bool valid = ui::Utf8Check().add({text, bytes.size()});
        wrong += valid != beginnings[place(text, bytes.size())];
    };
    for (unsigned first = 0; first < 256; ++first) check({first});
    for (unsigned first = 0x80; first < 256; ++first)
        for (unsigned second = 0; second < 256; ++second) {
            check({first, second});
            if (first < 0xe0) continue;
            for (unsigned third = 0; third < 256; ++third) check({first, second, third});
        }
    CHECK(wrong == 0);
}
