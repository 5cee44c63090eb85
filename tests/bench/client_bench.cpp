// Measures round trips by the client's own clock. Also compares clients between two pipes on
// the same echo server: the times of the first echo, of a round trip and of a bulk transfer,
// with processor time and memory. Omits programs that are not installed.
#include "tests/bench/by_hand.hpp"
#include "tests/bench/measure.hpp"
#include "tests/bench/program.hpp"
#include "tests/bufio/certificates.hpp"

#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

namespace {

using bench::Command;
using bench::installed;
using bench::Program;
using bench::Table;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Entrant {
    std::string name;
    Command lines;  // exchanges lines
    Command raw;    // exchanges bytes; equals lines unless the client has a mode for bytes
};

std::vector<Entrant> only_installed(const std::vector<Entrant>& all) {
    std::vector<Entrant> list;
    for (const Entrant& entrant : all)
        if (installed(entrant.lines[0])) list.push_back(entrant);
    return list;
}

const std::string line(std::string(63, 'x') + "\n");

double start_up(const Entrant& entrant) {
    const auto start = Clock::now();
    Program program(entrant.lines);
    return program.exchange(line, line.size()) ? seconds_since(start) * 1e3 : -1;
}

double round_trip(const Entrant& entrant) {
    Program program(entrant.raw);
    std::vector<double> times;
    for (int i = 0; i < 3000; ++i) {
        const auto start = Clock::now();
        if (!program.exchange(line, line.size())) return -1;
        times.push_back(seconds_since(start) * 1e6);
    }
    return bench::median(times);
}

// Returns the time and the processor time for a MiB, and the peak memory.
std::vector<double> pump(const Command& command, std::size_t mebibytes) {
    std::string text;
    while (text.size() < 64 * 1024) text += line;
    Program program(command);
    if (!program.exchange(line, line.size())) return {-1, -1, -1};
    const double cpu = program.cpu_ms();
    const auto start = Clock::now();
    if (!program.exchange(text, mebibytes << 20)) return {-1, -1, -1};
    const auto count = static_cast<double>(mebibytes);
    return {seconds_since(start) * 1e6 / count, (program.cpu_ms() - cpu) * 1e3 / count,
            program.peak_mib()};
}

void compare(const char* title, const std::vector<Entrant>& entrants, std::size_t mebibytes) {
    std::vector<std::string> names;
    for (const Entrant& entrant : entrants) names.push_back(entrant.name);
    Table table(title, names);
    const auto at = [&](std::size_t i) { return entrants[i]; };
    const int rounds = bench::rounds(9);
    table.add("start ms", 3 * rounds, [&](std::size_t i) { return start_up(at(i)); });
    table.add("ping us", rounds, [&](std::size_t i) { return round_trip(at(i)); });
    table.add({"pump us/M", "CPU us/M", "peak MiB"}, rounds,
              [&](std::size_t i) { return pump(at(i).raw, mebibytes); });
    table.add({"lines us/M", "CPU us/M", "peak MiB"}, rounds,
              [&](std::size_t i) { return pump(at(i).lines, mebibytes / 4); });
    table.print();
}

// Return the median round trip in microseconds, by hand and by yodel-load's own clock.
double round_trip_by_hand(bool apart) {
    const bench::ServingProcess server([&](int listening) {
        bench::stay_on(apart ? 1 : 0);
        bench::serve_by_hand(listening, {});
    });
    bench::stay_on(0);
    bench::Client client(server, nullptr);
    std::vector<double> times;
    for (int i = 0; i < 5000; ++i) {
        const auto start = Clock::now();
        client.write(line);
        client.read(line.size());
        times.push_back(seconds_since(start) * 1e6);
    }
    return bench::median(times);
}

double our_round_trip(bool apart) {
    Program server({YODELD_PROGRAM, "7398"}, apart ? 1 : 0);
    if (server.read_line().empty()) return -1;
    Program client({YODEL_LOAD_PROGRAM, "--json", "--quiet", "-c", "5000", "--size", "63",
                    "127.0.0.1:7398"},
                   0);
    return bench::member(client.last_line(), "p50", "\"rtt_us\"");
}

void compare_round_trips() {
    Table table("round trips in us", {"raw client, raw server", "yodel-load, yodeld"});
    for (const bool apart : {true, false}) {
        if (apart && bench::processors() < 2) continue;
        table.add(apart ? "two processors" : "one processor", bench::rounds(9),
                  [&](std::size_t i) {
                      return i == 0 ? round_trip_by_hand(apart) : our_round_trip(apart);
                  });
    }
    table.print();
}

// Returns the processor time of a message in nanoseconds, of client and server together.
double cost(const std::string& target, const Command& server_command, const char* window) {
    constexpr double count = 300'000;
    const auto children_ns = [] {
        rusage used{};
        ::getrusage(RUSAGE_CHILDREN, &used);
        const auto ns = [](const timeval& time) {
            return static_cast<double>(time.tv_sec) * 1e9 +
                   static_cast<double>(time.tv_usec) * 1e3;
        };
        return ns(used.ru_utime) + ns(used.ru_stime);
    };
    Program server(server_command);
    if (server.read_line().empty()) return -1;
    const double before = children_ns();
    {
        Program client({YODEL_LOAD_PROGRAM, "--json", "--quiet", "-c", "300000", "--size", "64",
                        "--window", window, target});
        if (client.read_line().find("\"echoed\":300000") == std::string::npos) return -1;
    }
    return (children_ns() - before + server.cpu_ms() * 1e6) / count;
}

void compare_websocket() {
    Table table("cost of a message in ns, client and server", {"lines", "WebSocket"});
    for (const char* window : {"1", "64"})
        table.add(std::string("window ") + window, bench::rounds(9), [&](std::size_t i) {
            return i == 0
                       ? cost("127.0.0.1:7398", {YODELD_PROGRAM, "7398"}, window)
                       : cost("ws://127.0.0.1:7398", {YODELD_PROGRAM, "--ws", "7398"}, window);
        });
    table.print();
}

Entrant same(const std::string& name, const Command& command) {
    return {name, command, command};
}

void compare_plain() {
    const bench::ServingProcess peer([](int fd) { bench::serve_by_hand(fd, {}); });
    const Command yodel{YODEL_PROGRAM, "--quiet", "127.0.0.1", peer.port()};
    const Command raw{YODEL_PROGRAM, "--quiet", "-f", "raw", "127.0.0.1", peer.port()};
    compare("clients, plain",
            only_installed({same("relay", {RELAY_PROGRAM, peer.port()}),
                            {"yodel", yodel, raw},
                            same("socat -b65536",
                                 {"socat", "-b65536", "-", "TCP:127.0.0.1:" + peer.port()})}),
            256);
}

void compare_tls() {
    test::Certificates certificates;
    const test::Identity identity = certificates.make("localhost", {});
    const std::string& trusted = identity.certificate;
    Program server({YODELD_PROGRAM, "--tls", "--cert", trusted, "--key", identity.key, "0"});
    const std::string listening = server.read_line();
    const std::string port =
        std::to_string(std::stoi(listening.substr(listening.rfind(':') + 1)));
    const std::string at = "localhost:" + port;
    const Command yodel{YODEL_PROGRAM, "--quiet", "--tls", "--cacert", trusted, at};
    Command raw = yodel;
    raw.insert(raw.begin() + 1, {"-f", "raw"});
    compare("clients, TLS, verified",
            only_installed({same("relay", {RELAY_PROGRAM, port, trusted}),
                            {"yodel", yodel, raw},
                            same("socat -b65536", {"socat", "-b65536", "-",
                                                   "OPENSSL:" + at + ",cafile=" + trusted})}),
            64);
}

// The relay reads its authority alone. Yodel finds it in a directory of hashed names, beside
// the system's bundle. The server sends an intermediate certificate, as most servers do.
void compare_tls_starts() {
    test::Certificates certificates;
    const test::Identity root = certificates.authority("Root");
    const test::Identity middle = certificates.make("Middle", {.names = "", .issuer = &root});
    const test::Identity sent =
        certificates.chained({certificates.make("localhost", {.issuer = &middle}), middle});
    Program server(
        {YODELD_PROGRAM, "--tls", "--cert", sent.certificate, "--key", sent.key, "0"});
    const std::string listening = server.read_line();
    const std::string port =
        std::to_string(std::stoi(listening.substr(listening.rfind(':') + 1)));
    const std::string directory = "SSL_CERT_DIR=" + certificates.hashed({root});
    const Entrant entrants[] = {
        same("relay", {RELAY_PROGRAM, port, root.certificate}),
        same("yodel",
             {"env", directory, YODEL_PROGRAM, "--quiet", "--tls", "localhost:" + port}),
        same("yodel -k", {YODEL_PROGRAM, "--quiet", "-k", "--tls", "localhost:" + port})};
    Table table("TLS start to the first echo in ms", {"relay", "yodel", "yodel -k"});
    table.add("chain of three", bench::rounds(27),
              [&](std::size_t i) { return start_up(entrants[i]); });
    table.print();
}

}  // namespace

int main() {
    std::signal(SIGPIPE, SIG_IGN);
    bench::begin("yodel between two pipes");
    compare_round_trips();
    compare_websocket();
    compare_plain();
    compare_tls();
    compare_tls_starts();
}
