// A recording as the source of messages: they are said again, at their times or as soon as
// replies come, and the recorded replies are required instead of echoes.  What came unsolicited
// must come again, too: about when it did, between whatever replies.
//
// Times count from the first message, which waits for what was recorded before it, such as a
// greeting. The recording is read while it is said; where a line of it is not right, the replay
// ends there, in order, with the status of wrong usage.
#pragma once

#include "app/pipe/pipe_mode.hpp"
#include "app/pipe/recording.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace yodel {

class Replay final : public PipeMode {
public:
    struct Options {
        AnySession::Options session;
        Reporter::Options report = {};
        std::shared_ptr<Recording> recording = {};  // without trouble
        // Say each message as soon as fewer than `window` replies are awaited, and all that was
        // recorded before it as unsolicited has come.
        bool fast = false;
        unsigned window = 1;
    };

    // Throws std::system_error: the log.
    Replay(ev::Loop& loop, const Options& options);

private:
    // An unsolicited message that was recorded and has not yet come.
    struct Foreseen {
        ev::Duration at;    // when it came, in the time of the recording
        ev::Time deadline;  // until when it is waited for
        std::string payload;
    };

    void send() override;
    void disconnected() override;
    void left_flight(const Message& message) override;
    void unsolicited(std::string_view payload) override;

    static AnySession::Options session_options(const Options& options, Replay& replay);
    bool foreseen(std::string_view payload) {
        return find_foreseen(payload) != foreseen_.end();
    }
    std::deque<Foreseen>::iterator find_foreseen(std::string_view payload);
    bool take_next();
    bool foresee(RecordedItem& item);
    bool may_say(const RecordedItem& item);
    bool waits_for_unsolicited(const RecordedItem& item) const;
    bool in_time(const RecordedItem& item);
    bool say(const RecordedItem& item);
    void watch_recording();
    void read();
    void give_up();
    void finish_if_done();
    void give_up_foreseen();
    void report_missing();

    ev::Loop& loop_;
    const std::shared_ptr<Recording> recording_;
    const bool fast_;
    const std::size_t window_;
    bool begun_ = false;             // the first message was said
    bool given_up_ = false;          // the recording is not right
    ev::Time start_{};               // once begun: of the recording's times
    std::size_t silent_ = 0;         // messages in flight that are to get no reply
    std::size_t awaited_bytes_ = 0;  // of the replies to the others
    std::deque<Foreseen> foreseen_;
    ev::Watch watch_;    // of the recording
    ev::Timer due_;      // the next message
    ev::Timer overdue_;  // the first of `foreseen_`
};

}  // namespace yodel
