// Shared by the benchmarks: rounds in which the contenders alternate, so that a drift of the
// machine's speed affects all of them, and a table of medians and paired ratios.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace bench {

// Returns BENCH_ROUNDS from the environment, or `usual`.
int rounds(int usual);
// Pins this process and its children to one processor, and prints the machine's facts.
void begin(const char* title);

// Returns the number of processors allowed when begin() was called.
std::size_t processors();
// Pins the calling thread to one of these processors, numbered from 0. Has no effect if the
// system refuses.
void stay_on(std::size_t processor);

// Returns this thread's processor time in nanoseconds.
double cpu_ns();

double median(std::vector<double> values);

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

}  // namespace bench
