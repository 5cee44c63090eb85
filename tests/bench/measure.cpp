#include "tests/bench/measure.hpp"

#include <sys/utsname.h>
#ifdef __linux__
#    include <sched.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

namespace bench {

namespace {

std::string processor() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);)
        if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
    return "an unknown processor";
}

#ifdef __linux__
cpu_set_t allowed_at_first;
#endif

// Pins to a processor by its number among the initially allowed processors.
bool pin_to([[maybe_unused]] std::size_t number) {
#ifdef __linux__
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed_at_first)) continue;
        if (number-- > 0) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        return sched_setaffinity(0, sizeof one, &one) == 0;
    }
#endif
    return false;
}

// Across processors, wake-up interrupts would hide every difference.
bool pin() {
#ifdef __linux__
    if (sched_getaffinity(0, sizeof allowed_at_first, &allowed_at_first) != 0) return false;
#endif
    return pin_to(0);
}

}  // namespace

std::size_t processors() {
#ifdef __linux__
    return static_cast<std::size_t>(CPU_COUNT(&allowed_at_first));
#else
    return 1;
#endif
}

void stay_on(std::size_t processor) { pin_to(processor); }

int rounds(int usual) {
    const char* const named = std::getenv("BENCH_ROUNDS");
    return named ? std::max(1, std::atoi(named)) : usual;
}

void begin(const char* title) {
    utsname system{};
    ::uname(&system);
    const unsigned processors = std::thread::hardware_concurrency();
    std::printf("%s\n%s, %u processors, %s; %s %s %s; compiler %s\n", title,
                processor().c_str(), processors, pin() ? "pinned to one" : "not pinned",
                system.sysname, system.release, system.machine, __VERSION__);
}

double cpu_ns() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

double median(std::vector<double> values) {
    if (values.empty()) return -1;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
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

}  // namespace bench
