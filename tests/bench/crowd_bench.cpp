// Compares yodel-load with a hand-written generator, both on the first processor, with the
// same echo server on the second: 64 connections, each with one message of 64 bytes in flight.
//
// Includes redis-benchmark if it is installed. It verifies nothing: it accepts the echo of its
// request, an array of one word, as a reply. Generic tools such as sockperf and wrk do not
// count an echo server's replies.
#include "tests/bench/crowd_raw.hpp"
#include "tests/bench/measure.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int connections = 64;
constexpr double run_seconds = 1;
constexpr std::uint64_t redis_requests = 100'000;

struct Program {
    pid_t pid = -1;
    int output = -1;
};

Program start(std::vector<std::string> words, std::size_t processor) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    const pid_t pid = ::fork();
    if (pid == 0) {
        bench::stay_on(processor);
        ::dup2(ends[1], STDOUT_FILENO);
        ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
        ::execvp(arguments[0], arguments.data());
        ::_exit(127);
    }
    ::close(ends[1]);
    return {pid, ends[0]};
}

std::string read_until(int fd, char last) {
    std::string text;
    char byte = 0;
    while (::read(fd, &byte, 1) == 1) {
        text += byte;
        if (byte == last) break;
    }
    return text;
}

double member(const std::string& object, const std::string& name) {
    const std::size_t place = object.find("\"" + name + "\":");
    if (place == std::string::npos) throw std::runtime_error("no " + name + " in " + object);
    return std::stod(object.substr(place + name.size() + 3));
}

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// Returns the program's processor time, after its end.
double await_end(const Program& program) {
    ::close(program.output);
    rusage used{};
    ::wait4(program.pid, nullptr, 0, &used);
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

bool has_redis() {
    return std::system("command -v redis-benchmark >/dev/null 2>&1") == 0;  // a builtin of sh
}

bench::CrowdFigures redis_crowd(const std::string& port) {
    const auto begin = std::chrono::steady_clock::now();
    const Program client =
        start({"redis-benchmark", "-p", port, "-c", std::to_string(connections), "-n",
               std::to_string(redis_requests), "-q", "PING"},
              0);
    while (!read_until(client.output, '\n').empty()) {
    }
    bench::CrowdFigures figures;
    figures.echoes = redis_requests;
    figures.cpu_seconds = await_end(client);
    figures.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return figures;
}

bench::CrowdFigures our_crowd(const std::string& port) {
    const Program client =
        start({YODEL_LOAD_PROGRAM, "--connections", std::to_string(connections), "-m",
               std::to_string(run_seconds), "--json", "127.0.0.1", port},
              0);
    std::string object;  // the last object; earlier objects are for single seconds
    for (std::string next = read_until(client.output, '\n'); !next.empty();
         next = read_until(client.output, '\n'))
        object = next;
    bench::CrowdFigures figures;
    figures.echoes = static_cast<std::uint64_t>(member(object, "echoed"));
    figures.seconds = member(object, "duration_us") / 1e6;
    figures.cpu_seconds = await_end(client);
    return figures;
}

}  // namespace

int main() {
    bench::begin("crowd");
    const Program server =
        start({YODELD_PROGRAM, "-f", "raw", "0"}, bench::processors() > 1 ? 1 : 0);
    const std::string line = read_until(server.output, '\n');
    const std::string port =
        line.substr(line.rfind(':') + 1, line.size() - line.rfind(':') - 2);
    bench::stay_on(0);
    std::vector<std::string> contenders{"by hand: epoll, memcmp",
                                        "yodel-load --connections 64"};
    if (has_redis()) contenders.emplace_back("redis-benchmark, not verified");
    bench::Table table("64 connections, one message of 64 bytes in flight on each", contenders);
    table.add({"an echo", "its CPU"}, bench::rounds(7), [&](std::size_t contender) {
        const bench::CrowdFigures figures =
            contender == 0   ? bench::raw_crowd(std::stoi(port), connections, run_seconds)
            : contender == 1 ? our_crowd(port)
                             : redis_crowd(port);
        const auto echoes = static_cast<double>(figures.echoes);
        return std::vector<double>{figures.seconds * 1e9 / echoes,
                                   figures.cpu_seconds * 1e9 / echoes};
    });
    table.print();
    ::kill(server.pid, SIGTERM);
    ::waitpid(server.pid, nullptr, 0);
    return 0;
}
