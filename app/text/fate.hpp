// The fate of a message that was sent, was due, or came from the service, and its word in JSON.
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

namespace yodel {

enum class Fate {
    sent,         // no reply is awaited
    unsent,       // was due, but could not be sent
    echoed,       // answered by a right reply, like the next two in time
    bad,          // by another reply
    as_recorded,  // in a replay: by the recorded reply
    different,    // in a replay: by another reply
    late,         // answered after it counted as lost
    lost,
    silent,       // in a replay: got no reply, as recorded
    unsolicited,  // from the service, and answers nothing
    duplicate,    // a reply that came again
    recurred,     // in a replay: unsolicited, as recorded
    unrecorded,   // in a replay: unsolicited, and not recorded
    missing,      // in a replay: recorded as unsolicited, and did not come again
};

inline constexpr const char* fate_words[] = {
    "sent", "unsent",  "echoed",      "bad",       "matched",     "different",  "late",
    "lost", "matched", "unsolicited", "duplicate", "unsolicited", "unrecorded", "missing",
};

inline const char* word_of(Fate fate) { return fate_words[static_cast<std::size_t>(fate)]; }

// Returns the first fate with this word.
inline std::optional<Fate> find_fate(std::string_view word) {
    for (std::size_t i = 0; i < std::size(fate_words); ++i)
        if (word == fate_words[i]) return static_cast<Fate>(i);
    return std::nullopt;
}

}  // namespace yodel
