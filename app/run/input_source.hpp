// The source of one connection that sends standard input. Reads no faster than it can send.
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
    void sent(const Outgoing& message, QueuedIds queued) override;
    void wait(bool can_send) override { input_.want(can_send && !greeting_timer_.pending()); }
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
