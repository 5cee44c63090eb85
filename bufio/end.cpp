#include "bufio/end.hpp"

#include <cerrno>
#include <system_error>

namespace bufio {

std::string End::text(std::string_view peer) const {
    std::string text(by == By::peer ? peer : "");
    for (const std::string_view part : {std::string_view(what), std::string_view(detail)}) {
        if (!text.empty() && !part.empty()) text += " ";
        text += part;
    }
    return text;
}

// A reset or a close by the peer is the same end, whichever call detects it.
End system_end(Reason reason, const char* what, int code) {
    if (code == EPIPE) return {Reason::closed_early, By::peer, "has closed the connection"};
    const std::string message = std::generic_category().message(code);
    if (code == ECONNRESET && (reason == Reason::send || reason == Reason::receive))
        return {Reason::reset, By::system, "receiving failed:", message};
    if (code == ECONNREFUSED && reason == Reason::connect) reason = Reason::refused;
    return {reason, By::system, what, message};
}

}  // namespace bufio
