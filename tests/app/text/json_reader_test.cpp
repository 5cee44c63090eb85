#include "app/text/json_reader.hpp"

#include "app/text/json.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random.hpp"
#include "tests/ui/locale.hpp"

#include <string>

using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace yodel;
using Kind = JsonValue::Kind;

namespace {

std::string trouble(const std::string& text) { return read_json(text).trouble; }

JsonValue value_of(const std::string& text) {
    CAPTURE(text);
    JsonResult result = read_json(text);
    REQUIRE(result.trouble.empty());
    REQUIRE(result.value);
    return std::move(*result.value);
}

// Writes an object with all kinds of members, to a bounded depth.
JsonObject any_object(test::Random& random, int depth) {
    JsonObject object;
    const auto bytes = [&] {
        std::string text(random.index(12), '\0');
        for (char& byte : text) byte = static_cast<char>(random.next());
        return text;
    };
    const std::size_t members = random.index(6);
    for (std::size_t i = 0; i < members; ++i) {
        const std::string name = std::to_string(i) + bytes();
        switch (random.next() % (depth > 0 ? 7 : 5)) {
        case 0: object.text(name, bytes()); break;
        case 1: object.number(name, random.next()); break;
        case 2: object.flag(name, random.next() % 2 == 0); break;
        case 3:
            object.time(name, ev::Duration(static_cast<std::int64_t>(random.next() >> 1)));
            break;
        case 4: object.fraction(name, random.normal() * 1e6); break;
        case 5: object.object(name, any_object(random, depth - 1)); break;
        default:
            object.array(name, JsonArray()
                                   .number(random.next())
                                   .object(any_object(random, depth - 1))
                                   .array(JsonArray().time(1us)));
        }
    }
    return object;
}

}  // namespace

TEST_CASE("reads each kind of JSON value") {
    CHECK(value_of(" null ").kind == Kind::null);
    CHECK(value_of("true").flag);
    CHECK(value_of("false").kind == Kind::flag);
    CHECK(value_of("-0.5e+10").text == "-0.5e+10");
    CHECK(value_of("[]").items.empty());
    CHECK(value_of("{ }").kind == Kind::object);
    const JsonValue value = value_of(R"({"a" : [1, "x"] , "b":{"c":[]}})");
    REQUIRE(value.find("a"));
    CHECK(value.find("a")->items.at(1).text == "x");
    CHECK(value.find("b")->find("c")->kind == Kind::array);
    CHECK_FALSE(value.find("c"));
    CHECK_FALSE(value.find("a")->find("x"));
}

TEST_CASE("decodes the escapes of a JSON text") {
    const auto [text, plain] = GENERATE(table<std::string, std::string>({
        {R"("")", ""},
        {R"("\"\\\/\b\f\n\r\t")", "\"\\/\b\f\n\r\t"},
        {R"("\u0041\u00e9\u20ac\ud83d\ude00\u0000.")",
         "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\0."s},
        {"\"\xe2\x82\xac\x7f\"", "\xe2\x82\xac\x7f"},
    }));
    CHECK(value_of(text).text == plain);
}

TEST_CASE("refuses a text that is not JSON, with the place of the error") {
    const auto [text, sentence] = GENERATE(table<std::string, std::string>({
        {"nul ", "is not JSON at byte 3"},
        {"True", "is not JSON at byte 0"},
        {"01", "is not JSON at byte 1"},
        {"+1", "is not JSON at byte 0"},
        {".5", "is not JSON at byte 0"},
        {"1.x", "is not JSON at byte 2"},
        {"1ex", "is not JSON at byte 2"},
        {"-x", "is not JSON at byte 1"},
        {"NaN", "is not JSON at byte 0"},
        {"1 2", "is not JSON at byte 2"},
        {"[1,]", "is not JSON at byte 3"},
        {"[1 2]", "is not JSON at byte 3"},
        {"[1}", "is not JSON at byte 2"},
        {"{\"a\":1,}", "is not JSON at byte 7"},
        {"{a:1}", "is not JSON at byte 1"},
        {"{\"a\" 1}", "is not JSON at byte 5"},
        {"{\"a\":1,\"a\":2}", "contains a duplicate name in one object"},
        {"\"\n\"", "is not JSON at byte 1"},
        {"\"\\x\"", "is not JSON at byte 2"},
        {"\"\\u12g4\"", "is not JSON at byte 5"},
        {"\"\\udc00\"", "is not JSON at byte 7"},
        {"\"\\ud800x\"", "is not JSON at byte 7"},
        {"\"\\ud800\\n\"", "is not JSON at byte 8"},
        {"\"\\ud800\\u0041\"", "is not JSON at byte 13"},
        {"\"\xff\"", "is not JSON at byte 1"},
        {"\"\xed\xa0\x80\"", "is not JSON at byte 1"},
        {"\0"s, "is not JSON at byte 0"},
        {"[\0]"s, "is not JSON at byte 1"},
        {std::string(33, '[') + std::string(33, ']'), "is nested too deeply"},
        {std::string(1'000'000, '['), "is nested too deeply"},
        {"[1" + std::string(2'000'000, ',') + "]", "is not JSON at byte 3"},
    }));
    CAPTURE(text.substr(0, 40));
    CHECK(trouble(text) == sentence);
}

TEST_CASE("reports every cut of an object as cut short") {
    const std::string text =
        "{\"a\":[1,-2.5e3,true,null,\"\\u00e9\\ud83d\\ude00\xe2\x82\xac\"],"
        "\"b\":{\"c\":false}}";
    REQUIRE(trouble(text).empty());
    for (std::size_t size = 0; size < text.size(); ++size) {
        CAPTURE(size);
        CHECK(trouble(text.substr(0, size)) == "is truncated");
    }
}

TEST_CASE("reads all that is written, but no cut of it") {
    const test::Locale utf8("C.UTF-8");
    test::Random random(1);
    for (int round = 0; round < 300; ++round) {
        const std::string text = any_object(random, 3).str();
        REQUIRE(trouble(text).empty());
        for (std::size_t size = 0; size < text.size(); ++size)
            REQUIRE(trouble(text.substr(0, size)) == "is truncated");
    }
}

TEST_CASE("reads or refuses a text with changed bytes") {
    test::Random random(2);
    for (int round = 0; round < 20'000; ++round) {
        std::string text = any_object(random, 2).str();
        text[random.index(text.size())] = static_cast<char>(random.next());
        const JsonResult result = read_json(text);
        REQUIRE(result.value.has_value() == result.trouble.empty());
    }
}

TEST_CASE("converts a number to a count, a time or a fraction if that is exact") {
    struct Case {
        std::string text;
        std::optional<std::uint64_t> count;
        std::optional<std::uint64_t> nanoseconds;
        std::optional<double> fraction;
    };
    const Case each = GENERATE(
        Case{"0", 0, 0, 0}, Case{"12.5", {}, 12'500, 12.5}, Case{"0.001", {}, 1, 0.001},
        Case{"7.0000", {}, {}, 7.0}, Case{"-1", {}, {}, -1.0}, Case{"1e3", {}, {}, 1000.0},
        Case{"18446744073709551615", 18446744073709551615u, {}, 18446744073709551615.0},
        Case{"18446744073709551616", {}, {}, 18446744073709551616.0},
        Case{"18446744073709551.615", {}, 18446744073709551615u, 18446744073709551.615},
        Case{"1e999", {}, {}, {}}, Case{"\"1\"", {}, {}, {}}, Case{"[1]", {}, {}, {}});
    const JsonValue value = value_of(each.text);
    CHECK(value.count() == each.count);
    CHECK(value.nanoseconds() == each.nanoseconds);
    CHECK(value.fraction() == each.fraction);
}

TEST_CASE("bounds the number of values") {
    std::string text = "[0";
    while (text.size() < 2'500'000) text += ",0";
    CHECK(trouble(text + "]") == "contains too many values");
}

TEST_CASE("reports a member that is missing, of another kind or out of range, as one clause") {
    const JsonResult read = read_json(
        R"({"n":7,"big":1e3,"minus":-1,"us":1.5,"long":1.0005,"text":"a","list":[1],"o":{"n":1}})");
    REQUIRE(read.value);
    const JsonFields fields(*read.value);
    CHECK(fields.count("n", 7, 7) == 7);
    CHECK((fields.time("us") == 1500ns));
    CHECK(fields.nanoseconds("us") == 1500);
    CHECK(fields.fraction("big", 1000) == 1000);
    CHECK(fields.text("text") == "a");
    CHECK(fields.word("text") == "a");
    CHECK(fields.word("n").empty());
    CHECK(fields.array("list").items.size() == 1);
    CHECK(fields.object("o").count("n") == 1);
    CHECK(fields.has("n"));
    CHECK_FALSE(fields.has("m"));
    const auto refusal = [&](auto member) {
        try {
            member();
        } catch (const JsonError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(refusal([&] { fields.count("m"); }) == "\"m\" is missing");
    CHECK(refusal([&] { fields.count("text"); }) == "\"text\" is not a whole number");
    CHECK(refusal([&] { fields.count("big"); }) ==
          "\"big\" is not a whole number from 0 to 10000000000000");
    CHECK(refusal([&] { fields.count("n", 8); }) ==
          "\"n\" is not a whole number from 8 to 10000000000000");
    CHECK(refusal([&] { fields.count("n", 0, 6); }) ==
          "\"n\" is not a whole number from 0 to 6");
    CHECK(refusal([&] { fields.time("long"); }) == "\"long\" is not a time in microseconds");
    CHECK(refusal([&] { fields.time("us", 1499ns); }) == "\"us\" is too long");
    CHECK(refusal([&] { fields.fraction("minus", 1); }) == "\"minus\" is out of range");
    CHECK(refusal([&] { fields.fraction("big", 999); }) == "\"big\" is out of range");
    CHECK(refusal([&] { fields.text("n"); }) == "\"n\" is not a string");
    CHECK(refusal([&] { fields.array("o"); }) == "\"o\" is not an array");
    CHECK(refusal([&] { fields.object("list"); }) == "\"list\" is not an object");
}
