// Standard input as the source of one connection, read as fast as its messages are taken.
//
// Lines whose echoes nobody looks at one by one (Session::Options::coalesce) go out many at a
// time. Bytes of `raw` without escapes are read into the session's own buffer.
#pragma once

#include "app/run/input.hpp"
#include "app/run/source.hpp"
#include "ev/loop.hpp"

namespace yodel {

class InputSource final : public Source {
public:
    // `greeting_wait`: how long a service may take to greet before the first message.
    InputSource(ev::Loop& loop, Session& session, User& user, bool escapes,
                ev::Duration greeting_wait);

    std::optional<Outgoing> next() override;
    void sent(const Outgoing& message, Queued queued) override;
    void wait(bool room) override { input_.want(room && !greeting_.pending()); }
    bool over() const override { return input_.over(); }
    Trouble trouble() const override { return input_.trouble(); }
    bool ends_sending() const override { return true; }
    void stop() override { input_.want(false); }

private:
    ev::Loop& loop_;
    Session& session_;
    const ev::Duration greeting_wait_;
    bool lines_ = false;  // next() has returned whole lines
    Input input_;
    ev::Timer greeting_;
};

}  // namespace yodel
