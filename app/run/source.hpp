// Supplies the messages of a connection, for example from standard input, a generator or a
// recording.
//
// The user calls next() while the connection can send. A source calls source_changed() only
// from the loop, never from inside the user's own calls.
#pragma once

#include "app/protocol/session.hpp"
#include "app/text/exit_status.hpp"
#include "ev/loop.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace yodel {

// A message to send. Its views are valid until the next call of the source.
struct Outgoing {
    std::string_view payload;
    ev::Time planned{};                          // due time; none: time of the write
    std::optional<std::string_view> reply = {};  // see Session::send()
    bool reserved = false;                       // the payload is in Session::reserve()'s space
    bool unterminated = false;                   // last line of the input, without a newline
};

class Source {
public:
    class User {
    public:
        // next() may return another message now, or over() has become true.
        virtual void source_changed() = 0;
        // A recorded unsolicited message did not come.
        virtual void source_missed(std::string_view payload) = 0;

    protected:
        ~User() = default;
    };
    // Makes the source of one connection. The loop, the session and the user must outlive it.
    using Make =
        std::function<std::unique_ptr<Source>(ev::Loop&, Session& session, User& user)>;

    Source() = default;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    virtual ~Source() = default;

    // Returns the next message if it may be sent now. Call sent() if it was sent. If it was
    // not, the source may return it again or drop it.
    virtual std::optional<Outgoing> next() = 0;
    // Records that the message was sent with these ids.
    virtual void sent(const Outgoing&, QueuedIds) {}
    // Called when all messages that may be sent have been sent. `can_send`: the connection
    // could send more.
    virtual void wait(bool /*can_send*/) {}
    // Returns true if no message is left.
    virtual bool over() const = 0;
    // Limits the source to `count` more messages.
    virtual void end_after(std::uint64_t /*count*/) {}
    // Returns the error that ended the source, if any.
    virtual Trouble trouble() const { return {}; }
    // Returns true if our sending side must be closed as soon as the source ends, before the
    // last replies, because the service may not reply until it sees the end of its input.
    virtual bool ends_sending() const { return false; }

    virtual void left_flight(const Message&) {}  // answered in time, or lost
    // Returns the fate of an unsolicited message. A replay compares it with the recording, and
    // removes the expected message that it equals.
    virtual Fate judge_unsolicited(std::string_view) { return Fate::unsolicited; }
    virtual bool expects(std::string_view /*unsolicited*/) { return false; }
    // Called when no more messages are wanted.
    virtual void stop() {}
    // Called when the connection is closed for good.
    virtual void closed() {}
};

}  // namespace yodel
