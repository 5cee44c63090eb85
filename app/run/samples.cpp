#include "app/run/samples.hpp"

#include "app/protocol/message_object.hpp"
#include "app/stats/results.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace yodel {

void Samples::add(const Event& event) {
    const Reply& reply = event.reply;
    if (!has_message(event.fate) || !has_reply(event.fate) || event.warm_up) return;
    if (reply.right && !reply.round_trip) return;
    const ev::Duration rank = reply.right ? *reply.round_trip : start_ - event.at;
    List& list = reply.right ? slowest_ : bad_;
    if (list.size() == max_count && rank <= list.front().rank) return;
    JsonObject object = message_object(event, start_);
    object.number("connection", event.connection);
    object.bytes("sent", event.message.payload.substr(0, max_payload));
    object.bytes("received", reply.payload.substr(0, max_payload));
    add(list, {rank, std::move(object)});
}

void Samples::add(const Samples& other) {
    for (const Sample& sample : other.slowest_) add(slowest_, sample);
    for (const Sample& sample : other.bad_) add(bad_, sample);
}

void Samples::add(List& list, Sample sample) {
    list.push_back(std::move(sample));
    std::push_heap(list.begin(), list.end(), ranks_higher);
    if (list.size() <= max_count) return;
    std::pop_heap(list.begin(), list.end(), ranks_higher);
    list.pop_back();
}

JsonArray Samples::json(List list) {
    std::sort_heap(list.begin(), list.end(), ranks_higher);
    JsonArray array;
    for (const Sample& sample : list) array.object(sample.object);
    return array;
}

JsonObject Samples::json() const {
    using std::chrono::system_clock;
    const system_clock::time_point started(std::chrono::duration_cast<system_clock::duration>(
        start_.time_since_epoch() + system_clock_offset()));
    JsonObject object;
    object.text("started", timestamp_text(started));
    return object.array("slowest", json(slowest_)).array("bad", json(bad_));
}

}  // namespace yodel
