// The results of a run with two targets, a and b: the pairs of replies, and the outcome of
// both.
#pragma once

#include "app/stats/outcome.hpp"
#include "app/text/json.hpp"
#include "app/text/json_reader.hpp"
#include "ev/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace yodel {

// Counts the messages to which both targets have replied.
struct PairResults {
    std::uint64_t same = 0;
    std::uint64_t different = 0;
    std::string difference_sentence;  // about the first difference; empty: none
    // Differences of round trips, b minus a, by their sign.
    Histogram b_slower;
    Histogram b_faster;

    // `difference`: a sentence about the first byte that differs; empty: the replies are equal.
    void count(const std::string& difference, std::optional<ev::Duration> delay);
    std::uint64_t timed() const { return b_slower.count() + b_faster.count(); }
    // Returns the difference of round trips that `percent` of all do not exceed. It is negative
    // if b was faster.
    ev::Duration delay_percentile(double percent) const;
    void add(const PairResults& other);

    // Returns "120 pairs, 119 same, 1 different; b-a p50/p95/p99 +0.03/+0.10/+0.4 ms".
    std::string text() const;
    JsonObject json() const;
};

// Returns milliseconds with a sign, without the unit: +0.21
std::string signed_milliseconds(ev::Duration duration);

// Reads what json() has written. Throws JsonError.
PairResults restored_pair(const JsonFields& object);

struct PairOutcome {
    Outcome a;
    Outcome b;
    const PairResults& pair;
    std::vector<Trouble> troubles = {};  // errors that concern both targets

    // Returns the exit status and its cause. The first of these decides: a failure of a, of b,
    // trouble, a bad or lost reply or a failed requirement, replies that differ.
    Trouble decided() const;
    // Returns the lines of both, each with the name of its target, and a line for the pairs.
    std::vector<std::string> lines() const;
    // Returns the end object, which contains the end objects of both.
    JsonObject json(const JsonObject& end_of_a, const JsonObject& end_of_b) const;
};

}  // namespace yodel
