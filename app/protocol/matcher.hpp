// Decides which reply answers which message.  Pure: it knows no socket and no loop, and the
// time of reading is an argument, so that its tests are tables of strings.
//
// OrderedMatcher matches replies by their order, ContentMatcher by their content. A link owns
// one of them, queues messages in it, and passes it the received bytes. This is their common
// interface, and all that a session uses of them.
//
// Events are pulled. The views of an event are valid until the next call.
#pragma once

#include "app/protocol/in_flight.hpp"
#include "app/text/expression.hpp"
#include "app/text/fate.hpp"
#include "bufio/end.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace yodel {

enum class Expect : std::uint8_t { echo, any, none, given };

struct Reply {
    std::string_view payload;
    std::optional<ev::Duration> round_trip = {};  // from the write to the read; none if voided
    bool right = false;
    // Offset of the first wrong byte, if a wrong reply was compared with an expected one.
    std::optional<std::size_t> difference = {};
    bool reordered = false;  // follows the reply to a later message; ContentMatcher only
    // Byte of the right reply at the difference; none: the right reply ends there.
    std::optional<char> right_byte = {};
};

// Returns the fate of an answered message.
inline Fate fate_of(const Message& message, const Reply& reply) {
    if (message.late) return Fate::late;
    return reply.right ? Fate::echoed : Fate::bad;
}

class Matcher {
public:
    struct Answered {
        Message message;
        Reply reply;
    };
    // Only if messages are coalesced.
    struct Echoed {
        Batch batch;
        std::optional<ev::Duration> round_trip;
    };
    struct Lost {
        Message message;
    };
    struct Unsolicited {
        std::string_view payload;
    };
    // Bytes that belong to no message, although this connection has echoed one before.
    struct Stale {
        std::string_view payload;
    };
    // A duplicate of a reply: of any datagram, or of the last echo in a stream.
    struct Duplicate {
        std::string_view payload;
    };
    // Bytes of a reply without a frame, before they are matched.
    struct Arrived {
        std::string_view bytes;
    };
    // The reply that is arriving is already wrong: it begins unlike the echo of any message.
    // Reported once for each reply.
    struct Differing {
        Message message;  // the oldest
    };
    // Nothing more can be read from this connection: the last event until restart().
    struct Refused {
        bufio::End end;
    };
    using Event = std::variant<Answered, Echoed, Lost, Unsolicited, Stale, Duplicate, Arrived,
                               Differing, Refused>;

    Matcher() = default;
    virtual ~Matcher() = default;
    Matcher(const Matcher&) = delete;
    Matcher& operator=(const Matcher&) = delete;

    // Returns the next event that an earlier call has made due.
    virtual std::optional<Event> next_resolved() = 0;
    // Assigns the unmatched replies to messages without waiting for more.
    virtual void resolve_unmatched() {}
    // Marks the oldest message in flight as lost, until a late reply comes.
    virtual void mark_late() = 0;
    // Makes all messages in flight lost, because the connection has ended. With
    // `unwritten_stay`, a matcher may keep the messages that were not written whole.
    virtual void lose(bool unwritten_stay) = 0;
    // Prepares for another connection, which sends the remaining messages.
    virtual void restart() = 0;
    virtual void void_round_trips() = 0;

    // True while the first reply of the connection may be a greeting of the service. Only
    // another reply can distinguish it from a wrong answer.
    virtual bool greeting_possible() const { return false; }
    // Treats the possible greeting as a wrong answer.
    virtual void rule_out_greeting() {}

    virtual std::uint64_t reserve_id() = 0;  // for a message that is not queued
    virtual std::uint64_t last_id() const = 0;
    // The message that the next bytes of a stream answer, late or not; 0: there is none.
    virtual std::uint64_t oldest_id() const { return 0; }
    virtual std::size_t in_flight() const = 0;        // messages queued or sent
    virtual std::size_t in_flight_bytes() const = 0;  // at least the size of their payloads
    // When the oldest message in flight was sent; there must be one.
    virtual ev::Time oldest_sent() const = 0;
    // True if another connection could still send a message of this one.
    virtual bool has_unwritten() const = 0;
};

// Returns the offset of the first byte that differs, or at which the shorter of the two ends.
std::size_t first_difference(std::string_view a, std::string_view b);

// Returns the offset in `a` of the first difference; none if the two compare equal.
std::optional<std::size_t> difference(const Expression* mask, std::string_view a,
                                      std::string_view b);

// Returns the number of positions with equal bytes.
std::size_t likeness(std::string_view a, std::string_view b);

// Returns the reply, compared with the expected one. If none is expected, it differs from its
// first byte on.
Reply compared_reply(const Expression* mask, std::optional<std::string_view> expected,
                     std::string_view payload, std::optional<ev::Duration> round_trip);

// Returns "differs at byte 7", or "does not match" for a reply that was not compared.
std::string wrong_text(std::optional<std::size_t> difference);

// Returns a byte in hex, or "end" if there is none.
std::string byte_text(std::string_view bytes, std::size_t at);

// Returns the place of the first wrong byte of a reply with a difference, and both bytes:
// "at byte 4 (o, got n)".
std::string place_text(const Reply& wrong);

// Returns a sentence about stale bytes; see Matcher::Stale.
std::string stale_text(std::string_view payload);

// Explains a wrong reply, as the end of a sentence: an option to use, the error in its frame,
// or the limit of the search. Returns an empty text if the reply looks like a damaged echo.
std::string mismatch_hint(const Framing& framing, std::string_view payload, const Reply& wrong);

}  // namespace yodel
