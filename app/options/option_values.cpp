#include "app/options/option_values.hpp"

#include "app/options/target.hpp"
#include "app/text/units.hpp"
#include "ev/threads/loop_thread.hpp"

#include <sys/socket.h>

#include <algorithm>

namespace yodel {

ev::Duration duration_value(const std::string& text) {
    return checked(parse_duration(text), text, "a duration such as 1.5s, 200ms or 2m");
}

std::optional<ev::Duration> limit_value(const std::string& text) {
    const ev::Duration limit = duration_value(text);
    return limit > ev::Duration::zero() ? std::optional(limit) : std::nullopt;
}

unsigned positive_value(const std::string& text, unsigned most) {
    return checked(parse_number(text, 1, most), text,
                   "a number from 1 to " + std::to_string(most));
}

std::size_t threads_value(const std::string& text) {
    constexpr unsigned most = 1024;
    if (text == "auto") return std::min(ev::processors(), most);
    return checked(parse_number(text, 1, most), text,
                   "a number from 1 to " + std::to_string(most) + ", or auto");
}

const Framing* framing_value(const std::string& text) {
    const Framing* const found = find_framing(text);
    if (!found)
        throw UsageError(in_quotes(text) + " is no framing; there are " + framing_names());
    return found;
}

void set_family(int& family, int wanted) {
    if (family != AF_UNSPEC && family != wanted)
        throw UsageError("-4 and -6 exclude each other");
    family = wanted;
}

void check_family(int family, const std::string& host) {
    const int given = numeric_family(host);
    if (family == AF_UNSPEC || given == AF_UNSPEC || given == family) return;
    const bool v6 = family == AF_INET6;
    throw UsageError((v6 ? "-6: \"" : "-4: \"") + host + "\" is not an " +
                     (v6 ? "IPv6" : "IPv4") + " address");
}

Option help_option(bool& wanted) {
    return {.letter = 'h',
            .name = "help",
            .help = "print this text",
            .apply = [&wanted](auto&) { wanted = true; },
            .last = true};
}

Option version_option(bool& wanted) {
    return {.letter = 'V',
            .name = "version",
            .help = "print the version, and what it is built with",
            .apply = [&wanted](auto&) { wanted = true; },
            .last = true};
}

Option sandbox_option(bool& left_out) {
    return {.name = "no-sandbox",
            .help = "give up no rights; see SANDBOX in the manual",
            .apply = [&](auto&) { left_out = true; }};
}

}  // namespace yodel
