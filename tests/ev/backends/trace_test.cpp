#include "tests/ev/fixture.hpp"
#include "tests/support/catch.hpp"

#include <cstdio>
#include <regex>

using namespace std::chrono_literals;

namespace {

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

TEST_CASE("EV_TRACE writes each turn to standard error") {
    auto pair = make_socketpair();
    const ErrorOutput output;
    ::setenv("EV_TRACE", "1", 1);
    ev::Loop loop;
    ::unsetenv("EV_TRACE");
    ev::Watch watch(loop, pair.out, ev::readable | ev::writable, [](ev::Events) {});
    loop.step();
    watch.want(ev::readable);
    loop.step(0ms);
    pair.put();
    loop.step();
    const auto fd = std::to_string(int{pair.out});
    const std::string waited = " waited [0-9]+\\.[0-9]{3} ms, ready:";
    CHECK(std::regex_match(output.text(),
                           std::regex("ev: turn 1" + waited + " " + fd + "w\nev: turn 2" +
                                      waited + "\nev: turn 3" + waited + " " + fd + "r\n")));
}

TEST_CASE("an empty EV_TRACE writes nothing") {
    const ErrorOutput output;
    ::setenv("EV_TRACE", "", 1);
    ev::Loop loop;
    ::unsetenv("EV_TRACE");
    ev::Timer timer(loop, [] {});
    timer.start(0ms);
    loop.run();
    CHECK(output.text().empty());
}
