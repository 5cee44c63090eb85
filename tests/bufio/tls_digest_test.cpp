// Tests the primitives against published examples.
#include "bufio/tls_digest.hpp"

#include "tests/support/catch.hpp"

#include <set>

TEST_CASE("encodes in base64 as in the examples of RFC 4648") {
    const struct {
        const char* bytes;
        const char* text;
    } cases[] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
    };
    for (const auto& each : cases) CHECK(bufio::base64(each.bytes) == each.text);
    CHECK(bufio::base64({"\0\xff\xfe", 3}) == "AP/+");
    CHECK(bufio::base64(std::string(300, '\0')) == std::string(400, 'A'));
}

TEST_CASE("hashes with SHA-1 as in the examples of RFC 3174") {
    CHECK(bufio::base64(bufio::sha1("abc")) == "qZk+NkcGgWq6PiVxeFDCbJzQ2J0=");
    CHECK(bufio::base64(bufio::sha1("")) == "2jmj7l5rSw0yVb/vlWAYkK/YBwk=");
    CHECK(bufio::sha1(std::string(100000, 'x')).size() == 20);
}

TEST_CASE("random bytes differ") {
    CHECK(bufio::random_bytes(0).empty());
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) seen.insert(bufio::random_bytes(16));
    CHECK(seen.size() == 100);
    CHECK(seen.begin()->size() == 16);
}
