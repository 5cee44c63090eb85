// The memory of the programs with many connections, long messages, and peers that never read.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <sys/resource.h>

using test::Process;
using test::run;
using test::Server;
using test::yodel;
using test::yodel_load;

namespace {

using Words = std::vector<std::string>;

constexpr std::size_t megabyte = 1024 * 1024;

Words joined(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

Words python(const std::string& peer, const Server& server, const Words& more) {
    return joined({"python3", test::peers + "/" + peer, server.port()}, more);
}

}  // namespace

TEST_CASE("a load takes 4 MiB, and 3 KiB for each connection") {
    if (!test::measures_memory()) return;
    constexpr std::size_t connections = 10'000;
#ifdef _LIBCPP_VERSION
    constexpr std::size_t each = 3400;  // its containers are a little larger
#else
    constexpr std::size_t each = 3 * 1024;
#endif
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (limit.rlim_cur < connections + 100) {
        WARN("the limit of descriptors is too low");
        return;
    }
    Server server({"--max-conns", std::to_string(connections)});
    Process client({yodel_load, "--connections", std::to_string(connections), "--rate", "5k",
                    "-m", "2s", "127.0.0.1", server.port()});
    REQUIRE(client.wait_for_errors(" sent, "));
    CAPTURE(client.errors());
    const std::size_t base = test::system_libraries_are_larger() ? 5 : 4;
    CHECK(client.peak_memory() < base * megabyte + each * connections);
    CHECK(client.wait_exit() == 0);
}

TEST_CASE("a blocked reader stops the input, and memory stays bounded") {
    Server server;
    const std::string framing = GENERATE("raw", "line");
    Process client({yodel, "--quiet", "-f", framing, "127.0.0.1", server.port()});
    const std::size_t size = 32 * megabyte;
    std::string lines(size, 'x');
    for (std::size_t i = 99; i < size; i += 100) lines[i] = '\n';
    lines.back() = '\n';
    client.write(std::move(lines));
    client.close_input();
    REQUIRE(client.write_until_stuck());
    // The system's buffers hold some megabytes.
    CHECK(client.written() < size / 2);
    REQUIRE(client.wait_for_output(size / 2));
    if (test::measures_memory()) CHECK(client.peak_memory() < 16 * megabyte);
    CHECK(client.wait_exit() == 0);
    CHECK(client.output().size() == size);
}

TEST_CASE("clients that send and never read take bounded memory, even when they leave") {
    struct Row {
        Words options;
        std::string peer;
        Words more;
        std::size_t most;  // megabytes
    };
    const Words websocket{"--ws", "--max-frame", "1M"};
    const std::string steps = "websocket_steps.py";
    const std::size_t most = test::system_libraries_are_larger() ? 72 : 64;
    const Row row = GENERATE_COPY(
        Row{{}, "deaf.py", {"50"}, 64}, Row{{"--self-signed"}, "deaf.py", {"50", "tls"}, most},
        Row{websocket, steps, {"open", "flood:89:125*x", "reset"}, 16},
        Row{websocket, steps, {"open", "flood:81:x", "reset"}, 16});
    Server server(row.options);
    const std::string output = run(python(row.peer, server, row.more)).output;
    CHECK(test::contains(output, row.peer == steps ? "flooded" : "stuck"));
    server.process().kill(SIGUSR1);
    REQUIRE(server.process().wait_for_errors(row.peer == steps ? "1 accepted" : "50 accepted"));
    if (test::measures_memory()) CHECK(server.process().peak_memory() < row.most * megabyte);
}

TEST_CASE("memory for long messages goes back to the system after them") {
    const bool websocket = GENERATE(false, true);
    test::return_freed_memory(true);
    Server server(websocket ? Words{"--ws"} : Words{"-f", "len4le"});
    test::return_freed_memory(false);
    Process peer(websocket
                     ? python("websocket_steps.py", server,
                              {"open", "frame:01:20000000*x", "frame:80:y", "read:1", "input"})
                     : Words{"python3", test::peers + "/length_echo.py", "ask", server.port(),
                             "33554432"});
    REQUIRE(peer.wait_for_output("\n"));
    if (websocket) REQUIRE(peer.wait_for_output("text of 20000001 bytes\n"));
    if (!test::measures_memory() || !test::system_returns_memory()) return;
    CHECK(server.process().peak_memory() > 20 * megabyte);
    CHECK(server.process().wait_for_memory_below(9 * megabyte));
}
