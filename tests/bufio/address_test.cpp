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

TEST_CASE("converts a host name or an address to the form of certificates", "[address]") {
    struct Case {
        std::string asked, name;
    };
    const std::string label(63, 'a');
    const std::string longest = label + "." + label + "." + label + "." + label.substr(2);
    const Case c = GENERATE_REF(
        Case{"localhost", "localhost"}, Case{"LOCALHOST", "LOCALHOST"},
        Case{"localhost.", "localhost"}, Case{"a-1.example_2.org", "a-1.example_2.org"},
        Case{"127.0.0.1", "127.0.0.1"}, Case{"::1", "::1"}, Case{"fe80::1%eth0", "fe80::1"},
        Case{"::ffff:127.0.0.1", "::ffff:127.0.0.1"}, Case{label + ".org", label + ".org"},
        Case{longest, longest}, Case{longest + ".", longest});
    REQUIRE(longest.size() == 253);
    CHECK(bufio::certified_name(c.asked) == c.name);
}

TEST_CASE("refuses a text that is neither a host name nor an address", "[address]") {
    const std::string label(63, 'a');
    const std::string four = label + "." + label + "." + label + "." + label;
    const std::string asked = GENERATE_REF(
        std::string(), ".", "..", "%", "%x", ".test", "a..b", "localhost..", "localhost%evil",
        "127.0.0.1%eth0", "127.0.0.1.", "::1%", "::1.", "[::1]", "*", "*.example.org", "a b",
        " localhost", "a\tb", "a\n", std::string("localhost\0.evil", 15), "caf\xc3\xa9.example",
        "host:7", "a/b", "user@host", label + "a.org", four);
    INFO(asked);
    CHECK(bufio::certified_name(asked).empty());
}
