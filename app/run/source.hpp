// Where the messages of a connection come from: standard input, a generator, a recording.
//
// A source is asked for its next message while the connection has room for one. It never calls
// its user from inside a call of the user.
#pragma once

#include "app/protocol/session.hpp"
#include "app/text/exit_status.hpp"
#include "ev/loop.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace yodel {

// A message to send. Its views are valid until the next call of the source.
struct Outgoing {
    std::string_view payload;
    ev::Time planned{};                          // when it is due; none: when it is written
    std::optional<std::string_view> reply = {};  // see Session::send()
    bool reserved = false;                       // the payload is in Session::reserve()'s space
    bool unterminated = false;                   // the input's last line, without its newline
};

// How an unsolicited message compares with a recording.
enum class Unsolicited { no_recording, as_recorded, unrecorded };

class Source {
public:
    class User {
    public:
        // next() may return another message now, or over() has become true.
        virtual void source_changed() = 0;
        // An unsolicited message was recorded, and has not come again.
        virtual void source_missed(std::string_view payload) = 0;

    protected:
        ~User() = default;
    };
    // Makes the source of one connection. The loop, the session and the user outlive it.
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
    // All that may be sent now was sent. `room`: the connection is open and could take more.
    virtual void wait(bool /*room*/) {}
    // No message is left.
    virtual bool over() const = 0;
    // Why no message is left, if that is no orderly end.
    virtual Trouble trouble() const { return {}; }
    // The end of the source is the end of the connection's sending side, which the service may
    // await before it replies. Otherwise the replies are awaited first.
    virtual bool ends_sending() const { return false; }

    virtual void left_flight(const Message&) {}  // it was answered in time, or lost
    // An unsolicited message has come.
    virtual Unsolicited compare(std::string_view) { return Unsolicited::no_recording; }
    virtual bool expects(std::string_view /*unsolicited*/) { return false; }
    // Nothing more is wanted from the source.
    virtual void stop() {}
    // The connection is closed for good.
    virtual void closed() {}
};

}  // namespace yodel
