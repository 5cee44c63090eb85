#include "app/run/sources.hpp"

#include "tests/support/catch.hpp"

using yodel::Generator;

namespace {

std::size_t differences(std::string_view a, std::string_view b) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) count += a[i] == b[i] ? 0 : 1;
    return count;
}

}  // namespace

TEST_CASE("a generated text consists of its number, letters, and two check letters") {
    Generator text(8);
    CHECK(text.text(1) == "1bcdefcc");
    CHECK(text.text(10) == "10cdefde");
    CHECK(text.text(999'999) == "999999od");
    CHECK(text.text(7) == "7bcdefii");
    CHECK(Generator(30).text(5) == "5bcdefghijklmnopqrstuvwxyzabgg");
    CHECK(Generator(22).text(~std::uint64_t{0}).substr(0, 20) == "18446744073709551615");
}

TEST_CASE("a text without space for check letters contains only its number") {
    Generator text(8);
    CHECK(text.text(9'999'999) == "9999999h");
    CHECK(text.text(99'999'999) == "99999999");
    CHECK(text.text(123'456'789) == "23456789");
    CHECK(text.text(7) == "7bcdefii");
    CHECK(Generator(0).text(5).empty());
    CHECK(Generator(1).text(15) == "5");
    CHECK(Generator(2).text(5) == "5b");
    CHECK(Generator(20).text(~std::uint64_t{0}) == "18446744073709551615");
}

TEST_CASE("two generated texts differ in at least three bytes") {
    const std::size_t size = GENERATE(as<std::size_t>{}, 6, 22, 64);
    std::vector<std::string> texts;
    Generator text(size);
    for (std::uint64_t number = 0; number < 10'100; ++number)
        if (number < 600 || number % 3000 >= 2900) texts.emplace_back(text.text(number));
    std::size_t least = size;
    for (const std::string& a : texts)
        for (const std::string* b = &a + 1; b != texts.data() + texts.size(); ++b)
            least = std::min(least, differences(a, *b));
    CHECK(least == 3);
}

TEST_CASE("damage to one byte never turns a generated text into another, at any length") {
    Generator text(Generator::min_checked_size);
    Generator others(Generator::min_checked_size);
    std::uint64_t number = 1;
    for (int i = 0; i < 2000; ++i) {
        number = number * 6364136223846793005 + 1442695040888963407;
        const std::string own(text.text(number >> (i % 64)));
        for (std::uint64_t scale = 1; scale <= number / 10; scale *= 10) {
            const std::uint64_t other = (number >> (i % 64)) ^ scale;
            REQUIRE(differences(own, others.text(other)) >= 3);
        }
    }
}
