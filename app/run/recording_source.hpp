// Replays a recording as the source of a connection. Sends the messages at their recorded
// times, or as soon as replies arrive, and expects the recorded unsolicited messages.
//
// Times count from the first message, which waits for everything recorded before it, such as a
// greeting.
#pragma once

#include "app/protocol/recording.hpp"
#include "app/run/source.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace yodel {

class RecordingSource final : public Source {
public:
    // Sets the session options that a replay requires, except the target.
    static void prepare(Session::Options& options, const Framing& framing);

    // The recording must have no trouble. With `fast`, each message is sent as soon as all
    // replies and unsolicited messages recorded before it have arrived.
    RecordingSource(ev::Loop& loop, std::shared_ptr<const Recording> recording, bool fast,
                    Session& session, User& user);

    std::optional<Outgoing> next() override;
    void sent(const Outgoing& message, QueuedIds queued) override;
    bool over() const override;
    void left_flight(const Message& message) override { awaited_.erase(message.id); }
    Fate judge_unsolicited(std::string_view payload) override;
    bool expects(std::string_view unsolicited) override {
        return find(unsolicited) != outstanding_.end();
    }
    void stop() override;
    void closed() override;

private:
    // The recorded unsolicited messages that have not arrived, each by its payload without
    // masked parts and its place in the recording.
    using Outstanding = std::set<std::pair<std::string, std::size_t>>;
    struct Expected {
        std::size_t place;
        ev::Time deadline;  // missing after this time
    };

    bool is_due(const Event& message);
    void expect(const Event& unsolicited);
    Outstanding::const_iterator find(std::string_view payload) const;
    Outstanding::value_type key_of(std::string_view payload, std::size_t place) const;
    void report_first_missing();

    ev::Loop& loop_;
    const std::shared_ptr<const Recording> recording_;
    const bool fast_;
    Session& session_;
    User& user_;
    std::size_t next_ = 0;            // place of the next event
    std::optional<ev::Time> origin_;  // time 0 of the recording, once the first message is due
    bool stopped_ = false;            // by the user
    // The ids of the messages in flight that expect a reply, and their recorded ids.
    std::map<std::uint64_t, std::uint64_t> awaited_;
    Outstanding outstanding_;
    std::deque<Expected> expected_;  // the outstanding ones before the next event
    ev::Timer due_timer_;            // the next message
    ev::Timer overdue_timer_;        // the first deadline in `expected_`
};

}  // namespace yodel
