// The fate of a message that was sent, due or received, and the word for it in JSON.
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

namespace yodel {

enum class Fate {
    sent,         // no reply is awaited
    unsent,       // was due, but could not be sent
    echoed,       // answered in time by a right reply
    bad,          // answered in time by another reply
    as_recorded,  // in a replay: answered by the recorded reply
    late,         // answered after it counted as lost
    lost,
    unanswered_as_recorded,   // in a replay: not answered, as recorded
    unsolicited,              // received, and answers nothing
    duplicate,                // duplicate of a reply
    unsolicited_as_recorded,  // in a replay: unsolicited, as recorded
    unrecorded,               // in a replay: unsolicited, and not recorded
    missing,                  // in a replay: recorded as unsolicited, and not received
};

inline constexpr const char* fate_words[] = {
    "sent",    "unsent",      "echoed",    "bad",         "matched",    "late",    "lost",
    "matched", "unsolicited", "duplicate", "unsolicited", "unrecorded", "missing",
};

inline const char* word_of(Fate fate) { return fate_words[static_cast<std::size_t>(fate)]; }

// Returns the first fate with this word.
inline std::optional<Fate> find_fate(std::string_view word) {
    for (std::size_t i = 0; i < std::size(fate_words); ++i)
        if (word == fate_words[i]) return static_cast<Fate>(i);
    return std::nullopt;
}

}  // namespace yodel
