// The recipe that makes other formats from --json. Each is read by a reader of its own.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <tuple>

using test::contains;
using test::contents;
using test::Folder;
using test::Outcome;
using test::run;
using test::yodel;
using test::yodel_load;

namespace {

using Words = std::vector<std::string>;

const char* const java_library = "/usr/share/java/hdrhistogram.jar";
const char* const system_python = "/usr/bin/python3";  // sees the packages of the system

Words words_of(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

Words joined(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

// Returns the text after `begin` until `end`.
std::string part(const std::string& text, const std::string& begin, const std::string& end) {
    const std::size_t from = text.find(begin);
    CAPTURE(text, begin);
    REQUIRE(from != text.npos);
    const std::size_t first = from + begin.size();
    return text.substr(first, text.find(end, first) - first);
}

std::string end_object(const std::string& output) {
    const std::size_t begin = output.rfind("{\"type\":\"end\"");
    REQUIRE(begin != output.npos);
    return output.substr(begin);
}

// Returns what the recipe makes from the output of a run.
Outcome made(const std::string& format, const std::string& output) {
    return run({test::peers + "/../../contrib/recipes/results.py", "--to", format}, output);
}

// Returns the value that a reader of the buckets finds: the end of the bucket of the maximum.
std::string percentile(const std::string& end, const std::string& name) {
    const std::string times = part(end, "\"rtt_us\":{", "}");
    const std::string value = part(times + ",", "\"" + name + "\":", ",");
    if (value != part(times, "\"max\":", ",")) return value;
    const std::string buckets = part(end, "\"histogram\":[", "]]");
    return part(buckets.substr(buckets.rfind('[')), "[", ",");
}

}  // namespace

TEST_CASE("HdrHistogram's reader finds every round trip in an interval log", "[slow]") {
    if (::access(java_library, R_OK) != 0 || run({"java", "--version"}).status != 0) {
        WARN("skipped: there is no Java with HdrHistogram (libhdrhistogram-java)");
        return;
    }
    const Folder folder;
    const std::string source = folder.path("source.json");
    const std::string runs[] = {folder.path("run0"), folder.path("run1")};
    const Words session = {yodel, "--json", "-o", source};
    REQUIRE(run(session, "a\nb\n").status == 0);
    const Words kinds[] = {
        {yodel_load, "-m", "2.2", "--rate", "300", "--connections", "4"},
        {yodel_load, "-m", "1.2", "-i", "1ms", "--connections", "4", "--threads", "2"},
        {yodel},
        {yodel, "-u", "-c", "30", "-i", "1ms"},
        {yodel_load, "--tls", "-f", "len4", "--connections", "2"},
        {yodel, "--replay", source, "--fast"},
        {yodel_load, "--merge", runs[0], runs[1]},
        {yodel_load, "-c", "1", "127.0.0.1", "1"}};
    Words logs;
    Words ends;
    for (const Words& kind : kinds) {
        const std::string name = std::to_string(logs.size());
        const Outcome done = run(joined(kind, {"--json"}), "one\ntwo\nthree\n");
        CAPTURE(kind, done.errors);
        CHECK(done.status == (&kind == std::end(kinds) - 1 ? 7 : 0));
        ends.push_back(end_object(done.output));
        std::ofstream(folder.path("run" + name)) << done.output;
        logs.push_back(folder.path("log" + name));
        std::ofstream(logs.back()) << made("hlog", done.output).output;
    }
    const Outcome read =
        run(joined({"java", "-cp", java_library, test::peers + "/ReadIntervalLog.java"}, logs));
    CAPTURE(read.errors);
    REQUIRE(read.status == 0);
    std::string rest = read.output;
    for (const std::string& end : ends) {
        const std::string found = rest.substr(0, rest.find("began ", 1));
        rest.erase(0, found.size());
        CAPTURE(end, found);
        if (!contains(end, "\"histogram\"")) {
            CHECK(contains(found, "\ncount 0\nbuckets []\n"));
            continue;
        }
        const std::string buckets = part(end, "\"histogram\":", "]]") + "]]";
        CHECK(part(found, "buckets ", "\n") == buckets);
        CHECK(part(found, "\ncount ", "\n") == part(end, "\"echoed\":", ","));
        for (const char* each : {"p50", "p90", "p95", "p99", "p99.9", "p99.99"})
            CHECK(part(found, "\n" + std::string(each) + " ", "\n") == percentile(end, each));
    }
}

TEST_CASE("an interval log contains a line for each second, and one for the rest") {
    const Outcome outcome =
        run({yodel_load, "--json", "--connections", "2", "--rate", "100", "-m", "2.5"});
    const std::string log = made("hlog", outcome.output).output;
    CAPTURE(outcome.output, log);
    CHECK(contains(log, "\n0.000,1.000,"));
    CHECK(contains(log, "\n1.000,1.000,"));
    CHECK(contains(log, "\n2.000,0."));
    CHECK(contains(outcome.output, "\"histogram\":[["));
    CHECK(part(outcome.output, "\"interval\"", "\n").ends_with("]]}"));
}

TEST_CASE("a distribution contains each level up to its maximum, in milliseconds") {
    const std::string end =
        R"({"type":"end","connections":{},"rtt_us":{"mean":3000,"max":8000},)"
        R"("histogram":[[1003.519,1],[2007.039,2],[8028.159,1]]})";
    const std::string text = made("hgrm", end).output;
    CAPTURE(text);
    CHECK(text.starts_with("       Value     Percentile TotalCount 1/(1-Percentile)\n\n"
                           "       1.004 0.000000000000          1           1.00\n"
                           "       1.004 0.100000000000          1           1.11\n"
                           "       1.004 0.200000000000          1           1.25\n"
                           "       2.007 0.300000000000          3           1.43\n"));
    CHECK(contains(text, "       8.000 1.000000000000          4\n#[Mean    =        3.000, "));
    CHECK(text.ends_with("#[Max     =        8.000, Total count    =            4]\n"
                         "#[Buckets =           57, SubBuckets     =          128]\n"));
}

TEST_CASE("the recipe names a line that yodel did not write, and a missing end") {
    const auto [text, sentence] = GENERATE(table<std::string, std::string>(
        {{"{\"type\":\"connection\"}\n3 sent\n", "line 2 is not an object of yodel --json"},
         {"", "there is no end object (expected the output of yodel --json)"}}));
    const Outcome outcome = made("junit", text);
    CHECK(outcome.status == 1);
    CHECK(outcome.errors == "results.py: " + sentence + "\n");
}

TEST_CASE("a parser of OpenMetrics finds the figures of each kind of run", "[slow]") {
    if (run({system_python, "-c", "import prometheus_client"}).status != 0) {
        WARN("skipped: python3 has no prometheus_client (python3-prometheus-client)");
        return;
    }
    const auto [words, status] = GENERATE(
        table<std::string, int>({{yodel, 0},
                                 {yodel + " -u -c 20 -i 0", 0},
                                 {yodel_load + " --tls --connections 3 -c 30 --threads 2", 0},
                                 {yodel + " -z", 0},
                                 {yodel_load + " -c 5 --require sent>5", 1},
                                 {yodel + " -c 1 127.0.0.1 1", 7}}));
    const Outcome outcome = run(joined(words_of(words), {"--json"}), "a\nb\n");
    CAPTURE(words, outcome.errors);
    CHECK(outcome.status == status);
    const Outcome read = run({system_python, test::peers + "/check_metrics.py"},
                             made("openmetrics", outcome.output).output);
    CAPTURE(read.errors);
    REQUIRE(read.status == 0);
    const std::string end = end_object(outcome.output);
    const std::string sent = part(end, "\"sent\":", ",");
    CHECK(contains(read.output, "yodel_exit_status gauge - "));
    CHECK(contains(read.output, " " + std::to_string(status) + ".0\n"));
    CHECK(contains(part(read.output, "yodel_sent gauge - ", "\n"), " " + sent + ".0"));
    CHECK(contains(read.output, "yodel_rtt_p99_seconds gauge seconds ") ==
          contains(end, "\"rtt_us\""));
}

TEST_CASE("test cases of each kind of run follow the schema, and agree with the status",
          "[slow]") {
    const Folder folder;
    const std::string source = folder.path("source.json");
    const std::string other = folder.path("other.json");
    const std::string report = folder.path("report.xml");
    const std::string earlier = folder.path("earlier.json");
    REQUIRE(run({yodel, "--json", "-o", source}, "a\n<&\x01\xff\n").status == 0);
    std::string changed = contents(source);
    const std::size_t at = changed.find("\"received\":\"a");
    REQUIRE(at != changed.npos);
    changed.replace(at, 13, "\"received\":\"b");
    std::ofstream(other) << changed;
    std::ofstream(earlier) << run({yodel, "--json", "-c", "5", "-i", "0"}).output;
    const std::tuple<std::string, int, int, int> kinds[] = {
        {yodel, 0, 1, 0},
        {yodel_load + " -u -c 20 --require p99<9s,lost=0", 0, 3, 0},
        {yodel_load + " --connections 3 -c 30 --threads 2 --require p99<1us,sent=30", 1, 3, 1},
        {yodel + " -z", 0, 1, 0},
        {yodel + " --replay " + source + " --fast", 0, 1, 0},
        {yodel + " --replay " + other + " --fast", 1, 2, 2},
        {yodel_load + " --merge " + earlier + " --require sent>5", 1, 2, 1},
        {yodel_load + " -c 1 127.0.0.1 1 --require failed=1", 0, 2, 0},
        {yodel_load + " -c 1 127.0.0.1 1 --require sent=0", 7, 2, 1},
        {yodel_load + " -c 1 127.0.0.1 1 --require p99<1s", 7, 2, 2}};
    for (const auto& [words, status, cases, failures] : kinds) {
        const Outcome outcome = run(joined(words_of(words), {"--json"}), "a\nb\n");
        const std::string text = made("junit", outcome.output).output;
        std::ofstream(report) << text;
        CAPTURE(words, outcome.errors, text);
        CHECK(outcome.status == status);
        CHECK(contains(text, " tests=\"" + std::to_string(cases) + "\" "));
        CHECK(contains(text, " failures=\"" + std::to_string(failures) + "\" "));
        const Outcome checked =
            run({"xmllint", "--noout", "--schema", test::peers + "/junit.xsd", report});
        CHECK(checked.status == 0);
        CHECK(contains(checked.errors, " validates\n"));
    }
}

TEST_CASE("a run that prints no replies prints its summary, with --quiet too") {
    const test::Folder folder;
    const std::string file = folder.path("r.json");
    std::ofstream(file) << run({yodel, "--json", "--payload"}, "a\n").output;
    const std::pair<std::string, const char*> runs[] = {
        {yodel_load + " --connections 2", "2 sent, 2 echoed"},
        {yodel + " --replay " + file + " --fast", "1 replayed, 1 matched"},
        {yodel_load + " --merge " + file, "1 run: 1 sent, 1 echoed"},
        {yodel + " -c 1", "1 sent, 1 echoed"},
    };
    for (const auto& [words, summary] : runs) {
        const Outcome outcome = run(joined(words_of(words), {"--quiet"}), "a\n");
        CAPTURE(words, outcome.errors);
        CHECK(contains(outcome.output + outcome.errors, summary));
        CHECK(outcome.status == 0);
    }
}
