#include "app/protocol/backoff.hpp"

#include <algorithm>

namespace yodel {

ev::Duration Backoff::next() {
    ev::Duration wait = first_;
    for (unsigned i = 0; i < count_ && wait < longest; ++i) wait *= 2;
    wait = std::min(wait, std::max(longest, first_));
    ++count_;
    return std::uniform_int_distribution(wait.count() / 2, wait.count())(chance_) *
           ev::Duration(1);
}

}  // namespace yodel
