#include "ev/backend.hpp"

#include "tests/ev/fixture.hpp"
#include "tests/support/catch.hpp"

#include <cstdio>
#include <regex>

using namespace std::chrono_literals;

namespace {

// Gives access to the array that is polled.
struct Array : ev::Backend {
    std::vector<int> numbers() const {
        std::vector<int> numbers;
        for (const pollfd& each : polled_) numbers.push_back(each.fd);
        return numbers;
    }
};

// Catches everything written to standard error.
class ErrorOutput {
public:
    ErrorOutput() : kept_(::dup(STDERR_FILENO)) { ::dup2(::fileno(file_), STDERR_FILENO); }
    ~ErrorOutput() {
        ::dup2(kept_, STDERR_FILENO);
        std::fclose(file_);
    }
    std::string text() const {
        char bytes[4096];
        return {bytes,
                static_cast<std::size_t>(::pread(::fileno(file_), bytes, sizeof bytes, 0))};
    }

private:
    std::FILE* const file_ = std::tmpfile();
    const Fd kept_;
};

}  // namespace

TEST_CASE("the array that is polled has no holes", "[backend]") {
    Array array;
    ev::Registration low{nullptr, 3}, middle{nullptr, 40}, high{nullptr, 900};
    for (auto* each : {&low, &middle, &high}) array.set(*each, ev::readable);
    CHECK(array.numbers() == std::vector{3, 40, 900});
    array.set(low, ev::none);
    CHECK(array.numbers() == std::vector{900, 40});
    array.set(high, ev::none);
    array.set(middle, ev::writable);
    CHECK(array.numbers() == std::vector{40});
    array.set(middle, ev::none);
    CHECK(array.numbers().empty());
}

TEST_CASE("a look tells whether a pipe takes bytes, without a loop", "[backend]") {
    int ends[2] = {-1, -1};
    REQUIRE(::pipe(ends) == 0);
    CHECK(ev::ready_now(ends[1], ev::writable));
    CHECK_FALSE(ev::ready_now(ends[0], ev::readable));
    const std::string page(4096, 'x');
    while (ev::ready_now(ends[1], ev::writable))
        REQUIRE(::write(ends[1], page.data(), page.size()) == 4096);
    CHECK(ev::ready_now(ends[0], ev::readable));
    ::close(ends[0]);
    CHECK(ev::ready_now(ends[1], ev::writable));  // what it says is an error
    ::close(ends[1]);
    CHECK(ev::ready_now(ends[1], ev::writable));
}

TEST_CASE("EV_TRACE writes each turn to standard error", "[backend]") {
    auto pair = make_socketpair();
    const ErrorOutput output;
    ::setenv("EV_TRACE", "1", 1);
    ev::Loop loop;
    ::unsetenv("EV_TRACE");
    ev::Watch watch(loop, pair.out, ev::readable | ev::writable, [](ev::Events) {});
    loop.step();
    watch.want(ev::readable);
    loop.step(0ms);
    loop.step(1ms);
    pair.put();
    loop.step();
    const auto fd = std::to_string(int{pair.out});
    const std::string waited = " waited [0-9]+\\.[0-9]{3} ms, ready:";
    CHECK(std::regex_match(output.text(),
                           std::regex("ev: turn 1" + waited + " " + fd + "w\nev: turn 2" +
                                      waited + "\nev: turn 3" + waited + " " + fd + "r\n")));
}

TEST_CASE("an empty EV_TRACE writes nothing", "[backend]") {
    const ErrorOutput output;
    ::setenv("EV_TRACE", "", 1);
    ev::Loop loop;
    ::unsetenv("EV_TRACE");
    ev::Timer timer(loop, [] {});
    timer.start(0ms);
    loop.run();
    CHECK(output.text().empty());
}

TEST_CASE("a long wait is made shorter by more than the system may be late", "[backend]") {
    struct Case {
        std::chrono::nanoseconds longest;
        bool is_fine;
        int milliseconds;
    };
    const Case wait = GENERATE(Case{-1s, false, 0}, Case{0ns, false, 0}, Case{1ns, true, 1},
                               Case{1'000'001ns, true, 2}, Case{19'999'999ns, true, 20},
                               Case{20ms, false, 19}, Case{1280ms, false, 1270},
                               Case{ev::Duration::max(), false, -1});
    CAPTURE(wait.longest.count());
    const ev::Limit limit = ev::limit_of(wait.longest);
    CHECK(limit.is_fine == wait.is_fine);
    CHECK(limit.milliseconds == wait.milliseconds);
    if (wait.is_fine) CHECK(limit.time.tv_nsec == wait.longest.count());
}
