// What the benchmarks share: rounds in which the contenders alternate, so that a drift of the
// machine's speed affects all of them, a table of medians and paired ratios, and processes.
#pragma once

#include <sys/types.h>

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bench {

inline void require(bool holds) {
    if (!holds) std::abort();
}

// Returns BENCH_ROUNDS from the environment, or `usual`.
int rounds(int usual);

// Returns the number of processors allowed when the program began.
std::size_t processors();
// Pins the calling thread to one of these processors, numbered from 0. Has no effect if the
// system refuses.
void stay_on(std::size_t processor);

// Returns this thread's processor time in nanoseconds.
double cpu_ns();

// Returns the median time of a call in nanoseconds of real time.
double median_ns(int calls, const std::function<void()>& call);

// A table with a row for each contender and a column for each load.
class Table {
public:
    // The first contender is the baseline of the ratios. Figures are nanoseconds unless the
    // load names another unit.
    Table(std::string title, std::vector<std::string> contenders)
        : title_(std::move(title)), contenders_(std::move(contenders)) {}

    // Measures each contender, by its number, once in every round. A negative figure means
    // none.
    void add(const std::string& load, int rounds,
             const std::function<double(std::size_t)>& once);
    // Like add(), but each run yields the figures of several columns.
    void add(const std::vector<std::string>& loads, int rounds,
             const std::function<std::vector<double>(std::size_t)>& once);
    void print() const;

private:
    struct Column {
        std::string load;
        std::vector<std::vector<double>> figures;  // by contender and round
        std::vector<double> ratios(std::size_t contender) const;
    };
    void print_row(const std::string& name,
                   const std::function<double(const Column&)>& figure) const;

    std::string title_;
    std::vector<std::string> contenders_;
    std::vector<Column> columns_;
};

using Command = std::vector<std::string>;

// A program with pipes for standard input and output. Ends with this object.
class Process {
public:
    // `processor` pins the program; see stay_on().
    explicit Process(const Command& command, std::optional<std::size_t> processor = {});
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    // Writes `count` bytes of a repeated text and reads their echo. Returns false if the
    // program has ended.
    bool exchange(const std::string& text, std::size_t count);
    // Returns the next line of its output with the newline, or an empty text at the end.
    std::string read_line();
    std::string last_line();
    // Waits for its end. Returns its processor time in nanoseconds.
    double await_end();

    double cpu_ns() const;  // so far
    // Returns the bytes in a field of /proc/PID/status, such as "VmHWM:".
    double memory(const std::string& field) const;

private:
    int input_;
    int output_;
    pid_t pid_;
};

// A server, whose first line of output ends with its port.
struct Server : Process {
    explicit Server(const Command& command, std::optional<std::size_t> processor = {});
    std::string port;
};

// Returns the value, a number, of the first member with this name, after `object` if given.
double member(const std::string& json, const std::string& name, const std::string& object = {});

}  // namespace bench
