// yodeld's server against others: with one client, with many, and with many that are idle.

#include "tests/bench/echo_load.hpp"
#include "tests/bench/measure.hpp"
#include "tests/bench/server_entrants.hpp"
#include "tests/bufio/certificates.hpp"

#include <algorithm>

using namespace bench;

namespace {

// One server at a time: there are no descriptors for more. Those that wait in poll are left
// out: every message costs them a look at all the idle.
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

}  // namespace

int main() {
    const std::size_t descriptors = raise_descriptor_limit();
    begin("yodeld, messages of 64 bytes unless said otherwise");
    std::vector<EchoEntrant> entrants;
    add_raw_server(entrants);
    add_raw_epoll_server(entrants);
    add_yodeld(entrants);
    add_yodeld_epoll(entrants);
    add_libevent_server(entrants);
    add_libuv_server(entrants);
    compare("Plain", entrants, {}, nullptr);
    compare_idle(std::min<std::size_t>(10'000, descriptors - 1000));
    test::Certificates certificates;
    const test::Identity identity = certificates.make("localhost", {});
    SSL_CTX* const ctx = SSL_CTX_new(TLS_client_method());
    std::erase_if(entrants, [](const EchoEntrant& entrant) { return !entrant.tls; });
    compare("TLS", entrants, {identity.certificate, identity.key}, ctx);
    SSL_CTX_free(ctx);
}
