// The load page on a pseudo-terminal, in virtual time.

#include "app/load/load_page.hpp"

#include "tests/support/blocked.hpp"
#include "tests/support/virtual_time.hpp"

#include <stdexcept>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

struct Watcher final : RunDisplay::Owner {
    RunProgress progress() override {
        ++drawings;
        return {.results = results, .run = run, .target = "", .phase = phase};
    }
    void interrupted() override { ++interrupts; }
    void suspending() override { throw std::runtime_error("suspended"); }

    Results results;
    RunOptions run;
    RunProgress::Phase phase = RunProgress::Phase::running;
    int drawings = 0;
    int interrupts = 0;
};

}  // namespace

TEST_CASE("the load page is drawn ten times a second, and takes two keys") {
    const test::OnTerminal terminal("xterm-256color");
    test::VirtualLoop loop;
    Watcher user;
    LoadScreen screen(loop, user);
    for (const auto& [time, drawings] : {std::pair(0ms, 1), {99ms, 1}, {1ms, 2}}) {
        loop.pass(time);
        screen.turn_ended();
        terminal.take();
        REQUIRE(user.drawings == drawings);
    }
    const auto press = [&](std::string key) {
        terminal.type(key);
        loop.settle();
        return user.interrupts;
    };
    REQUIRE(press("x") == 0);
    REQUIRE(press("\x03") == 1);
    REQUIRE(press("\x1b\x03") == 2);
    REQUIRE_THROWS_WITH(press("\x1a"), "suspended");  // and does not stop the test
    user.phase = RunProgress::Phase::ended;
    for (int i = 0; i < 3; ++i) {
        loop.pass(100ms);
        screen.turn_ended();
        terminal.take();
    }
    REQUIRE(press("\x0c") == 2);  // ^L only redraws
    REQUIRE(press("x") == 3);
}
