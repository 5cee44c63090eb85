#include "app/units.hpp"

#include <charconv>
#include <cstdlib>
#include <ctime>
#include <limits>

namespace yodel {

namespace {

template <class Number>
std::optional<Number> parse_all(std::string_view text) {
    Number number{};
    const char* const end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, number);
    if (code != std::errc() || stop != end) return std::nullopt;
    return number;
}

// By strtod: std::from_chars would bring in libm, which takes a fifteenth of a start to load.
std::optional<double> parse_fraction(const std::string& text) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    const bool strange = text.find_first_not_of("0123456789.e-") != text.npos;
    if (text.empty() || *end != '\0' || strange) return std::nullopt;
    return number;
}

double seconds(ev::Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

struct Unit {
    std::string_view suffix;
    double factor;
};

// The factor of the unit that the text ends in, which is cut off; 1 without one.
template <std::size_t count>
double take_unit(std::string_view& text, const Unit (&units)[count]) {
    for (const Unit& unit : units) {
        if (!text.ends_with(unit.suffix)) continue;
        text.remove_suffix(unit.suffix.size());
        return unit.factor;
    }
    return 1;
}

}  // namespace

std::optional<ev::Duration> parse_duration(std::string_view text) {
    static constexpr Unit units[] = {{"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}};
    const double factor = take_unit(text, units);
    const auto number = parse_fraction(std::string(text));
    // A century, in seconds, is for ever, and still far from what a Duration can't hold.
    const double longest = 100 * 365.25 * 86400;
    if (!number || !(*number >= 0) || *number * factor > longest) return std::nullopt;
    return std::chrono::duration_cast<ev::Duration>(
        std::chrono::duration<double>(*number * factor));
}

std::optional<std::size_t> parse_size(std::string_view text) {
    static constexpr Unit units[] = {{"k", 0x1p10}, {"M", 0x1p20}, {"G", 0x1p30}};
    const auto factor = static_cast<std::size_t>(take_unit(text, units));
    const auto number = parse_all<std::size_t>(text);
    if (!number || *number > std::numeric_limits<std::size_t>::max() / 3 / factor)
        return std::nullopt;
    return *number * factor;
}

std::optional<unsigned> parse_number(std::string_view text, unsigned least, unsigned most) {
    const auto number = parse_all<unsigned>(text);
    if (!number || *number < least || *number > most) return std::nullopt;
    return number;
}

std::string clock_text(std::chrono::system_clock::time_point at) {
    const auto count =
        std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
    const auto whole = static_cast<std::time_t>(count / 1000);
    std::tm parts{};
    ::localtime_r(&whole, &parts);
    return format("%02d:%02d:%02d.%03d", parts.tm_hour, parts.tm_min, parts.tm_sec,
                  static_cast<int>(count % 1000));
}

std::string duration_text(ev::Duration duration) {
    const double count = seconds(duration);
    if (count < 0.9995) return format("%.3g", count * 1000) + "ms";
    return format(count < 1000 ? "%.4g" : "%.0f", count) + "s";
}

std::string milliseconds_text(ev::Duration duration) {
    const double count = seconds(duration) * 1000;
    return format(count < 1 ? "%.2f" : count < 10 ? "%.1f" : "%.0f", count);
}

}  // namespace yodel
