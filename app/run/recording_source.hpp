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
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

class RecordingSource final : public Source {
public:
    // The recording must have no trouble. With `fast`, each message is sent as soon as all
    // replies and unsolicited messages recorded before it have arrived.
    RecordingSource(ev::Loop& loop, std::shared_ptr<const Recording> recording, bool fast,
                    Session& session, User& user);

    std::optional<Outgoing> next() override;
    void sent(const Outgoing& message, QueuedIds queued) override;
    bool over() const override;
    void left_flight(const Message& message) override;
    Fate judge_unsolicited(std::string_view payload) override;
    bool expects(std::string_view unsolicited) override {
        return find(unsolicited) != outstanding_.end();
    }
    void stop() override;
    void closed() override;

private:
    struct Unsolicited {
        std::string text;        // without the masked parts
        ev::Time deadline = {};  // missing after this time; set when next() passes it
    };
    using Outstanding = std::map<std::size_t, Unsolicited>;

    bool is_due(const Event& message);
    void expect(const Event& event);
    Outstanding::iterator find(std::string_view payload);
    std::string without_mask(std::string_view payload) const;
    bool waits() const { return !outstanding_.empty() && outstanding_.begin()->first < next_; }
    void report_missing(ev::Time deadline);

    ev::Loop& loop_;
    const std::shared_ptr<const Recording> recording_;
    const bool fast_;
    Session& session_;
    User& user_;
    std::size_t next_ = 0;            // place of the next event in the recording
    std::optional<ev::Time> origin_;  // time 0 of the recording, once the first message is due
    bool stopped_ = false;            // by the user
    // The recorded ids of the messages in flight that expect a reply, and their own ids.
    std::map<std::uint64_t, std::uint64_t> awaited_;
    Outstanding outstanding_;  // what has neither arrived nor is missing, by its place
    ev::Timer due_timer_;      // the next message
    ev::Timer overdue_timer_;  // the deadline of the first outstanding one
};

}  // namespace yodel
