// The words about a recording that is said again: what differs from before, and how much. Texts
// are printable, whatever the payloads hold.
#pragma once

#include "app/protocol/matcher.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace yodel {

class ReplayReport {
public:
    // `hex`: payloads are shown as a dump. `reply_timeout`: of the session, for sentences.
    ReplayReport(bool hex, ev::Duration reply_timeout)
        : hex_(hex), reply_timeout_(reply_timeout) {}

    // Return the text of an unsolicited message, in whole lines.
    std::string unrecorded(std::string_view payload) const;
    std::string missing(std::string_view payload) const;  // it was recorded, and did not come
    // Return the text, in whole lines, of a wrong reply, and of a reply that did not come: in
    // time, where the message is late. The caller counts them.
    std::string different(const Message& message, const Reply& reply) const;
    std::string lost(const Message& message) const;
    // Returns the line about the right reply to a late message, which revokes that it is lost.
    static std::string late(const Message& message, const Reply& reply);

private:
    std::string part(const char* name, std::string_view payload, std::size_t difference) const;

    bool hex_;
    ev::Duration reply_timeout_;
};

}  // namespace yodel
