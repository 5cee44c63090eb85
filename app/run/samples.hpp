// Samples of a load: the 50 slowest messages with a right reply, and the first 50 with a bad
// one, as JSON objects.
#pragma once

#include "app/protocol/matcher.hpp"
#include "app/text/json.hpp"
#include "ev/time.hpp"

#include <cstddef>
#include <vector>

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
    struct Sample {
        ev::Duration rank;  // the round trip; of a bad reply, the negated time
        JsonObject object;
    };
    using List = std::vector<Sample>;  // a heap; the sample with the lowest rank is in front

    static bool ranks_higher(const Sample& a, const Sample& b) { return a.rank > b.rank; }
    static void add(List& list, Sample sample);
    static JsonArray json(List list);

    ev::Time start_;
    List slowest_;
    List bad_;
};

}  // namespace yodel
