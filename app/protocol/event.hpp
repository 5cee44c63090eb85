// What happens to a message, or on a connection without one. Sessions report events, results
// count them, recordings store them, and screens and pipes show them.
#pragma once

#include "ev/time.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace yodel {

enum class Fate : std::uint8_t {
    sent,         // queued for sending
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
    // Not in recordings:
    stale,  // unsolicited, on a connection that has echoed a message
    read,   // bytes of unframed replies as they were read, before they are matched
    note,   // a remark by the program, in Reply::payload
};

inline constexpr const char* fate_words[] = {
    "sent",    "unsent",      "echoed",      "bad",       "matched",     "late",
    "lost",    "matched",     "unsolicited", "duplicate", "unsolicited", "unrecorded",
    "missing", "unsolicited", "read",        "note",
};

inline const char* word_of(Fate fate) { return fate_words[static_cast<std::size_t>(fate)]; }

// Returns the first fate with this word that a recording may contain.
inline std::optional<Fate> find_fate(std::string_view word) {
    for (std::size_t i = 0; i <= static_cast<std::size_t>(Fate::missing); ++i)
        if (word == fate_words[i]) return static_cast<Fate>(i);
    return std::nullopt;
}

// Returns true if a message had this fate, and if something was received.
inline bool has_message(Fate fate) { return fate <= Fate::unanswered_as_recorded; }
inline bool has_reply(Fate fate) {
    return fate > Fate::unanswered_as_recorded || (fate >= Fate::echoed && fate <= Fate::late);
}

struct Message {
    std::uint64_t id = 0;      // from 1, in the order of sending; 0: none
    std::string_view payload;  // valid until the queue changes
    ev::Time planned{};        // when it was due
    ev::Time sent{};           // when its last byte was written; until then, time of the flush
    bool late = false;         // reported as lost: no reply arrived in time
    // Expected reply with Expect::given, valid as long as the payload; none if no reply is
    // expected.
    std::optional<std::string_view> expected = {};
};

struct Reply {
    std::string_view payload;
    std::optional<ev::Duration> round_trip = {};  // from write to read; none if not measured
    bool right = false;
    // Offset of the first bad byte, if a bad reply was compared with an expected reply.
    std::optional<std::size_t> difference = {};
    bool reordered = false;  // follows the reply to a later message; datagrams only
    // Byte of the right reply at `difference`; none if the right reply ends there.
    std::optional<char> right_byte = {};
};

// The views are valid until the callback returns or sends.
struct Event {
    Fate fate = Fate::note;
    Message message = {};  // if has_message(fate)
    // If has_reply(fate). A lost message has a payload: why, as the rest of "no reply".
    Reply reply = {};
    ev::Time at{};                 // when it happened
    std::uint32_t connection = 1;  // its number, from 1
    bool warm_up = false;          // the message belongs to the warm-up of a load
    // Number of messages with consecutive ids, which were sent or echoed together. The payload
    // of `message` extends to the end of the last one.
    std::size_t count = 1;
    // The frames of a batch of echoes, as sent; null if the event is about a single reply.
    std::string_view frames = {};
    bool unterminated = false;  // sent: the last line of the input, without a newline
};

// Returns the fate of an answered message.
inline Fate fate_of(const Message& message, const Reply& reply) {
    if (message.late) return Fate::late;
    return reply.right ? Fate::echoed : Fate::bad;
}

inline Event message_event(Fate fate, const Message& message) {
    return {.fate = fate, .message = message};
}
inline Event answered_event(const Message& message, const Reply& reply) {
    return {.fate = fate_of(message, reply), .message = message, .reply = reply};
}
inline Event received_event(Fate fate, std::string_view payload) {
    return {.fate = fate, .reply = {.payload = payload}};
}

// An event that owns its payloads and its expected reply. Moving it keeps its views valid.
class StoredEvent {
public:
    explicit StoredEvent(const Event& event);

    const Event& operator*() const { return event_; }
    const Event* operator->() const { return &event_; }
    // Returns the memory of the event in bytes.
    std::size_t size() const { return sizeof *this + size_; }

private:
    Event event_;
    std::size_t size_;
    std::unique_ptr<char[]> bytes_;
};

}  // namespace yodel
