#include "app/protocol/comparison.hpp"

#include "app/text/units.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace yodel {

std::size_t first_difference(std::string_view a, std::string_view b) {
    const std::size_t size = std::min(a.size(), b.size());
    if (a.substr(0, size) == b.substr(0, size))
        return size;  // fast path: compares with memcmp()
    const auto end = a.begin() + static_cast<std::ptrdiff_t>(size);
    return static_cast<std::size_t>(std::mismatch(a.begin(), end, b.begin()).first - a.begin());
}

std::optional<std::size_t> difference(const Expression* mask, std::string_view a,
                                      std::string_view b) {
    std::string space_a;
    std::string space_b;
    const std::string_view left = comparable_text(mask, a, space_a);
    const std::string_view right = comparable_text(mask, b, space_b);
    if (left == right) return std::nullopt;
    const std::size_t at = first_difference(left, right);
    return mask ? mask->unmasked(a, at) : at;
}

std::size_t likeness(std::string_view a, std::string_view b) {
    const auto size = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
    return std::inner_product(a.begin(), a.begin() + size, b.begin(), std::size_t{0},
                              std::plus(), std::equal_to());
}

Reply compared_reply(const Expression* mask, std::optional<std::string_view> expected,
                     std::string_view payload, std::optional<ev::Duration> round_trip) {
    if (!expected) return {payload, round_trip, false, 0};
    const auto at = difference(mask, payload, *expected);
    Reply reply{payload, round_trip, !at, at};
    if (!at) return reply;
    const std::size_t expected_at =
        mask ? difference(mask, *expected, payload).value_or(*at) : *at;
    if (expected_at < expected->size()) reply.right_byte = (*expected)[expected_at];
    return reply;
}

std::string differs_text(std::optional<std::size_t> difference) {
    return difference ? "differs at byte " + std::to_string(*difference) : "does not match";
}

std::string byte_text(std::string_view bytes, std::size_t at) {
    return at < bytes.size() ? format("%02x", static_cast<unsigned char>(bytes[at])) : "end";
}

std::string bad_byte_text(const Reply& bad) {
    const auto text = [](std::optional<char> byte) {
        if (!byte) return std::string("end");
        const bool visible = *byte > ' ' && *byte <= '~';
        return visible ? std::string(1, *byte) : "0x" + byte_text({&*byte, 1}, 0);
    };
    const std::size_t at = *bad.difference;
    const auto got =
        at < bad.payload.size() ? std::optional<char>(bad.payload[at]) : std::nullopt;
    return "at byte " + std::to_string(at) + " (expected " + text(bad.right_byte) + ", got " +
           text(got) + ")";
}

std::string bad_text(const Reply& bad) {
    return bad.difference ? "differs " + bad_byte_text(bad) : differs_text(std::nullopt);
}

std::string stale_text(std::string_view payload) {
    constexpr std::size_t shown = 256;  // bytes
    return "the server sent " + in_quotes(excerpt(payload.substr(0, shown), payload.size())) +
           " after a right reply; it answers no message";
}

std::string reply_hint(const Framing& framing, std::string_view payload, const Reply& bad) {
    const std::string_view reply = bad.payload;
    if (!bad.difference)
        return reply.size() <= Expression::max_examined
                   ? ""
                   : "only its first " + bytes_text(Expression::max_examined) +
                         " were examined";
    if (reply.starts_with("\x15\x03") || reply.starts_with("\x16\x03"))
        return "the reply looks like TLS; use --tls";
    const bool longer = reply.starts_with(payload);
    const bool ends_with_return = framing.delimiter == "\n" && reply.ends_with('\r');
    if (ends_with_return && longer) return "if lines end with CRLF, use -C";
    const bool damaged_echo =
        2 * likeness(payload, reply) >= std::max(payload.size(), reply.size());
    if (damaged_echo || payload.starts_with(reply) || longer) return {};
    return std::string("if the service does not echo, use --expect any") +
           (ends_with_return ? "; if lines end with CRLF, use -C" : "");
}

}  // namespace yodel
