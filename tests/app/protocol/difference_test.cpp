#include "app/protocol/difference.hpp"

#include "tests/support/catch.hpp"

#include <string>

using yodel::first_difference;

TEST_CASE("the first difference is the first byte that differs, or the end of the shorter") {
    struct Case {
        std::string a, b;
        std::size_t at;
    };
    const std::string zero("a\0b", 3);
    const auto [a, b, at] = GENERATE_COPY(
        Case{"", "", 0}, Case{"", "x", 0}, Case{"x", "y", 0}, Case{"same", "same", 4},
        Case{"same", "samer", 4}, Case{"abc", "abd", 2}, Case{"abc", "xbc", 0},
        Case{zero, zero + "c", 3}, Case{zero, std::string("a\0c", 3), 2},
        Case{std::string(4096, 'm'), std::string(4095, 'm') + "n", 4095});
    CHECK(first_difference(a, b) == at);
    CHECK(first_difference(b, a) == at);
}
