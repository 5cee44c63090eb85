// The events of a recorded conversation, for display.
//
// A recording contains each message once its fate is known. RecordedEvents separates sending
// from the fate, and sorts the events by their times. Pure.
#pragma once

#include "app/protocol/matcher.hpp"
#include "app/text/fate.hpp"
#include "ev/time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace yodel {

struct RecordedEvent {
    enum class Kind { connected, sent, resolved, ended };
    Kind kind = Kind::resolved;
    ev::Duration at{};  // since the start of the recording
    Fate fate = Fate::sent;
    Message message = {};  // id 0: none
    Reply reply = {};      // meaningful with `received`
    // The payload, the peer's address if `connected`, or the reason if `ended`.
    std::string sent = {};
    std::optional<std::string> received = {};  // payload; none: no reply
};

class RecordedEvents {
public:
    // `first`: number of the first message.
    void begin(std::uint64_t first) { next_number_ = first; }
    void add(RecordedEvent event);
    // Adds the sending of a message and its fate. `adjacent`: nothing comes between the two.
    void add_message(RecordedEvent event, bool adjacent);
    // No more events will be added.
    void end() { released_ = {ev::Duration::max(), 0}; }
    // Returns the next event, with its views set, valid until the next call. Null if an event
    // that was not yet added may precede it.
    const RecordedEvent* next();

private:
    using Place = std::pair<ev::Duration, std::uint64_t>;  // time and number of the message

    void put(Place place, RecordedEvent event);
    void release(std::uint64_t number, ev::Duration sent_at);

    std::multimap<Place, RecordedEvent> events_;
    std::size_t bytes_ = 0;  // memory of `events_`
    std::uint64_t next_number_ = 1;
    std::map<std::uint64_t, ev::Duration> ahead_;  // sending times of later messages
    Place released_{};                             // events up to here are in their order
    RecordedEvent current_;
};

// A recording that is read piece by piece.
class RecordedConversation {
public:
    virtual ~RecordedConversation() = default;
    virtual const std::string& name() const = 0;
    virtual std::chrono::system_clock::time_point started() const = 0;
    // Returns the next event, valid until the next call; null at the end and after damage.
    virtual const RecordedEvent* next_event() = 0;
    // One sentence about the damage; empty if there is none.
    virtual const std::string& trouble() const = 0;
};

}  // namespace yodel
