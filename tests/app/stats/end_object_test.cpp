#include "app/stats/end_object.hpp"

#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random.hpp"

#include <unistd.h>

#include <cstdio>
#include <string>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

RunResult full_result(std::uint64_t seed) {
    RunResult result = test::result_of({.loss = 0.01}, seed, 500);
    result.tally.late = 3;
    result.tally.unsolicited = 2;
    result.tally.unsent = 5;
    result.add_planned_rate({.planned = 250, .reached = 240});
    result.count_failure("connect to db.example: \"refused\"", 7, 2);
    result.status = 7;
    result.lateness.record(3us, 5);
    const ev::Duration connect_time = 40us * static_cast<int>(seed);
    result.count_opened(connect_time, 3 * connect_time);
    result.add_tcp({.min_rtt = connect_time / 2, .retransmits = seed, .mss = 1448, .cwnd = 10});
    return result;
}

RestoredResult read(const std::string& text) {
    const JsonResult json = read_json(text);
    REQUIRE(json.value);
    return restored_result(*json.value);
}

// A file in a place of its own, removed at the end.
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
    const std::string trouble = read_results(file.path(), [](auto) {});
    REQUIRE(trouble.starts_with(file.path() + ": "));
    return trouble.substr(file.path().size() + 2);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != text.npos);
    return text.replace(at, from.size(), to);
}

// The least result, in the form that is edited by the tests below.
std::string small_end() {
    RunResult result;
    result.tally.sent = 2;
    result.tally.answered(true, false, 5us);
    result.tally.answered(true, false, 7us);
    result.set_elapsed(1s);
    return end_object(result, "closed").str();
}

}  // namespace

TEST_CASE("the end object has every figure of the run") {
    CHECK(
        small_end() ==
        R"({"type":"end","reason":"closed","status":0,"sent":2,"echoed":2,"bad":0,"lost":0,)"
        R"("late":0,"unasked":0,"rate":2.000,"duration_us":1000000.000,"rtt_us":{"min":5.000,)"
        R"("mean":6.000,"p50":5.023,"p90":7.000,"p95":7.000,"p99":7.000,"p99.9":7.000,)"
        R"("p99.99":7.000,"max":7.000,"sum":12.000},)"
        R"("connections":{"asked":0,"opened":0,"failed":0},"errors":[],)"
        R"("histogram":[[5.023,1],[7.007,1]],)"
        R"("variance":{"p50":1.000,"p90":1.000,"p95":1.000,"p99":1.000,"p99.9":1.000,)"
        R"("p99.99":1.000,"mean":1.000}})");
}

TEST_CASE("a result is restored from its end object") {
    const RunResult result = full_result(1);
    const std::string text = end_object(result, "closed").str();
    const RestoredResult restored = read(text);
    CHECK(restored.trouble.empty());
    REQUIRE(restored.result);
    CHECK(restored.result->tally.round_trips == result.tally.round_trips);
    CHECK(restored.result->lateness == result.lateness);
    CHECK(restored.result->failures == result.failures);
    CHECK(restored.result->connect_times == result.connect_times);
    CHECK(restored.result->handshake_times == result.handshake_times);
    CHECK(restored.result->tcp == result.tcp);
    CHECK(end_object(*restored.result, "closed").str() == text);
}

TEST_CASE("the figures of planned messages are together, and agree") {
    const std::string text = end_object(full_result(1), "closed").str();
    const std::string plan = R"("planned":505,"unsent":5,"planned_rate":250.000,)"
                             R"("reached_rate":240.000,)";
    const RestoredResult earlier = read(replaced(text, plan, ""));
    REQUIRE(earlier.result);
    CHECK_FALSE(earlier.result->planned_rate);
    CHECK(earlier.result->tally.unsent == 0);
    CHECK(read(replaced(text, "\"planned\":505", "\"planned\":504")).trouble ==
          "\"planned\" of the end object disagrees with its other figures");
    CHECK_FALSE(read(replaced(text, "\"unsent\":5,", "")).result);
}

TEST_CASE("a result without round trips is restored") {
    RunResult result;
    result.status = 7;
    result.connections = {.asked = 1, .opened = 0, .failed = 1};
    const std::string text = end_object(result, "refused").str();
    const RestoredResult restored = read(text);
    REQUIRE(restored.result);
    CHECK(end_object(*restored.result, "refused").str() == text);
}

TEST_CASE("the sum of restored results is the result of the whole, bucket for bucket") {
    RunResult whole;
    RunResult sum;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        const RunResult part = full_result(seed);
        whole.add(part);
        const RestoredResult restored = read(end_object(part, "closed").str());
        REQUIRE(restored.result);
        sum.add(*restored.result);
    }
    CHECK(sum.tally.round_trips == whole.tally.round_trips);
    CHECK(sum.tally.sent == 4000);
    CHECK(sum.tally.unsent == 40);
    REQUIRE(sum.planned_rate);
    CHECK(sum.planned_rate->planned == 2000);
    CHECK(sum.planned_rate->reached == 1920);
    CHECK(sum.lateness == whole.lateness);
    CHECK(sum.failures == whole.failures);
    CHECK(sum.connect_times == whole.connect_times);
    CHECK(sum.handshake_times == whole.handshake_times);
    CHECK(sum.tcp == TcpTotals{20us, 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8, 1448, 10});
    CHECK(end_object(sum, "").str().substr(0, 120) ==
          end_object(whole, "").str().substr(0, 120));
}

TEST_CASE("an end object that was edited or is of another version is refused") {
    const auto [from, to, trouble] = GENERATE(table<std::string, std::string, std::string>({
        {"\"type\":\"end\"", "\"type\":\"start\"",
         "there is no end object, as --json writes it"},
        {"\"sent\":2,", "",
         "the end object has no \"sent\": another version of yodel wrote it"},
        {"\"sent\":2", "\"sent\":-2", "\"sent\" of the end object is not of its kind"},
        {"\"sent\":2", "\"sent\":\"2\"", "\"sent\" of the end object is not of its kind"},
        {"\"status\":0", "\"status\":256", "\"status\" of the end object is not of its kind"},
        {"\"rate\":2.000", "\"rate\":1e16", "\"rate\" of the end object is not of its kind"},
        {"\"rate\":2.000", "\"rate\":-2", "\"rate\" of the end object is not of its kind"},
        {"\"errors\":[]", "\"errors\":[1]",
         "the end object has no \"text\": another version of yodel wrote it"},
        {"\"connections\":{", "\"connections\":[],\"c\":{",
         "\"connections\" of the end object is not of its kind"},
        {"\"histogram\":[[5.023,1]", "\"histogram\":[[5.023,2]",
         "\"histogram\" of the end object disagrees with its other figures"},
        {"\"histogram\":[[5.023,1]", "\"histogram\":[[5.024,1]",
         "\"histogram\" of the end object disagrees with its other figures"},
        {"\"histogram\":[[5.023,1]", "\"histogram\":[[5.023]",
         "\"histogram\" of the end object disagrees with its other figures"},
        {"\"histogram\":[[5.023,1]", "\"histogram\":[[\"a\",1]",
         "\"histogram\" of the end object disagrees with its other figures"},
        {"\"echoed\":2", "\"echoed\":1",
         "\"histogram\" of the end object disagrees with its other figures"},
        {"\"p50\":5.023", "\"p50\":4.023",
         "\"rtt_us\" of the end object disagrees with its other figures"},
        {"\"histogram\"", "\"history\"",
         "the end object has no \"histogram\": another version of yodel wrote it"},
        {"\"variance\":{\"p50\":1.000", "\"variance\":{\"p50\":0.5",
         "\"p50\" of the end object is not of its kind"},
    }));
    CAPTURE(from, to);
    CHECK(trouble_of(replaced(small_end(), from, to)) == trouble);
}

TEST_CASE("members that are not known are skipped, and numbers may be written otherwise") {
    const std::string added = replaced(small_end(), "\"sent\"", "\"new\":[{}],\"sent\"");
    CHECK(read(replaced(added, "\"p50\":5.023,\"p90\":7.000", "\"p50\":5.023,\"p90\":7.0"))
              .result);
}

TEST_CASE("the end objects of a file are read in their order") {
    RunResult other;
    other.tally.sent = 9;
    const File file(end_object(other, "").str() + "\n{\"type\":\"message\"}\n\n" + small_end() +
                    "\n{\"type\":\"connection\"}\n");
    std::vector<std::uint64_t> sent;
    CHECK(read_results(file.path(), [&](auto result) { sent.push_back(result->tally.sent); }) ==
          "");
    CHECK(sent == std::vector<std::uint64_t>{9, 2});
}

TEST_CASE("a file that is no whole recording of a run is refused in one sentence") {
    CHECK(trouble_of("") == "there is no end object, as --json writes it");
    CHECK(trouble_of("{\"type\":\"message\"}\n") ==
          "there is no end object, as --json writes it");
    CHECK(trouble_of("[1]\n") == "there is no end object, as --json writes it");
    CHECK(trouble_of(small_end() + "\n12 sent, 12 echoed\n") == "line 2 is not JSON at byte 3");
    CHECK(trouble_of(replaced(small_end(), "5", "6") + "\n" + small_end())
              .ends_with(" of the end object disagrees with its other figures"));
    CHECK(read_results("/no/such/file", [](auto) {}) ==
          "/no/such/file: No such file or directory");
    CHECK(read_results("/", [](auto) {}) == "/: Is a directory");
}

TEST_CASE("a file with an end object that is cut anywhere is refused") {
    const std::string text = small_end();
    for (std::size_t size = 1; size < text.size(); ++size)
        REQUIRE(trouble_of(text.substr(0, size)) == "line 1 is cut short");
}
