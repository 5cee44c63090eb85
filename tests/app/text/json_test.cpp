#include "app/text/json.hpp"

#include "app/text/json_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/ui/locale.hpp"

using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace yodel;

TEST_CASE("writes any bytes as a JSON string without control characters") {
    const test::Locale utf8("C.UTF-8");
    const auto [text, json] = GENERATE(table<std::string, std::string>({
        {"", R"("")"},
        {"plain", R"("plain")"},
        {"\"\\", R"("\"\\")"},
        {"gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\""},
        {"\x1b[31m", R"("^[[31m")"},
        {"a\0b\n"s, R"("a^@b^J")"},
        {"\xff", R"("\\xff")"},
    }));
    CHECK(json_string(text) == json);
}

TEST_CASE("writes the members of an object in the order in which they were added") {
    CHECK(JsonObject().str() == "{}");
    const JsonObject inner = JsonObject().flag("yes", true).flag("no", false);
    CHECK(JsonObject()
              .text("text", "a\"b")
              .number("number", 18446744073709551615u)
              .object("object", inner)
              .time("time", 1234567ns)
              .str() == R"({"text":"a\"b","number":18446744073709551615,)"
                        R"("object":{"yes":true,"no":false},"time":1234.567})");
}

TEST_CASE("writes times exactly, and fractions with three decimals") {
    CHECK(JsonObject()
              .time("a", -1500ns)
              .time("b", ev::Duration::max())
              .nanoseconds("c", 18446744073709551615u)
              .fraction("d", 1234567.8906)
              .str() == R"({"a":-1.500,"b":9223372036854775.807,)"
                        R"("c":18446744073709551.615,"d":1234567.891})");
    CHECK(JsonObject().fraction("a", 1e300).str().size() == 5 + 301 + 5);
}

TEST_CASE("writes bytes that a reader can restore, and that command no terminal") {
    const test::Locale utf8("C.UTF-8");
    const auto [bytes, json] = GENERATE(table<std::string, std::string>({
        {"", R"({"a":""})"},
        {"\"\\ plain", R"({"a":"\"\\ plain"})"},
        {"gr\xc3\xbc\xc3\x9f", "{\"a\":\"gr\xc3\xbc\xc3\x9f\"}"},
        {"\x1b[31m\0\n\x7f"s, R"({"a":"\u001b[31m\u0000\u000a\u007f"})"},
        {"\xc2\x9b\xe2\x80\xae", R"({"a":"\u009b\u202e"})"},
        {"\xf3\xa0\x80\x81", R"({"a":"\udb40\udc01"})"},
        {"a\xff", R"({"a_base64":"Yf8="})"},
    }));
    const std::string object = JsonObject().bytes("a", bytes).str();
    CHECK(object == json);
    const JsonResult read = read_json(object);
    REQUIRE(read.value);
    CHECK((!read.value->find("a") || read.value->find("a")->text == bytes));
}

TEST_CASE("restores every character from its JSON string") {
    const test::Locale utf8("C.UTF-8");
    const std::string all = GENERATE("\x7f\xc2\x80\xc2\xa0\xcc\x81", "\xef\xbf\xbf",
                                     "\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf");
    const JsonResult read = read_json(exact_json_string(all).value());
    REQUIRE(read.value);
    CHECK(read.value->text == all);
}

TEST_CASE("writes the elements of an array in order") {
    CHECK(JsonArray().str() == "[]");
    const JsonArray inner = JsonArray().time(1us).number(2);
    const JsonArray array = JsonArray().array(inner).array({}).object(JsonObject());
    CHECK(JsonObject().array("list", array).str() == R"({"list":[[1.000,2],[],{}]})");
}
