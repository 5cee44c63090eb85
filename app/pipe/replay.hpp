// A recording as the source of messages: they are said again, and the recorded replies are
// required instead of echoes. What came unsolicited must come again, too: about when it did,
// between whatever replies.
//
// Where a line of the recording is not right, the replay ends there, in order, with the status
// of wrong usage.
#pragma once

#include "app/pipe/pipe_mode.hpp"
#include "app/pipe/recording.hpp"
#include "app/pipe/replayer.hpp"
#include "ev/loop.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace yodel {

class Replay final : public PipeMode, private Replayer::User {
public:
    struct Options {
        AnySession::Options session;
        Reporter::Options report = {};
        std::shared_ptr<Recording> recording = {};  // without trouble
        bool fast = false;                          // these two are of Replayer::Options
        unsigned window = 1;
    };

    // Throws std::system_error: the log.
    Replay(ev::Loop& loop, const Options& options);

private:
    void send() override { replayer_.send(); }
    void disconnected() override;
    void left_flight(const Message& message) override { replayer_.left_flight(message); }
    void unsolicited(std::string_view payload) override { replayer_.unsolicited(payload); }

    void replay_said(std::string_view payload, Queued queued, ev::Time planned) override;
    void replay_written(ev::Duration late) override;
    void replay_unsolicited(Replayer::Unsolicited kind, std::string_view payload) override;
    void replay_failed(const std::string& trouble) override;

    static AnySession::Options session_options(const Options& options, Replay& replay);

    Replayer replayer_;
};

}  // namespace yodel
