#include "app/stats/end_object.hpp"

#include "app/stats/outcome.hpp"
#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random.hpp"

#include <unistd.h>

#include <cstdio>
#include <string>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

Results full_result(std::uint64_t seed) {
    Results result = test::result_of({.loss = 0.01}, seed, 500);
    result.late = 3;
    result.unsolicited = 2;
    result.unsent = 5;
    result.add_planned_rate({.planned = 250, .reached = 240});
    result.count_failure("connect to db.example: \"refused\"", 7, false, 2);
    result.count_end(7, false);
    result.lateness.record(3us, 5);
    const ev::Duration connect_time = 40us * static_cast<int>(seed);
    result.count_opened(connect_time, 3 * connect_time);
    result.duplicates = 1;
    result.replay = {.recurred = 1, .unrecorded = 0, .missing = seed};
    result.late_start = 4us * static_cast<int>(seed);
    result.warm_up = {.sent = 9, .echoed = 4, .bad = 2, .lost = 1, .unsent = seed};
    result.add_tcp({.min_rtt = connect_time / 2, .retransmits = seed, .mss = 1448, .cwnd = 10});
    return result;
}

JsonObject end_of(const Results& results, const char* reason) {
    return end_object(results, reason, Outcome{.results = results}.status());
}

std::unique_ptr<Results> read(const std::string& text) {
    const JsonResult json = read_json(text);
    REQUIRE(json.value);
    return restored_results(JsonFields(*json.value));
}

// Reads the end objects of a file. Returns the sentence of the refusal, or an empty text.
std::string read_file(const std::string& path,
                      const std::function<void(std::unique_ptr<Results>)>& take) {
    try {
        read_results(path, take);
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

// A temporary file, removed at the end.
class File {
public:
    explicit File(const std::string& contents) {
        const int fd = ::mkstemp(path_);
        REQUIRE(fd >= 0);
        REQUIRE(::write(fd, contents.data(), contents.size()) ==
                static_cast<ssize_t>(contents.size()));
        ::close(fd);
    }
    ~File() { std::remove(path_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    std::string path() const { return path_; }

private:
    char path_[32] = "/tmp/end_object_test.XXXXXX";
};

std::string trouble_of(const std::string& contents) {
    const File file(contents);
    const std::string trouble = read_file(file.path(), [](auto) {});
    REQUIRE(trouble.starts_with(file.path() + ": "));
    return trouble.substr(file.path().size() + 2);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != text.npos);
    return text.replace(at, from.size(), to);
}

// Returns the end object of a small result, which the tests below edit.
std::string small_end() {
    Results result;
    result.utc_offset = 1795431845s + 250us;
    result.count_sent(2, ev::Time{});
    result.count_answered({.round_trip = 5us}, ev::Time{1s});
    result.count_answered({.round_trip = 7us}, ev::Time{1s});
    return end_of(result, "closed").str();
}

}  // namespace

TEST_CASE("writes every figure of the run") {
    CHECK(small_end() ==
          R"({"type":"end","reason":"closed","status":0,"sent":2,"echoed":2,"bad":0,"lost":0,)"
          R"("late":0,"unsent":0,"unsolicited":0,"duplicates":0,"rate":2.000,)"
          R"("began":"2026-11-23T11:04:05.000250Z","ended":"2026-11-23T11:04:06.000250Z",)"
          R"("duration_us":1000000.000,"rtt_us":{"min":5.000,)"
          R"("mean":6.000,"p50":5.023,"p90":7.000,"p95":7.000,"p99":7.000,"p99.9":7.000,)"
          R"("p99.99":7.000,"max":7.000,"sum":12.000},"histogram":[[5.023,1],[7.007,1]],)"
          R"("connections":{"attempts":0,"opened":0,"failed":0,"starved":0},"errors":[]})");
}

TEST_CASE("marks a probe, and restores it from its end object") {
    Results result;
    CHECK(end_of(result, "closed").str().find("probe") == std::string::npos);
    result.probe = true;
    result.count_try();
    result.count_opened(1ms, 2ms, true);
    const std::string text = end_of(result, "closed").str();
    CHECK(text.find(R"("status":0,"probe":true,"sent":0,)") != std::string::npos);
    CHECK(text.find(R"("failed":0,"starved":0,"handshakes_full":0,"handshakes_resumed":1,)") !=
          std::string::npos);
    CHECK(summary(*read(text)) == summary(result));
    CHECK(end_of(*read(text), "closed").str() == text);
    // Earlier versions counted no handshakes.
    const std::string earlier =
        replaced(text, R"("handshakes_full":0,"handshakes_resumed":1,)", "");
    CHECK(read(earlier)->handshake_times.count() == 1);
}

TEST_CASE("restores a result from its end object") {
    const Results result = full_result(1);
    const std::string text = end_of(result, "closed").str();
    const std::unique_ptr<Results> restored = read(text);
    REQUIRE(restored);
    CHECK(restored->round_trips == result.round_trips);
    CHECK(restored->lateness == result.lateness);
    CHECK(restored->failures == result.failures);
    CHECK(restored->connect_times == result.connect_times);
    CHECK(restored->handshake_times == result.handshake_times);
    CHECK(restored->tcp == result.tcp);
    CHECK(restored->late_start == result.late_start);
    CHECK(restored->elapsed() == result.elapsed());
    CHECK(end_of(*restored, "closed").str() == text);
}

TEST_CASE("requires all figures of planned messages, which must agree") {
    const std::string text = end_of(full_result(1), "closed").str();
    const std::string plan = R"("planned":505,"planned_rate":250.000,"reached_rate":240.000,)";
    const std::unique_ptr<Results> earlier = read(replaced(text, plan, ""));
    REQUIRE(earlier);
    CHECK_FALSE(earlier->planned_rate);
    CHECK(trouble_of(replaced(text, "\"planned\":505", "\"planned\":504")) ==
          "the end object was edited, or another version of yodel wrote it: "
          "\"planned\" disagrees with the other figures");
}

TEST_CASE("refuses the results of version 0.2, which contain no times") {
    std::string text = end_of(full_result(1), "closed").str();
    const std::size_t began = text.find("\"began\"");
    text.erase(began, text.find("\"duration_us\"") - began);
    CHECK(trouble_of(text).ends_with("\"began\" is missing"));
}

TEST_CASE("refuses counts that are so high that a sum could overflow") {
    Results results = full_result(1);
    results.lateness = {};
    results.lateness.record(0ns);
    const std::string text = end_of(results, "closed").str();
    const auto [from, to] = GENERATE(table<std::string, std::string>(
        {{"\"unsolicited\":2", "\"unsolicited\":18446744073709551615"},
         {"\"retransmits\":", "\"retransmits\":9000000000000000"},
         {"\"lateness_histogram\":[[0.000,1]",
          "\"lateness_histogram\":[[0.000,20000000000000]"}}));
    const std::string trouble = trouble_of(replaced(text, from, to));
    CAPTURE(trouble, text);
    CHECK(trouble.starts_with("the end object was edited, or another version of yodel"));
}

TEST_CASE("leaves a status that follows from the counts to the verdict on the sum") {
    Results results;
    results.count_sent(100, ev::Time{});
    results.echoed = 99;
    ++results.lost;
    const std::string text = end_of(results, "closed").str();
    const std::unique_ptr<Results> lost = read(text);
    REQUIRE(lost);
    const auto tolerant = Verdict::on(*lost, parse_requirements("lost<2%"));
    CHECK(Outcome{.results = *lost}.status() == 1);
    CHECK(Outcome{.results = *lost, .verdict = tolerant}.status() == 0);
    const std::string kept = replaced(text, "\"lost\":1", "\"lost\":0");
    CHECK(Outcome{.results = *read(kept), .verdict = tolerant}.status() ==
          1);  // its own requirement failed
    const std::string ended = replaced(kept, "\"status\":1", "\"status\":130");
    CHECK(Outcome{.results = *read(ended)}.status() == 1);
}

TEST_CASE("refuses times that are impossible") {
    const auto [from, to, name] = GENERATE(table<const char*, const char*, const char*>({
        {"2026-11-23T11:04:05.000250Z", "2026-11-23T11:04:07.000250Z", "ended"},
        {"2026-11-23T11:04:06.000250Z", "2026-11-23T11:04:04.000250Z", "ended"},
        {"2026-11-23T11:04:06.000250Z", "2026-11-23T11:04:06.000253Z", "ended"},
        {"2026-11-23T11:04:05.000250Z", "2026-11-31T11:04:05.000250Z", "began"},
        {"2026-11-23T11:04:05.000250Z", "yesterday", "began"},
        {"2026-11-23T11:04:06.000250Z", "", "ended"},
    }));
    CHECK(trouble_of(replaced(small_end(), from, to)) ==
          "the end object was edited, or another version of yodel wrote it: \"" +
              std::string(name) + "\" disagrees with the other figures");
    CHECK(trouble_of(replaced(small_end(), "\"duration_us\":1000000.000",
                              "\"duration_us\":1930000000000000"))
              .ends_with("\"duration_us\" is too long"));
}

TEST_CASE("restores the times of a run without replies") {
    Results silent;
    silent.count_sent(1, ev::Time{5s});
    ++silent.lost;
    const std::string text = end_of(silent, "").str();
    CHECK(text.find("\"ended\"") == text.npos);
    const std::unique_ptr<Results> restored = read(text);
    REQUIRE(restored->first_sent);
    CHECK(end_of(*restored, "").str() == text);
    Results none;
    CHECK(end_of(none, "").str().find("\"began\"") == std::string::npos);
    CHECK_FALSE(read(end_of(none, "").str())->first_sent);
}

TEST_CASE("sums runs with times over the time from the first message to the last reply") {
    Results sum;
    sum.utc_offset = {};
    for (const ev::Duration began : {0s, 4s}) {
        Results part;
        part.utc_offset = 1000h;
        part.count_sent(10, ev::Time{began});
        part.count_echoed(10, 1ms, ev::Time{began + 1s});
        sum.add(*read(end_of(part, "").str()));
    }
    CHECK((sum.elapsed() == 5s));
    CHECK(sum.rate() == 4);
    CHECK(end_of(sum, "").str().find(R"("began":"1970-02-11T16:00:00.000000Z",)"
                                     R"("ended":"1970-02-11T16:00:05.000000Z")") !=
          std::string::npos);
}

TEST_CASE("restores the jitter of datagrams") {
    Results results;
    results.count_sent(1, ev::Time{});
    results.count_answered({}, ev::Time{});
    CHECK(end_of(results, "").str().find("jitter") == std::string::npos);
    results.datagrams = true;
    results.duplicates = 2;
    results.jitter_sum = 40'000;
    results.jitter_count = 1;
    const std::string text = end_of(results, "").str();
    CHECK(text.find(R"("duplicates":2,"reordered":0,"jitter_us":40.000)") != std::string::npos);
    const std::unique_ptr<Results> restored = read(text);
    REQUIRE(restored);
    CHECK(restored->datagrams);
    CHECK(restored->duplicates == 2);
    CHECK((restored->jitter() == 40us));
}

TEST_CASE("restores a result without round trips") {
    Results result;
    result.count_try();
    result.count_failure("refused", 7, false);
    result.count_end(7, false);
    const std::string text = end_of(result, "refused").str();
    const std::unique_ptr<Results> restored = read(text);
    REQUIRE(restored);
    CHECK(end_of(*restored, "refused").str() == text);
}

TEST_CASE("sums restored results to the result of the whole, bucket for bucket") {
    Results whole;
    Results sum;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        const Results part = full_result(seed);
        whole.add(part);
        const std::unique_ptr<Results> restored = read(end_of(part, "closed").str());
        REQUIRE(restored);
        sum.add(*restored);
    }
    CHECK(sum.round_trips == whole.round_trips);
    CHECK(sum.sent == 4000);
    CHECK(sum.unsent == 40);
    REQUIRE(sum.planned_rate);
    CHECK(sum.planned_rate->planned == 2000);
    CHECK(sum.planned_rate->reached == 1920);
    CHECK(sum.lateness == whole.lateness);
    CHECK(sum.failures == whole.failures);
    CHECK(sum.connect_times == whole.connect_times);
    CHECK(sum.handshake_times == whole.handshake_times);
    CHECK(sum.tcp == TcpTotals{20us, 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8, 1448, 10});
    CHECK(end_of(sum, "").str().substr(0, 120) == end_of(whole, "").str().substr(0, 120));
}

TEST_CASE("refuses an end object that was edited or is of another version") {
    const auto [from, to, trouble] = GENERATE(table<std::string, std::string, std::string>({
        {"\"sent\":2,", "", "\"sent\" is missing"},
        {"\"sent\":2", "\"sent\":-2",
         "\"sent\" is not a whole number from 0 to 10000000000000"},
        {"\"sent\":2", "\"sent\":\"2\"", "\"sent\" is not a whole number"},
        {"\"status\":0", "\"status\":256", "\"status\" is not a whole number from 0 to 255"},
        {"\"min\":5.000", "\"min\":5.0000", "\"min\" is not a time in microseconds"},
        {"\"min\":5.000", "\"min\":9300000000000000", "\"min\" is too long"},
        {"\"errors\":[]", "\"errors\":[1]", "\"text\" is missing"},
        {"\"connections\":{", "\"connections\":[],\"c\":{", "\"connections\" is not an object"},
        {"\"histogram\":[[5.023,1]", "\"histogram\":[[5.023,2]",
         "\"histogram\" disagrees with the other figures"},
        {"\"histogram\":[[5.023,1]", "\"histogram\":[[5.024,1]",
         "\"histogram\" disagrees with the other figures"},
        {"\"histogram\":[[5.023,1]", "\"histogram\":[[5.023]",
         "\"histogram\" disagrees with the other figures"},
        {"\"histogram\":[[5.023,1]", "\"histogram\":[[\"a\",1]",
         "\"histogram\" disagrees with the other figures"},
        {"\"echoed\":2", "\"echoed\":1", "\"histogram\" disagrees with the other figures"},
        {"\"p50\":5.023", "\"p50\":4.023", "\"rtt_us\" disagrees with the other figures"},
        {"\"histogram\"", "\"history\"", "\"histogram\" is missing"},
    }));
    CAPTURE(from, to);
    CHECK(trouble_of(replaced(small_end(), from, to)) ==
          "the end object was edited, or another version of yodel wrote it: " + trouble);
}

TEST_CASE("skips unknown members, and accepts other notations of numbers") {
    const std::string added = replaced(small_end(), "\"sent\"", "\"new\":[{}],\"sent\"");
    CHECK(read(replaced(added, "\"p50\":5.023,\"p90\":7.000", "\"p50\":5.023,\"p90\":7.0")));
}

TEST_CASE("reads the end objects of a file in their order") {
    Results other;
    other.count_sent(9, ev::Time{});
    const File file(end_of(other, "").str() + "\n{\"type\":\"message\"}\n\n" + small_end() +
                    "\n{\"type\":\"connection\"}\n");
    std::vector<std::uint64_t> sent;
    CHECK(read_file(file.path(), [&](auto result) { sent.push_back(result->sent); }) == "");
    CHECK(sent == std::vector<std::uint64_t>{9, 2});
}

TEST_CASE("refuses a file without a complete run in one sentence") {
    CHECK(trouble_of("") == "no end object found (expected --json output)");
    CHECK(trouble_of("{\"type\":\"message\"}\n") ==
          "no end object found (expected --json output)");
    CHECK(trouble_of(replaced(small_end(), "\"type\":\"end\"", "\"type\":\"start\"")) ==
          "no end object found (expected --json output)");
    CHECK(trouble_of("[1]\n") == "no end object found (expected --json output)");
    CHECK(trouble_of(small_end() + "\n12 sent, 12 echoed\n") == "line 2 is not JSON at byte 3");
    CHECK(trouble_of(replaced(small_end(), "5", "6") + "\n" + small_end())
              .ends_with(" disagrees with the other figures"));
    CHECK(read_file("/no/such/file", [](auto) {}) ==
          "/no/such/file: No such file or directory");
    CHECK(read_file("/", [](auto) {}) == "/: Is a directory");
}

TEST_CASE("refuses a file with an end object that is cut anywhere") {
    const std::string text = small_end();
    for (std::size_t size = 1; size < text.size(); ++size)
        REQUIRE(trouble_of(text.substr(0, size)) == "line 1 is truncated");
}
