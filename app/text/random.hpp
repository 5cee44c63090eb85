// Random numbers from a seed, equal on every system (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", 2014).
#pragma once

#include <cstdint>

namespace yodel {

class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    // Returns 64 uniformly distributed bits.
    std::uint64_t number() {
        std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
        return mixed ^ (mixed >> 31);
    }
    // Returns a uniformly distributed number in [0, 1).
    double fraction() { return static_cast<double>(number() >> 11) * 0x1p-53; }
    // Returns an exponentially distributed number with mean 1 (von Neumann, "Various techniques
    // used in connection with random digits", 1951). Needs no logarithm, which differs between
    // systems.
    double exponential() {
        for (double whole = 0;; ++whole) {
            const double first = fraction();
            bool is_odd = true;  // the descending run of fractions has an odd length
            double last = first;
            for (double next = fraction(); next < last; next = fraction()) {
                last = next;
                is_odd = !is_odd;
            }
            if (is_odd) return whole + first;
        }
    }

private:
    std::uint64_t state_;
};

}  // namespace yodel
