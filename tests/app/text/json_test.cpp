#include "app/text/json.hpp"

#include "app/text/units.hpp"
#include "tests/app/refusal.hpp"
#include "tests/support/random.hpp"
#include "tests/ui/locale.hpp"

using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace yodel;
using Kind = JsonValue::Kind;

namespace {

// Returns why the text is refused, or an empty text if it is not.
std::string trouble(const std::string& text) {
    return test::refusal([&] { read_json(text); });
}

}  // namespace

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
    CHECK(JsonObject()
              .text("text", "a\"b")
              .number("number", 18446744073709551615u)
              .object("object", JsonObject().flag("yes", true).flag("no", false))
              .array("list", {"1", "{}"})
              .array("none", {})
              .str() == R"({"text":"a\"b","number":18446744073709551615,)"
                        R"("object":{"yes":true,"no":false},"list":[1,{}],"none":[]})");
}

TEST_CASE("writes times exactly, and fractions with three decimals") {
    CHECK(JsonObject()
              .time("a", -1500ns)
              .time("b", ev::Duration::max())
              .decimal("d", 1234567.8906)
              .time("e", 0ns)
              .str() == R"({"a":-1.500,"b":9223372036854775.807,"d":1234567.891,"e":0.000})");
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
        const JsonValue read = read_json(object);
        CHECK(read.bytes("a") == bytes);
    }
}

TEST_CASE("reads each kind of JSON value") {
    CHECK(read_json(" null ").kind == Kind::null);
    CHECK(read_json("true").content == "true");
    CHECK(read_json("false").kind == Kind::flag);
    CHECK(read_json("-0.5e+10").content == "-0.5e+10");
    CHECK(read_json("[]").items.empty());
    CHECK(read_json("{ }").kind == Kind::object);
    const JsonValue value = read_json(R"({"a" : [1, "x"] , "b":{"c":[]}})");
    CHECK(value.get("a", Kind::array, "").items.at(1).content == "x");
    CHECK(value.get("b", Kind::object, "").find("c")->kind == Kind::array);
    CHECK_FALSE(value.find("c"));
}

TEST_CASE("decodes the escapes of a JSON text") {
    const std::pair<const char*, std::string> rows[] = {
        {R"("")", ""},
        {R"("\"\\\/\b\f\n\r\t")", "\"\\/\b\f\n\r\t"},
        {R"("\u0041\u00e9\u20ac\u0000.")", "A\xc3\xa9\xe2\x82\xac\0."s},
        {R"("\ud7ff\ue000")", "\xed\x9f\xbf\xee\x80\x80"},
        {R"("\ud83d\ude00\ud800\udc00\udbff\udfff")",
         "\xf0\x9f\x98\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
        {"\"\xe2\x82\xac \x7f\"", "\xe2\x82\xac \x7f"},
    };
    for (const auto& [text, plain] : rows) CHECK(read_json(text).content == plain);
}

TEST_CASE("refuses a text that is not JSON, with the place of the error") {
    std::istringstream rows(R"(nul|x;|True;0|1;|+1;|.5;1.|x;1e|x;-|x;|NaN;1 |2;[1,|];[1 |2];[1|}
;{"a":1,|};{|a:1};{"a" |1};"\|x";"\u12|g4";"\udc00|";"\udfff|";"\ud800|x";"\ud800\|n"
;"\ud800\u0041|";"\ud800\udbff|";"\ud800\ue000|";"\udc00|\udc00")");
    std::vector<std::string> texts{"nul| ",
                                   "\"|\n\"",
                                   "\"|\x1f\"",
                                   "\"|\xff\"",
                                   "\"|\xed\xa0\x80\"",
                                   "|\0"s,
                                   "[|\0]"s,
                                   "[1,|" + std::string(2'000'000, ',') + "]"};
    for (std::string text; std::getline(rows, text, ';');) texts.push_back(text);
    for (std::string text : texts) {
        INFO(text.substr(0, 40));
        const std::size_t place = text.find('|');
        CHECK(trouble(text.erase(place, 1)) ==
              "the line is not JSON at byte " + std::to_string(place));
    }
    CHECK(trouble(R"({"a":1,"b":2,"a":2})") ==
          "the line contains an object with a duplicate name");
}

TEST_CASE("bounds the depth and the number of values") {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    CHECK(trouble(nested(32)).empty());
    CHECK(trouble(nested(33)) == "the line is nested too deeply");
    CHECK(trouble(std::string(1'000'000, '[')) == "the line is nested too deeply");
    std::string text = "[0";
    for (int i = 2; i < 1'000'000; ++i) text += ",0";
    CHECK(trouble(text + "]").empty());
    CHECK(trouble(text + ",0]") == "the line contains too many values");
}

TEST_CASE("refuses each cut of a text as truncated, and reads or refuses changed bytes") {
    const std::string text =
        "{\"a\":[1,-2.5e3,true,null,\"\\u00e9\\ud83d\\ude00\xe2\x82\xac\"],"
        "\"b\":{\"c\":false}}";
    REQUIRE(trouble(text).empty());
    for (std::size_t size = 0; size < text.size(); ++size) {
        CAPTURE(size);
        CHECK(trouble(text.substr(0, size)) == "the line is truncated");
    }
    test::Random random(2);
    for (int round = 0; round < 20'000; ++round) {
        std::string changed = text;
        changed[random.index(text.size())] = static_cast<char>(random.next());
        const std::string why = trouble(changed);
        REQUIRE((why.empty() || why.starts_with("the line ")));
    }
}

TEST_CASE("indents arrays and objects, and finds a byte again") {
    constexpr std::size_t none = std::string::npos;
    const struct {
        std::string text;
        std::size_t mark;
        std::string indented;
        std::size_t found;
    } rows[] = {
        {R"({"a":1.50e+0,"b" :[true , "x, {y}"]})", 5,
         "{\n  \"a\": 1.50e+0,\n  \"b\": [\n    true,\n    \"x, {y}\"\n  ]\n}", 9},
        {R"([{},[ ],"\"\\",""])", 8, "[\n  {},\n  [],\n  \"\\\"\\\\\",\n  \"\"\n]", 16},
        {" [ \"\\u00e9\xc3\xa9\" ] ", 2, "[\n  \"\\u00e9\xc3\xa9\"\n]", none},
        {"[1]", none, "[\n  1\n]", none},
    };
    for (const auto& row : rows) {
        std::size_t mark = row.mark;
        CHECK(indented_json(row.text, mark) == row.indented);
        CHECK(mark == row.found);
    }
    for (const char* other : {"", "1", "\"x\"", "[]", " {}", "[1", "hello"}) {
        std::size_t mark = 0;
        CHECK_FALSE(indented_json(other, mark));
    }
}

TEST_CASE("reads a number as a count or a time if that is exact") {
    // A number, and its count and nanoseconds if it has any.
    const std::string rows[][3] = {{"0", "0", "0"},
                                   {"12.5", "", "12500"},
                                   {"0.001", "", "1"},
                                   {"7.0000", "", ""},
                                   {"-1", "", ""},
                                   {"1e3", "", ""},
                                   {"1e999", "", ""},
                                   {"\"1\"", "", ""},
                                   {"[1]", "", ""},
                                   {"18446744073709551615", "18446744073709551615", ""},
                                   {"18446744073709551616", "", ""},
                                   {"31536000000000.000", "", "31536000000000000"},
                                   {"31536000000000.001", "", ""}};
    const auto number = [](const auto& read) {
        try {
            return std::to_string(read());
        } catch (const JsonError&) {
            return std::string();
        }
    };
    for (const auto& [text, count, time] : rows) {
        CAPTURE(text);
        const JsonValue value = read_json("{\"n\":" + text + "}");
        CHECK(number([&] { return value.count("n", 0, UINT64_MAX); }) == count);
        CHECK(number([&] { return value.time("n").count(); }) == time);
    }
}

TEST_CASE("reports a member that is missing, of another kind or out of range, as one clause") {
    const JsonValue fields = read_json(
        R"({"n":7,"big":1e3,"us":1.5,"year":31536000000000.1,"long":1.0005,"text":"a","list":[1],"o":{"n":1},"yes":true,"no":false,"true":"true"})");
    CHECK(fields.count("n", 7, 7) == 7);
    CHECK((fields.time("us") == 1500ns));
    CHECK(fields.text("text") == "a");
    CHECK(fields.text_or_empty("text") == "a");
    CHECK(fields.text_or_empty("n").empty());
    CHECK(fields.get("list", Kind::array, "an array").items.size() == 1);
    CHECK(fields.get("o", Kind::object, "an object").count("n") == 1);
    CHECK(fields.flag("yes"));
    for (const char* const name : {"no", "true", "m"}) CHECK_FALSE(fields.flag(name));
    CHECK(fields.has("n"));
    CHECK_FALSE(fields.has("m"));
    const std::pair<std::function<void()>, std::string> refusals[] = {
        {[&] { fields.count("m"); }, "\"m\" is missing"},
        {[&] { fields.count("text"); }, "\"text\" is not a whole number"},
        {[&] { fields.count("big"); },
         "\"big\" is not a whole number from 0 to 10000000000000"},
        {[&] { fields.count("n", 8); }, "\"n\" is not a whole number from 8 to 10000000000000"},
        {[&] { fields.count("n", 0, 6); }, "\"n\" is not a whole number from 0 to 6"},
        {[&] { fields.time("long"); }, "\"long\" is not a time in microseconds"},
        {[&] { fields.time("year"); }, "\"year\" is too long"},
        {[&] { fields.text("n"); }, "\"n\" is not a string"},
        {[&] { fields.get("o", Kind::array, "an array"); }, "\"o\" is not an array"},
        {[&] { fields.get("list", Kind::object, "an object"); }, "\"list\" is not an object"},
    };
    for (const auto& [member, clause] : refusals) CHECK_THROWS_WITH(member(), clause);
}

TEST_CASE("reads base64 as RFC 4648 defines it, and refuses each part and any other text") {
    const auto decoded = [](const std::string& text) {
        return read_json(R"({"a_base64":")" + text + "\"}").bytes("a");
    };
    const std::pair<std::string, std::string> rows[] = {{"", ""},
                                                        {"f", "Zg=="},
                                                        {"fo", "Zm8="},
                                                        {"foobar", "Zm9vYmFy"},
                                                        {"\xff\xfe\0"s, "//4A"},
                                                        {"\xfb\xef\xbe", "++++"}};
    for (const auto& [bytes, text] : rows) {
        CHECK(ui::base64(bytes) == text);
        CHECK(decoded(text) == bytes);
    }
    test::Random random(7);
    std::string bytes;
    for (int size = 0; size < 100; ++size, bytes += static_cast<char>(random.next())) {
        const std::string text = ui::base64(bytes);
        REQUIRE(decoded(text) == bytes);
        for (std::size_t cut = 0; cut < text.size(); ++cut)
            if (cut % 4 != 0) REQUIRE_THROWS_AS(decoded(text.substr(0, cut)), JsonError);
    }
    for (const char* wrong : {"Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm 9v", "Zm9v\n",
                              "Zm9-", "=", "====", "Zg==Zg==", "\xff\xff\xff\xff"}) {
        INFO(wrong);
        CHECK_THROWS_AS(decoded(wrong), JsonError);
    }
}
