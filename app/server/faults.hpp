// What an echo server does wrong on demand: the peer that tests other people's clients.
//
// The faults act on whole messages where there is a framing, on what one read brings where
// there is none. Which faults a message meets depends on the seed, on the number of its
// connection and on its own number there, and on nothing else: the same run meets the same
// faults.
#pragma once

#include "app/server/responder.hpp"
#include "ev/loop.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace yodel {

struct Faults {
    ev::Duration delay{};   // of each reply
    ev::Duration jitter{};  // added to or taken from the delay at most; the order stays
    double drop = 0;        // the chance of a message to get no reply, from 0 to 1
    double corrupt = 0;     // the chance of a reply to have one bit flipped
    double dup = 0;         // the chance of a reply to be sent twice
    std::size_t chunk = 0;  // bytes written at once, one chunk a turn; 0: no limit
    std::optional<std::uint64_t> close_after = {};  // messages until an orderly close
    std::optional<std::uint64_t> reset_after = {};  // messages until a reset
    bool half_close = false;                        // closes the sending side at once
    bool no_read = false;
    bool stall_handshake = false;  // never answers the TLS handshake
    std::string banner = {};       // sent before everything else
    double reorder = 0;  // the chance of a datagram to be overtaken by the next; not of streams
    std::uint64_t seed = 1;

    bool any() const;  // that a connection can meet
};

// Decides which faults the messages of a connection meet, one after the other.
class FaultDice {
public:
    FaultDice(const Faults& faults, std::uint64_t connection)
        : faults_(faults), state_(faults.seed * 0xd1342543de82ef95 + connection) {}

    struct Plan {
        bool drop;
        bool dup;
        bool corrupt;
        std::uint64_t place;  // of the corruption, to be reduced to what there is
        ev::Duration delay;
    };
    Plan next();
    // A draw of its own, for what only some messages can meet.
    bool chance(double probability) { return fraction() < probability; }

private:
    std::uint64_t number();
    double fraction();  // from 0 up to, not including, 1

    const Faults& faults_;
    std::uint64_t state_;
};

// Turns one bit of the payload over, never into one of the bytes that would end the message.
void corrupt(char* payload, std::size_t size, std::uint64_t place, std::string_view reserved);

// The faults and the framing outlive the responder.
std::unique_ptr<Responder> make_faulty_responder(ev::Loop& loop, const Faults& faults,
                                                 const Framing& framing, EchoLimits limits,
                                                 std::uint64_t connection);

}  // namespace yodel
