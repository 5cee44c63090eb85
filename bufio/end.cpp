#include "bufio/end.hpp"

#include <cerrno>
#include <system_error>

namespace bufio {

// A reset or a close by the peer gets the same text, whichever call detects it.
End system_end(Reason reason, const std::string& what, int code) {
    if (code == EPIPE) return {Reason::closed_early, "the peer has closed the connection"};
    if (reason == Reason::send && code == ECONNRESET)
        return system_end(Reason::receive, receive_failed, code);
    return {reason, what + ": " + std::generic_category().message(code)};
}

}  // namespace bufio
