#include "app/arguments.hpp"

#include "app/units.hpp"

namespace yodel {

ev::Duration duration_argument(const std::string& text) {
    return checked(parse_duration(text), text, "a duration such as 1.5s, 200ms or 2m");
}

std::optional<ev::Duration> limit_argument(const std::string& text) {
    const ev::Duration limit = duration_argument(text);
    return limit > ev::Duration::zero() ? std::optional(limit) : std::nullopt;
}

const Framing* framing_argument(const std::string& text) {
    const Framing* const found = find_framing(text);
    if (!found)
        throw UsageError("\"" + text + "\" is no framing; there are " + framing_names());
    return found;
}

}  // namespace yodel
