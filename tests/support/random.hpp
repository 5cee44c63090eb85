// Random numbers that are the same with every standard library. The standard specifies the
// engines exactly, but not the distributions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace test {

class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}

    std::uint64_t next() { return engine_(); }
    // Uniform in 0 ... count - 1.
    std::size_t index(std::size_t count) { return static_cast<std::size_t>(next() % count); }
    // Uniform in [0, 1).
    double fraction() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

private:
    std::mt19937_64 engine_;
};

}  // namespace test
