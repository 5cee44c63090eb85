// Echo servers on streams against others: processor time of the server for each message, and of
// the whole round trip, with and without TLS.

#include "tests/bench/bufio_server.hpp"
#include "tests/bench/echo_load.hpp"
#include "tests/bench/measure.hpp"
#include "tests/bufio/certificates.hpp"

#include <algorithm>
#include <memory>
#include <string>

using namespace bench;

namespace {

constexpr std::size_t bulk = 64 * in_flight;  // bytes of a round

void compare(const std::string& title, const std::vector<EchoEntrant>& entrants,
             const Certificate& certificate, SSL_CTX* ctx) {
    std::vector<std::string> names;
    for (const EchoEntrant& entrant : entrants) names.push_back(entrant.name);
    const auto start = [&](std::size_t clients) {
        Runs runs;
        for (const EchoEntrant& entrant : entrants)
            runs.push_back(std::make_unique<Running>(entrant, certificate, clients, ctx));
        return runs;
    };
    Table table(title, names);
    const int rounds = bench::rounds(15);
    const std::string small(message, 'x');
    const std::string large(in_flight, 'x');
    {
        const Runs one = start(1);
        table.add("ping p50", rounds, [&](std::size_t i) { return round_trip(*one[i], 500); });
        table.add("CPU 1", rounds,
                  [&](std::size_t i) { return server_time(*one[i], small, 500); });
        table.add("CPU 64KiB", rounds,
                  [&](std::size_t i) { return server_time(*one[i], large, bulk / in_flight); });
    }
    const Runs fifty = start(50);
    table.add("CPU 50", rounds,
              [&](std::size_t i) { return server_time(*fifty[i], small, 20); });
    table.print();
}

}  // namespace

int main() {
    bench::begin("Echo servers, messages of 64 bytes unless said otherwise");
    std::vector<EchoEntrant> entrants;
    add_raw_server(entrants);
    add_our_server(entrants);
    add_libevent_server(entrants);
    add_libuv_server(entrants);
    compare("Plain", entrants, {}, nullptr);
    test::Certificates certificates;
    const test::Identity identity = certificates.make("localhost", {});
    SSL_CTX* const ctx = SSL_CTX_new(TLS_client_method());
    entrants.erase(std::remove_if(entrants.begin(), entrants.end(),
                                  [](const EchoEntrant& entrant) { return !entrant.tls; }),
                   entrants.end());
    compare("TLS", entrants, {identity.certificate, identity.key}, ctx);
    SSL_CTX_free(ctx);
}
