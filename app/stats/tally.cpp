#include "app/stats/tally.hpp"

#include "app/text/units.hpp"

namespace yodel {

void Tally::answered(bool right, bool was_late, std::optional<ev::Duration> round_trip) {
    if (was_late) {
        --lost;
        ++late;
    }
    std::uint64_t& count = right ? echoed : bad;
    ++count;
    if (round_trip) record(*round_trip, 1);
}

void Tally::echoed_together(std::uint64_t count, std::optional<ev::Duration> round_trip) {
    echoed += count;
    if (round_trip) record(*round_trip, count);
}

void Tally::add(const Tally& other) {
    sent += other.sent;
    echoed += other.echoed;
    bad += other.bad;
    lost += other.lost;
    late += other.late;
    unsent += other.unsent;
    unsolicited += other.unsolicited;
    round_trips.add(other.round_trips);
    batches.add(other.batches);
    if (!other.datagrams) return;
    if (!datagrams) datagrams.emplace();
    datagrams->add(*other.datagrams);
}

void Tally::record(ev::Duration round_trip, std::uint64_t times) {
    round_trips.record(round_trip, times);
    batches.record(round_trip, times);
}

std::string Tally::counts() const {
    return std::to_string(sent) + " sent, " + std::to_string(echoed) + " echoed, " +
           std::to_string(bad) + " bad, " + std::to_string(lost) + " lost";
}

std::string Tally::summary() const {
    std::string text = counts();
    if (late > 0) text += ", " + std::to_string(late) + " late";
    if (unsent > 0) text += ", " + std::to_string(unsent) + " unsent";
    if (unsolicited > 0) text += ", " + std::to_string(unsolicited) + " unasked";
    if (datagrams) text += ", " + datagrams->counts();
    return text + times();
}

std::string Tally::progress() const {
    std::string text = counts();
    if (datagrams) text += ", " + datagrams->counts();
    if (round_trips.count() == 0) return text;
    text += ", p50 " + ms_text(round_trips.percentile(50));
    if (datagrams) text += ", jitter " + ms_text(datagrams->jitter_time());
    return text;
}

std::string Tally::times() const {
    if (round_trips.count() == 0) return "";
    std::string text = "; rtt min/p50/p95/p99/max " + milliseconds_text(round_trips.min());
    for (const double percent : {50.0, 95.0, 99.0})
        text += "/" + milliseconds_text(round_trips.percentile(percent));
    text += "/" + ms_text(round_trips.max());
    if (datagrams) text += "; jitter " + ms_text(datagrams->jitter_time());
    return text;
}

}  // namespace yodel
