#include "app/stats/interval_log.hpp"

#include "app/text/escapes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random.hpp"
#include "tests/support/text.hpp"

#include <string_view>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

constexpr std::chrono::system_clock::time_point began{1795420228484ms};

std::uint64_t number(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
}

std::uint64_t take(std::string_view& bytes, std::size_t count) {
    const std::uint64_t value = number(bytes.substr(0, count));
    bytes.remove_prefix(count);
    return value;
}

// Returns the content of a zlib stream of one stored block.
std::string inflated(std::string_view stream) {
    CHECK(take(stream, 2) % 31 == 0);
    CHECK(take(stream, 1) == 1);
    const std::uint64_t low = take(stream, 1);
    const std::size_t size = low | take(stream, 1) << 8;
    const std::uint64_t check = take(stream, 1);
    CHECK((check | take(stream, 1) << 8) == (~size & 0xffff));
    const std::string content(stream.substr(0, size));
    stream.remove_prefix(size);
    std::uint32_t a = 1;
    std::uint32_t b = 0;
    for (const char byte : content) {
        a = (a + static_cast<unsigned char>(byte)) % 65521;
        b = (b + a) % 65521;
    }
    CHECK(stream.size() == 4);
    CHECK(number(stream) == (std::uint64_t{b} << 16 | a));
    return content;
}

// Takes a signed number of one to nine bytes.
std::int64_t take_count(std::string_view& bytes) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < 9; ++i) {
        const std::uint64_t byte = take(bytes, 1);
        value |= (i < 8 ? byte & 0x7f : byte) << (7 * i);
        if (byte < 0x80) break;
    }
    return static_cast<std::int64_t>(value >> 1) * ((value & 1) != 0 ? -1 : 1) -
           static_cast<std::int64_t>(value & 1);
}

struct Decoded {
    std::vector<Histogram::Bucket> buckets;
    std::uint64_t range;
};

Decoded decoded(const std::string& text) {
    const std::string bytes = from_base64(text).value();
    std::string_view outer = bytes;
    CHECK(take(outer, 4) == 0x1c849314);
    const std::uint64_t outer_size = take(outer, 4);
    CHECK(outer_size == outer.size());
    const std::string content = inflated(outer);
    std::string_view rest = content;
    CHECK(take(rest, 4) == 0x1c849313);
    const std::uint64_t size = take(rest, 4);
    CHECK(take(rest, 4) == 0);
    CHECK(take(rest, 4) == 2);
    CHECK(take(rest, 8) == 1);
    Decoded made{{}, take(rest, 8)};
    CHECK(take(rest, 8) == 0x3ff0000000000000);
    CHECK(rest.size() == size);
    std::size_t index = 0;
    while (!rest.empty()) {
        const std::int64_t count = take_count(rest);
        if (count > 0)
            made.buckets.push_back(
                {ev::Duration(static_cast<std::int64_t>(Buckets<7>::upper_end(index))),
                 static_cast<std::uint64_t>(count)});
        index += count < 0 ? static_cast<std::size_t>(-count) : 1;
    }
    return made;
}

// Returns the histogram of a line.
std::string last_field(const std::string& text) {
    const std::size_t begin = text.rfind(',') + 1;
    return text.substr(begin, text.size() - 1 - begin);
}

}  // namespace

TEST_CASE("writes a header, and a line for each interval with its new round trips") {
    IntervalLog log;
    Histogram times;
    times.record(1500us, 3);
    CHECK_FALSE(log.complete(times));
    const std::string head = log.next(times, 1s, began);
    const std::string legend = "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
                               "\"Interval_Compressed_Histogram\"\n";
    CHECK(head.substr(0, head.find("HIST")) ==
          "#[Times in nanoseconds, written by yodel]\n"
          "#[Histogram log format version 1.3]\n"
          "#[BaseTime: 1795420228.484 (seconds since epoch)]\n"
          "#[StartTime: 1795420228.484 (seconds since epoch), 2026-11-23T07:50:28.484000Z]\n" +
              legend + "0.000,1.000,1.500,");
    CHECK(decoded(last_field(head)).buckets == times.buckets());
    CHECK(log.complete(times));
    times.record(2ms);
    CHECK_FALSE(log.complete(times));
    const std::string line = log.next(times, 2500ms, began);
    CHECK(line.starts_with("1.000,1.500,2.000,HIST"));
    CHECK(decoded(last_field(line)).buckets == std::vector{Histogram::Bucket{2'007'039ns, 1}});
    CHECK(log.next(times, 3500ms, began).starts_with("2.500,1.000,0.000,HIST"));
    CHECK(log.next(times, 3400ms, began).starts_with("3.500,0.000,0.000,HIST"));
}

TEST_CASE("a log of nothing has one line without round trips") {
    IntervalLog log;
    CHECK_FALSE(log.complete({}));
    const std::string text = log.next({}, 0s, {});
    CHECK(test::contains(text, "#[BaseTime: 0.000 (seconds since epoch)]\n"));
    CHECK(test::contains(text, "\n0.000,0.000,0.000,HIST"));
    CHECK(decoded(last_field(text)).buckets.empty());
    CHECK(log.complete({}));
}

TEST_CASE("encodes every histogram without loss") {
    test::Random random(1);
    const auto [buckets, max_count] = GENERATE(table<std::uint64_t, int>(
        {{1, 63}, {2, 8}, {100, 20}, {3000, 40}, {1'000'000, 4}, {1'000'000, 63}}));
    Histogram times;
    for (std::uint64_t i = 0; i < buckets; ++i)
        times.record(ev::Duration(static_cast<std::int64_t>((random.next() >> 1) >>
                                                            (random.next() % 63))),
                     1 + random.next() % (std::uint64_t{1} << (max_count - 1)) / buckets);
    times.record(ev::Duration(random.next() % 2 == 0 ? 0 : 1));
    IntervalLog log;
    const Decoded made = decoded(last_field(log.next(times, 1s, began)));
    CHECK(made.buckets == times.buckets());
    CHECK(made.range >= static_cast<std::uint64_t>(times.max().count()));
    CHECK(made.range >= 3'600'000'000'000);
}

TEST_CASE("encodes counts of each size, and one or several empty buckets") {
    const int bits = GENERATE(range(0, 62));
    const auto gap = GENERATE(0, 1, 2, 3, 200);
    Histogram times;
    const std::uint64_t count = std::uint64_t{1} << bits;
    times.record(ev::Duration(5), count - (bits > 0 ? 1 : 0));
    times.record(ev::Duration(6 + gap), count);
    IntervalLog log;
    CHECK(decoded(last_field(log.next(times, 1s, began))).buckets == times.buckets());
}
