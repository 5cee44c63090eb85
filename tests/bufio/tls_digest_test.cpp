// Tests the primitives against published examples.
#include "bufio/tls_digest.hpp"

#include "tests/support/catch.hpp"

#include <set>

TEST_CASE("hashes with SHA-1 as in the examples of RFC 3174") {
    CHECK(bufio::sha1("abc") ==
          "\xa9\x99\x3e\x36\x47\x06\x81\x6a\xba\x3e\x25\x71\x78\x50\xc2\x6c\x9c\xd0\xd8\x9d");
    CHECK(bufio::sha1("") ==
          "\xda\x39\xa3\xee\x5e\x6b\x4b\x0d\x32\x55\xbf\xef\x95\x60\x18\x90\xaf\xd8\x07\x09");
    CHECK(bufio::sha1(std::string(100000, 'x')).size() == 20);
}

TEST_CASE("random bytes differ") {
    CHECK(bufio::random_bytes(0).empty());
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) seen.insert(bufio::random_bytes(16));
    CHECK(seen.size() == 100);
    CHECK(seen.begin()->size() == 16);
}
