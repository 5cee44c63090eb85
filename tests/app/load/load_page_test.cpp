// Compares pages with the files in tests/screens. SCREENS_UPDATE=1 in the environment rewrites
// the files instead.

#include "app/load/load_page.hpp"

#include "tests/support/text.hpp"
#include "tests/ui/locale.hpp"
#include "tests/ui/plain_text.hpp"

using namespace std::chrono_literals;
using namespace yodel;
using test::contains;

namespace {

constexpr ev::Time start{1h};

std::string text(const std::vector<ui::Row>& rows) {
    std::string all;
    for (const ui::Row& row : rows) {
        std::string plain = test::plain_text(row);
        plain.erase(plain.find_last_not_of(' ') + 1);
        all += plain + "\n";
    }
    return all;
}

// A run of half a minute, in which the service stalls once.
struct SomeRun {
    std::unique_ptr<Results> result = std::make_unique<Results>();
    HeatMap map;
    RunOptions options{.connections = 200, .length = 2min};
    RunProgress progress{.results = *result, .run = options, .target = "127.0.0.1:7000"};

    SomeRun() {
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
        result->open = 188;
        progress.planned_rate = 4000;
        progress.elapsed = 30s;
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
    void use_datagrams() {
        result->uses_datagrams = true;
        result->duplicates = 21;
        result->jitters = {{.mean = 150'000, .transits = 1}};
    }
    void expect_any() { options.session.expect = Expect::any; }
    void climb() { options.pace = Pace::per_1000_seconds(1000).climbing_to(20'000, 2min); }
    void require() {
        progress.verdicts = {{"p99<5ms", "p99", "3.0ms", ""},
                             {"lost=0", "lost", "2", "required lost=0, was 2"},
                             {"lateness<1s", "lateness", "", ""}};
    }
    void end() {
        progress.phase = RunProgress::Phase::ended;
        result->open = 0;
        result->first_sent_at = start;
        result->last_answered_at = start + 28s;
    }
    void near_limit() {
        require();
        progress.descriptor_limit = 200;
    }
    void probe() {
        *result = Results();
        result->is_probe = true;
        for (int i = 0; i < 340; ++i) {
            ++result->attempts;
            result->count_opened(80us, i * 10us, i > 10);
        }
        result->count_failure("connection refused", 7, false, 2);
        result->open = 12;
        progress.planned_rate.reset();
    }

    std::vector<ui::Row> page(ui::Size size) const {
        return load_page(progress, {4000, 3990}, map, size);
    }
    std::string text(int rows = 24, int columns = 80) const {
        return ::text(page({rows, columns}));
    }
};

// Returns the row of this name in pages of each width.
std::vector<std::string> widths_of(const SomeRun& run, const std::string& name) {
    const auto rows = run.page({40, 200});
    std::size_t place = 0;
    while (!test::plain_text(rows.at(place)).starts_with(name)) ++place;
    std::vector<std::string> texts;
    for (int columns = 0; columns < 200; ++columns)
        texts.push_back(test::plain_text(run.page({40, columns + 1}).at(place)));
    return texts;
}

// Returns the index of the last text without the part.
std::ptrdiff_t last_without(const std::vector<std::string>& texts, const std::string& part) {
    const auto last = std::find_if(texts.rbegin(), texts.rend(), [&](const std::string& text) {
        return !contains(text, part);
    });
    return texts.rend() - last;
}

}  // namespace

TEST_CASE("the load page equals its file in tests/screens") {
    struct Row {
        const char* kind;
        const char* locale;
        void (SomeRun::*change)();
        std::vector<ui::Size> sizes;
    };
    const Row rows[] = {
        {"load",
         "C.UTF-8",
         nullptr,
         {{1, 80}, {2, 80}, {3, 80}, {5, 20}, {10, 40}, {24, 80}, {60, 200}}},
        {"load-ascii", "C", nullptr, {{24, 80}}},
        {"load-udp", "C.UTF-8", &SomeRun::use_datagrams, {{24, 80}, {24, 120}, {10, 40}}},
        {"load-probe", "C.UTF-8", &SomeRun::probe, {{24, 80}, {1, 80}}},
        {"load-required", "C.UTF-8", &SomeRun::near_limit, {{24, 80}, {10, 40}}},
        {"load-required-ascii", "C", &SomeRun::near_limit, {{24, 80}}},
        {"load-ended", "C.UTF-8", &SomeRun::end, {{24, 80}, {5, 20}}},
    };
    for (const Row& row : rows)
        for (const ui::Size& size : row.sizes) {
            const test::Locale locale(row.locale);
            SomeRun run;
            if (row.change) (run.*row.change)();
            const std::string name = std::string(row.kind) + "-" +
                                     std::to_string(size.columns) + "x" +
                                     std::to_string(size.rows);
            const std::string file = std::string(SCREENS) + "/" + name + ".txt";
            const std::string page = text(run.page(size));
            if (std::getenv("SCREENS_UPDATE")) std::ofstream(file) << page;
            CAPTURE(name);
            CHECK(page == test::contents(file));
        }
}

TEST_CASE("the load page fits into each size") {
    const test::Locale locale("C.UTF-8");
    for (const int failures : {0, 20}) {
        SomeRun run;
        run.result->failures.clear();
        for (int kind = 0; kind < failures; ++kind)
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
}

TEST_CASE("a narrow load page omits the least important parts of each row first") {
    const test::Locale locale("C.UTF-8");
    struct Row {
        void (SomeRun::*change)();
        const char* row;
        std::vector<const char*> parts;  // in the order in which they are omitted
    };
    const Row rows[] = {
        {&SomeRun::use_datagrams,
         "messages",
         {"reordered", "duplicate", "unsolicited", "late", "sent", "in flight", "echoed",
          "lost", "bad"}},
        {&SomeRun::expect_any, "messages", {"sent", "in flight", "answered", "lost", "bad"}},
        {&SomeRun::probe, "total", {"full", "resumed", "opened", "failed"}},
        {&SomeRun::use_datagrams,
         "round trip",
         {"jitter", "p99.99 ", "p90", "p99.9 ", "p50", "max", "p99 "}},
        {&SomeRun::climb, "rate", {"climbing to 20k/s", "sent", "right"}},
        {&SomeRun::require, "required", {"lateness", "p99<5ms", "lost=0"}},
        {&SomeRun::probe,
         "connections",
         {"connect p99", "handshake p99", "attempts", "failed", "open"}},
        {&SomeRun::use_datagrams, "lateness", {"of yodel-load", "max", "p50", "p99"}},
    };
    for (const Row& row : rows) {
        SomeRun run;
        (run.*row.change)();
        run.result->late = run.result->unsolicited = 1;
        const std::vector<std::string> texts = widths_of(run, row.row);
        for (std::size_t i = 1; i < row.parts.size(); ++i) {
            CAPTURE(row.row, row.parts[i - 1], row.parts[i]);
            CHECK(last_without(texts, row.parts[i - 1]) > last_without(texts, row.parts[i]));
        }
    }
}

TEST_CASE("a low load page omits the map, and then the least important rows first") {
    const test::Locale locale("C.UTF-8");
    SomeRun run;
    run.progress.descriptor_limit = 200;
    for (int kind = 0; kind < 8; ++kind)
        run.result->count_failure("failure " + std::to_string(kind), 7, true);
    CHECK(contains(run.text(40), "\n            5 other kinds\n"));
    const char* const order[] = {"5 other kinds", "failure 2", "failure 1",   "failure 0",
                                 "the server",    "lateness",  "descriptors", "connections",
                                 "column",        "^C ends",   "refused",     "rate",
                                 "round trip ",   "messages"};
    std::vector<std::string> pages;
    for (int height = 1; height <= 40; ++height) {
        const std::string& page = pages.emplace_back(run.text(height));
        CHECK((contains(page, "column") || !contains(page, "\n\n")));
    }
    CHECK(last_without(pages, "failure 0") == 19);  // until the map has nine rows
    for (std::size_t i = 1; i < std::size(order); ++i) {
        CAPTURE(order[i - 1], order[i]);
        CHECK(last_without(pages, order[i - 1]) > last_without(pages, order[i]));
    }
}

TEST_CASE("the load page names the phase of the run") {
    const test::Locale locale("C.UTF-8");
    SomeRun run;
    const auto line = [&] { return test::plain_text(run.page({24, 80}).front()); };
    CHECK(contains(line(), "running 0:30 of 2:00, 25%  127.0.0.1:7000"));
    run.options.length.reset();
    run.options.count = 448'180;
    CHECK(contains(line(), "running 0:30, 25% of 448180  127.0.0.1:7000"));
    run.options.count = 0;
    run.progress.elapsed = 3h + 62s;
    CHECK(contains(line(), "running 3:01:02  "));
    run.progress.phase = RunProgress::Phase::ending;
    CHECK(contains(line(), "ending: 5 in flight"));
    CHECK(contains(run.text(), "\n^C quits immediately\n"));
    run.progress.phase = RunProgress::Phase::warming_up;
    CHECK(contains(line(), " warming up  "));
    run.progress.phase = RunProgress::Phase::connecting;
    CHECK(contains(line(), " connecting  "));
    run.progress.until_start = 2500ms;
    CHECK(contains(line(), " starts in 2.5s  "));
}

TEST_CASE("the load page shows only figures that were measured") {
    const test::Locale locale("C.UTF-8");
    const auto result = std::make_unique<Results>();
    const RunOptions options;
    const RunProgress progress{.results = *result, .run = options, .target = ""};
    const std::string page = text(load_page(progress, {}, HeatMap(), {24, 80}));
    CHECK(contains(page, "round trip  none yet\n"));
    CHECK(contains(page, "rate        sent 0/s, right 0/s\n"));
    for (const char* const absent :
         {"column", "lateness", "attempts", "connect p99", "late", "required", "descriptors"})
        CHECK(!contains(page, absent));
    for (const bool tls : {false, true}) {
        SomeRun run;
        *run.result = Results();
        run.result->is_probe = true;
        for (const bool resumed : {false, true})
            run.result->count_opened(80us, 10us, resumed, tls);
        CHECK(contains(run.text(), "full handshakes") == tls);
    }
}

TEST_CASE("the load page shows a climb until the run ends, and counts unsent messages") {
    const test::Locale locale("C.UTF-8");
    SomeRun run;
    run.climb();
    CHECK(contains(run.text(24, 120), "climbing to 20k/s"));
    CHECK(!contains(run.text(24, 120), "unsent"));
    run.end();
    run.result->unsent = 592;
    CHECK(!contains(run.text(24, 120), "climbing"));
    CHECK(contains(run.text(24, 120), " 592 unsent"));
}

TEST_CASE("a small load page counts failures, and omits the map without connections") {
    const test::Locale locale("C.UTF-8");
    SomeRun run;
    run.result->failures.clear();
    run.result->count_failure("receiving failed: Connection reset by peer", 56, true, 12345);
    run.result->count_failure("connection refused", 7, true, 9);
    const auto page = [&] { return run.text(10, 40); };
    CHECK(contains(run.text(10, 36), "\nmessages "));
    CHECK(!contains(run.text(10, 35), "\nmessages "));
    CHECK(contains(page(), "\nfailures    12345  receiving failed"));
    CHECK(contains(page(), "column: "));
    run.result->open = 0;
    CHECK(contains(page(), "\nconnections 0 open of 200, 12 failed\n"));
    CHECK(contains(page(), "\nfailures    12345  receiving failed"));
    CHECK(contains(page(), "\n            9  connection refused\n"));
    CHECK(!contains(page(), "column: "));
    CHECK(contains(run.text(), "column: "));
}

TEST_CASE("failures on the load page are marked") {
    const test::Locale locale("C.UTF-8");
    SomeRun run;
    run.result->failures.clear();
    run.result->failed = run.result->bad = run.result->late = 1;
    run.result->count_failure("\x1b refused", 7, true);
    const auto marked = [&](const std::string& part, ui::Style style) {
        for (const ui::Row& row : run.page({24, 120}))
            for (const ui::Span& span : row)
                if (span.style == style && contains(span.text, part)) return true;
        return false;
    };
    CHECK(marked("1 bad", ui::Style::bad));
    CHECK(marked("1 late", ui::Style::warn));
    CHECK(!marked("0 lost", ui::Style::bad));
    CHECK(marked("1 failed", ui::Style::bad));
    CHECK(marked("refused", ui::Style::bad));
    CHECK(marked("^[", ui::Style::escaped));
    CHECK(!marked("3.99k/s", ui::Style::warn));
    run.progress.planned_rate = 5000;
    CHECK(marked("3.99k/s", ui::Style::warn));
    run.progress.phase = RunProgress::Phase::ending;
    CHECK(!marked("3.99k/s", ui::Style::warn));
    CHECK(marked("●", ui::Style::good));
    CHECK(marked("░", ui::Style::warn));
    CHECK(marked("▓", ui::Style::normal));
}
