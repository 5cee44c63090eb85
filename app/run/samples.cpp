#include "app/run/samples.hpp"

#include "app/protocol/event_json.hpp"
#include "app/stats/results.hpp"
#include "app/text/units.hpp"

#include <chrono>

namespace yodel {

void Samples::add(const Event& event) {
    const Reply& reply = event.reply;
    if (!has_message(event.fate) || !has_reply(event.fate) || event.warm_up) return;
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
    JsonArray slowest;
    for (const auto& [rank, object] : slowest_) slowest.object(object);
    JsonArray bad;
    for (const auto& [rank, object] : bad_) bad.object(object);
    JsonObject object;
    object.text("started", timestamp_text(started));
    return object.array("slowest", slowest).array("bad", bad);
}

}  // namespace yodel
