// Compares the table of signs with the drawing code, and the manual page with the table.

#include "app/screen/signs.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <filesystem>
#include <regex>
#include <set>

using namespace yodel;
using test::contains;
using test::contents;

namespace {

const std::string sources = SOURCES;

std::vector<Sign> all_signs() {
    std::vector<Sign> all;
    for (const SignGroup& group : sign_groups)
        all.insert(all.end(), group.signs.begin(), group.signs.end());
    return all;
}

// Returns all characters of the table, in both forms.
std::string drawn() {
    std::string text;
    for (const Sign& sign : all_signs()) text += std::string(sign.sign.unicode) + " ";
    for (const char* const height : bar_heights) text += height;
    for (const Glyph& shade : shades) text += shade.unicode;
    return text;
}

// Returns each match of the pattern's first group.
std::vector<std::string> found(const std::string& text, const std::string& pattern) {
    std::vector<std::string> parts;
    const std::regex regex(pattern);
    for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it)
        parts.push_back((*it)[1]);
    return parts;
}

std::string utf8(unsigned c) {
    std::string text;
    if (c < 0x80) return text += static_cast<char>(c);
    if (c >= 0x800) text += static_cast<char>(0xe0 | c >> 12);
    text += static_cast<char>(c >= 0x800 ? 0x80 | (c >> 6 & 0x3f) : 0xc0 | c >> 6);
    return text += static_cast<char>(0x80 | (c & 0x3f));
}

// Returns a line of the manual page as plain text, without escapes and macros.
std::string plain(const std::string& line) {
    std::string text;
    std::size_t end = 0;
    const std::regex character("\\\\\\[u([0-9A-F]{4})\\]");
    for (std::sregex_iterator it(line.begin(), line.end(), character), last; it != last; ++it) {
        const auto at = static_cast<std::size_t>(it->position());
        text += line.substr(end, at - end);
        text += utf8(static_cast<unsigned>(std::stoul((*it)[1].str(), nullptr, 16)));
        end = at + static_cast<std::size_t>(it->length());
    }
    text = std::regex_replace(text + line.substr(end), std::regex(R"(^\.(Fl|Ev) )"), "");
    return std::regex_replace(text, std::regex("\\\\&|\""), "");
}

// Returns the signs of the manual page, as "SIGN (ASCII): meaning".
std::set<std::string> documented() {
    const std::string page = contents(sources + "/app/yodel.1");
    const std::size_t begin = page.find("\n.Sh STATUS LINE");
    const std::string section = page.substr(begin, page.find("\n.Sh ", begin + 1) - begin);
    std::set<std::string> signs;
    const std::regex columns("(.*?) Ta( .*?)? Ta (.*)");
    for (const std::string& item : found(section, "\n\\.It ([^\n]*)")) {
        std::smatch column;
        const std::string row = plain(item);
        REQUIRE(std::regex_match(row, column, columns));
        const std::string ascii =
            column[2].matched ? " (" + column[2].str().substr(1) + ")" : "";
        signs.insert(column[1].str() + ascii + ": " + column[3].str());
    }
    return signs;
}

std::string as_documented(const Sign& sign) {
    const std::string unicode = sign.sign.unicode;
    const std::string ascii = sign.sign.ascii;
    const bool both = unicode != ascii && !ascii.empty();
    return unicode + (both ? " (" + ascii + ")" : "") + ": " + sign.meaning;
}

}  // namespace

TEST_CASE("the table of signs contains every symbol that the screen draws") {
    const std::string glyphs = contents(sources + "/app/screen/signs.hpp");
    const auto symbols = found(glyphs, "constexpr Glyph \\w+\\{\"([^\"]+)\"");
    CHECK(symbols.size() > 15);
    for (const std::string& symbol : symbols) {
        CAPTURE(symbol);
        CHECK(contains(drawn(), symbol + " "));
    }
}

TEST_CASE("the drawing code takes every symbol from the table of signs") {
    for (const char* const folder : {"/app/screen", "/ui"})
        for (const auto& entry : std::filesystem::directory_iterator(sources + folder)) {
            if (entry.path().extension() != ".cpp") continue;
            CAPTURE(entry.path().filename().string());
            const std::string code =
                std::regex_replace(contents(entry.path()), std::regex("//[^\n]*"), "");
            for (const std::string& symbol : found(code, "([\xc2-\xf4][\x80-\xbf]+)"))
                CHECK(contains(drawn(), symbol));
        }
}

TEST_CASE("the manual page explains each sign as the page of keys does, and no other") {
    std::set<std::string> expected;
    for (const Sign& sign : all_signs()) expected.insert(as_documented(sign));
    const std::set<std::string> in_page = documented();
    for (const std::string& sign : expected) {
        CAPTURE(sign);
        CHECK(in_page.count(sign) == 1);
    }
    for (const std::string& sign : in_page) {
        CAPTURE(sign);
        CHECK(expected.count(sign) == 1);
    }
}
