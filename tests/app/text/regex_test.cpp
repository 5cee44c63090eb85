#include "app/text/regex.hpp"

#include "tests/app/refusal.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <clocale>

using namespace yodel;
using namespace std::string_literals;
using test::contains;
using test::refusal;

namespace {

const std::string cut = std::string(Regex::max_examined, 'a');

}  // namespace

TEST_CASE("an expression matches a part of a text") {
    // ^ and $ match at the ends of the text, not of a line. A NUL does not end the text. Bytes
    // are compared, not characters. Only the beginning of a long text is examined.
    const std::vector<std::string> matching{
        "b => abc",         "^[^-] => +OK",        "^$ => ",
        "a.b => a\nb",      "^(OK|PONG)$ => PONG", "\\+ => a+b",
        "^a.b$ => a\0b"s,   "b$ => a\0b"s,         "^.$ => \xff",
        "^..$ => \xc3\xa4", "a$ => " + cut,        "^a => " + cut + "b",
        "^a+$ => " + cut};
    const std::vector<std::string> others{
        "x => abc",           "^b => abc",        "^[^-] => -ERR",  "^[^-] => ",
        "^b => a\nb",         "a$ => a\nb",       "^a{3}$ => aaaa", "a$ => a\0b"s,
        "a$ => " + cut + "a", "b => " + cut + "b"};
    for (const auto* const rows : {&matching, &others})
        for (const std::string& row : *rows) {
            INFO(row.substr(0, 64));
            const auto [expression, text] = test::halves(row);
            const Regex compiled(expression);
            CHECK(compiled.matches(text) == (rows == &matching));
            CHECK(Regex(compiled).matches(text) == (rows == &matching));
        }
}

TEST_CASE("an expression applies to bytes in each locale") {
    REQUIRE(std::setlocale(LC_CTYPE, "C.UTF-8"));
    const Regex one("^.$");
    CHECK(one.matches("\xff"));
    CHECK_FALSE(one.matches("\xc3\xa4"));
    std::setlocale(LC_CTYPE, "C");
}

TEST_CASE("an expression finds all parts that match, but no empty ones") {
    const std::string rows[] = {
        "[0-9]+ => ",          "[0-9]+ => a",          "[0-9]+ => <12>:<34> x<5>",
        "[0-9]* => a<12>b",    "a|ab => <ab><ab>",     "^a => <a>aa",
        "a$ => aa<a>",         "(a)|(b+) => <a><bb>c", "b => a\0<b>"s,
        "b|a$ => " + cut + "b"};
    for (const std::string& row : rows) {
        INFO(row.substr(0, 64));
        const auto [expression, marked] = test::halves(row);
        std::string text = marked;
        std::erase_if(text, [](char letter) { return letter == '<' || letter == '>'; });
        const auto found = Regex(expression).find_all(text);
        for (auto range = found.rbegin(); range != found.rend(); ++range)
            text.insert(range->end, ">").insert(range->begin, "<");
        CHECK(text == marked);
    }
}

TEST_CASE("masked texts are compared, and an offset is converted into one in the text") {
    const Regex expression("[0-9]+");
    CHECK(expression.masked("a12b345") == "a\0b\0"s);
    CHECK(expression.masked("") == "");
    const std::vector<std::size_t> places{0, 1, 3, 4, 7};  // a, 12, b, 345, the end
    for (std::size_t i = 0; i < places.size(); ++i)
        CHECK(expression.unmasked_offset("a12b345", i) == places[i]);
    const std::string text = "a12";
    CHECK(ComparableText(nullptr, text).view.data() == text.data());
    CHECK(ComparableText(&expression, text).view == "a\0"s);

    Regex several("ab");
    for (const char* const more : {"bc", "[0-9]+", "[0-9]+:[0-9]+"}) several.add(more);
    Regex copy("x");
    copy = several;
    CHECK(copy.masked("xabcx abab 12:30 7") == "x\0x \0\0 \0 \0"s);
    CHECK(copy.unmasked_offset("xabcx", 2) == 4);
}

TEST_CASE("an expression stays the same when the library's states are dropped") {
    const Regex expression("^a+$");
    for (int i = 0; i < 20; ++i) {
        CHECK(expression.matches(cut));
        CHECK_FALSE(expression.matches(cut.substr(1) + "b"));
    }
}

TEST_CASE(
    "a text that is not an expression is refused with the library's reason, or with ours") {
    const std::string back = "back-references are not supported";
    const std::vector<std::pair<std::string, std::string>> rows{
        {"[", ""},          {"a[^]b", ""},    {"[]", ""},
        {"[[:alpha:]", ""}, {"[[:alpha", ""}, {"[[.a.]", ""},
        {"[[=a=]", ""},     {"(a)\\1", back}, {"(a)\\\\\\9", back},
        {"(", ""},          {"a{2,1}", ""},   {"[[:nothing:]]", ""},
        {"a\\", ""},        {"(a)(b", ""},    {"([)]", ""}};
    for (const auto& [expression, reason] : rows) {
        const std::string start =
            "\"" + expression + "\" is not an extended regular expression: ";
        const std::string sentence = refusal([&text = expression] { Regex{text}; });
        CAPTURE(sentence);
        CHECK(sentence.starts_with(start + reason));
        CHECK(sentence.size() > start.size());
    }
    CHECK(Regex{"a\\\\1"}.matches("a\\1"));
    CHECK(Regex{"\\0\\:"}.matches("0:"));
}
