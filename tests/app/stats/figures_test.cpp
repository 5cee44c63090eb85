#include "app/stats/outcome.hpp"
#include "app/stats/requirement.hpp"
#include "app/text/json.hpp"
#include "tests/app/refusal.hpp"
#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <cstdlib>
#include <set>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

// Returns results with a value for each figure, and with different counts.
RunResults measured() {
    RunResults results = test::spread(1, 100);
    results.uses_datagrams = true;
    std::uint64_t number = 100;
    for (const CountRow& row : count_rows)
        if (row.count != &Results::echoed && row.count != &Results::bad)
            results.*row.count = ++number;
    for (const TimesRow& row : times_rows)
        if (row.times != &Results::round_trips) {
            (results.*row.times).record(++number * 1us);
            (results.*row.times).record(++number * 1us);
        }
    results.jitters = {{.mean = 3000, .transits = 1}};
    results.bad = 7;
    results.late_start = 9us;
    return results;
}

// Returns all figures, with these statistics of each kind of times.
std::vector<Figure> all_figures(const std::vector<std::string>& statistics) {
    std::vector<Figure> all{find_figure("rate").value(), find_figure("jitter").value()};
    for (const CountRow& row : count_rows) all.push_back(find_figure(row.name).value());
    for (const TimesRow& row : times_rows)
        for (const std::string& name : statistics)
            all.push_back(find_figure(std::string(row.prefix) + name).value());
    return all;
}

// Returns the figure's member of the end object, or null if there is no such member.
const JsonValue* member(const JsonValue& end, const Figure& figure) {
    const JsonValue* object = figure.is_about_connections ? end.find("connections") : &end;
    std::string name = figure.name == "jitter" ? "jitter_us" : figure.name;
    if (figure.times) {
        object = object->find(figure.times->json_key);
        name.erase(0, figure.times->prefix.size());
    }
    return object ? object->find(name) : nullptr;
}

}  // namespace

TEST_CASE("each figure has a name, a member of the end object, a sum, and requirements") {
    const RunResults results = measured();
    RunResults sum = measured();
    sum.add(results);
    const JsonValue end = read_json(Outcome{.results = results}.json().str());
    std::set<std::string> names;
    for (const Figure& figure :
         all_figures({"min", "mean", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "max"})) {
        CAPTURE(figure.name);
        CHECK(names.insert(figure.name).second);
        const bool is_time = figure.kind == Figure::Kind::time;
        const auto value = figure.value(results);
        REQUIRE(value);
        const JsonValue* const written = member(end, figure);
        REQUIRE(written);
        CHECK(std::strtod(written->content.c_str(), nullptr) ==
              Approx(*value / (is_time ? 1000 : 1)).epsilon(1e-3));
        if (figure.count) CHECK(*figure.value(sum) == 2 * *value);
        const std::string clause = figure.name + (is_time ? ">=0s" : ">=0");
        CHECK(Requirement(clause).judge(results).failure == "");
        const std::string failure = Requirement(clause).judge({}).failure;
        CHECK(failure.ends_with(figure.unmeasured_reason));
        if (figure.name != "sent") CHECK(failure.starts_with("required " + clause + ", but "));
        const std::string refused =
            test::refusal([&] { Requirement part(figure.name + "<=10000%"); });
        CHECK(refused.empty() == (figure.kind == Figure::Kind::count));
    }
    CHECK(find_figure("lateness")->name == "lateness_p99");
    for (const char* const name :
         {"unasked", "lateness_", "connect_rate", "P99", "lateness_connect_p99"})
        CHECK_FALSE(find_figure(name));
}

TEST_CASE("computes any percentile from the buckets") {
    Results results;
    for (int i = 1; i <= 100'000; ++i) results.round_trips.record(ev::Duration(i));
    const std::pair<const char*, double> rows[] = {
        {"p0.001", 1},     {"p1", 1000},       {"p33.3", 33300},      {"p97", 97000},
        {"p99.95", 99950}, {"p99.999", 99999}, {"p99.99999", 100'000}};
    for (const auto& [name, rank] : rows) {
        CAPTURE(name);
        CHECK(find_figure(name)->value(results) == Approx(rank).epsilon(0.01));
    }
    CHECK_FALSE(find_figure("connect_p97")->value(results));
    for (const char* const name : {"p1e1", "p+1", "p-1", "p0", "p100", "p", "p5%"})
        CHECK_FALSE(find_figure(name));
}

TEST_CASE("lists each figure in the manual") {
    const std::string manual = test::contents(std::string(SOURCES) + "/app/yodel-json.5");
    const std::size_t begin = manual.find("\n.Sh FIGURES");
    REQUIRE(begin != manual.npos);
    const std::string list = manual.substr(begin, manual.find("\n.Sh ", begin + 1) - begin);
    for (const Figure& figure : all_figures({})) {
        CAPTURE(figure.name);
        CHECK((test::contains(list, " " + figure.name + " ") ||
               test::contains(list, " " + figure.name + "\n")));
    }
}
