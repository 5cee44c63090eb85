// Compares yodeld's server with others: round trips and processor time, with and without TLS,
// and beside many idle clients.

#include "tests/bench/echo_load.hpp"
#include "tests/bench/measure.hpp"
#include "tests/bufio/certificates.hpp"

#include <algorithm>

using namespace bench;

namespace {

// Runs one server at a time, because descriptors are limited.
void compare_idle(const std::vector<EchoEntrant>& entrants, std::size_t idle) {
    Table table("50 clients beside " + std::to_string(idle) + " idle ones", names(entrants));
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
    begin("echo servers, messages of 64 bytes unless noted");
    std::vector<EchoEntrant> entrants;
    add_raw_server(entrants);
    add_yodeld(entrants);
    add_libuv_server(entrants);
    compare("Plain", entrants, {}, nullptr);
    compare_idle(entrants, std::min<std::size_t>(10'000, descriptors - 1000));
    test::Certificates certificates;
    const test::Identity identity = certificates.make("localhost", {});
    SSL_CTX* const ctx = SSL_CTX_new(TLS_client_method());
    std::erase_if(entrants, [](const EchoEntrant& entrant) { return !entrant.tls; });
    compare("TLS", entrants, {identity.certificate, identity.key}, ctx);
    SSL_CTX_free(ctx);
}
