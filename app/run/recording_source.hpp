// Replays one recorded conversation as the source of a connection. Sends its messages again,
// at their recorded times or as soon as replies come, and expects its unsolicited messages
// again.
//
// Times count from the first message, which waits for everything recorded before it, such as a
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
        std::shared_ptr<const Recording> recording;  // without trouble(); the source copies it
        // Sends each message as soon as all unsolicited messages recorded before it have come,
        // and fewer than `window` replies are missing.
        bool fast = false;
        std::size_t window = 1;
        std::size_t max_bytes = max_bytes_in_flight;  // in flight, including expected replies
    };

    // Sets the session options that a replay requires, apart from the target.
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
    // A recorded unsolicited message that has not come yet.
    struct Expected {
        ev::Duration at;    // recorded time of arrival
        ev::Time deadline;  // missing after this time
        std::string payload;
    };

    std::deque<Expected>::iterator find(std::string_view payload);
    bool expect(RecordedItem& item);
    bool may_send(const RecordedItem& item);
    void read();
    void report_first_missing();
    void cancel();

    ev::Loop& loop_;
    const Options options_;
    Recording recording_;
    Session& session_;
    User& user_;
    bool begun_ = false;             // the first message was due
    bool stopped_ = false;           // by the user, or after a bad line
    ev::Time start_{};               // start of the recorded times, once begun
    std::size_t without_reply_ = 0;  // messages in flight without an expected reply
    std::size_t reply_bytes_ = 0;    // bytes of the expected replies in flight
    // With `fast`: recorded times of the replies to messages in flight, by message id.
    std::map<std::uint64_t, ev::Duration> answered_;
    std::deque<Expected> expected_;
    Trouble trouble_;
    ev::Watch watch_;    // the recording, unless it is a regular file
    ev::Timer more_;     // the next piece of a regular file, due at once
    ev::Timer due_;      // the next message
    ev::Timer overdue_;  // the deadline of the first in `expected_`
};

}  // namespace yodel
