// Answers the datagrams of a port with the same bytes (RFC 862), with faults on demand.
//
// Anybody can forge the source address of a datagram. So an answer is never longer than the
// question. It never goes to a privileged port (used by another service), to this server
// itself, or to a broadcast or multicast address. A question sent to a broadcast or multicast
// address gets no answer. If the same bytes arrive from the same address more than 64 times in
// a second, they count as a loop between two services, and are not answered until they have
// stopped for a second. Otherwise one forged datagram could make two servers answer each other
// forever (CVE-2024-2169). Options::may_answer_all disables these rules.
//
// The faults of a datagram depend only on the seed and on its number. A port numbers the
// datagrams that it does not refuse, in order of arrival.
#pragma once

#include "app/server/echo_server.hpp"
#include "app/server/responder.hpp"
#include "bufio/address.hpp"
#include "bufio/packets.hpp"
#include "ev/loop.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace yodel {

// Detects the same bytes that keep arriving from the same address, because two services may be
// answering each other forever. Stores a bounded number of keys. A new key replaces an expired
// one in its row or, if none has expired, the one with the fewest repeats.
class LoopGuard {
public:
    static constexpr unsigned max_repeats = 64;  // per second
    static constexpr ev::Duration second = std::chrono::seconds(1);

    // Counts an arrival. `key` identifies the bytes and their source address. Returns the
    // number of arrivals in the current second. If it exceeds max_repeats, this is a loop: the
    // count grows until the bytes have not arrived for a second.
    unsigned count(std::uint64_t key, ev::Time now);

private:
    static constexpr std::size_t rows = 256;
    static constexpr std::size_t ways = 4;
    struct Entry {
        std::uint64_t key = 0;
        // Start of the counted second or, in a loop, time of the latest arrival.
        ev::Time counted_at{};
        unsigned count = 0;
    };

    std::array<Entry, rows * ways> entries_;
};

class EchoServer::DatagramPort {
public:
    // Throws std::system_error.
    DatagramPort(EchoServer& server, const bufio::Address& address);

    const bufio::Address& address() const { return socket_.address(); }
    void stop_receiving();
    bool has_pending() const { return !held_.empty() || !reordered_.empty(); }

private:
    struct Answer {
        std::string bytes;
        bufio::Address to;
        bufio::Address from;
        bool is_reordered;  // to be sent after the next answer
    };

    void advance();
    void update_interest();
    void take(const bufio::Datagram& datagram);
    const char* refusal(const bufio::Datagram& datagram);
    void send_batch();
    void answer_faultily(const bufio::Datagram& datagram);
    void send_due();
    // Returns true while an answer waits for the system to accept it.
    bool is_blocked() const { return held_.first_due_at() == blocked_at; }

    static constexpr ev::Time blocked_at = ev::Time::min();  // due before all others

    EchoServer& server_;
    const Options& options_;
    const bool is_faulty_;
    FaultDice dice_;
    LoopGuard loop_guard_;
    DelayQueue<Answer> held_;           // delayed, or not accepted by the system
    DelayQueue<Answer> reordered_;      // to be sent after the next answer, or at a deadline
    std::vector<bufio::Packet> batch_;  // answers to send now; their bytes are views
    bool is_stopped_ = false;
    ev::Time resume_at_{};  // end of a pause after a failure to receive
    ev::Timer timer_;
    bufio::PacketSocket socket_;
    ev::Watch watch_;
};

}  // namespace yodel
