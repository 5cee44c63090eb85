// Finds out that two services answer each other without end: the same bytes come from the same
// address again and again.
//
// It remembers a bounded number of senders, and takes no time but its argument. Where there are
// more senders than it can remember, the ones that repeat themselves most are kept.
#pragma once

#include "ev/loop.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace yodel {

class LoopGuard {
public:
    static constexpr unsigned most = 64;  // times in a second
    static constexpr ev::Duration second = std::chrono::seconds(1);

    enum class Verdict {
        answer,
        loop_begins,  // it came too often: not to be answered, and to be reported
        loop,         // it still does: not to be answered until it has stopped for a second
    };

    // `key` is the same for the same bytes from the same address, and no other.
    Verdict judge(std::uint64_t key, ev::Time now);

private:
    static constexpr std::size_t rows = 256;
    static constexpr std::size_t ways = 4;
    struct Entry {
        std::uint64_t key = 0;
        ev::Time since{};  // the first of `count` times; of a loop, the last time
        unsigned count = 0;
    };

    Entry& entry_of(std::uint64_t key, ev::Time now);

    std::array<Entry, rows * ways> entries_;
};

}  // namespace yodel
