// usage: benchmarks [PART...]     all parts by default
//        benchmarks by-hand NAME [ARGUMENT...]     see by_hand.hpp
#include "tests/bench/measure.hpp"

#include "tests/bench/by_hand.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fstream>

namespace bench {

namespace {

cpu_set_t allowed_at_first;

double ns(const timespec& time) {
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

double ns(const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_usec) * 1e3;
}

double median(std::vector<double> values) {
    if (values.empty()) return -1;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace

int rounds(int usual) {
    const char* const named = std::getenv("BENCH_ROUNDS");
    return named ? std::max(1, std::atoi(named)) : usual;
}

std::size_t processors() { return static_cast<std::size_t>(CPU_COUNT(&allowed_at_first)); }

void stay_on(std::size_t processor) {
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed_at_first) || processor-- > 0) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        ::sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

double cpu_ns() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return ns(time);
}

double median_ns(int calls, const std::function<void()>& call) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> times;
    for (int i = 0; i < calls; ++i) {
        const auto before = Clock::now();
        call();
        times.push_back(
            std::chrono::duration<double, std::nano>(Clock::now() - before).count());
    }
    return median(std::move(times));
}

void Table::add(const std::string& load, int rounds,
                const std::function<double(std::size_t)>& once) {
    add(std::vector{load}, rounds, [&](std::size_t i) { return std::vector{once(i)}; });
}

void Table::add(const std::vector<std::string>& loads, int rounds,
                const std::function<std::vector<double>(std::size_t)>& once) {
    const std::size_t first = columns_.size();
    for (const std::string& load : loads)
        columns_.push_back({load, std::vector<std::vector<double>>(contenders_.size())});
    for (int round = -1; round < rounds; ++round)  // the first round warms up
        for (std::size_t i = 0; i < contenders_.size(); ++i) {
            const std::vector<double> figures = once(i);
            for (std::size_t load = 0; load < loads.size() && round >= 0; ++load)
                columns_[first + load].figures[i].push_back(figures[load]);
        }
    std::fputc('.', stderr);
}

std::vector<double> Table::Column::ratios(std::size_t contender) const {
    std::vector<double> all;
    for (std::size_t round = 0; round < figures[0].size(); ++round)
        if (figures[0][round] > 0 && figures[contender][round] >= 0)
            all.push_back(figures[contender][round] / figures[0][round]);
    return all;
}

void Table::print_row(const std::string& name,
                      const std::function<double(const Column&)>& figure) const {
    std::printf("\n%-26s", name.c_str());
    for (const Column& column : columns_) {
        const double value = figure(column);
        value < 0 ? std::printf("%11s", "-")
                  : std::printf("%11.*f", value < 100 ? 2 : 0, value);
    }
}

void Table::print() const {
    std::printf("\n%s\n%-26s", title_.c_str(), "");
    for (const Column& column : columns_) std::printf("%11s", column.load.c_str());
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
        print_row(contenders_[i],
                  [&](const Column& column) { return median(column.figures[i]); });
        if (i > 0)
            print_row("  ratio",
                      [&](const Column& column) { return median(column.ratios(i)); });
    }
    std::printf("\n");
    std::fflush(stdout);
}

Process::Process(const Command& command, std::optional<std::size_t> processor) {
    int in[2], out[2];
    require(::pipe2(in, O_CLOEXEC) == 0 && ::pipe2(out, O_CLOEXEC) == 0);
    std::vector<char*> list;
    for (const std::string& word : command) list.push_back(const_cast<char*>(word.c_str()));
    list.push_back(nullptr);
    pid_ = ::vfork();
    if (pid_ == 0) {
        if (processor) stay_on(*processor);
        ::dup2(in[0], 0);
        ::dup2(out[1], 1);
        ::dup2(::open("/dev/null", O_WRONLY), 2);
        ::execvp(list[0], list.data());
        ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    input_ = in[1];
    output_ = out[0];
}

Process::~Process() {
    ::close(input_);
    ::close(output_);
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

bool Process::exchange(const std::string& text, std::size_t count) {
    static char room[256 * 1024];
    ::fcntl(input_, F_SETFL, O_NONBLOCK);
    std::size_t sent = 0, got = 0;
    while (got < count) {
        pollfd polled[] = {{output_, POLLIN, 0}, {sent < count ? input_ : -1, POLLOUT, 0}};
        if (::poll(polled, 2, 20'000 /* ms */) <= 0) return false;
        if (polled[1].revents != 0) {
            const std::size_t at = sent % text.size();
            const ssize_t part =
                ::write(input_, text.data() + at, std::min(text.size() - at, count - sent));
            if (part > 0) sent += static_cast<std::size_t>(part);
        }
        if (polled[0].revents != 0) {
            const ssize_t part = ::read(output_, room, sizeof room);
            if (part <= 0) return false;
            got += static_cast<std::size_t>(part);
        }
    }
    return true;
}

std::string Process::read_line() {
    std::string line;
    for (char byte = 0; byte != '\n' && ::read(output_, &byte, 1) == 1;) line += byte;
    return line;
}

std::string Process::last_line() {
    std::string last;
    for (std::string line = read_line(); !line.empty(); line = read_line()) last = line;
    return last;
}

double Process::await_end() {
    rusage used{};
    ::wait4(pid_, nullptr, 0, &used);
    pid_ = 0;
    return ns(used.ru_utime) + ns(used.ru_stime);
}

double Process::cpu_ns() const {
    clockid_t clock{};
    timespec time{};
    require(::clock_getcpuclockid(pid_, &clock) == 0);
    ::clock_gettime(clock, &time);
    return ns(time);
}

double Process::memory(const std::string& field) const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string word; status >> word;)
        if (word == field && status >> word) return std::stod(word) * 1024;
    return -1;
}

Server::Server(const Command& command, std::optional<std::size_t> processor)
    : Process(command, processor) {
    const std::string line = read_line();
    require(!line.empty());
    port = line.substr(line.rfind(':') + 1, line.size() - line.rfind(':') - 2);
}

double member(const std::string& json, const std::string& name, const std::string& object) {
    const std::size_t place = json.find("\"" + name + "\":", json.find(object));
    if (place == json.npos) std::fprintf(stderr, "no %s in %s\n", name.c_str(), json.c_str());
    require(place != json.npos);
    return std::stod(json.substr(place + name.size() + 3));
}

namespace {

// For a thousand clients of every contender.
void raise_descriptor_limit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

void print_machine() {
    utsname system{};
    ::uname(&system);
    std::string processor = "an unknown processor";
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);)
        if (line.rfind("model name", 0) == 0) processor = line.substr(line.find(':') + 2);
    std::printf("%s, %zu processors; %s %s %s; compiler %s\n", processor.c_str(), processors(),
                system.sysname, system.release, system.machine, __VERSION__);
}

}  // namespace

}  // namespace bench

int main(int argc, char* argv[]) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const auto is_asked = [&](const char* part) {
        return words.empty() || std::find(words.begin(), words.end(), part) != words.end();
    };
    std::signal(SIGPIPE, SIG_IGN);
    ::sched_getaffinity(0, sizeof bench::allowed_at_first, &bench::allowed_at_first);
    if (is_asked("by-hand") && !words.empty()) return bench::by_hand(words);
    bench::raise_descriptor_limit();
    bench::print_machine();
    bench::stay_on(0);  // across processors, wake-up interrupts would hide every difference
    constexpr std::pair<const char*, void (*)()> parts[] = {
        {"events", bench::compare_events},   {"timers", bench::measure_timers},
        {"servers", bench::compare_servers}, {"clients", bench::compare_clients},
        {"loads", bench::compare_loads},     {"queue", bench::compare_queues}};
    for (const auto& [name, run] : parts)
        if (is_asked(name)) run();
}
