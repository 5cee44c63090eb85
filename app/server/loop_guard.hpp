// Detects two services that answer each other forever. The same bytes then come again and again
// from the same address.
//
// It stores a bounded number of keys, each for certain bytes from one address. A new key
// replaces the key with the fewest repeats in its row. Time is an argument.
#pragma once

#include "ev/loop.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace yodel {

class LoopGuard {
public:
    static constexpr unsigned max_repeats = 64;  // per second
    static constexpr ev::Duration second = std::chrono::seconds(1);

    enum class Decision {
        answer,
        loop_begins,  // more than max_repeats: report it, and do not answer
        loop,         // still going on: do not answer until it has stopped for a second
    };

    // `key` identifies the bytes and their source address.
    Decision judge(std::uint64_t key, ev::Time now);

private:
    static constexpr std::size_t rows = 256;
    static constexpr std::size_t ways = 4;
    struct Entry {
        std::uint64_t key = 0;
        ev::Time since{};  // time of the first repeat; once a loop is detected, of the latest
        unsigned count = 0;
    };

    Entry& entry_of(std::uint64_t key, ev::Time now);

    std::array<Entry, rows * ways> entries_;
};

}  // namespace yodel
