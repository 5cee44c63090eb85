#include "app/stats/pair.hpp"

#include "app/stats/end_object.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <cmath>

namespace yodel {

namespace {

void read_buckets(const JsonValue& list, Histogram& to) {
    for (const JsonValue& pair : list.items) {
        const bool whole = pair.items.size() == 2 && pair.items[0].nanoseconds();
        const std::uint64_t count = whole ? pair.items[1].count().value_or(0) : 0;
        if (count == 0 || count > max_count) throw JsonError("a bucket of \"pair\" is invalid");
        to.record(ev::Duration(static_cast<std::int64_t>(*pair.items[0].nanoseconds())), count);
    }
}

}  // namespace

std::string signed_milliseconds(ev::Duration duration) {
    return (duration < ev::Duration::zero() ? "-" : "+") +
           milliseconds_number(std::chrono::abs(duration));
}

void PairResults::count(const std::string& difference, std::optional<ev::Duration> delay) {
    ++(difference.empty() ? same : different);
    if (difference_sentence.empty()) difference_sentence = difference;
    if (!delay) return;
    const bool faster = *delay < ev::Duration::zero();
    (faster ? b_faster : b_slower).record(faster ? -*delay : *delay);
}

ev::Duration PairResults::delay_percentile(double percent) const {
    const double rank = std::ceil(percent / 100 * static_cast<double>(timed()));
    const auto faster = static_cast<double>(b_faster.count());
    if (rank > faster)
        return b_slower.percentile((rank - faster) / static_cast<double>(b_slower.count()) *
                                   100);
    return -b_faster.percentile((faster - std::max(rank, 1.0) + 1) / faster * 100);
}

void PairResults::add(const PairResults& other) {
    same += other.same;
    different += other.different;
    if (difference_sentence.empty()) difference_sentence = other.difference_sentence;
    b_slower.add(other.b_slower);
    b_faster.add(other.b_faster);
}

std::string PairResults::text() const {
    std::string text = count_text(same + different, "pair") + ", " + std::to_string(same) +
                       " same, " + std::to_string(different) + " different";
    if (timed() == 0) return text;
    return text + "; b-a p50/p95/p99 " + signed_milliseconds(delay_percentile(50)) + "/" +
           signed_milliseconds(delay_percentile(95)) + "/" +
           signed_milliseconds(delay_percentile(99)) + " ms";
}

JsonObject PairResults::json() const {
    JsonObject object;
    object.number("pairs", same + different).number("same", same);
    object.number("different", different);
    if (timed() == 0) return object;
    JsonObject delays;
    for (const auto& [name, percent] : {std::pair("p50", 50.0), {"p95", 95.0}, {"p99", 99.0}})
        delays.time(name, delay_percentile(percent));
    object.object("delay_us", delays).array("b_slower", buckets_json(b_slower));
    return object.array("b_faster", buckets_json(b_faster));
}

PairResults restored_pair(const JsonFields& object) {
    PairResults pair;
    pair.same = object.count("same");
    pair.different = object.count("different");
    if (!object.has("delay_us")) return pair;
    read_buckets(object.array("b_slower"), pair.b_slower);
    read_buckets(object.array("b_faster"), pair.b_faster);
    return pair;
}

Trouble PairOutcome::decided() const {
    for (const Outcome* const each : {&a, &b})
        if (each->status() > reply_bad_or_lost) return each->decided();
    if (!troubles.empty()) return troubles.front();
    for (const Outcome* const each : {&a, &b})
        if (each->status() != success) return each->decided();
    if (pair.different > 0) return {reply_bad_or_lost, pair.difference_sentence};
    return a.decided();
}

std::vector<std::string> PairOutcome::lines() const {
    std::vector<std::string> lines;
    for (const auto& [name, outcome] : {std::pair("a: ", &a), {"b: ", &b}})
        for (const std::string& line : outcome->lines()) lines.push_back(name + line);
    for (const Trouble& trouble : troubles) lines.push_back(trouble.text);
    if (!a.summary_parts.summary && pair.different > 0)
        lines.push_back(pair.difference_sentence);
    if (a.summary_parts.summary && pair.same + pair.different > 0) lines.push_back(pair.text());
    return lines;
}

JsonObject PairOutcome::json(const JsonObject& end_of_a, const JsonObject& end_of_b) const {
    const auto [status, text] = decided();
    JsonObject object;
    object.text("type", "end").text("reason", text);
    object.number("status", static_cast<std::uint64_t>(status));
    object.object("a", end_of_a).object("b", end_of_b);
    if (pair.same + pair.different > 0) object.object("pair", pair.json());
    return object;
}

}  // namespace yodel
