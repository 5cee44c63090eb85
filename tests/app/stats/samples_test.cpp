// Chooses the samples of a load.

#include "app/stats/results.hpp"

#include "app/text/json.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

using namespace std::chrono_literals;
using namespace yodel;

namespace {

const ev::Time start(1000s);

// Adds a message that was answered at this time since the start.
void add(Samples& samples, ev::Duration at, ev::Duration round_trip, bool right = true,
         const std::string& payload = "a") {
    const ev::Time answered = start + at;
    const Message message{.id = 7,
                          .payload = payload,
                          .planned_at = answered - round_trip,
                          .sent_at = answered - round_trip + 1us};
    const Reply reply{.payload = payload, .round_trip = round_trip, .is_right = right};
    Event event = answered_event(message, reply);
    event.at = answered;
    event.connection = 3;
    samples.add(event);
}

JsonValue list(const Samples& samples, const char* name) {
    return read_json(samples.json().str()).get(name, JsonValue::Kind::array, "an array");
}

// Returns the round trips of the samples in the list.
std::vector<ev::Duration> round_trips(const Samples& samples, const char* name = "slowest") {
    std::vector<ev::Duration> times;
    for (const JsonValue& each : list(samples, name).items)
        times.push_back(each.time("rtt_us"));
    return times;
}

}  // namespace

TEST_CASE("the fifty slowest messages are samples, also of several threads") {
    Samples samples(start);
    Samples other(start);
    for (int i = 0; i < 200; ++i)  // 1 to 200 us, mixed
        add(i % 2 ? samples : other, 10ms, (i * 77 % 200 + 1) * 1us);
    samples.add(other);
    std::vector<ev::Duration> slowest;
    for (int i = 200; i > 150; --i) slowest.emplace_back(i * 1us);
    CHECK(round_trips(samples) == slowest);
}

TEST_CASE("the first fifty bad replies are samples, also of several threads") {
    Samples sum(start);
    Samples other(start);
    for (int i = 1; i <= 200; ++i) add(i % 2 ? sum : other, i * 1ms, (i % 7 + 1) * 1us, false);
    sum.add(other);
    std::vector<ev::Duration> first;
    for (int i = 1; i <= 50; ++i) first.emplace_back((i % 7 + 1) * 1us);
    CHECK(round_trips(sum, "bad") == first);
}

TEST_CASE("bad replies are sampled separately, and right replies without a round trip never") {
    Samples samples(start);
    add(samples, 1ms, 1us, false);
    samples.add(answered_event({.id = 1, .payload = "a"}, {.payload = "a", .is_right = true}));
    samples.add(answered_event({.id = 1, .payload = "a"}, {.payload = "b"}));
    CHECK(list(samples, "slowest").items.empty());
    CHECK(list(samples, "bad").items.size() == 2);
}

TEST_CASE("a sample contains its times, its connection and the head of its payloads") {
    Samples samples(start);
    add(samples, 5ms, 2ms, true, std::string(5000, 'x'));
    const std::string text = samples.json().str();
    CHECK(test::contains(text, R"("seq":7,"sent_bytes":5000,"received_bytes":5000,)"
                               R"("planned_us":3000.000,"sent_us":3001.000,"rtt_us":2000.000,)"
                               R"("fate":"echoed","right":true,"connection":3,"sent":"xxx)"));
    const JsonValue sample = list(samples, "slowest").items.at(0);
    CHECK(sample.text("received") == std::string(2048, 'x'));
}
