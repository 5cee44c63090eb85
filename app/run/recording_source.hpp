// Replays a recorded conversation as the source of a connection. Sends the messages at their
// recorded times, or as soon as replies come, and expects the recorded unsolicited messages.
//
// Times count from the first message, which waits for everything recorded before it, such as a
// greeting.
#pragma once

#include "app/run/recording.hpp"
#include "app/run/source.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

class RecordingSource final : public Source {
public:
    // Sets the session options that a replay requires, except the target.
    static void prepare(Session::Options& options, const Framing& framing);

    // The trouble() of the recording must be empty. With `fast`, each message is sent as soon
    // as all replies and unsolicited messages recorded before it have come.
    RecordingSource(ev::Loop& loop, std::shared_ptr<Recording> recording, bool fast,
                    Session& session, User& user);

    std::optional<Outgoing> next() override;
    void sent(const Outgoing& message, QueuedIds queued) override;
    bool over() const override;
    void left_flight(const Message& message) override;
    Fate judge_unsolicited(std::string_view payload) override;
    bool expects(std::string_view unsolicited) override {
        return find(unsolicited).has_value();
    }
    void stop() override;
    void closed() override;

private:
    // A recorded unsolicited message that has not come yet.
    struct Expected {
        RecordedItem item;
        ev::Time deadline;  // missing after this time
    };

    RecordedItem* item(std::size_t place);
    void remove(std::size_t place);
    bool may_send(const RecordedItem& item);
    void expect(std::size_t place);
    std::optional<std::size_t> find(std::string_view payload);  // place in `expected_`
    std::optional<std::size_t> find_ahead(const std::string& masked_payload);
    bool equals(RecordedItem& item, const std::string& masked_payload) const;
    void report_first_missing();
    void cancel();

    ev::Loop& loop_;
    const std::shared_ptr<Recording> recording_;
    const bool fast_;
    Session& session_;
    User& user_;
    bool begun_ = false;                    // the first message is or was due
    bool stopped_ = false;                  // by the user
    ev::Time start_{};                      // time 0 of the recording, once begun
    std::size_t without_reply_count_ = 0;   // messages in flight without an expected reply
    std::size_t expected_reply_bytes_ = 0;  // total for the messages in flight
    // With `fast`: recorded reply times of the messages in flight, by message id.
    std::map<std::uint64_t, ev::Duration> answered_at_;
    std::deque<Expected> expected_;
    ev::Timer due_timer_;      // the next message
    ev::Timer overdue_timer_;  // deadline of the first item in `expected_`
};

}  // namespace yodel
