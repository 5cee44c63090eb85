#include "app/run/samples.hpp"

#include "app/stats/results.hpp"
#include "app/text/units.hpp"

#include <chrono>

namespace yodel {

void Samples::add(const Event& event) {
    const Reply& reply = event.reply;
    if (!has_message(event.fate) || !has_reply(event.fate)) return;
    if (reply.right && !reply.round_trip) return;
    const ev::Duration rank = reply.right ? *reply.round_trip : start_ - event.at;
    List& list = reply.right ? slowest_ : bad_;
    if (list.size() == max_count && rank <= list.rbegin()->first) return;
    list.emplace(rank,
                 yodel::json(event, start_, {.max_payload = max_payload, .connection = true}));
    limit(list);
}

void Samples::add(const Samples& other) {
    slowest_.insert(other.slowest_.begin(), other.slowest_.end());
    bad_.insert(other.bad_.begin(), other.bad_.end());
    limit(slowest_);
    limit(bad_);
}

JsonObject Samples::json() const {
    using std::chrono::system_clock;
    const system_clock::time_point started(std::chrono::duration_cast<system_clock::duration>(
        start_.time_since_epoch() + system_clock_offset()));
    const auto array = [](const List& list) {
        JsonArray objects;
        for (const auto& [rank, object] : list) objects.object(object);
        return objects;
    };
    JsonObject samples;
    samples.text("started", timestamp_text(started));
    return samples.array("slowest", array(slowest_)).array("bad", array(bad_));
}

}  // namespace yodel
