// The events of a recorded conversation, for display.
#pragma once

#include "app/protocol/matcher.hpp"
#include "ev/time.hpp"

#include <chrono>
#include <cstdint>
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
    // Events are sorted by a time and the number of the message.
    std::pair<ev::Duration, std::uint64_t> place = {at, message.id};
};

// A recording that was read whole.
class RecordedConversation {
public:
    virtual ~RecordedConversation() = default;
    virtual const std::string& name() const = 0;
    virtual std::chrono::system_clock::time_point started() const = 0;
    // Returns the next event, which lives as long as the recording; null after the last one.
    virtual const RecordedEvent* next_event() = 0;
    // One sentence about the damage; empty if there is none.
    virtual const std::string& trouble() const = 0;
};

}  // namespace yodel
