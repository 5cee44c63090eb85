// Samples of a load: the 50 slowest messages with a right reply, and the first 50 with a bad
// one, as JSON objects.
#pragma once

#include "app/protocol/event.hpp"
#include "app/text/json.hpp"
#include "ev/time.hpp"

#include <cstddef>
#include <functional>
#include <iterator>
#include <map>

namespace yodel {

class Samples {
public:
    static constexpr std::size_t max_count = 50;      // of each kind
    static constexpr std::size_t max_payload = 2048;  // bytes; the rest is cut off

    // Times in the objects count from `start`.
    explicit Samples(ev::Time start) : start_(start) {}

    // Ignores other fates than replies, and a right reply without a round trip.
    void add(const Event& event);
    void add(const Samples& other);
    JsonObject json() const;

private:
    // By rank: the round trip or, of a bad reply, its negated time. The highest is first.
    using List = std::multimap<ev::Duration, JsonObject, std::greater<>>;

    static void limit(List& list) {
        while (list.size() > max_count) list.erase(std::prev(list.end()));
    }

    ev::Time start_;
    List slowest_;
    List bad_;
};

}  // namespace yodel
