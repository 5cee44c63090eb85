#include "app/text/units.hpp"

#include "tests/support/text.hpp"
#include "tests/ui/locale.hpp"

#include <ctime>

using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace yodel;

namespace {

using Texts = std::vector<std::string>;

// Checks rows such as "1k => 1000", and that the other texts are refused.
template <class Parse>
void check(Parse parse, const Texts& rows, const Texts& wrong) {
    for (const std::string& row : rows) {
        INFO(row);
        const auto [text, value] = test::halves(row);
        CHECK(parse(text) == std::stod(value));
    }
    for (const std::string& text : wrong) {
        INFO(text);
        CHECK_FALSE(parse(text));
    }
}

// Checks the text of each duration.
template <class Write>
void check_durations(Write write, const Texts& rows) {
    for (const std::string& row : rows) {
        const auto [duration, text] = test::halves(row);
        CHECK(write(parse_duration(duration).value()) == text);
    }
}

}  // namespace

TEST_CASE("parses a duration as a number with a unit, or as seconds without a unit") {
    const auto nanoseconds = [](const std::string& text) -> std::optional<double> {
        const auto duration = parse_duration(text);
        if (!duration) return std::nullopt;
        return static_cast<double>(duration->count());
    };
    check(nanoseconds,
          {"5 => 5e9",       "1.5s => 15e8",     "200ms => 2e8",  "2m => 120e9",
           "0.5h => 1800e9", "0 => 0",           "0ms => 0",      ".5 => 5e8",
           "1. => 1e9",      "1e-3 => 1e6",      "0.5us => 500",  "1.5ms => 15e5",
           "1.1s => 11e8",   "0.000001 => 1000", "0.1m => 6e9",   "0.001h => 36e8",
           "1e3us => 1e6",   "0.0004us => 0",    "0.0006us => 1", "876600h => 315576e13"},
          {"",    "s",     "us",   "-1",    "-0",   "1x",      "1 s", " 1", "nan",
           "inf", "1e300", "ms",   "1.5.2", "0x10", ".",       "1e",  "+1", "1u",
           "1sm", "1ss",   "1ms ", "1S",    "1d",   "876601h", "1,5"});
    for (int i = 0; i <= 1000; ++i) {
        CHECK(parse_duration(std::to_string(i) + "us") == std::chrono::microseconds(i));
        CHECK(parse_duration(std::to_string(i) + "ms") == std::chrono::milliseconds(i));
        CHECK(parse_duration(std::to_string(i)) == std::chrono::seconds(i));
    }
}

TEST_CASE("parses each kind of number with its units, within its bounds") {
    check(parse_chance, {"0 => 0", "1 => 1", "0.25 => 0.25", "10% => 0.1", "100% => 1"},
          {"", "%", "10", "101%", "-1%", " 1%", "0x1p-3", "nan", "1%%", "x"});
    check(parse_size,
          {"0 => 0", "512 => 512", "64k => 65536", "32M => 33554432", "1G => 1073741824",
           "6148914691236517205 => 6148914691236517205"},
          {"", "k", "-1", "1.5k", "1T", "99999999999999999999", "18446744073709551615k",
           "6148914691236517206"});
    check(parse_decimal, {"1.5 => 1.5"}, {"", "-1", "+1", "1e999", "nan", "inf", "0x1", "1 "});
    check(parse_rate, {"20k => 20000", "1.5M => 1500000", "2G => 2e9", "0.25 => 0.25"},
          {"", "k", "-1", "20K", "1/s", " 1", "1 k", "inf"});
    check([](const std::string& text) { return parse_number(text, 7, 9); },
          {"7 => 7", "9 => 9"}, {"", "6", "10", "-8", "+8", "8.0", " 8", "8x", "99999999999"});
}

TEST_CASE("splits a list at each comma, and joins it") {
    CHECK(comma_separated("") == Texts{""});
    CHECK(comma_separated("a, b,c d") == Texts{"a", " b", "c d"});
    CHECK(comma_separated(",a,,") == Texts{"", "a", "", ""});
    CHECK(join({}, ", ") == "");
    CHECK(join({"a", "b", "c"}, ", ") == "a, b, c");
}

TEST_CASE("writes a duration with a suitable unit") {
    check_durations(duration_text, {"0 => 0ms", "0.25 => 250ms", "999400us => 999ms",
                                    "999500us => 0.9995s", "1500ms => 1.5s", "3h => 10800s"});
    check_durations(milliseconds_text, {"0 => 0.00 ms", "210us => 0.21 ms", "1ms => 1.0 ms",
                                        "1234us => 1.2 ms", "10ms => 10 ms", "13 => 13000 ms"});
}

TEST_CASE("divides a round trip into the parts of the network and of the service") {
    CHECK(network_share_text(5200us, 520us) == "5.20ms = network >=0.52 + service <=4.68");
    CHECK(network_share_text(71us, 16us) == "0.07ms = network >=0.01 + service <=0.06");
    CHECK(network_share_text(42ms, 150us) == "42.0ms = network >=0.1 + service <=41.9");
    CHECK(network_share_text(1234ms, 400us) == "1234ms = network >=0 + service <=1234");
    const test::Locale utf8("C.UTF-8");
    CHECK(network_share_text(20us, 30us) == "0.02ms = network ≥0.02 + service ≤0.00");
}

TEST_CASE("writes a time in the local zone, and for programs in UTC") {
    ::setenv("TZ", "XYZ-2", 1);  // no other test of this program depends on the zone
    ::tzset();
    const std::chrono::system_clock::time_point at(1'795'258'985'208'417us);
    CHECK(clock_text(at) == "13:03:05.208");
    CHECK(date_text(at) == "2026-11-21 13:03:05.208");
    CHECK(date_text(at, 6) == "2026-11-21 13:03:05.208417");
    CHECK(local_time_text("%Y%m%d", at) == "20261121");
    CHECK(timestamp_text(at) == "2026-11-21T11:03:05.208417Z");
}

TEST_CASE("parses a time stamp, and no other text") {
    const auto seconds = [](const std::string& text) -> std::optional<double> {
        const auto time = parse_timestamp(text);
        if (!time) return std::nullopt;
        return std::chrono::duration<double>(time->time_since_epoch()).count();
    };
    check(seconds,
          {"2026-11-21T11:03:05.208417Z => 1795258985.208417", "1970-01-01T00:00:00Z => 0",
           "2028-02-29T23:59:59Z => 1835481599", "2200-12-31T00:00:00Z => 7289568000"},
          {"", "Z", "2201-01-01T00:00:00Z", "1969-12-31T10:00:00Z", "2026-12-01",
           "2026-12-01T10:00:00", "2026-12-01 10:00:00Z", "2026-13-01T10:00:00Z",
           "2026-02-29T10:00:00Z", "2026-12-01T24:00:00Z", "2026-12-01T10:60:00Z",
           "2026-12-01T10:00:60Z", "2026-12-01T10:00:00.Z1", "2026-12-01T10:00:005Z",
           "2026-12-01T10:00:00.1e1Z", "2026-12-01T10:00:00-1Z", "2026-12-0aT10:00:00Z"});
}

TEST_CASE("writes numbers with significant digits, and counts with their noun") {
    for (const char* row :
         {"0 => 0", "7.2 => 7.2", "1234.5 => 1234", "0.012345 => 0.0123", "0.1 => 0.1",
          "-0.5 => -0.5", "-12.34 => -12.3", "1 => 1", "99.96 => 100",
          "1e15 => 1000000000000000", "1.23e-20 => 0.00000000000000000001"}) {
        const auto [value, text] = test::halves(row);
        CHECK(significant_text(std::stod(value), 3) == text);
    }
    for (const char* row : {"0 => 0/s", "950.4 => 950/s", "1000 => 1k/s", "41460 => 41.5k/s",
                            "1e6 => 1M/s", "1.25e6 => 1.25M/s"}) {
        const auto [rate, text] = test::halves(row);
        CHECK(rate_text(std::stod(rate)) == text);
    }
    CHECK(count_text(2, "day") == "2 days");
    CHECK(bytes_text(0) == "0 bytes");
    CHECK(bytes_text(1) == "1 byte");
}

TEST_CASE("an excerpt is printable, and marked if it is not the whole text") {
    const std::string row(64, 'a');
    CHECK(excerpt("a\n", 2) == "a^J");
    CHECK(excerpt("abc", 4) == "abc...");
    CHECK(excerpt(row, 64) == row);
    CHECK(excerpt(row + "a", 65) == row + "...");
}

TEST_CASE("replaces each escape by its byte, and refuses others") {
    CHECK(unescaped("a\\n\\r\\t\\0\\\\\\x7Fz") == "a\n\r\t\0\\\x7fz"s);
    CHECK(unescaped("\\xff") == "\xff");
    for (const char* wrong : {"\\", "a\\", "\\a", "\\x", "\\x4", "\\xg0", "\\x0g", "\\x-1",
                              "\\x 1", "\\X41", "\\x\x14\x11"}) {
        INFO(wrong);
        CHECK_FALSE(unescaped(wrong));
    }
}

TEST_CASE("restores bytes from their escapes") {
    CHECK(escaped("a\n\\\x1b\xff") == "a\\n\\\\\x1b\xff");
    for (int byte = 0; byte < 256; ++byte) {
        const std::string bytes = static_cast<char>(byte) + "0x1"s;
        CHECK(unescaped(escaped(bytes)) == bytes);
    }
}
