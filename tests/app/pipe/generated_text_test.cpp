#include "app/pipe/generated_text.hpp"

#include "tests/support/allocations.hpp"
#include "tests/support/catch.hpp"

using yodel::GeneratedText;

TEST_CASE("a generated text is its number and then letters") {
    GeneratedText text(8);
    CHECK(text.text(1) == "1bcdefgh");
    CHECK(text.text(10) == "10cdefgh");
    CHECK(text.text(99'999'999) == "99999999");
    CHECK(text.text(123'456'789) == "23456789");
    CHECK(text.text(7) == "7bcdefgh");
    CHECK(GeneratedText(30).text(5) == "5bcdefghijklmnopqrstuvwxyzabcd");
    CHECK(GeneratedText(0).text(5).empty());
    CHECK(GeneratedText(20).text(~std::uint64_t{0}) == "18446744073709551615");
}

TEST_CASE("a generated text allocates nothing") {
    GeneratedText text(1000);
    test::allocations.count = 0;
    for (std::uint64_t number = 0; number < 1000; ++number) text.text(number);
    CHECK(test::allocations.count == 0);
}
