#include "app/text/json.hpp"

#include "app/text/json_reader.hpp"
#include "tests/ui/locale.hpp"

using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace yodel;

TEST_CASE("writes any bytes as a JSON string without control characters") {
    const test::Locale utf8("C.UTF-8");
    const std::pair<std::string, std::string> rows[] = {
        {"", R"("")"},
        {"\"\\", R"("\"\\")"},
        {"gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\""},
        {"\x1b[31m", R"("^[[31m")"},
        {"a\0b\n"s, R"("a^@b^J")"},
        {"\xff", R"("\\xff")"}};
    for (const auto& [text, json] : rows) CHECK(json_string(text) == json);
}

TEST_CASE("writes the members of an object and the elements of an array in their order") {
    CHECK(JsonObject().str() == "{}");
    CHECK(JsonArray().str() == "[]");
    const JsonArray inner = JsonArray().time(1us).number(2);
    CHECK(JsonObject()
              .text("text", "a\"b")
              .number("number", 18446744073709551615u)
              .object("object", JsonObject().flag("yes", true).flag("no", false))
              .array("list", JsonArray().array(inner).array({}).object(JsonObject()))
              .str() == R"({"text":"a\"b","number":18446744073709551615,)"
                        R"("object":{"yes":true,"no":false},"list":[[1.000,2],[],{}]})");
}

TEST_CASE("writes times exactly, and fractions with three decimals") {
    CHECK(JsonObject()
              .time("a", -1500ns)
              .time("b", ev::Duration::max())
              .nanoseconds("c", 18446744073709551615u)
              .decimal("d", 1234567.8906)
              .time("e", 0ns)
              .str() == R"({"a":-1.500,"b":9223372036854775.807,)"
                        R"("c":18446744073709551.615,"d":1234567.891,"e":0.000})");
    CHECK(JsonObject().decimal("a", -1.7e308).str().size() == 5 + 310 + 5);
}

TEST_CASE("writes bytes that a reader can restore, and that command no terminal") {
    const test::Locale utf8("C.UTF-8");
    const std::pair<std::string, std::string> rows[] = {
        {"", R"(":"")"},
        {"\"\\ plain~", R"(":"\"\\ plain~")"},
        {"gr\xc3\xbc\xc3\x9f", "\":\"gr\xc3\xbc\xc3\x9f\""},
        {"\x1b[31m\0\n\x1f\x7f"s, R"(":"\u001b[31m\u0000\u000a\u001f\u007f")"},
        {"\xc2\x9b\xe2\x80\xae", R"(":"\u009b\u202e")"},
        {"\xf3\xa0\x80\x81\xf3\xa1\x80\x80", R"(":"\udb40\udc01\udb44\udc00")"},
        {"\x7f\xc2\x80\xc2\xa0\xcc\x81\xef\xbf\xbf\xf4\x8f\xbf\xbf",
         "\":\"\\u007f\\u0080\xc2\xa0\\u0301\\uffff\\udbff\\udfff\""},
        {"a\xff", R"(_base64":"Yf8=")"},
    };
    for (const auto& [bytes, json] : rows) {
        const std::string object = JsonObject().bytes("a", bytes).str();
        CHECK(object == "{\"a" + json + "}");
        const JsonResult read = read_json(object);
        REQUIRE(read.value);
        CHECK((!read.value->find("a") || read.value->find("a")->text == bytes));
    }
}
