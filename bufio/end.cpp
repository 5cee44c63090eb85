#include "bufio/end.hpp"

#include <cerrno>
#include <system_error>

namespace bufio {

// A reset ends both directions, whichever call meets it first.
End system_end(Reason reason, const std::string& what, int code) {
    if (reason == Reason::send && code == ECONNRESET) reason = Reason::receive;
    return {reason, what + ": " + std::generic_category().message(code)};
}

}  // namespace bufio
