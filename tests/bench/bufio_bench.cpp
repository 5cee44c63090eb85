// Compares echo servers on our streams with others: round trips, processor time and system
// calls, with and without TLS.

#include "tests/bench/bufio_server.hpp"
#include "tests/bench/echo_load.hpp"
#include "tests/bench/measure.hpp"
#include "tests/bufio/certificates.hpp"

#include <vector>

using namespace bench;

int main() {
    raise_descriptor_limit();
    bench::begin("Echo servers, messages of 64 bytes unless noted");
    std::vector<EchoEntrant> entrants;
    add_raw_server(entrants);
    add_our_server(entrants);
    add_libevent_server(entrants);
    add_libuv_server(entrants);
    compare("Plain", entrants, {}, nullptr);
    test::Certificates certificates;
    const test::Identity identity = certificates.make("localhost", {});
    SSL_CTX* const ctx = SSL_CTX_new(TLS_client_method());
    std::erase_if(entrants, [](const EchoEntrant& entrant) { return !entrant.tls; });
    compare("TLS", entrants, {identity.certificate, identity.key}, ctx);
    SSL_CTX_free(ctx);
}
