// With --busy the programs spin while there is a connection, and sleep while there is none.
// /proc shows which of the two they do; without it the tests are skipped.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <sstream>
#include <thread>

using test::contains;
using test::Outcome;
using test::Process;
using test::run;
using test::Server;
using test::yodel;
using test::yodel_load;
using namespace std::chrono_literals;

namespace {

bool system_tells() { return std::filesystem::exists("/proc/self/stat"); }

struct Activity {
    char state = 0;  // 'S': it sleeps
    long ticks = 0;  // processor time in hundredths of a second
};

// The name of the program, in brackets, may contain spaces.
Activity activity(const Process& process) {
    const std::string text = test::contents("/proc/" + std::to_string(process.pid()) + "/stat");
    std::istringstream fields(text.substr(text.rfind(')') + 1));
    Activity found;
    fields >> found.state;
    std::string skipped;
    for (int i = 0; i < 10; ++i) fields >> skipped;
    long system = 0;
    fields >> found.ticks >> system;
    found.ticks += system;
    return found;
}

bool wait_for(const std::function<bool()>& condition) {
    const auto limit = std::chrono::steady_clock::now() + Process::patience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > limit) return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

// Returns true if the process spins. A sleeping process takes no processor time.
bool spins(const Process& process) {
    const long before = activity(process).ticks;
    return wait_for([&] { return activity(process).ticks > before + 10; });
}

// Returns true if the process sleeps. A spinning process is runnable at each look.
bool sleeps(const Process& process) {
    int looks = 0;
    return wait_for([&] {
        looks = activity(process).state == 'S' ? looks + 1 : 0;
        return looks == 20;
    });
}

}  // namespace

TEST_CASE("yodeld --busy spins while a connection is open, and sleeps while none is") {
    if (!system_tells()) return;
    Server server({"--busy"});
    CHECK(sleeps(server.process()));
    Process client({yodel, "--no-tui", "127.0.0.1", server.port()});
    CHECK(spins(server.process()));
    client.close_input();
    CHECK(client.wait_exit() == 0);
    CHECK(sleeps(server.process()));
}

TEST_CASE("yodel-load --busy spins while connected, and sleeps while waiting to retry") {
    if (!system_tells()) return;
    Server server;
    Process client({yodel_load, "--busy", "-v", "--retry", "forever", "--retry-delay", "1h",
                    "127.0.0.1", server.port()});
    CHECK(spins(client));
    server.process().kill(SIGKILL);
    REQUIRE(client.wait_for_errors("retry in"));
    CHECK(sleeps(client));
}

TEST_CASE("without --busy idle programs sleep") {
    if (!system_tells()) return;
    Server server;
    const std::string program = GENERATE(yodel, yodel_load);
    Process client({program, "-v", "127.0.0.1", server.port()});
    client.write("hello\n");
    REQUIRE(client.wait_for_output("hello\n"));
    CHECK(sleeps(client));
    CHECK(sleeps(server.process()));
}

TEST_CASE("busy programs echo as others do") {
    Server server({"--busy"});
    const Outcome outcome =
        run({yodel_load, "--busy", "-c", "200", "127.0.0.1", server.port()});
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "200 sent, 200 echoed, 0 bad, 0 lost"));
}
