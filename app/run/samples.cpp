#include "app/run/samples.hpp"

#include "app/protocol/message_object.hpp"
#include "app/stats/results.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace yodel {

namespace {

constexpr std::size_t max_columns = SampleList::max_samples / 2;

bool is_slower(const Sample& a, const Sample& b) { return a.round_trip > b.round_trip; }

}  // namespace

void SampleList::add(Sample sample) {
    columns_[sample.answered_at.time_since_epoch() / width_].push_back(std::move(sample));
    while (columns_.size() > max_columns) widen();
    const std::size_t share = max_samples / columns_.size();
    for (auto& [number, column] : columns_) {
        std::sort(column.begin(), column.end(), is_slower);
        while (column.size() > share) column.pop_back();
    }
    const auto& [number, last] = *columns_.rbegin();
    threshold_ = last.size() < share ? ev::Duration(-1) : last.back().round_trip;
    column_end_ = ev::Time((number + 1) * width_);
}

void SampleList::add(const SampleList& other) {
    for (const auto& [number, column] : other.columns_)
        for (const Sample& sample : column) add(sample);
}

void SampleList::widen() {
    width_ *= 2;
    for (auto& [number, column] : std::exchange(columns_, {}))
        std::move(column.begin(), column.end(), std::back_inserter(columns_[number / 2]));
}

JsonArray SampleList::json() const {
    JsonArray list;
    for (const auto& [number, column] : columns_)
        for (const Sample& sample : column) list.object(sample.object);
    return list;
}

JsonObject Samples::json() const {
    using std::chrono::system_clock;
    const system_clock::time_point started(std::chrono::duration_cast<system_clock::duration>(
        start_.time_since_epoch() + system_clock_offset()));
    JsonObject object;
    object.text("started", timestamp_text(started));
    return object.array("slowest", slowest_.json()).array("bad", bad_.json());
}

JsonObject Samples::object(std::size_t connection, const Message& message,
                           const Reply& reply) const {
    JsonObject object = message_object(fate_of(message, reply), &message, &reply, start_);
    object.number("connection", connection);
    object.bytes("sent", message.payload.substr(0, max_payload));
    return object.bytes("received", reply.payload.substr(0, max_payload));
}

}  // namespace yodel
