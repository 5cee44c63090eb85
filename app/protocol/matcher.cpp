#include "app/protocol/matcher.hpp"

#include <algorithm>

namespace yodel {

std::string mismatch_hint(std::string_view payload, std::string_view reply) {
    if (reply.starts_with("\x15\x03") || reply.starts_with("\x16\x03"))
        return "the reply looks like TLS: --tls";
    std::size_t equal = 0;
    for (std::size_t i = 0; i < std::min(payload.size(), reply.size()); ++i)
        equal += payload[i] == reply[i] ? 1 : 0;
    const bool damaged_echo = 2 * equal >= std::max(payload.size(), reply.size());
    if (damaged_echo || payload.starts_with(reply) || reply.starts_with(payload)) return {};
    return "where replies are no echoes: --expect any";
}

}  // namespace yodel
