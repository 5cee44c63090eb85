// The words about a recording that is said again: what differs from before, and how much. Texts
// are printable, whatever the payloads hold.
#pragma once

#include "app/protocol/matcher.hpp"
#include "app/stats/tally.hpp"
#include "app/text/json.hpp"
#include "ev/loop.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace yodel {

class ReplayReport {
public:
    // `hex`: payloads are shown as a dump. `reply_timeout`: of the session, for sentences.
    ReplayReport(bool hex, ev::Duration reply_timeout)
        : hex_(hex), reply_timeout_(reply_timeout) {}

    void count_again() { ++again_; }  // an unsolicited message that came as it was recorded
    // Each of these two counts an unsolicited message, and returns its text in whole lines.
    std::string unrecorded(std::string_view payload);
    std::string missing(std::string_view payload);  // it was recorded, and did not come
    // Return the text, in whole lines, of a wrong reply, and of a reply that did not come: in
    // time, where the message is late. The caller counts them.
    std::string different(const Message& message, const Reply& reply) const;
    std::string lost(const Message& message) const;
    // Returns the line about the right reply to a late message, which revokes that it is lost.
    static std::string late(const Message& message, const Reply& reply);

    // An unsolicited message was missing or is not recorded.
    bool any_difference() const { return missing_ > 0 || unrecorded_ > 0; }
    // "120 said again, 119 as before, 1 different, 0 lost" and the round trips.
    std::string summary(const Tally& tally) const;
    void add_counts(JsonObject& end, const Tally& tally) const;

private:
    std::string part(const char* name, std::string_view payload, std::size_t difference) const;

    bool hex_;
    ev::Duration reply_timeout_;
    std::uint64_t again_ = 0;
    std::uint64_t missing_ = 0;
    std::uint64_t unrecorded_ = 0;
};

}  // namespace yodel
