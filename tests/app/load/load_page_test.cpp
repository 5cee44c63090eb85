// Compares the page of a load with the files in tests/screens. SCREENS_UPDATE=1 in the
// environment rewrites the files instead.

#include "app/load/load_page.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/ui/locale.hpp"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

using namespace std::chrono_literals;
using namespace yodel;
using test::contains;

namespace {

constexpr ev::Time start{1h};

std::string text(const std::vector<ui::Row>& rows) {
    std::string all;
    for (const ui::Row& row : rows) {
        std::string plain = ui::plain_text(row);
        plain.erase(plain.find_last_not_of(' ') + 1);
        all += plain + "\n";
    }
    return all;
}

// A run of half a minute, in which the service stalls once.
struct Run {
    std::unique_ptr<Results> result = std::make_unique<Results>();
    HeatMap map;
    RunProgress progress{.results = *result, .target = "127.0.0.1:7000"};

    Run() {
        result->attempts = 200;
        result->opened = 188;
        for (int i = 0; i < 120; ++i) pass(start + i * 250ms, i >= 50 && i < 58);
        result->lateness.record(20us, 1000);
        result->lateness.record(110us, 20);
        result->sent = result->echoed + 5;
        result->count_failure("connection refused", 7, false, 9);
        result->count_failure("the server closed before the end of the run \x1b[2J", 56, false,
                              3);
        progress.phase = RunProgress::Phase::running;
        progress.connections = 200;
        progress.open = 188;
        progress.planned_rate = 4000;
        progress.elapsed = 30s;
        progress.length = 2min;
        progress.descriptors = 195;
        progress.descriptor_limit = 1024;
    }

    void pass(ev::Time now, bool stalled) {
        auto slice = std::make_unique<Histogram>();
        slice->record(210us, stalled ? 0 : 900);
        slice->record(440us, stalled ? 0 : 90);
        slice->record(3ms, stalled ? 1 : 10);
        if (stalled) slice->record(1400ms, 4);
        result->round_trips.add(*slice);
        result->echoed += slice->count();
        map.add(now, *slice);
    }

    std::vector<ui::Row> page(ui::Size size) const {
        return load_page(progress, 3990, map, size);
    }
};

}  // namespace

TEST_CASE("the page of a load equals its file in tests/screens") {
    const test::Locale locale("C.UTF-8");
    const auto [rows, columns] = GENERATE(
        table<int, int>({{1, 80}, {2, 80}, {3, 80}, {5, 20}, {10, 40}, {24, 80}, {60, 200}}));
    const Run run;
    const std::string name = "load-" + std::to_string(columns) + "x" + std::to_string(rows);
    const std::string file = std::string(SCREENS) + "/" + name + ".txt";
    const std::string page = text(run.page({rows, columns}));
    if (std::getenv("SCREENS_UPDATE")) std::ofstream(file) << page;
    CAPTURE(name);
    CHECK(page == test::contents(file));
}

TEST_CASE("the page of a datagram load shows duplicates, reordered replies, and the jitter") {
    const test::Locale locale("C.UTF-8");
    Run run;
    run.result->datagrams = true;
    run.result->duplicates = 21;
    run.result->jitter_sum = 150'000;
    run.result->jitter_count = 1;
    const auto [rows, columns] = GENERATE(table<int, int>({{24, 80}, {24, 120}, {10, 40}}));
    const std::string name = "load-udp-" + std::to_string(columns) + "x" + std::to_string(rows);
    const std::string file = std::string(SCREENS) + "/" + name + ".txt";
    const std::string page = text(run.page({rows, columns}));
    if (std::getenv("SCREENS_UPDATE")) std::ofstream(file) << page;
    CAPTURE(name);
    CHECK(page == test::contents(file));
}

TEST_CASE("the page of a probe shows connections and handshakes") {
    const test::Locale locale("C.UTF-8");
    Run run;
    Results& result = *run.result;
    result = Results();
    result.probe = true;
    for (int i = 0; i < 340; ++i) {
        result.count_try();
        result.count_opened(80us, i * 10us, i > 10);
    }
    result.count_failure("connection refused", 7, false, 2);
    run.progress.open = 12;
    run.progress.planned_rate.reset();
    const auto [rows, columns] = GENERATE(table<int, int>({{24, 80}, {1, 80}}));
    const std::string name =
        "load-probe-" + std::to_string(columns) + "x" + std::to_string(rows);
    const std::string file = std::string(SCREENS) + "/" + name + ".txt";
    const std::string page = text(run.page({rows, columns}));
    if (std::getenv("SCREENS_UPDATE")) std::ofstream(file) << page;
    CAPTURE(name);
    CHECK(page == test::contents(file));
}

TEST_CASE("the page of a probe counts handshakes of TLS only") {
    const bool tls = GENERATE(false, true);
    Run run;
    *run.result = Results();
    run.result->probe = true;
    run.result->count_opened(80us, 10us, false, tls);
    CHECK(contains(text(run.page({24, 80})), "full handshakes") == tls);
}

TEST_CASE("the page of a load in ASCII equals its file in tests/screens") {
    const test::Locale locale("C");
    const Run run;
    const std::string file = std::string(SCREENS) + "/load-ascii-80x24.txt";
    const std::string page = text(run.page({24, 80}));
    if (std::getenv("SCREENS_UPDATE")) std::ofstream(file) << page;
    CHECK(page == test::contents(file));
    for (const char byte : page) CHECK(static_cast<unsigned char>(byte) < 0x80);
}

TEST_CASE("the page of a load fits into each size") {
    const test::Locale locale("C.UTF-8");
    Run run;
    const bool failures = GENERATE(true, false);
    if (!failures) run.result->failures.clear();
    for (int kind = 0; failures && kind < 20; ++kind)
        run.result->count_failure("failure " + std::to_string(kind), 7, true);
    for (int height = 1; height < 40; ++height) {
        for (const int width : {1, 2, 7, 8, 9, 12, 13, 20, 40, 80, 300}) {
            const auto rows = run.page({height, width});
            CAPTURE(height, width);
            CHECK(static_cast<int>(rows.size()) <= height);
            CHECK(!rows.empty());
            for (const ui::Row& row : rows) CHECK(ui::display_width(row) <= width);
        }
    }
}

TEST_CASE("the page of a load names the phase of the run") {
    const test::Locale locale("C.UTF-8");
    Run run;
    const auto line = [&] { return ui::plain_text(run.page({24, 80}).front()); };
    CHECK(contains(line(), "running 0:30 of 2:00  127.0.0.1:7000"));
    run.progress.length.reset();
    run.progress.elapsed = 3h + 62s;
    CHECK(contains(line(), "running 3:01:02  "));
    run.progress.phase = RunProgress::Phase::ending;
    CHECK(contains(line(), "ending: 5 in flight"));
    CHECK(contains(text(run.page({24, 80})), "\n^C quits at once\n"));
    run.progress.phase = RunProgress::Phase::connecting;
    CHECK(contains(line(), " connecting  "));
    run.progress.until_start = 2500ms;
    CHECK(contains(line(), " starts in 2.5s  "));
}

TEST_CASE("the page of a load without replies has no map") {
    const auto result = std::make_unique<Results>();
    const RunProgress progress{.results = *result, .target = ""};
    const std::string page = text(load_page(progress, 0, HeatMap(), {24, 80}));
    CHECK(contains(page, "round trip  none yet\n"));
    CHECK(contains(page, "rate        0/s, as replies arrive\n"));
    CHECK(!contains(page, "column"));
    CHECK(!contains(page, "lateness"));
}

TEST_CASE("a small page of a load counts failures, and omits the map without connections") {
    const test::Locale locale("C.UTF-8");
    Run run;
    run.result->failures.clear();
    run.result->count_failure("receiving: Connection reset by peer", 56, true, 12345);
    run.result->count_failure("connection refused", 7, true, 9);
    const auto page = [&] { return text(run.page({10, 40})); };
    CHECK(contains(page(), "\nfailures    12345  receiving: Connection\n"));
    CHECK(contains(page(), "column: "));
    run.progress.open = 0;
    CHECK(contains(page(), "\nconnections 0 open of 200, 12 failed\n"));
    CHECK(contains(page(), "\nfailures    12345  receiving: Connection\n"));
    CHECK(contains(page(), "\n            9  connection refused\n"));
    CHECK(!contains(page(), "column: "));
    CHECK(contains(text(run.page({24, 80})), "column: "));
}

TEST_CASE("failures on the page of a load are marked") {
    const test::Locale locale("C.UTF-8");
    Run run;
    run.result->bad = 2;
    const auto marked = [&](const std::string& part, ui::Style style) {
        for (const ui::Row& row : run.page({24, 80}))
            for (const ui::Span& span : row)
                if (span.style == style && contains(span.text, part)) return true;
        return false;
    };
    CHECK(marked("2 bad", ui::Style::bad));
    CHECK(!marked("0 lost", ui::Style::bad));
    CHECK(marked("12 failed", ui::Style::bad));
    CHECK(marked("connection refused", ui::Style::bad));
    CHECK(marked("^[", ui::Style::escaped));
    CHECK(!marked("3.99k/s", ui::Style::warn));
    run.progress.planned_rate = 5000;
    CHECK(marked("3.99k/s", ui::Style::warn));
    CHECK(marked("░", ui::Style::hot_1));
    CHECK(marked("▓", ui::Style::heat_3));
}
