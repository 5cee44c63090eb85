#include "bufio/address.hpp"

#include "tests/bufio/addresses.hpp"
#include "tests/bufio/fixture.hpp"

using namespace test;
using bufio::Address;

TEST_CASE("an address is shown as a user types it", "[address]") {
    CHECK(loopback(7).text() == "127.0.0.1:7");
    CHECK(v6(1, 7).text() == "[2001:db8::1]:7");
    CHECK(Address::unix_path("/run/echo").text() == "/run/echo");
    CHECK(Address().text() == "unnamed");
    CHECK(to("::1", 7).text() == "[::1]:7");
    CHECK(to("host", 7).text() == "host:7");
}
