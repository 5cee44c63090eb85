// Tests host names for the verification of certificates.
#include "bufio/host_name.hpp"

#include "tests/support/catch.hpp"

#include <string>

using bufio::certified_name;

TEST_CASE("converts a host name or an address to the form of certificates", "[host_name]") {
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
    CHECK(certified_name(c.asked) == c.name);
}

TEST_CASE("refuses a text that is neither a host name nor an address", "[host_name]") {
    const std::string label(63, 'a');
    const std::string four = label + "." + label + "." + label + "." + label;
    const std::string asked = GENERATE_REF(
        std::string(), ".", "..", "%", "%x", ".test", "a..b", "localhost..", "localhost%evil",
        "127.0.0.1%eth0", "127.0.0.1.", "::1%", "::1.", "[::1]", "*", "*.example.org", "a b",
        " localhost", "a\tb", "a\n", std::string("localhost\0.evil", 15), "caf\xc3\xa9.example",
        "host:7", "a/b", "user@host", label + "a.org", four);
    INFO(asked);
    CHECK(certified_name(asked).empty());
}
