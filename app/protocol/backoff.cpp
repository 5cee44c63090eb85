#include "app/protocol/backoff.hpp"

#include <algorithm>

namespace yodel {

ev::Duration Backoff::next() {
    ev::Duration wait = first_;
    for (unsigned i = 0; i < count_ && wait < longest; ++i) wait *= 2;
    wait = std::min(wait, std::max(longest, first_));
    ++count_;
    std::uniform_int_distribution<ev::Duration::rep> shortened(wait.count() / 2, wait.count());
    return ev::Duration(shortened(random_));
}

}  // namespace yodel
