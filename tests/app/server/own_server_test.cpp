#include "app/server/echo_server.hpp"

#include "app/text/exit_status.hpp"
#include "bufio/lookup.hpp"
#include "bufio/tls.hpp"
#include "tests/app/fixture.hpp"

#include <sys/socket.h>

using namespace yodel;

TEST_CASE("the server inside completes the endpoint with its address, and echoes") {
    const bool datagrams = GENERATE(false, true);
    const auto [family, host] = GENERATE(table<int, std::string>(
        {{AF_UNSPEC, "127.0.0.1"}, {AF_INET, "127.0.0.1"}, {AF_INET6, "::1"}}));
    ev::Loop loop;
    bufio::Endpoint endpoint;
    endpoint.family = family;
    endpoint.udp = datagrams;
    const auto server = start_own_server(loop, endpoint, *find_framing("line"), 1, nullptr);
    CHECK(endpoint.host == host);
    const bufio::Address to = bufio::resolve_without_network(endpoint).addresses.at(0);
    const bufio::Fd client(::socket(to.family(), datagrams ? SOCK_DGRAM : SOCK_STREAM, 0));
    REQUIRE(::connect(client.get(), to.get(), to.size) == 0);
    for (int i = 0; i < 100; ++i)  // more often than yodeld answers the same datagram
        REQUIRE(::send(client.get(), "a\n", 2, MSG_NOSIGNAL) == 2);
    std::string got;
    test::turn_until(loop, [&] {
        char bytes[64];
        const ssize_t count = ::recv(client.get(), bytes, sizeof bytes, MSG_DONTWAIT);
        if (count > 0) got.append(bytes, static_cast<std::size_t>(count));
        return got.size() == 200;
    });
    CHECK(got.size() == 200);
}

TEST_CASE("a client trusts the server inside by its pin") {
    ev::Loop loop;
    bufio::Endpoint endpoint;
    bufio::TlsClientOptions tls;
    const auto server = start_own_server(loop, endpoint, *find_framing("line"), 1, &tls);
    REQUIRE(tls.pins.size() == 1);
    CHECK(tls.pins[0].starts_with("sha256//"));
}

TEST_CASE("the server inside is refused if it cannot echo a framing") {
    ev::Loop loop;
    bufio::Endpoint endpoint;
    CHECK_THROWS_AS(start_own_server(loop, endpoint, *find_framing("smtp"), 1, nullptr),
                    UsageError);
}
