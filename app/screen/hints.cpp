#include "app/screen/hints.hpp"

namespace yodel {

using State = Session::State;

std::string_view connection_hints(const Session& session, bool sent_before) {
    const Expect expect = session.options().expect;
    switch (session.state()) {
    case State::open:
        if (sent_before) return {};
        if (expect == Expect::none) return "F1 keys; ^D leaves; Enter sends a line";
        if (expect == Expect::any)
            return "F1 keys; ^D leaves; Enter sends a line; its reply is timed";
        return "F1 keys; ^D leaves; Enter sends a line; its echo is timed";
    case State::idle:
    case State::dialing:
    case State::handshaking:
        return "F1 keys; ^D leaves; ^C gives up; lines are sent once connected";
    case State::waiting:
        return "F1 keys; ^D leaves; M-r connects now; lines are sent once connected";
    case State::finishing:
        return "F1 keys; ^D leaves now; M-c closes and stays; M-r connects again";
    case State::closed: break;
    }
    switch (session.end().reason) {
    case bufio::Reason::certificate:
    case bufio::Reason::pin:
    case bufio::Reason::own_certificate:  // the page of the connection explains these
        return "F1 keys; ^D leaves; M-i shows why; M-r connects again";
    default: return "F1 keys; ^D leaves; M-r connects again; lines are sent once connected";
    }
}

std::string_view fit_hints(std::string_view hints, int width) {
    const std::string_view separator = "; ";
    std::size_t end = hints.find(separator);
    while (end != hints.npos) {
        const std::size_t next = hints.find(separator, end + separator.size());
        if (hints.substr(0, next).size() > static_cast<std::size_t>(width)) break;
        end = next;
    }
    return hints.substr(0, end);
}

}  // namespace yodel
