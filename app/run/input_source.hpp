// The source of one connection that sends standard input, read as fast as it can be sent.
//
// With Session::Options::coalesce, many lines are sent at once. With `raw` and no escapes,
// input is read directly into the session's buffer.
#pragma once

#include "app/run/input.hpp"
#include "app/run/source.hpp"
#include "ev/loop.hpp"

namespace yodel {

class InputSource final : public Source {
public:
    // `greeting_wait`: delay before the first message, during which the service may send a
    // greeting.
    InputSource(ev::Loop& loop, Session& session, User& user, bool escapes,
                ev::Duration greeting_wait);

    std::optional<Outgoing> next() override;
    void sent(const Outgoing& message, Queued queued) override;
    void wait(bool room) override { input_.want(room && !greeting_timer_.pending()); }
    bool over() const override { return input_.over(); }
    Trouble trouble() const override { return input_.trouble(); }
    bool ends_sending() const override { return true; }
    void stop() override { input_.want(false); }

private:
    ev::Loop& loop_;
    Session& session_;
    const ev::Duration greeting_wait_;
    bool lines_ = false;  // the message from next() consists of whole lines
    Input input_;
    ev::Timer greeting_timer_;
};

}  // namespace yodel
