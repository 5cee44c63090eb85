// One conversation of a recording: says its messages again over a session, at their times or as
// soon as replies come, and knows which unsolicited messages must come again.
//
// Times count from the first message, which waits for what was recorded before it, such as a
// greeting. The recording is read while it is said; where a line of it is not right, nothing
// more is said, and the session is finished.
#pragma once

#include "app/pipe/recording.hpp"
#include "app/pipe/sending_limits.hpp"
#include "app/protocol/any_session.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace yodel {

class Replayer {
public:
    struct Options {
        std::shared_ptr<Recording> recording;  // of this conversation alone, without trouble
        // Send each message as soon as all that was recorded before it has come: what was
        // unsolicited, and the replies, of which fewer than `window` may be missing.
        bool fast = false;
        std::size_t window = 1;
        std::size_t most_bytes = most_bytes_in_flight;  // that await replies, or are awaited
    };

    // How an unsolicited message compares with the recording.
    enum class Unsolicited { as_before, unrecorded, missing };

    // Views are valid until the call returns; the calls come from the loop.
    class User {
    public:
        // With `fast` no time was planned.
        virtual void replay_said(std::string_view payload, Queued queued, ev::Time planned) = 0;
        // How long after its planned time a message was written; not called with `fast`.
        virtual void replay_written(ev::Duration late) = 0;
        virtual void replay_unsolicited(Unsolicited kind, std::string_view payload) = 0;
        // The sentence is about a line of the recording that is not right.
        virtual void replay_failed(const std::string& trouble) = 0;

    protected:
        ~User() = default;
    };

    // The options that a replaying session needs beside its target. `foreseen` must call that
    // of the replayer of the session, which calls it only when a reply has come.
    static void prepare(AnySession::Options& options, const Framing& framing,
                        std::function<bool(std::string_view)> foreseen);

    // The loop, the session and the user outlive the replayer.
    Replayer(ev::Loop& loop, Options options, AnySession& session, User& user);

    // Says what is due, and finishes the session after the last message. To be called after
    // each change of the session.
    void send();
    // A message of the session is answered, unless it is late; or it is lost.
    void left_flight(const Message& message);
    // An unsolicited message has come. The user is told how it compares.
    void unsolicited(std::string_view payload);
    // An unsolicited message with this payload is expected about now.
    bool foreseen(std::string_view payload) { return find(payload) != foreseen_.end(); }
    // Says nothing more, and expects nothing unsolicited.
    void stop();
    // The session is closed: what has not come again is missing, unless stop() came first.
    void disconnected();

private:
    // An unsolicited message that was recorded and has not yet come.
    struct Foreseen {
        ev::Duration at;    // when it came, in the time of the recording
        ev::Time deadline;  // until when it is waited for
        std::string payload;
    };

    std::deque<Foreseen>::iterator find(std::string_view payload);
    bool take_next();
    bool foresee(RecordedItem& item);
    bool may_say(const RecordedItem& item);
    bool waits_for_unsolicited(const RecordedItem& item) const;
    bool was_sent_meanwhile(const RecordedItem& item) const;
    bool in_time(const RecordedItem& item);
    bool say(const RecordedItem& item);
    void watch_recording();
    void read();
    void give_up();
    void finish_if_done();
    void give_up_foreseen();
    void report_missing();
    void cancel();

    ev::Loop& loop_;
    const Options options_;
    Recording& recording_;
    AnySession& session_;
    User& user_;
    bool begun_ = false;             // the first message was said
    bool stopped_ = false;           // by the user, or because the recording is not right
    ev::Time start_{};               // once begun: of the recording's times
    std::size_t silent_ = 0;         // messages in flight that are to get no reply
    std::size_t awaited_bytes_ = 0;  // of the replies to the others
    // With `fast`: when the replies to messages in flight came, by the messages' numbers.
    std::map<std::uint64_t, ev::Duration> answered_;
    std::deque<Foreseen> foreseen_;
    ev::Watch watch_;    // of the recording, where it has to be waited for
    ev::Timer more_;     // due at once: the next piece of a regular file
    ev::Timer due_;      // the next message
    ev::Timer overdue_;  // the first of `foreseen_`
};

}  // namespace yodel
