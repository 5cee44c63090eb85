// Compares yodel-load with hand-written generators: round trips of one connection, and the
// processor time of an echo over many. Compares the cost of WebSocket with that of lines.
#include "tests/bench/by_hand.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <memory>

namespace bench {

namespace {

constexpr std::size_t connections = 64;
constexpr double run_seconds = 1;

// Returns the end object of a run on the first processor.
std::string run_load(const Command& options, double* cpu_ns = nullptr) {
    Command command{YODEL_LOAD, "--json", "--quiet"};
    command.insert(command.end(), options.begin(), options.end());
    Process load(command, 0);
    const std::string end = load.last_line();
    if (cpu_ns) *cpu_ns = load.await_end();
    return end;
}

void compare_round_trips() {
    struct Kind {
        const char* name;
        int type;
        Command raw;
        Command ours;
        std::string target;
    };
    const Kind kinds[] = {
        {"TCP", SOCK_STREAM, by_hand_command("serve"), {YODELD, "0"}, "tcp://127.0.0.1:"},
        {"datagrams",
         SOCK_DGRAM,
         by_hand_command("datagrams"),
         {YODELD, "-u", "0"},
         "udp://127.0.0.1:"}};
    Table table("round trips in us, server on the same processor or on another",
                {"by hand", "yodel-load, yodeld"});
    for (const Kind& kind : kinds)
        for (std::size_t processor = 0; processor < 2; ++processor) {
            if (processor >= processors()) continue;
            table.add(kind.name + std::string(processor == 0 ? ", 1" : ", 2"), rounds(9),
                      [&](std::size_t i) {
                          const Server server(i == 0 ? kind.raw : kind.ours, processor);
                          if (i == 1)
                              return member(run_load({"-c", "5000", "--size", "63",
                                                      kind.target + server.port}),
                                            "p50", "\"rtt_us\"");
                          Client client(server.port, kind.type);
                          return median_ns(5000,
                                           [&] {
                                               client.write(std::string(message, 'x'));
                                               client.read(message);
                                           }) /
                                 1e3;
                      });
        }
    table.print();
}

// Returns the time and the processor time of an echo, by epoll on this thread. Messages differ
// from each other, as with yodel-load, and memcmp compares each echo.
std::vector<double> crowd_by_hand(const std::string& port) {
    const std::string line(std::string(message, 'x') + "\n");
    std::vector<std::string> sent(connections, line);
    std::vector<std::unique_ptr<Client>> clients;
    const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
    std::uint64_t number = 0;
    const auto send_next = [&](std::size_t i) {
        ++number;
        for (std::size_t at = 0; at < sizeof number; ++at)
            sent[i][at] = static_cast<char>('a' + (number >> 4 * at & 15));
        clients[i]->write(sent[i]);
    };
    for (std::size_t i = 0; i < connections; ++i) {
        clients.push_back(std::make_unique<Client>(port));
        epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
        ::epoll_ctl(epoll, EPOLL_CTL_ADD, clients[i]->descriptor(), &event);
    }
    std::uint64_t echoes = 0;
    const double cpu = cpu_ns();
    const double real = median_ns(1, [&] {
        using Clock = std::chrono::steady_clock;
        const auto end = Clock::now() + std::chrono::duration<double>(run_seconds);
        for (std::size_t i = 0; i < connections; ++i) send_next(i);
        for (epoll_event events[connections]; Clock::now() < end;) {
            const int ready = ::epoll_wait(epoll, events, connections, -1);
            for (int at = 0; at < ready; ++at) {
                const std::size_t i = events[at].data.u64;
                require(std::memcmp(clients[i]->read(line.size()).data(), sent[i].data(),
                                    line.size()) == 0);
                ++echoes;
                send_next(i);
            }
        }
    });
    ::close(epoll);
    const auto count = static_cast<double>(echoes);
    return {real / count, (cpu_ns() - cpu) / count};
}

std::vector<double> our_crowd(const std::string& port) {
    double cpu = 0;
    const std::string end = run_load({"--connections", std::to_string(connections), "-m",
                                      std::to_string(run_seconds), "127.0.0.1", port},
                                     &cpu);
    const double echoes = member(end, "echoed");
    return {member(end, "duration_us") * 1e3 / echoes, cpu / echoes};
}

void compare_crowds() {
    const Server server({YODELD, "-f", "raw", "0"}, processors() > 1 ? 1 : 0);
    Table table("64 connections, one message of 64 bytes in flight on each",
                {"by hand: epoll, memcmp", "yodel-load"});
    table.add({"an echo", "its CPU"}, rounds(7), [&](std::size_t i) {
        return i == 0 ? crowd_by_hand(server.port) : our_crowd(server.port);
    });
    table.print();
}

void compare_websocket() {
    const Command servers[] = {{YODELD, "0"}, {YODELD, "--ws", "0"}};
    const std::string schemes[] = {"tcp://", "ws://"};
    Table table("CPU of a message, client and server", {"lines", "WebSocket"});
    for (const char* const window : {"1", "64"})
        table.add(std::string("window ") + window, rounds(9), [&](std::size_t i) {
            const Server server(servers[i]);
            double cpu = 0;
            run_load({"-c", "300000", "--size", "64", "--window", window, "--require",
                      "echoed=300000", schemes[i] + "127.0.0.1:" + server.port},
                     &cpu);
            return (cpu + server.cpu_ns()) / 300'000;
        });
    table.print();
}

}  // namespace

void compare_loads() {
    compare_round_trips();
    compare_crowds();
    compare_websocket();
}

}  // namespace bench
