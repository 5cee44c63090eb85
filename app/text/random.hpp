// Random numbers that a seed decides, the same on every system (Steele, Lea and Flood,
// "Fast splittable pseudorandom number generators", 2014).
#pragma once

#include <cmath>
#include <cstdint>

namespace yodel {

class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    // Returns a number of 64 uniform bits.
    std::uint64_t number() {
        std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
        return mixed ^ (mixed >> 31);
    }
    // Returns a uniform number from 0 up to, not including, 1.
    double fraction() { return static_cast<double>(number() >> 11) * 0x1p-53; }
    // Returns an exponentially distributed number with the mean 1.
    double exponential() { return -std::log1p(-fraction()); }

private:
    std::uint64_t state_;
};

}  // namespace yodel
