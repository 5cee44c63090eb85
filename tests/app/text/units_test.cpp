#include "app/text/units.hpp"

#include "tests/support/catch.hpp"

#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

// Sets the time zone of this process during its life.
class ZoneGuard {
public:
    explicit ZoneGuard(const char* zone) {
        if (const char* const set = std::getenv("TZ")) before_ = set;
        ::setenv("TZ", zone, 1);
        ::tzset();
    }
    ~ZoneGuard() {
        if (before_) ::setenv("TZ", before_->c_str(), 1);
        if (!before_) ::unsetenv("TZ");
        ::tzset();
    }
    ZoneGuard(const ZoneGuard&) = delete;
    ZoneGuard& operator=(const ZoneGuard&) = delete;

private:
    std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("parses a duration as a number with a unit, or as seconds without a unit") {
    struct Case {
        const char* text;
        std::chrono::nanoseconds value;
    };
    const Case each = GENERATE(
        Case{"5", 5s}, Case{"1.5s", 1500ms}, Case{"200ms", 200ms}, Case{"2m", 120s},
        Case{"0.5h", 1800s}, Case{"0", 0s}, Case{"0ms", 0s}, Case{".5", 500ms}, Case{"1.", 1s},
        Case{"1e-3", 1ms}, Case{"200us", 200us}, Case{"1us", 1us}, Case{"0.5us", 500ns},
        Case{"1.5ms", 1500us}, Case{"33us", 33us}, Case{"1.1s", 1100ms}, Case{"0.000001", 1us},
        Case{"0.1m", 6s}, Case{"0.001h", 3600ms}, Case{"1e3us", 1ms}, Case{"876000h", 876000h});
    CAPTURE(each.text);
    CHECK(parse_duration(each.text) == each.value);
}

TEST_CASE("parses every whole number of a unit exactly") {
    for (int i = 0; i <= 1000; ++i) {
        CHECK(parse_duration(std::to_string(i) + "us") == std::chrono::microseconds(i));
        CHECK(parse_duration(std::to_string(i) + "ms") == std::chrono::milliseconds(i));
        CHECK(parse_duration(std::to_string(i)) == std::chrono::seconds(i));
    }
}

TEST_CASE("refuses a text that is not a duration") {
    const char* const wrong = GENERATE(
        "", "s", "us", "-1", "-0", "1x", "1 s", " 1", "nan", "inf", "1e300", "ms", "1.5.2",
        "0x10", ".", "1e", "+1", "1u", "1sm", "1ss", "1ms ", "1S", "1d", "876601h", "1,5");
    CAPTURE(wrong);
    CHECK_FALSE(parse_duration(wrong));
}

TEST_CASE("parses a chance as a fraction or a percentage, at most 1") {
    CHECK(parse_chance("0") == 0.0);
    CHECK(parse_chance("1") == 1.0);
    CHECK(parse_chance("0.25") == 0.25);
    CHECK(parse_chance("10%") == 0.1);
    CHECK(parse_chance("100%") == 1.0);
    for (const char* wrong :
         {"", "%", "10", "101%", "-1%", " 1%", "0x1p-3", "nan", "1%%", "x"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_chance(wrong));
    }
}

TEST_CASE("parses a size as a whole number of bytes, with a binary unit") {
    CHECK(parse_size("0") == 0u);
    CHECK(parse_size("512") == 512u);
    CHECK(parse_size("64k") == 65536u);
    CHECK(parse_size("32M") == 33554432u);
    CHECK(parse_size("1G") == 1073741824u);
    for (const char* wrong :
         {"", "k", "-1", "1.5k", "1T", "99999999999999999999", "18446744073709551615k",
          "18446744073709551615", "9223372036854775807"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_size(wrong));
    }
}

TEST_CASE("parses a number only within its bounds") {
    CHECK(parse_number("7", 7, 9) == 7u);
    CHECK(parse_number("9", 7, 9) == 9u);
    for (const char* wrong : {"", "6", "10", "-8", "+8", "8.0", " 8", "8x", "99999999999"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_number(wrong, 7, 9));
    }
}

TEST_CASE("splits a list at each comma") {
    using List = std::vector<std::string>;
    CHECK(comma_separated("") == List{""});
    CHECK(comma_separated("a b") == List{"a b"});
    CHECK(comma_separated("a, b,c") == List{"a", " b", "c"});
    CHECK(comma_separated(",a,,") == List{"", "a", "", ""});
}

TEST_CASE("writes a duration with a suitable unit") {
    const auto [duration, text] =
        GENERATE(table<ev::Duration, std::string>({{0ms, "0ms"},
                                                   {250ms, "250ms"},
                                                   {1500ms, "1.5s"},
                                                   {10s, "10s"},
                                                   {999900us, "0.9999s"},
                                                   {3h, "10800s"}}));
    CHECK(duration_text(duration) == text);
}

TEST_CASE("writes milliseconds with two digits, or larger numbers whole") {
    const auto [duration, text] = GENERATE(table<ev::Duration, std::string>(
        {{0us, "0.00"}, {210us, "0.21"}, {1234us, "1.2"}, {12345us, "12"}, {13s, "13000"}}));
    CHECK(milliseconds_text(duration) == text);
}

TEST_CASE("writes a time in the local zone, and for programs in UTC") {
    const ZoneGuard zone("XYZ-2");
    const std::chrono::system_clock::time_point at(1'795'258'984'208'417us);
    CHECK(clock_text(at) == "13:03:04.208");
    CHECK(date_text(at) == "2026-11-21 13:03:04.208");
    CHECK(precise_date_text(at) == "2026-11-21 13:03:04.208417");
    CHECK(local_time_text("%Y%m%d", at) == "20261121");
    CHECK(timestamp_text(at) == "2026-11-21T11:03:04.208417Z");
}

TEST_CASE("writes numbers with significant digits") {
    const auto [value, digits, text] = GENERATE(table<double, int, std::string>({
        {0, 3, "0"},
        {7.2, 3, "7.2"},
        {1234.5, 3, "1234"},
        {0.012345, 3, "0.0123"},
        {-0.5, 2, "-0.5"},
        {100, 2, "100"},
        {99.96, 3, "100"},
        {1e15, 3, "1000000000000000"},
    }));
    CHECK(significant_text(value, digits) == text);
}

TEST_CASE("writes one byte in the singular") {
    CHECK(count_text(1, "day") == "1 day");
    CHECK(count_text(2, "day") == "2 days");
    CHECK(bytes_text(0) == "0 bytes");
    CHECK(bytes_text(1) == "1 byte");
    CHECK(bytes_text(512) == "512 bytes");
}

TEST_CASE("writes rates in thousands or millions") {
    CHECK(rate_text(0) == "0/s");
    CHECK(rate_text(950.4) == "950/s");
    CHECK(rate_text(41'460) == "41.5k/s");
    CHECK(rate_text(1.2e6) == "1.2M/s");
}

TEST_CASE("parses a decimal only if it is finite and not negative") {
    CHECK(parse_decimal("1.5") == 1.5);
    const std::string text = GENERATE("", "-1", "+1", "1e999", "nan", "inf", "0x1", "1 ");
    CHECK_FALSE(parse_decimal(text));
}

TEST_CASE("parses a rate as a number with a decimal unit") {
    CHECK(parse_rate("20k") == 20'000.0);
    CHECK(parse_rate("1.5M") == 1'500'000.0);
    CHECK(parse_rate("2G") == 2e9);
    CHECK(parse_rate("0.25") == 0.25);
    CHECK(parse_rate("7") == 7.0);
    for (const char* wrong : {"", "k", "-1", "20K", "1/s", " 1", "1 k", "inf"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_rate(wrong));
    }
}

TEST_CASE("reads back a time stamp") {
    const std::chrono::system_clock::time_point at(1'795'258'984'208'417us);
    CHECK(parse_timestamp(timestamp_text(at)) == at);
    CHECK(parse_timestamp("1970-01-01T00:00:00Z") == std::chrono::system_clock::time_point());
    CHECK(parse_timestamp("2028-02-29T23:59:59Z"));
    for (const char* wrong :
         {"", "Z", "2999-12-01T10:00:00Z", "1969-12-31T10:00:00Z", "2026-12-01",
          "2026-12-01T10:00:00", "2026-12-01 10:00:00Z", "2026-13-01T10:00:00Z",
          "2026-02-29T10:00:00Z", "2026-12-01T24:00:00Z", "2026-12-01T10:60:00Z",
          "2026-12-01T10:00:60Z", "2026-12-01T10:00:00.Z1", "2026-12-01T10:00:005Z",
          "2026-12-01T10:00:00.5e1Z", "2026-12-01T10:00:00-1Z", "2026-12-0aT10:00:00Z"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_timestamp(wrong));
    }
}
