#include "bufio/address.hpp"

#include "tests/bufio/fixture.hpp"

using namespace test;
using bufio::Address;
using bufio::name_in_certificate;

static std::vector<std::string> words_of(const std::string& text) {
    std::istringstream in(text);
    return {std::istream_iterator<std::string>(in), {}};
}

TEST_CASE("recognizes multicast and broadcast addresses, also by asking the system") {
    const std::pair<const char*, bool> rows[] = {
        {"127.0.0.1", false},      {"0.0.0.0", false},        {"::1", false},
        {"127.255.255.255", true}, {"255.255.255.255", true}, {"223.255.255.255", false},
        {"224.0.0.1", true},       {"239.255.255.255", true}, {"ff02::1", true}};
    for (const auto& [host, many] : rows) {
        CAPTURE(host);
        CHECK(bufio::is_broadcast_or_multicast(at(host)) == many);
    }
}

TEST_CASE("prints an address as a user types it") {
    CHECK(loopback(7).text() == "127.0.0.1:7");
    CHECK(at("2001:db8::1", 7).text() == "[2001:db8::1]:7");
    CHECK(Address::unix_path("/run/echo").text() == "/run/echo");
    CHECK(Address::unix_path("/run/echo").port() == 0);
    CHECK(Address().text() == "unnamed");
    CHECK(Address::unix_path("").text() == "unnamed");  // like an abstract address
    CHECK(to("::1", 7).text() == "[::1]:7");
    CHECK(to("host", 7).text() == "host:7");
}

TEST_CASE("converts a host name or an address to the form of certificates") {
    const std::string label(63, 'a');
    const std::string max_name = label + "." + label + "." + label + "." + label.substr(2);
    REQUIRE(max_name.size() == 253);
    const std::string same = "localhost LOCALHOST a-1.example_2.org azAZ09.org 127.0.0.1 ::1 "
                             "::ffff:127.0.0.1 " +
                             label + ".org " + max_name;
    for (const std::string& asked : words_of(same)) CHECK(name_in_certificate(asked) == asked);
    CHECK(name_in_certificate("localhost.") == "localhost");
    CHECK(name_in_certificate("fe80::1%eth0") == "fe80::1");
    CHECK(name_in_certificate(max_name + ".") == max_name);
}

TEST_CASE("refuses a text that is neither a host name nor an address") {
    const std::string label(63, 'a');
    const std::string wrong =
        ". .. % %x .test a..b localhost.. localhost%evil 127.0.0.1%eth0 127.0.0.1. ::1% ::1. "
        "[::1] * *.example.org caf\xc3\xa9.example host:7 a/b user@host a` a{ a[ " +
        label + "a.org " + label + "." + label + "." + label + "." + label.substr(1);
    std::vector<std::string> all = words_of(wrong);
    all.insert(all.end(), {"", "a b", " localhost", "a\tb", "a\n", {"localhost\0.evil", 15}});
    for (const std::string& asked : all) {
        CAPTURE(asked);
        CHECK(name_in_certificate(asked).empty());
    }
}

TEST_CASE("compares hosts without their ports, and recognizes addresses of no host") {
    const Address paths[] = {Address::unix_path("/a"), Address::unix_path("/a")};
    CHECK_FALSE(is_same_host(paths[0], paths[1]));
    CHECK_FALSE(paths[0].is_wildcard());
    const char* const hosts[] = {"0.0.0.0", "127.0.0.1", "127.0.0.2", "::", "::1", "::2"};
    for (const std::string one : hosts) {
        CHECK(at(one, 7).is_wildcard() == (one == "0.0.0.0" || one == "::"));
        for (const std::string other : hosts) {
            CAPTURE(one, other);
            CHECK(is_same_host(at(one, 7), at(other, 8)) == (one == other));
        }
    }
}
