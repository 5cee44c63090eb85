// Compares the replies of two services to the same messages. Pure: it uses no socket and no
// clock.
//
// The services are called sides 0 (a) and 1 (b). The id of a message, and the number of its
// connection, are the same on both sides. The reply to a message is never compared with the
// reply to another one. A message without a reply in time on one side makes no pair.
#pragma once

#include "app/protocol/matcher.hpp"
#include "app/text/expression.hpp"
#include "ev/time.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace yodel {

inline constexpr const char* side_names[] = {"a", "b"};

// Both replies to a message.
struct Pair {
    // Empty: the replies are equal. "reply 3 differs from b's at byte 4 (expected o, got n)"
    std::string difference = {};
    std::optional<std::size_t> at = {};  // offset in the reply of a
    std::optional<ev::Duration> a_time = {};
    std::optional<ev::Duration> b_time = {};
    // Returns the time of b minus the time of a; none if one was not measured.
    std::optional<ev::Duration> delay() const {
        return a_time && b_time ? std::optional(*b_time - *a_time) : std::nullopt;
    }
};

class Pairing {
public:
    // Parts of replies that match the mask count as equal.
    explicit Pairing(std::optional<Expression> mask = {}) : mask_(std::move(mask)) {}

    // Records what became of a message on one side. A late reply is ignored. Returns the pair
    // if both sides have replied. Stores the reply until then.
    std::optional<Pair> add(unsigned side, std::size_t connection, const Message& message,
                            const Reply* reply);
    // Returns the number of messages that only one side has answered or lost.
    std::size_t waiting() const { return halves_.size(); }

private:
    struct Half {
        unsigned side;
        std::optional<std::string> reply;  // none: lost
        std::optional<ev::Duration> time;
    };
    Pair compared(std::uint64_t id, const Half& a, const Half& b) const;

    const std::optional<Expression> mask_;
    std::map<std::pair<std::size_t, std::uint64_t>, Half> halves_;  // by connection and id
};

}  // namespace yodel
