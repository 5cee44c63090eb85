// What the benchmarks share: rounds in which the contenders alternate, so that a machine whose
// speed drifts drifts for all, and the table of their medians and paired ratios.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace bench {

// The environment's BENCH_ROUNDS, or `usual`.
int rounds(int usual);
// Keeps this process, and what it starts, on one processor, and prints the machine's facts.
void begin(const char* title);

// How many processors this process had when begin() was called.
std::size_t processors();
// Moves the calling thread to one of these, by its number from 0. Has no effect where the
// system does not let it.
void stay_on(std::size_t processor);

// Nanoseconds that this thread has had of a processor: what others take is not counted.
double cpu_ns();

double median(std::vector<double> values);

// A table of one row for each contender and one column for each load.
class Table {
public:
    // The first contender is the one to which the ratios are taken; figures are nanoseconds,
    // unless the load says otherwise.
    Table(std::string title, std::vector<std::string> contenders)
        : title_(std::move(title)), contenders_(std::move(contenders)) {}

    // Measures each contender by its number, in every round once; a negative figure is none.
    void add(const std::string& load, int rounds,
             const std::function<double(std::size_t)>& once);
    // The same, where one run yields the figures of several columns.
    void add(const std::vector<std::string>& loads, int rounds,
             const std::function<std::vector<double>(std::size_t)>& once);
    void print() const;

private:
    struct Column {
        std::string load;
        std::vector<std::vector<double>> figures;  // of each contender, in each round
        std::vector<double> ratios(std::size_t contender) const;
    };
    void print_row(const std::string& name,
                   const std::function<double(const Column&)>& figure) const;

    std::string title_;
    std::vector<std::string> contenders_;
    std::vector<Column> columns_;
};

}  // namespace bench
