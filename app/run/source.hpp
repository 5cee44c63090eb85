// The source of a connection's messages: standard input, a generator or a recording.
//
// The user calls next() while the connection has room for a message. A source never calls its
// user from inside such a call.
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
    ev::Time planned{};                          // due time; none: when it is written
    std::optional<std::string_view> reply = {};  // see Session::send()
    bool reserved = false;                       // the payload is in Session::reserve()'s space
    bool unterminated = false;                   // the input's last line, without a newline
};

class Source {
public:
    class User {
    public:
        // next() may return another message now, or over() has become true.
        virtual void source_changed() = 0;
        // A recorded unsolicited message did not come again.
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

    // Returns the next message if it may go out now. It stays the next one until sent().
    virtual std::optional<Outgoing> next() = 0;
    // The message was sent with these ids.
    virtual void sent(const Outgoing&, Queued) {}
    // Called when everything that may be sent now was sent. `room`: the connection is open and
    // could take more.
    virtual void wait(bool /*room*/) {}
    // True if no message is left.
    virtual bool over() const = 0;
    // Limits the source to this number of messages from now on.
    virtual void end_after(std::uint64_t /*count*/) {}
    // Returns the error that ended the source; empty after an orderly end.
    virtual Trouble trouble() const { return {}; }
    // True if the end of the source half-closes the connection at once, because the service
    // may await that before it replies. Otherwise the replies are awaited first.
    virtual bool ends_sending() const { return false; }

    virtual void left_flight(const Message&) {}  // it was answered in time, or lost
    // Compares an unsolicited message with the recording.
    virtual Fate compare(std::string_view) { return Fate::unsolicited; }
    virtual bool expects(std::string_view /*unsolicited*/) { return false; }
    // Called when no more messages are wanted.
    virtual void stop() {}
    // Called when the connection is closed for good.
    virtual void closed() {}
};

}  // namespace yodel
