#include "app/text/units.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <limits>

namespace yodel {

namespace {

double seconds(ev::Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

struct Unit {
    std::string_view suffix;
    double factor;
};

// Removes the unit from the end of the text and returns its factor, or 1 if there is no unit.
template <std::size_t count>
double take_unit(std::string_view& text, const Unit (&units)[count]) {
    for (const Unit& unit : units) {
        if (!text.ends_with(unit.suffix)) continue;
        text.remove_suffix(unit.suffix.size());
        return unit.factor;
    }
    return 1;
}

// Formats a time. Appends `decimals` digits of the fraction if `decimals` is not 0; the pattern
// must then end with the seconds. `convert` is localtime_r or gmtime_r.
std::string time_text(const char* pattern, std::chrono::system_clock::time_point at,
                      std::size_t decimals = 0,
                      std::tm* (*convert)(const std::time_t*, std::tm*) = ::localtime_r) {
    const std::time_t whole = std::chrono::system_clock::to_time_t(at);
    std::tm parts{};
    convert(&whole, &parts);
    char text[64];
    const std::size_t size = std::strftime(text, sizeof text, pattern, &parts);
    const auto nanoseconds = std::chrono::nanoseconds(at.time_since_epoch()).count();
    std::string digits = format(".%09lld", static_cast<long long>(nanoseconds % 1'000'000'000));
    digits.resize(decimals > 0 ? decimals + 1 : 0);
    return std::string(text, size) + digits;
}

// The letters of escapes, and the bytes that they stand for.
constexpr std::string_view escape_letters = "nrt0\\";
constexpr std::string_view escape_meanings{"\n\r\t\0\\", 5};

}  // namespace

std::string excerpt(std::string_view head, std::size_t size) {
    const std::string shown = ui::truncated(head, 64);
    const bool is_whole = head.size() == size && shown == ui::printable(head);
    return shown + (is_whole ? "" : "...");
}

std::optional<std::string> unescaped(std::string_view text) {
    std::string plain;
    for (std::size_t size = 0; !text.empty(); text.remove_prefix(size)) {
        size = text[0] != '\\' ? 1 : text.substr(1, 1) == "x" ? 4 : 2;
        if (size > text.size()) return std::nullopt;
        const char* const end = text.data() + size;
        char byte = text[0];
        if (size == 2) {
            const std::size_t index = escape_letters.find(end[-1]);
            if (index == escape_letters.npos) return std::nullopt;
            byte = escape_meanings[index];
        } else if (size == 4) {
            unsigned code = 0;
            if (std::from_chars(end - 2, end, code, 16).ptr != end) return std::nullopt;
            byte = static_cast<char>(code);
        }
        plain += byte;
    }
    return plain;
}

std::string escaped(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) {
        const std::size_t index = escape_meanings.find(byte);
        if (index != escape_meanings.npos) text += '\\';
        text += index == escape_meanings.npos ? byte : escape_letters[index];
    }
    return text;
}

std::optional<ev::Duration> parse_duration(std::string_view text) {
    // Factors are whole nanoseconds, so that a whole number times its unit is exact.
    static constexpr Unit units[] = {{"us", 1e3}, {"ms", 1e6},   {"s", 1e9},
                                     {"m", 60e9}, {"h", 3600e9}, {"", 1e9}};
    const double factor = take_unit(text, units);
    const auto number = parse_decimal(text);
    // A century is far below the limit of a Duration.
    const double max_nanoseconds = 100 * 365.25 * 86400e9;
    if (!number || *number * factor > max_nanoseconds) return std::nullopt;
    return std::chrono::nanoseconds(static_cast<std::int64_t>(*number * factor + 0.5));
}

// Uses strtod() because std::from_chars() would load libm, which takes a fifteenth of the
// start-up time.
std::optional<double> parse_decimal(std::string_view text) {
    const std::string copy(text);
    char* end = nullptr;
    const double number = std::strtod(copy.c_str(), &end);
    const bool has_other = text.find_first_not_of("0123456789.e-") != text.npos;
    if (text.empty() || *end != '\0' || has_other || text.starts_with('-') ||
        !std::isfinite(number))
        return std::nullopt;
    return number;
}

std::optional<double> parse_chance(std::string_view text) {
    static constexpr Unit units[] = {{"%", 100}};
    const double divisor = take_unit(text, units);
    const auto number = parse_decimal(text);
    if (!number || *number / divisor > 1) return std::nullopt;
    return *number / divisor;
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, number);
    if (code != std::errc() || stop != end) return std::nullopt;
    return number;
}

std::optional<std::size_t> parse_size(std::string_view text) {
    static constexpr Unit units[] = {{"k", 0x1p10}, {"M", 0x1p20}, {"G", 0x1p30}};
    const auto factor = static_cast<std::size_t>(take_unit(text, units));
    const auto number = parse_count(text);
    if (!number || *number > std::numeric_limits<std::size_t>::max() / 3 / factor)
        return std::nullopt;
    return static_cast<std::size_t>(*number) * factor;
}

std::optional<double> parse_rate(std::string_view text) {
    static constexpr Unit units[] = {{"k", 1e3}, {"M", 1e6}, {"G", 1e9}};
    const double factor = take_unit(text, units);
    const auto number = parse_decimal(text);
    if (!number || !std::isfinite(*number * factor)) return std::nullopt;
    return *number * factor;
}

std::optional<std::chrono::system_clock::time_point> parse_timestamp(std::string_view text) {
    constexpr const char* pattern = "%Y-%m-%dT%H:%M:%S";
    const std::string copy(text);
    std::tm parts{};
    const char* const rest = ::strptime(copy.c_str(), pattern, &parts);
    // A clock that counts nanoseconds ends in 2262.
    if (!rest || !text.ends_with('Z') || parts.tm_year < 70 || parts.tm_year > 300)
        return std::nullopt;
    const auto at = std::chrono::system_clock::from_time_t(::timegm(&parts));
    // strptime() also accepts spaces and fewer digits, and timegm() converts February 30.
    const std::string whole = time_text(pattern, at, 0, ::gmtime_r);
    if (!text.starts_with(whole)) return std::nullopt;
    const std::string_view subsecond =
        text.substr(whole.size(), text.size() - whole.size() - 1);
    const auto fraction = parse_decimal("0" + std::string(subsecond));
    if (!fraction || *fraction >= 1 || !(subsecond.empty() || subsecond.starts_with('.')))
        return std::nullopt;
    return std::chrono::time_point_cast<std::chrono::system_clock::duration>(
        at + std::chrono::nanoseconds(std::llrint(*fraction * 1e9)));
}

std::optional<unsigned> parse_number(std::string_view text, unsigned min, unsigned max) {
    const auto number = parse_count(text);
    if (!number || *number < min || *number > max) return std::nullopt;
    return static_cast<unsigned>(*number);
}

std::vector<std::string> comma_separated(std::string_view text) {
    std::vector<std::string> list;
    for (std::size_t begin = 0, end = 0; end != text.npos; begin = end + 1) {
        end = text.find(',', begin);
        list.emplace_back(text.substr(begin, end - begin));
    }
    return list;
}

std::string join(const std::vector<std::string>& list, const std::string& separator) {
    std::string text;
    for (const std::string& each : list) text += (text.empty() ? "" : separator) + each;
    return text;
}

std::string local_time_text(const char* pattern, std::chrono::system_clock::time_point at) {
    return time_text(pattern, at);
}

std::string clock_text(std::chrono::system_clock::time_point at) {
    return time_text("%H:%M:%S", at, 3);
}

std::string date_text(std::chrono::system_clock::time_point at, std::size_t decimals) {
    return time_text("%Y-%m-%d %H:%M:%S", at, decimals);
}

std::string timestamp_text(std::chrono::system_clock::time_point at) {
    return time_text("%Y-%m-%dT%H:%M:%S", at, 6, ::gmtime_r) + 'Z';
}

std::string duration_text(ev::Duration duration) {
    const double count = seconds(duration);
    if (count < 0.9995) return format("%.3g", count * 1000) + "ms";
    return format(count < 1000 ? "%.4g" : "%.0f", count) + "s";
}

std::string significant_text(double value, int digits) {
    const std::string scientific = format("%.*e", digits - 1, value);
    const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
    const int decimals = std::clamp(digits - 1 - exponent, 0, 20);
    std::string text = format("%.*f", decimals, value);
    if (decimals == 0) return text;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
}

std::string count_text(std::uint64_t count, const std::string& thing) {
    return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string bytes_text(std::uint64_t count) { return count_text(count, "byte"); }

std::string rate_text(double rate, int digits) {
    if (rate < 1e3) return significant_text(rate, digits) + "/s";
    if (rate < 1e6) return significant_text(rate / 1e3, digits) + "k/s";
    return significant_text(rate / 1e6, digits) + "M/s";
}

std::string milliseconds_number(ev::Duration duration) {
    const double count = seconds(duration) * 1000;
    return format(count < 1 ? "%.2f" : count < 10 ? "%.1f" : "%.0f", count);
}

std::string milliseconds_text(ev::Duration duration) {
    return milliseconds_number(duration) + " ms";
}

// The network's part may exceed the round trip, because the system measures in whole
// microseconds.
std::string network_share_text(ev::Duration round_trip, ev::Duration network) {
    const bool is_utf8 = ui::is_utf8_locale();
    // Computes in units of the last digit, so that the printed parts add up.
    int decimals = 2;
    ev::Duration unit = std::chrono::microseconds(10);
    for (; decimals > 0 && round_trip >= 1000 * unit; --decimals) unit *= 10;
    const auto whole = (round_trip + unit / 2) / unit;
    const auto part = std::min(network / unit, whole);
    const auto text = [&](auto count) {
        return format("%.*f", decimals, seconds(count * unit) * 1000);
    };
    return text(whole) + "ms = network " + (is_utf8 ? "≥" : ">=") + text(part) + " + service " +
           (is_utf8 ? "≤" : "<=") + text(whole - part);
}

}  // namespace yodel
