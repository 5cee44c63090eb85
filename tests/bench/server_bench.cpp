// Compares yodeld's server with others: with one client, with many, and with many idle
// clients.

#include "tests/bench/echo_load.hpp"
#include "tests/bench/measure.hpp"
#include "tests/bench/server_entrants.hpp"
#include "tests/bufio/certificates.hpp"

#include <algorithm>

using namespace bench;

namespace {

// Runs one server at a time, because descriptors are limited. Omits servers that wait in poll,
// because every message costs them a check of all idle clients.
void compare_idle(std::size_t idle) {
    std::vector<EchoEntrant> entrants;
    add_raw_epoll_server(entrants);
    add_yodeld_epoll(entrants);
    add_libuv_server(entrants);
    std::vector<std::string> names;
    for (const EchoEntrant& entrant : entrants) names.push_back(entrant.name);
    Table table("50 clients beside " + std::to_string(idle) + " idle ones", names);
    table.add({"CPU 50", "idle bytes"}, rounds(5), [&](std::size_t i) {
        const double before = Running(entrants[i], {}, 50, nullptr).server.own_memory();
        Running running(entrants[i], {}, 50, nullptr, idle);
        const double more = running.server.own_memory() - before;
        return std::vector{server_time(running, std::string(message, 'x'), 200),
                           more / static_cast<double>(idle)};
    });
    table.print();
}

// One client on the first processor, which blocks or spins, and one server at a time, on the
// same processor or another. If both spin on one, each waits for the other's time slice.
void compare_round_trips(std::vector<EchoEntrant> entrants, std::size_t processor) {
    std::vector<std::string> names;
    for (EchoEntrant& entrant : entrants) {
        entrant.processor = processor;
        names.push_back(entrant.name);
    }
    Table table(processor == 0 ? "Round trips on one processor"
                               : "Round trips on two processors",
                names);
    for (const bool spins : {false, true})
        table.add(spins ? "spinning" : "blocking", rounds(15), [&](std::size_t i) {
            Running running(entrants[i], {}, 1, nullptr);
            if (spins) running.clients[0]->spin();
            return round_trip(running, std::string(message, 'x'), processor == 0 ? 50 : 500);
        });
    table.print();
}

void compare_busy() {
    std::vector<EchoEntrant> sleeping;
    add_raw_epoll_server(sleeping);
    add_yodeld(sleeping);
    std::vector<EchoEntrant> spinning;
    add_spinning_raw_server(spinning);
    add_busy_yodeld(spinning);
    for (std::size_t processor = 0; processor < std::min<std::size_t>(processors(), 2);
         ++processor) {
        compare_round_trips(sleeping, processor);
        compare_round_trips(spinning, processor);
    }
}

}  // namespace

int main() {
    const std::size_t descriptors = raise_descriptor_limit();
    begin("yodeld, messages of 64 bytes unless noted");
    std::vector<EchoEntrant> entrants;
    add_raw_server(entrants);
    add_raw_epoll_server(entrants);
    add_yodeld(entrants);
    add_yodeld_epoll(entrants);
    add_libevent_server(entrants);
    add_libuv_server(entrants);
    compare_busy();
    compare("Plain", entrants, {}, nullptr);
    compare_idle(std::min<std::size_t>(10'000, descriptors - 1000));
    test::Certificates certificates;
    const test::Identity identity = certificates.make("localhost", {});
    SSL_CTX* const ctx = SSL_CTX_new(TLS_client_method());
    std::erase_if(entrants, [](const EchoEntrant& entrant) { return !entrant.tls; });
    compare("TLS", entrants, {identity.certificate, identity.key}, ctx);
    SSL_CTX_free(ctx);
}
