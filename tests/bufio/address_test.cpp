#include "bufio/address.hpp"

#include "tests/bufio/addresses.hpp"
#include "tests/bufio/fixture.hpp"

using namespace test;
using bufio::Address;

TEST_CASE("recognises multicast and broadcast addresses, also by asking the system",
          "[address]") {
    const auto [host, many] = GENERATE(table<std::string, bool>({{"127.0.0.1", false},
                                                                 {"0.0.0.0", false},
                                                                 {"::1", false},
                                                                 {"127.255.255.255", true},
                                                                 {"255.255.255.255", true},
                                                                 {"224.0.0.1", true},
                                                                 {"ff02::1", true}}));
    CAPTURE(host);
    const auto found = bufio::resolve_without_network(to(host, 0));
    REQUIRE(found.addresses.size() >= 1);
    CHECK(bufio::reaches_many(found.addresses.front()) == many);
}

TEST_CASE("prints an address as a user types it", "[address]") {
    CHECK(loopback(7).text() == "127.0.0.1:7");
    CHECK(v6(1, 7).text() == "[2001:db8::1]:7");
    CHECK(Address::unix_path("/run/echo").text() == "/run/echo");
    CHECK(Address().text() == "unnamed");
    CHECK(to("::1", 7).text() == "[::1]:7");
    CHECK(to("host", 7).text() == "host:7");
}
