// An event is about a message or a reply, or is a remark. Sessions report events, results count
// them, recordings store them, and screens and pipes show them, as lines or as JSON objects.
#pragma once

#include "app/text/json.hpp"
#include "app/text/regex.hpp"
#include "ev/time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

struct Framing;

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
    duplicate,                // a reply that was received again
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

// Return whether an event with this fate has a message, and whether it has a reply.
inline bool has_message(Fate fate) { return fate <= Fate::unanswered_as_recorded; }
inline bool has_reply(Fate fate) {
    return fate > Fate::unanswered_as_recorded || (fate >= Fate::echoed && fate <= Fate::late);
}

struct Message {
    std::uint64_t id = 0;      // from 1, in the order of sending; 0 if there is none
    std::string_view payload;  // valid until the queue changes
    ev::Time planned_at{};     // when it was due
    ev::Time sent_at{};        // when its last byte was written; until then, time of the flush
    bool is_late = false;      // reported as lost, because no reply arrived in time
    // Set only with Expect::given, if a reply is expected. Valid as long as the payload.
    std::optional<std::string_view> expected = {};
};

struct Reply {
    std::string_view payload;
    std::optional<ev::Duration> round_trip = {};  // from write to read; none if not measured
    bool is_right = false;
    // Offset of the first bad byte, or 0 if no reply was expected. None for a right reply, and
    // with Expect::any.
    std::optional<std::size_t> difference = {};
    bool is_reordered = false;  // follows the reply to a later message; datagrams only
    // What the first bad byte should be; none if the right reply ends there.
    std::optional<char> right_byte = {};
};

// The views are valid until the callback returns or sends.
struct Event {
    Fate fate = Fate::note;
    Message message = {};  // if has_message(fate)
    // If has_reply(fate). For a lost message, the payload continues the words "no reply".
    Reply reply = {};
    ev::Time at{};                 // when it happened
    std::uint32_t connection = 1;  // number of the connection, from 1
    // Number of messages with consecutive ids, which were sent or echoed together. The payload
    // of `message` extends to the end of the last one.
    std::size_t count = 1;
    // The frames of a batch of echoes, as sent; empty if the event is about one reply.
    std::string_view frames = {};
    bool is_unterminated = false;  // with Fate::sent: a last line without a newline
};

inline Event answered_event(const Message& message, const Reply& reply) {
    const Fate fate = message.is_late ? Fate::late : reply.is_right ? Fate::echoed : Fate::bad;
    return {.fate = fate, .message = message, .reply = reply};
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
    std::size_t size() const { return sizeof *this + size_; }  // bytes of memory

private:
    Event event_;
    std::size_t size_;
    std::unique_ptr<char[]> bytes_;
};

// --- Differences between replies and what is expected

// Returns the offset of the first difference, or the size of the shorter text if the longer
// text begins with it.
std::size_t first_difference(std::string_view a, std::string_view b);

// Returns the offset in `a` of the first unmasked difference, or none if there is no
// difference.
std::optional<std::size_t> difference(const Regex* mask, std::string_view a,
                                      std::string_view b);

// Without an expected reply, the result is bad, with a difference at byte 0.
Reply compared_reply(const Regex* mask, std::optional<std::string_view> expected,
                     std::string_view payload, std::optional<ev::Duration> round_trip);

// Returns "differs at byte 7", or "does not match" if the offset is unknown.
std::string differs_text(std::optional<std::size_t> difference);

// Returns the byte in hex, or "end" past the last byte.
std::string byte_text(std::string_view bytes, std::size_t offset);

// Returns "at byte 4 (expected o, got n)". The reply must have a difference.
std::string bad_byte_text(const Reply& bad);

// Returns "differs at byte 4 (expected o, got n)", or "does not match".
std::string bad_text(const Reply& bad);

std::string stale_text(std::string_view payload);

// Returns a clause that explains a bad reply, or names an option that may help. Returns an
// empty text if no cause is likely, for example after a damaged echo.
std::string reply_hint(const Framing& framing, std::string_view payload, const Reply& bad);

// --- Lines of a transcript:
//
//     2026-11-21 12:04:31.208113 > hello
//
// `>` marks a sent message, `<` received bytes, and `-` a remark. Bytes that are not plain text
// are escaped.

// Returns whole lines. If remark() is not empty, it is the last line.
std::string lines(std::chrono::system_clock::time_point at, const Event& event);

// Returns a clause, with the number of the message if there is one, or an empty string for an
// event that needs no remark.
std::string remark(const Event& event);

// --- JSON objects, for --json, recordings and the samples of a load. yodel-json(5) describes
// the members.

inline constexpr std::size_t whole_payload = std::string_view::npos;

struct EventForm {
    // Limit for the bytes written of each payload. With 0, the object contains neither payloads
    // nor the time of an event that has no message.
    std::size_t max_payload = 0;
    bool has_connection = false;  // the object contains the number of the connection
};

// Times are relative to `start`.
JsonObject json(const Event& event, ev::Time start, const EventForm& form);

// Reads an object that contains payloads, or throws JsonError. Times count from ev::Time{}. The
// event of a message without a round trip gets the time of sending or, if later, `previous`.
// With `is_sample`, payloads may be cut, and the round trip is measured from the planned time.
StoredEvent read_event(const JsonValue& object, ev::Time previous, bool is_sample = false);

}  // namespace yodel
