// Compares the table of signs with the drawing code, and the manual page with the table.

#include "app/screen/signs.hpp"

#include "app/text/units.hpp"
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

// Returns the signs of the manual page as mdoc(7) rows, without the escape of punctuation.
std::set<std::string> documented() {
    const std::string page = contents(sources + "/app/yodel.1");
    const std::size_t begin = page.find("\n.Sh STATUS LINE");
    const std::string section = page.substr(begin, page.find("\n.Sh ", begin + 1) - begin);
    std::set<std::string> rows;
    for (const std::string& row : found(section, "\n\\.It ([^\n]* Ta [^\n]*)"))
        rows.insert(std::regex_replace(row, std::regex("\\\\&"), ""));
    return rows;
}

std::string as_documented(const Sign& sign) {
    const std::string unicode = sign.sign.unicode;
    const std::string ascii = sign.sign.ascii;
    std::string row;
    for (std::size_t at = 0; at < unicode.size(); at += ui::decode(unicode, at).size) {
        const auto value = static_cast<unsigned>(ui::decode(unicode, at).value);
        row += value < 0x80 ? std::string(1, unicode[at]) : format("\\[u%04X]", value);
    }
    return row + " Ta " + (unicode == ascii || ascii.empty() ? "" : ascii + " ") + "Ta " +
           sign.meaning;
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

TEST_CASE("the manual page explains each sign as the key page does, and no other") {
    std::set<std::string> expected;
    for (const Sign& sign : all_signs()) expected.insert(as_documented(sign));
    CHECK(documented() == expected);
}
