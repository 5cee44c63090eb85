// Decides which reply answers which message. Pure: it uses no socket and no loop, and receives
// the time of reading as an argument, so that its tests are tables of strings.
//
// OrderedMatcher matches replies by their order, ContentMatcher by their content. A session
// owns one of them. It queues messages in it, writes their frames, and passes it the received
// bytes.
//
// The caller pulls events, without their time. The views in an event are valid until the next
// call.
#pragma once

#include "app/protocol/event.hpp"
#include "app/protocol/in_flight.hpp"
#include "app/text/expression.hpp"
#include "bufio/end.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

enum class Expect : std::uint8_t { echo, any, none, given };
inline constexpr const char* expect_words[] = {"echo", "any", "none", "given"};
inline const char* word_of(Expect expect) {
    return expect_words[static_cast<std::size_t>(expect)];
}

class Matcher {
public:
    Matcher() = default;
    virtual ~Matcher() = default;
    Matcher(const Matcher&) = delete;
    Matcher& operator=(const Matcher&) = delete;

    // Queues a message, or several if for_each_piece() cuts the payload. `planned` defaults to
    // the time of the flush. `reply`: the expected reply with Expect::given.
    virtual QueuedIds queue(std::string_view payload, ev::Time planned = {},
                            std::optional<std::string_view> reply = {}) = 0;
    // Queue a message without a copy; see InFlight::reserve(). By default they refuse.
    virtual char* reserve(std::size_t /*size*/) { return nullptr; }
    virtual QueuedIds queue_reserved(std::size_t /*size*/) { return {}; }
    virtual bool flushed() const = 0;
    // Returns the frames queued since the last call, to be written now.
    virtual std::string_view flush(ev::Time now) = 0;
    // Records at `time` that the first `bytes` bytes of the connection have been written.
    virtual void record_written(std::uint64_t bytes, ev::Time time) = 0;
    // Frees memory that is not needed now.
    virtual void release_idle() {}

    // Returns true if the framing needs no greeting, or the greeting has arrived. Call it
    // before the connection sends its first message, so that earlier bytes answer nothing.
    virtual bool greeted(std::string_view /*received*/) { return true; }
    virtual bool echoed() const { return false; }  // this connection has echoed a message
    // Returns the next event of the received bytes, and removes the processed bytes from their
    // front. Returns none if it needs more bytes. `received`: all bytes not yet removed. If
    // there are more of them than the last call left, they may answer all messages queued so
    // far.
    virtual std::optional<Event> next(std::string_view& received, ev::Time read_at) = 0;
    // Returns the next event caused by an earlier call.
    virtual std::optional<Event> next_resolved() = 0;
    // Returns why the connection can no longer be decoded. Then nothing more is read from it.
    const bufio::End& refusal() const { return refusal_; }
    // Assigns the unmatched replies to messages now, without waiting for more replies.
    virtual void resolve_unmatched() {}
    // Marks the oldest message in flight as late. It counts as lost until a late reply comes.
    virtual void mark_oldest_late() = 0;
    // Marks all messages in flight as lost, because the connection has ended. With
    // `unwritten_stay`, messages that are not fully written may stay queued.
    virtual void lose(bool unwritten_stay) = 0;
    // Prepares for the next connection, which sends the remaining messages.
    virtual void restart() = 0;
    virtual void void_round_trips() = 0;

    // Returns true while the first reply of the connection may be a greeting. Only another
    // reply can distinguish a greeting from a bad reply.
    virtual bool greeting_possible() const { return false; }
    // Treats the possible greeting as a bad reply.
    virtual void rule_out_greeting() {}

    virtual ev::Duration max_round_trip() const { return {}; }  // ContentMatcher only

    virtual std::uint64_t reserve_id() = 0;  // for a message that is not queued
    virtual std::uint64_t last_id() const = 0;
    // Returns the id of the message that the next bytes of a stream answer, late or not; 0 if
    // there is none.
    virtual std::uint64_t oldest_id() const { return 0; }
    virtual std::size_t in_flight() const = 0;        // messages queued or sent
    virtual std::size_t in_flight_bytes() const = 0;  // at least their payloads
    // Returns when the oldest message in flight was sent. There must be one.
    virtual ev::Time oldest_sent_at() const = 0;
    // Returns true if the next connection could still send a queued message.
    virtual bool has_unwritten() const = 0;

protected:
    bufio::End refusal_;
};

// Returns the offset of the first difference, at most the size of the shorter text.
std::size_t first_difference(std::string_view a, std::string_view b);

// Returns the offset in `a` of the first unmasked difference; none if there is none.
std::optional<std::size_t> difference(const Expression* mask, std::string_view a,
                                      std::string_view b);

// Returns the number of positions with equal bytes.
std::size_t likeness(std::string_view a, std::string_view b);

// Compares the reply with `expected`. Without an expected reply, the result is bad, with a
// difference at byte 0.
Reply compared_reply(const Expression* mask, std::optional<std::string_view> expected,
                     std::string_view payload, std::optional<ev::Duration> round_trip);

// Returns "differs at byte 7", or "does not match" without a difference.
std::string differs_text(std::optional<std::size_t> difference);

// Returns the byte at `at` in hex, or "end" past the last byte.
std::string byte_text(std::string_view bytes, std::size_t at);

// Returns "at byte 4 (expected o, got n)": the expected and the received byte. The reply must
// have a difference.
std::string bad_byte_text(const Reply& bad);

// Returns a sentence about a stale reply.
std::string stale_text(std::string_view payload);

// Explains a bad reply in a clause: an option to use, or that only its beginning was examined.
// Returns an empty text if it looks like a damaged echo.
std::string reply_hint(const Framing& framing, std::string_view payload, const Reply& bad);

}  // namespace yodel
