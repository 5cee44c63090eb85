#include "app/protocol/pairing.hpp"

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using namespace yodel;

namespace {

// Adds what the words describe, one for each reply: a1=x for the reply x of a to message 1, a1-
// for a lost message, a1~x for a late reply. A reply of N bytes takes N milliseconds.
// Returns the pairs: "same" or the difference, each with the delay of b.
std::string pairs(const std::string& words, std::optional<Expression> mask = {}) {
    Pairing pairing(std::move(mask));
    std::istringstream in(words);
    std::string found;
    for (std::string word; in >> word;) {
        const std::string payload = word.substr(3);
        const Reply reply{.payload = payload, .round_trip = payload.size() * 1ms};
        const Message message{.id = static_cast<std::uint64_t>(word[1] - '0'),
                              .payload = {},
                              .late = word[2] != '='};
        const auto pair =
            pairing.add(word[0] == 'b', 1, message, word[2] == '-' ? nullptr : &reply);
        if (!pair) continue;
        found += (pair->difference.empty() ? "same" : pair->difference) + " " +
                 std::to_string(*pair->delay() / 1ms) + "; ";
    }
    return found + std::to_string(pairing.waiting());
}

}  // namespace

TEST_CASE("compares the replies of two services to the same message") {
    const std::pair<const char*, const char*> rows[] = {
        {"", "0"},
        {"a1=x", "1"},
        {"a1=x b1=x", "same 0; 0"},
        {"b1=x a1=x", "same 0; 0"},
        {"a1=x a2=y b2=y b1=x", "same 0; same 0; 0"},
        {"a1=xy b1=xz", "reply 1 differs from b's at byte 1 (expected z, got y) 0; 0"},
        {"b1=xyz a1=xy", "reply 1 differs from b's at byte 2 (expected z, got end) 1; 0"},
        {"a1=xyz b1=x", "reply 1 differs from b's at byte 1 (expected end, got y) -2; 0"},
        // A message without a reply makes no pair, and another message is not compared.
        {"a1=x b1-", "0"},
        {"b1- a1=x a2=y b2=y", "same 0; 0"},
        {"a1- b1-", "0"},
        {"a1- a1~x b1=y", "0"},
        {"a1=x b2=x", "2"},
        {"a1=x a1=x", "1"}};
    for (const auto& [words, found] : rows) CHECK(pairs(words) == found);
}

TEST_CASE("parts of replies that match the mask are equal") {
    CHECK(pairs("a1=at=12,x b1=at=3,x", Expression("[0-9]+")) == "same -1; 0");
    CHECK(pairs("a1=at=12,x b1=at=3,y", Expression("[0-9]+")) ==
          "reply 1 differs from b's at byte 6 (expected y, got x) -1; 0");
}

TEST_CASE("messages of several connections are distinguished") {
    Pairing pairing;
    const Message message{.id = 1, .payload = {}};
    const Reply reply{.payload = "x"};
    CHECK_FALSE(pairing.add(0, 1, message, &reply));
    CHECK_FALSE(pairing.add(1, 2, message, &reply));
    CHECK(pairing.add(1, 1, message, &reply));
}
