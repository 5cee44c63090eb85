// The counters of a server.
#pragma once

#include <cstdint>

namespace yodel {

struct Counters {
    std::uint64_t connections = 0;  // open now
    std::uint64_t accepted = 0;
    std::uint64_t turned_away = 0;  // accepted, but closed at once
    std::uint64_t failed = 0;       // accepted, but not closed gracefully
    std::uint64_t bytes_in = 0;     // received on stream connections
    std::uint64_t bytes_out = 0;
    std::uint64_t datagrams_in = 0;
    std::uint64_t datagrams_out = 0;
    std::uint64_t datagrams_unanswered = 0;  // refused by the rules of DatagramServer
    std::uint64_t datagrams_dropped = 0;     // by a fault, by the system, or for lack of space
    std::uint64_t datagram_bytes_in = 0;
    std::uint64_t datagram_bytes_out = 0;

    void add(const Counters& other);
};

// Totals and reports derive from this table.
struct CounterRow {
    const char* name;  // name in JSON; in text, spaces replace the underscores
    std::uint64_t Counters::*count;
    bool only_udp = false;  // reported only by servers that answer datagrams
};
inline constexpr CounterRow counter_rows[] = {
    {"connections", &Counters::connections},
    {"accepted", &Counters::accepted},
    {"turned_away", &Counters::turned_away},
    {"failed", &Counters::failed},
    {"bytes_in", &Counters::bytes_in},
    {"bytes_out", &Counters::bytes_out},
    {"datagrams_in", &Counters::datagrams_in, true},
    {"datagrams_out", &Counters::datagrams_out, true},
    {"datagrams_unanswered", &Counters::datagrams_unanswered, true},
    {"datagrams_dropped", &Counters::datagrams_dropped, true},
    {"datagram_bytes_in", &Counters::datagram_bytes_in, true},
    {"datagram_bytes_out", &Counters::datagram_bytes_out, true},
};

inline void Counters::add(const Counters& other) {
    for (const CounterRow& row : counter_rows) this->*row.count += other.*row.count;
}

}  // namespace yodel
