// The screen under load, at rest, and with many messages.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/tty.hpp"

#include <unistd.h>

#include <iterator>
#include <thread>

using namespace std::chrono_literals;
using test::Tty;
using test::yodel;

namespace {

// Sanitizers make everything slower and larger.
#ifdef YODEL_INSTRUMENTED
constexpr bool instrumented = true;
#else
constexpr bool instrumented = false;
#endif

std::string proc(const Tty& tty, const std::string& name) {
    std::ifstream file("/proc/" + std::to_string(tty.pid()) + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the peak memory so far, in kilobytes.
long peak_memory(const Tty& tty) {
    const std::string status = proc(tty, "status");
    return std::atol(status.c_str() + status.find("VmHWM:") + 6);
}

// Returns the processor time used so far.
std::chrono::milliseconds used_time(const Tty& tty) {
    const std::string stat = proc(tty, "stat");
    std::istringstream fields(stat.substr(stat.rfind(')') + 2));
    const std::vector<std::string> list{std::istream_iterator<std::string>(fields), {}};
    const long ticks = std::stol(list[11]) + std::stol(list[12]);  // utime and stime
    return 1000ms * ticks / ::sysconf(_SC_CLK_TCK);
}

// Lines of 64 bytes, then a last word, then echoes.
test::Peer flood(std::size_t lines) {
    return test::Peer({"socat", "TCP-LISTEN:PORT,fork,bind=127.0.0.1",
                       "SYSTEM:yes " + std::string(63, 'x') + " | head -n " +
                           std::to_string(lines) + "; echo the last of them; cat"});
}

}  // namespace

TEST_CASE("a flood of 64 MiB draws at most 60 times a second") {
    const test::Peer peer = flood(instrumented ? 40'000 : 1 << 20);
    const auto start = std::chrono::steady_clock::now();
    Tty tty({.arguments = {yodel, "--expect", "none", "127.0.0.1", peer.port()}});
    REQUIRE(tty.wait_for("the last of them"));
    const auto frames = (std::chrono::steady_clock::now() - start) / 16ms + 2;
    const long most = 24 * 80 * 2;  // bytes of a frame, its colors included
    CHECK(static_cast<long>(tty.output().size()) < frames * most);
}

TEST_CASE("an idle screen draws nothing and takes no time") {
    Tty tty({.arguments = {yodel}});
    REQUIRE(tty.wait_for("up 00:"));
    tty.send("\033[19~");
    REQUIRE(tty.wait_for("closed: disconnected"));
    // Waits for a silent period, however long the machine takes to come to rest.
    const auto rests = [&] {
        const auto before = used_time(tty);
        const auto written = tty.output().size();
        tty.wait_for([] { return false; }, 300ms);
        return tty.output().size() == written && used_time(tty) - before <= 10ms;
    };
    CHECK(tty.wait_for(rests));
}

TEST_CASE("a connected screen without traffic draws only the seconds") {
    Tty tty({.arguments = {yodel}});
    REQUIRE(tty.wait_for("up 00:"));
    const auto seconds = [&] {
        const std::string status = tty.row(22);
        return std::atoi(status.c_str() + status.find("up 00:") + 6);
    };
    const int first = seconds();
    REQUIRE(tty.wait_for([&] { return seconds() > first; }));
    const int begin = seconds();
    const auto before = used_time(tty);
    const auto written = tty.output().size();
    REQUIRE(tty.wait_for([&] { return seconds() > begin; }));
    const int passed = seconds() - begin;
    CHECK(tty.output().size() - written < static_cast<std::size_t>(100 * passed));
    CHECK(used_time(tty) - before <= 30ms * passed);
}

TEST_CASE("a message of 1 MiB is sent, echoed and opened") {
    Tty tty({.arguments = {yodel}});
    REQUIRE(tty.wait_for("up 00:"));
    tty.send("\x1b[200~" + std::string(1 << 20, 'm') + "\x1b[201~\r");
    REQUIRE(tty.wait_for("… 1048576 bytes ✓"));
    tty.send("\x1b[1;3A\r");
    CHECK(tty.wait_for("Message 1"));
    CHECK(tty.wait_for("Sent, 1048576 bytes"));
}

TEST_CASE("only the visible part of a long line from the history is drawn") {
    Tty tty({.arguments = {yodel}});
    REQUIRE(tty.wait_for("up 00:"));
    tty.send("\x1b[200~" + std::string(4 << 20, 'm') + "\x1b[201~\r");
    REQUIRE(tty.wait_for("… 4194304 bytes ✓"));
    const auto before = used_time(tty);
    tty.send("\x12");
    std::string query;
    for (int i = 0; i < 20; ++i) {
        tty.send("m");
        query += "m";
        REQUIRE(tty.wait_for("search: " + query + " - mmm"));
    }
    CHECK(used_time(tty) - before < (instrumented ? 10s : 1s));
}

TEST_CASE("a million messages keep the memory of the screen bounded") {
    const int count = instrumented ? 50'000 : 1'000'000;
    const test::Peer peer({"socat", "TCP-LISTEN:PORT,fork,bind=127.0.0.1",
                           "SYSTEM:seq " + std::to_string(count) + "; sleep 60"});
    Tty tty({.arguments = {yodel, "--expect", "none", "127.0.0.1", peer.port()}});
    REQUIRE(tty.wait_for("« " + std::to_string(count)));
    tty.send("\x1b<");
    REQUIRE(tty.wait_for("HELD"));
    const long most = 150'000;  // kilobytes
    if (!instrumented) CHECK(peak_memory(tty) < most);
}
