#include "app/text/expression.hpp"

#include "tests/app/refusal.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <clocale>
#include <string>
#include <string_view>
#include <vector>

using namespace yodel;
using namespace std::string_literals;
using test::contains;
using test::refusal;

namespace {

// Returns the text with each part that matches in brackets.
std::string marked(const std::string& expression, std::string_view text) {
    std::string all;
    std::size_t end = 0;
    for (const Expression::Range& range : Expression(expression).find_all(text)) {
        all += std::string(text.substr(end, range.begin - end)) + "[" +
               std::string(text.substr(range.begin, range.end - range.begin)) + "]";
        end = range.end;
    }
    return all + std::string(text.substr(end));
}

const std::string cut = std::string(Expression::max_examined, 'a');

}  // namespace

TEST_CASE("an expression matches a part of a text") {
    const auto [expression, text, matches] = GENERATE(table<std::string, std::string, bool>({
        {"b", "abc", true},
        {"x", "abc", false},
        {"^b", "abc", false},
        {"^[^-]", "-ERR", false},
        {"^[^-]", "+OK", true},
        {"^[^-]", "", false},
        {"^$", "", true},
        {"^b", "a\nb", false},  // the ends of the text, not of a line
        {"a$", "a\nb", false},
        {"a.b", "a\nb", true},
        {"^(OK|PONG)$", "PONG", true},
        {"^a{3}$", "aaaa", false},
        {"\\+", "a+b", true},
        {"a$", "a\0b"s, false},  // a NUL is no end
        {"^a.b$", "a\0b"s, true},
        {"b$", "a\0b"s, true},
        {"^.$", "\xff", true},  // bytes, not characters
        {"^..$", "\xc3\xa4", true},
        {"a$", cut, true},
        {"a$", cut + "a", false},  // only the beginning is examined
        {"b", cut + "b", false},
        {"^a", cut + "b", true},
    }));
    CAPTURE(expression, text.substr(0, 64), text.size());
    const Expression compiled(expression);
    CHECK(compiled.matches(text) == matches);
    const Expression copy(compiled);
    CHECK(copy.matches(text) == matches);
}

TEST_CASE("an expression applies to bytes in each locale") {
    REQUIRE(std::setlocale(LC_CTYPE, "C.UTF-8"));
    const Expression one("^.$");
    CHECK(one.matches("\xff"));
    CHECK_FALSE(one.matches("\xc3\xa4"));
    std::setlocale(LC_CTYPE, "C");
}

TEST_CASE("an expression finds all parts that match, but no empty ones") {
    const auto [expression, text, result] =
        GENERATE(table<std::string, std::string, std::string>({
            {"[0-9]+", "", ""},
            {"[0-9]+", "a", "a"},
            {"[0-9]+", "12:34 x5", "[12]:[34] x[5]"},
            {"[0-9]*", "a12b", "a[12]b"},
            {"a|ab", "abab", "[ab][ab]"},  // the longest
            {"^a", "aaa", "[a]aa"},
            {"a$", "aaa", "aa[a]"},
            {"(a)|(b+)", "abbc", "[a][bb]c"},
            {"b", "a\0b"s, "a\0[b]"s},
            {"b|a$", cut + "b", cut + "b"},
        }));
    CAPTURE(expression, text.substr(0, 64));
    CHECK(marked(expression, text) == result);
}

TEST_CASE("several expressions mask all that any of them matches") {
    Expression expression("ab");
    expression.add("bc");
    expression.add("[0-9]+");
    expression.add("[0-9]+:[0-9]+");
    const Expression copy = expression;
    CHECK(copy.masked("xabcx abab 12:30 7") == "x\0x \0\0 \0 \0"s);
    CHECK(copy.unmasked("xabcx", 2) == 4);
}

TEST_CASE(
    "masked texts are compared, and an offset in them is converted into one in the text") {
    const Expression expression("[0-9]+");
    CHECK(expression.masked("a12b345") == "a\0b\0"s);
    CHECK(expression.masked("") == "");
    const std::vector<std::size_t> places{0, 1, 3, 4, 7};  // a, 12, b, 345, the end
    for (std::size_t i = 0; i < places.size(); ++i)
        CHECK(expression.unmasked("a12b345", i) == places[i]);
    std::string space;
    CHECK(comparable(nullptr, "a12", space) == "a12");
    CHECK(space.empty());
    CHECK(comparable(&expression, "a12", space) == "a\0"s);
}

TEST_CASE("an expression stays the same when the library's states are dropped") {
    const Expression expression("^a+$");
    for (int i = 0; i < 20; ++i) {
        CHECK(expression.matches(cut));
        CHECK_FALSE(expression.matches(cut.substr(1) + "b"));
    }
}

TEST_CASE("a bracket that is not closed is named") {
    const std::string wrong = GENERATE("[", "a[^]b", "[[:alpha:]", "[[:alpha", "([)]");
    const std::string sentence = refusal([&] { Expression{wrong}; });
    CHECK(contains(sentence, "a bracket [ is not closed") == (wrong != "([)]"));
    CHECK(!sentence.empty());
}

TEST_CASE("a text that is no expression is refused with the library's reason") {
    for (const char* const wrong : {"(", "[a", "a{2,1}", "[[:nothing:]]", "a\\", "(a)(b"}) {
        const std::string start =
            "\"" + std::string(wrong) + "\" is not an extended regular expression: ";
        const std::string sentence = refusal([&] { Expression{wrong}; });
        CAPTURE(sentence);
        CHECK(sentence.starts_with(start));
        CHECK(sentence.size() > start.size());
    }
}

TEST_CASE("an expression that takes the library too long is refused") {
    const auto times = [](int count, const std::string& text) {
        std::string all;
        for (int i = 0; i < count; ++i) all += text;
        return all;
    };
    const std::string expression = GENERATE_COPY(
        times(60000, "(") + times(60000, ")"), "a" + times(100000, "*"), times(400, "(a*)*"),
        std::string("((a{1,255}){1,255}){1,255}"), std::string("((a){,255}){255}"),
        times(50, "(") + "a" + times(50, ")+"), std::string("([(]a{99}[)]){99}"),
        std::string("([[:alpha:])]a{99}){99}"), std::string("a)b{30}){50}"));
    CAPTURE(expression.substr(0, 64));
    CHECK(refusal([&] { Expression{expression}; }).starts_with("the expression is too long: "));
}

TEST_CASE("an expression of usual length is accepted") {
    CHECK(Expression("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
              .matches("01234567-89ab-cdef-0123-456789abcdef"));
    CHECK(Expression("^(([^]]+|[]^-]{2,9})*)$").matches("a]]"));
    CHECK(Expression(std::string(999, 'a') + "+").matches(cut));
    CHECK(Expression("a{1,2}\\{3}").matches("a{3}"));
}

TEST_CASE("a back-reference is refused, because it may take exponential time") {
    CHECK(
        refusal([] { Expression{"(a)\\1"}; }) ==
        "\"(a)\\1\" is not an extended regular expression: back-references are not supported");
    CHECK(refusal([] { Expression{"(a)\\\\\\2"}; }) != "");
    CHECK(refusal([] { Expression{"a\\\\1"}; }) == "");
    CHECK(Expression{"a\\\\1"}.matches("a\\1"));
}
