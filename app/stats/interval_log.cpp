#include "app/stats/interval_log.hpp"

#include "app/text/escapes.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>

namespace yodel {

namespace {

// Their lowest byte stands for counts of variable size.
constexpr std::uint32_t histogram_cookie = 0x1c849313;
constexpr std::uint32_t compressed_cookie = 0x1c849314;

// The longest time that a reader must expect, so that histograms can be added up.
constexpr ev::Duration usual_range = std::chrono::hours(1);

std::string big_endian(std::uint64_t value, unsigned bytes) {
    std::string text;
    for (unsigned i = bytes; i > 0; --i) text += static_cast<char>(value >> (8 * (i - 1)));
    return text;
}

// Seven bits a byte, the lowest first, and eight in the ninth byte. The sign is in bit 0.
std::string variable_size(std::int64_t number) {
    auto rest = static_cast<std::uint64_t>(number) << 1;
    if (number < 0) rest = ~rest;
    std::string text;
    for (; rest >= 0x80 && text.size() < 8; rest >>= 7) text += static_cast<char>(rest | 0x80);
    return text + static_cast<char>(rest);
}

// The counts of the buckets up to the last one in use. A negative number stands for
// several empty buckets.
std::string counts(const Histogram& times) {
    std::string text;
    std::size_t next = 0;
    for (const Histogram::Bucket& bucket : times.buckets()) {
        const std::size_t index =
            Histogram::Layout::index(static_cast<std::uint64_t>(bucket.upper_end.count()));
        const auto empty = static_cast<std::int64_t>(index - next);
        if (empty > 0) text += variable_size(empty == 1 ? 0 : -empty);
        text += variable_size(static_cast<std::int64_t>(bucket.count));
        next = index + 1;
    }
    return text.empty() ? variable_size(0) : text;
}

std::uint32_t adler32(std::string_view bytes) {
    constexpr std::uint32_t prime = 65521;
    std::uint32_t low = 1;
    std::uint32_t high = 0;
    for (const char byte : bytes) {
        low = (low + static_cast<unsigned char>(byte)) % prime;
        high = (high + low) % prime;
    }
    return high << 16 | low;
}

// Returns a zlib stream of one stored block. A histogram of 64-bit counts is never too large.
std::string stored(std::string_view bytes) {
    std::string stream = "\x78\x01\x01";
    const std::size_t size = bytes.size();
    for (const std::size_t each : {size, size >> 8, ~size, ~size >> 8})
        stream += static_cast<char>(each);
    return stream.append(bytes) + big_endian(adler32(bytes), 4);
}

std::string encoded(const Histogram& times) {
    const std::string payload = counts(times);
    const ev::Duration range = std::max(usual_range, times.max());
    const std::string stream =
        stored(big_endian(histogram_cookie, 4) + big_endian(payload.size(), 4) +
               big_endian(0, 4) +  // offset of the first bucket
               big_endian(2, 4) +  // significant digits
               big_endian(1, 8) +  // the lowest time of a bucket of its own
               big_endian(static_cast<std::uint64_t>(range.count()), 8) +
               big_endian(std::bit_cast<std::uint64_t>(1.0), 8) +  // factor of the times
               payload);
    return to_base64(big_endian(compressed_cookie, 4) + big_endian(stream.size(), 4) + stream);
}

std::string header(std::chrono::system_clock::time_point began) {
    const std::string time = seconds_text(began.time_since_epoch()) + " (seconds since epoch)";
    return "#[Times in nanoseconds, written by yodel]\n"
           "#[Histogram log format version 1.3]\n"
           "#[BaseTime: " +
           time + "]\n#[StartTime: " + time + ", " + timestamp_text(began) +
           "]\n\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
           "\"Interval_Compressed_Histogram\"\n";
}

}  // namespace

std::string IntervalLog::next(const Histogram& times, ev::Duration end,
                              std::chrono::system_clock::time_point began) {
    const Histogram interval = times.since(logged_);
    const ev::Duration start = end_.value_or(ev::Duration::zero());
    const std::string head = end_ ? "" : header(began);
    end_ = std::max(start, end);
    logged_ = times;
    const std::chrono::duration<double, std::milli> max = interval.max();
    return head + seconds_text(start) + "," + seconds_text(*end_ - start) + "," +
           format("%.3f", max.count()) + "," + encoded(interval) + "\n";
}

}  // namespace yodel
