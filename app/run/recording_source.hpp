// One conversation of a recording as the source of a connection: its messages go out again, at
// their times or as soon as replies come, and its unsolicited messages are expected again.
//
// Times count from the first message, which waits for what was recorded before it, such as a
// greeting. The recording is read while it is replayed.
#pragma once

#include "app/run/recording.hpp"
#include "app/run/sending_limits.hpp"
#include "app/run/source.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace yodel {

class RecordingSource final : public Source {
public:
    struct Options {
        std::shared_ptr<Recording> recording;  // of this conversation alone, without trouble
        // Each message goes out as soon as all that was recorded before it has come: what was
        // unsolicited, and the replies, of which fewer than `window` may be missing.
        bool fast = false;
        std::size_t window = 1;
        std::size_t max_bytes = max_bytes_in_flight;  // in flight, with the expected replies
    };

    // Changes the options that a replaying session needs beside its target.
    static void prepare(Session::Options& options, const Framing& framing);

    RecordingSource(ev::Loop& loop, Options options, Session& session, User& user);

    std::optional<Outgoing> next() override;
    void sent(const Outgoing& message, Queued queued) override;
    void wait(bool room) override;
    bool over() const override;
    Trouble trouble() const override { return trouble_; }
    void left_flight(const Message& message) override;
    Unsolicited compare(std::string_view payload) override;
    bool expects(std::string_view unsolicited) override {
        return find(unsolicited) != expected_.end();
    }
    void stop() override;
    void closed() override;

private:
    // An unsolicited message that was recorded and has not yet come.
    struct Expected {
        ev::Duration at;    // when it came, in the time of the recording
        ev::Time deadline;  // until when it is awaited
        std::string payload;
    };

    std::deque<Expected>::iterator find(std::string_view payload);
    bool expect(RecordedItem& item);
    bool may_send(const RecordedItem& item);
    void read();
    void miss_first();
    void cancel();

    ev::Loop& loop_;
    const Options options_;
    Recording& recording_;
    Session& session_;
    User& user_;
    bool begun_ = false;           // the first message was due
    bool stopped_ = false;         // by the user, or because of a bad line
    ev::Time start_{};             // once begun: of the recording's times
    std::size_t silent_ = 0;       // messages in flight without an expected reply
    std::size_t reply_bytes_ = 0;  // bytes of the expected replies to the others
    // With `fast`: when the replies to messages in flight came, by the messages' numbers.
    std::map<std::uint64_t, ev::Duration> answered_;
    std::deque<Expected> expected_;
    Trouble trouble_;
    ev::Watch watch_;    // of a recording that has to be waited for
    ev::Timer more_;     // due at once: the next piece of a regular file
    ev::Timer due_;      // the next message
    ev::Timer overdue_;  // the first of `expected_`
};

}  // namespace yodel
