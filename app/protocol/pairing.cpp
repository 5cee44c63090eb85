#include "app/protocol/pairing.hpp"

namespace yodel {

std::optional<Pair> Pairing::add(unsigned side, std::size_t connection, const Message& message,
                                 const Reply* reply) {
    if (message.late && reply) return std::nullopt;
    Half half{.side = side, .reply = {}, .time = {}};
    if (reply) half.reply = reply->payload;
    if (reply) half.time = reply->round_trip;
    const auto [place, first] = halves_.try_emplace({connection, message.id}, half);
    if (first || place->second.side == side) return std::nullopt;
    const auto other = halves_.extract(place);
    if (!half.reply || !other.mapped().reply) return std::nullopt;
    return side == 1 ? compared(message.id, other.mapped(), half)
                     : compared(message.id, half, other.mapped());
}

Pair Pairing::compared(std::uint64_t id, const Half& a, const Half& b) const {
    const Reply reply =
        compared_reply(mask_ ? &*mask_ : nullptr, *b.reply, *a.reply, std::nullopt);
    Pair pair{.at = reply.difference, .a_time = a.time, .b_time = b.time};
    if (!reply.right)
        pair.difference =
            "reply " + std::to_string(id) + " differs from b's " + bad_byte_text(reply);
    return pair;
}

}  // namespace yodel
