#include "app/server/loop_guard.hpp"

#include <algorithm>

namespace yodel {

LoopGuard::Decision LoopGuard::judge(std::uint64_t key, ev::Time now) {
    Entry& entry = entry_of(key, now);
    ++entry.count;
    if (entry.count <= max_repeats) return Decision::answer;
    entry.since = now;
    return entry.count == max_repeats + 1 ? Decision::loop_begins : Decision::loop;
}

// Returns the entry of this key. If there is none, replaces an expired entry of its row, or
// else the entry with the fewest repeats.
LoopGuard::Entry& LoopGuard::entry_of(std::uint64_t key, ev::Time now) {
    Entry* const row = &entries_[key % rows * ways];
    const auto over = [&](const Entry& entry) { return now - entry.since >= second; };
    Entry* found = std::find_if(row, row + ways, [&](const Entry& entry) {
        return entry.key == key && entry.count > 0 && !over(entry);
    });
    if (found != row + ways) return *found;
    found = std::min_element(row, row + ways, [&](const Entry& a, const Entry& b) {
        return (over(a) ? 0 : a.count) < (over(b) ? 0 : b.count);
    });
    *found = {.key = key, .since = now, .count = 0};
    return *found;
}

}  // namespace yodel
