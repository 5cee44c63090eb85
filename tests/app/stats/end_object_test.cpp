#include "app/stats/end_object.hpp"

#include "app/stats/outcome.hpp"
#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <unistd.h>

#include <cstdio>

using namespace std::chrono_literals;
using namespace yodel;
using test::contains;
using test::start;

namespace {

const std::string edited = "the end object was edited, or another version of yodel wrote it: ";

// Returns results with all members that an end object contains.
Results full_result(std::uint64_t seed) {
    Results result = test::spread(seed, 500);
    result.late = 3;
    result.unsolicited = 2;
    result.duplicates = 1;
    result.count_unsent(5);
    result.add_planned_rate({.planned = 250, .reached = 240});
    result.count_failure("connect to db.example: \"refused\"", 7, false, 2);
    result.count_end(7, false);
    result.lateness.record(3us, 5);
    const ev::Duration connect_time = 40us * static_cast<int>(seed);
    result.count_opened(connect_time, 3 * connect_time);
    result.replay = {.as_recorded = 1, .unrecorded = 0, .missing = seed};
    result.late_start = 4us * static_cast<int>(seed);
    result.overlap = 0.5;
    result.warm_up = {.sent = 9, .echoed = 4, .bad = 2, .lost = 1, .unsent = seed};
    result.add_tcp({.min_rtt = connect_time / 2, .retransmits = seed, .mss = 1448, .cwnd = 10});
    return result;
}

std::string end_of(const Results& results) {
    return end_object(results, "closed", Outcome{.results = results}.status()).str();
}

std::unique_ptr<Results> read(const std::string& text) {
    const JsonResult json = read_json(text);
    REQUIRE(json.value);
    return restored_results(JsonFields(*json.value));
}

// Reads the end objects of a file. Returns the sentence of the refusal, or an empty text.
std::string read_file(
    const std::string& path,
    const std::function<void(std::unique_ptr<Results>)>& take = [](auto) {}) {
    try {
        read_end_objects(path, [&](const JsonFields& end) { take(restored_results(end)); });
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
    const std::string trouble = read_file(file.path());
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
    Results result = test::counted("2 sent");
    result.utc_offset = 1795431845s + 250us - start.time_since_epoch();
    result.count_answered({.round_trip = 5us}, start + 1s);
    result.count_answered({.round_trip = 7us}, start + 1s);
    return end_of(result);
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
    const Results none;
    CHECK(end_object(none, "", 0, Verdict::on(none, parse_requirements("sent=0")))
              .str()
              .ends_with(R"(,"required":[{"clause":"sent=0","was":"0","holds":true}]})"));
    JsonObject recent;
    add_recent(recent, {}, times_rows[0]);
    CHECK(recent.str() == "{}");
    Histogram times;
    times.record(5us);
    add_recent(recent, times, times_rows[0]);
    CHECK(recent.str() == R"({"rtt_us":{"p50":5.000,"p99":5.000},"histogram":[[5.023,1]]})");
}

TEST_CASE("restores each kind of result from its end object") {
    struct Row {
        const char* counts;
        void (*set)(Results& results);
        const char* part;     // in the end object
        const char* missing;  // not in the end object
    };
    const Row rows[] = {
        {"", [](Results& results) { results = Results(); }, "\"errors\":[]", "\"began\""},
        {"1 sent,1 lost", [](Results&) {}, "\"began\"", "\"ended\""},
        {"1 sent,1 echoed", [](Results& results) { results.last_answered = start; },
         "\"ended\"", "jitter"},
        {"1 attempts", [](Results& results) { results.count_failure("refused", 7, false); },
         R"("errors":[{"text":"refused","status":7,"count":1,"failed":1}])", "probe"},
        {"1 attempts", [](Results& results) { results.add_tcp({.mss = 5}); },
         R"("tcp":{"retransmits":0,"mss":5,"cwnd":0}})", "min_rtt"},
        {"1 sent,1 echoed,2 duplicates",
         [](Results& results) {
             results.over_datagrams = true;
             results.jitter_sum = 40'000;
             results.jitter_count = 1;
         },
         R"("duplicates":2,"reordered":0,"jitter_us":40.000)", "handshakes"},
        {"0 sent,1 attempts",
         [](Results& results) {
             results.probe = true;
             results.count_opened(1ms, 2ms, true);
         },
         R"("status":0,"probe":true,"sent":0,)", "\"rtt_us\""},
        {"", [](Results& results) { results = full_result(1); },
         R"("planned":505,"planned_rate":250.000,"reached_rate":240.000,)", "probe"},
    };
    for (const auto& [counts, set, part, missing] : rows) {
        Results results = *counts == '\0' ? Results() : test::counted(counts);
        set(results);
        const std::string text = end_of(results);
        CAPTURE(text);
        CHECK(contains(text, part));
        CHECK_FALSE(contains(text, missing));
        const std::unique_ptr<Results> restored = read(text);
        CHECK(end_of(*restored) == text);
        CHECK(summary(*restored) == summary(results));
        CHECK(restored->elapsed() == results.elapsed());
    }
}

TEST_CASE("sums restored results to the result of the whole, bucket for bucket") {
    Results whole;
    Results sum;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        const Results part = full_result(seed);
        whole.add(part);
        sum.add(*read(end_of(part)));
    }
    CHECK(test::listed(sum) == test::listed(whole));
    for (const TimesRow& row : times_rows) CHECK(sum.*row.times == whole.*row.times);
    CHECK(sum.planned_rate->planned == 2000);
    CHECK(sum.planned_rate->reached == 1920);
    CHECK(sum.failures == whole.failures);
    CHECK(sum.tcp == TcpTotals{20us, 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8, 1448, 10});
}

TEST_CASE("sums runs with times over the time from the first message to the last reply") {
    Results sum;
    sum.utc_offset = {};
    for (const ev::Duration began : {0s, 4s}) {
        Results part;
        part.utc_offset = 1000h;
        part.count_sent(10, ev::Time{began});
        part.count_echoed(10, 1ms, ev::Time{began + 1s});
        sum.add(*read(end_of(part)));
    }
    CHECK((sum.elapsed() == 5s));
    CHECK(sum.rate() == 4);
    CHECK(contains(end_of(sum), R"("began":"1970-02-11T16:00:00.000000Z",)"
                                R"("ended":"1970-02-11T16:00:05.000000Z")"));
}

TEST_CASE("leaves a status that follows from the counts to the verdict on the sum") {
    const std::string text = end_of(test::counted("100 sent,99 echoed,1 lost"));
    struct Row {
        const char* lost;
        const char* status;
        int alone;
        int tolerant;
    };
    const Row rows[] = {{"1", "1", 1, 0},  // status 1 because a message was lost
                        {"0", "1", 1, 1},  // a requirement failed
                        {"1", "28", 28, 28}, {"0", "125", 125, 125},
                        {"0", "126", 1, 1},  // status from a shell
                        {"0", "130", 1, 1}};
    for (const auto& [lost, status, alone, tolerant] : rows) {
        const std::unique_ptr<Results> results =
            read(replaced(replaced(text, "\"lost\":1", "\"lost\":" + std::string(lost)),
                          "\"status\":1", "\"status\":" + std::string(status)));
        const auto verdict = Verdict::on(*results, parse_requirements("lost<2%"));
        CHECK(Outcome{.results = *results}.status() == alone);
        CHECK(Outcome{.results = *results, .verdict = verdict}.status() == tolerant);
    }
    // A failure to open can be tolerated; the end of an open connection cannot.
    for (const int opened : {0, 1}) {
        Results results = test::counted("100 sent,100 echoed,100 attempts");
        results.count_failure("refused", 7, false);
        if (opened > 0) results.count_failure("refused", 7, true);
        results.count_end(7, opened > 0);
        const auto restored = read(end_of(results));
        const auto verdict = Verdict::on(*restored, parse_requirements("failed<2%"));
        CHECK(Outcome{.results = *restored, .verdict = verdict}.status() == 7 * opened);
    }
}

TEST_CASE("refuses an end object that was edited or is of another version") {
    struct Row {
        std::string from;
        std::string to;
        std::string trouble;
    };
    const std::string disagrees = " disagrees with the other figures";
    const std::string began = "\"began\":\"2026-11-23T11:04:05.000250Z\"";
    const std::string ended = "\"ended\":\"2026-11-23T11:04:06.000250Z\"";
    const std::string bucket = "\"histogram\":[[5.023,1]";
    const Row rows[] = {
        {"\"sent\":2,", "", "\"sent\" is missing"},
        {"\"sent\":2", "\"sent\":\"2\"", "\"sent\" is not a whole number"},
        {"\"unsolicited\":0", "\"unsolicited\":18446744073709551615",
         "\"unsolicited\" is not a whole number from 0 to 10000000000000"},
        {"\"status\":0", "\"status\":256", "\"status\" is not a whole number from 0 to 255"},
        {"\"status\":0", "\"status\":-1", "\"status\" is not a whole number from 0 to 255"},
        {"\"min\":5.000", "\"min\":5.0000", "\"min\" is not a time in microseconds"},
        {"\"errors\":[]", "\"errors\":[1]", "\"text\" is missing"},
        {"\"connections\":{", "\"connections\":[],\"c\":{", "\"connections\" is not an object"},
        {bucket, "\"histogram\":[[5.023,2]", "\"histogram\"" + disagrees},
        {bucket, "\"histogram\":[[5.024,1]", "\"histogram\"" + disagrees},
        {bucket, "\"histogram\":[[5.023]", "\"histogram\"" + disagrees},
        {bucket, "\"histogram\":[[5.023,1,1]", "\"histogram\"" + disagrees},
        {bucket, "\"histogram\":[[\"a\",1]", "\"histogram\"" + disagrees},
        {"\"echoed\":2", "\"echoed\":1", "\"histogram\"" + disagrees},
        {"\"p50\":5.023", "\"p50\":4.023", "\"rtt_us\"" + disagrees},
        {"\"histogram\"", "\"history\"", "\"histogram\" is missing"},
        {"\"rtt_us\"", "\"rtt\"", "\"rtt_us\" is missing"},
        {"\"rate\"", "\"planned\":3,\"planned_rate\":1,\"reached_rate\":1,\"rate\"",
         "\"planned\"" + disagrees},
        {began + ",", "", "\"began\" is missing"},  // version 0.2
        {began, "\"began\":\"2026-11-23T11:04:07.000250Z\"", "\"ended\"" + disagrees},
        {began, "\"began\":\"2026-11-31T11:04:05.000250Z\"", "\"began\"" + disagrees},
        {ended, "\"ended\":\"2026-11-23T11:04:06.000253Z\"", "\"ended\"" + disagrees},
        {ended, "\"ended\":\"\"", "\"ended\"" + disagrees},
        {"\"duration_us\":1000000.000", "\"duration_us\":1893456000000000",
         "\"ended\"" + disagrees},
        {"\"duration_us\":1000000.000", "\"duration_us\":1893456000000000.001",
         "\"duration_us\" is too long"},
    };
    for (const auto& [from, to, trouble] : rows) {
        CAPTURE(from, to);
        CHECK(trouble_of(replaced(small_end(), from, to)) == edited + trouble);
    }
    Results instant = test::counted("1 sent");
    instant.lateness.record(0ns);
    for (const auto& [count, fits] :
         {std::pair("10000000000000]", true), {"10000000000001]", false}}) {
        const File file(replaced(end_of(instant), "1]", count));
        CHECK(read_file(file.path()).empty() == fits);
    }
}

TEST_CASE("skips unknown members, accepts other notations and missing plans and handshakes") {
    const std::string added = replaced(small_end(), "\"sent\"", "\"new\":[{}],\"sent\"");
    CHECK(read(replaced(added, "\"p50\":5.023,\"p90\":7.000", "\"p50\":5.023,\"p90\":7.0")));
    const std::string full = end_of(full_result(1));
    CHECK_FALSE(read(replaced(full, "\"planned\"", "\"plan\""))->planned_rate);
    CHECK(read(replaced(full, "\"handshakes_full\"", "\"full\""))->handshakes_full == 0);
}

TEST_CASE("reads the end objects of a file in their order") {
    const File file(end_of(test::counted("9 sent")) + "\n{\"type\":\"message\"}\n\n" +
                    small_end() + "\n \t\r\n{\"type\":\"connection\"}\n");
    std::vector<std::uint64_t> sent;
    CHECK(read_file(file.path(), [&](auto result) { sent.push_back(result->sent); }) == "");
    CHECK(sent == std::vector<std::uint64_t>{9, 2});
}

TEST_CASE("refuses a file without a complete run in one sentence") {
    const std::string none = "no end object found (expected --json output)";
    CHECK(trouble_of("") == none);
    CHECK(trouble_of("{\"type\":\"message\"}\n") == none);
    CHECK(trouble_of(replaced(small_end(), "\"type\":\"end\"", "\"type\":\"start\"")) == none);
    CHECK(trouble_of("[1]\n") == none);
    CHECK(trouble_of(small_end() + "\n12 sent, 12 echoed\n") == "line 2 is not JSON at byte 3");
    CHECK(trouble_of(replaced(small_end(), "5", "6") + "\n" + small_end()).starts_with(edited));
    CHECK(read_file("/no/such/file") == "/no/such/file: No such file or directory");
    CHECK(read_file("/") == "/: Is a directory");
    const std::string text = small_end();
    for (std::size_t size = 1; size < text.size(); ++size)
        REQUIRE(trouble_of(text.substr(0, size)) == "line 1 is truncated");
    const File sparse("");
    REQUIRE(::truncate(sparse.path().c_str(), (64 << 20) - 1) == 0);
    CHECK(read_file(sparse.path()) == sparse.path() + ": line 1 is not JSON at byte 0");
    REQUIRE(::truncate(sparse.path().c_str(), 64 << 20) == 0);
    CHECK(read_file(sparse.path()) == sparse.path() + ": File too large");
}
