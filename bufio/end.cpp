#include "bufio/end.hpp"

#include <cerrno>
#include <system_error>

namespace bufio {

// A reset or a close by the peer gets the same text, whichever call detects it.
End system_end(Reason reason, const std::string& what, int code) {
    if (code == EPIPE) return {Reason::closed_early, "the peer has closed the connection"};
    const bool reset =
        code == ECONNRESET && (reason == Reason::send || reason == Reason::receive);
    if (reset) reason = Reason::reset;
    if (code == ECONNREFUSED && reason == Reason::connect) reason = Reason::refused;
    return {reason,
            (reset ? receive_failed : what) + ": " + std::generic_category().message(code)};
}

}  // namespace bufio
