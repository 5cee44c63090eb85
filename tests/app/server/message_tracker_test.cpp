#include "app/server/message_tracker.hpp"

#include "tests/support/catch.hpp"

#include <random>
#include <vector>

using namespace yodel;

namespace {

struct Seen {
    std::vector<std::size_t> sizes;
    std::vector<std::string> heads;
};

void take(MessageTracker& tracker, std::string_view bytes, Seen& seen) {
    while (const auto message = tracker.next(bytes)) {
        seen.sizes.push_back(message->size);
        seen.heads.emplace_back(message->head);
    }
    CHECK(bytes.empty());
}

std::string encoded(const Framing& framing, const std::vector<std::string>& messages) {
    std::string bytes;
    for (const std::string& message : messages) encode(framing, message, bytes);
    return bytes;
}

}  // namespace

TEST_CASE("finds the messages of a connection however its bytes are cut") {
    const Framing& framing =
        *find_framing(GENERATE("line", "crlf", "nul", "len1", "len2le", "len4", "caret"));
    const std::vector<std::string> messages{
        "hello", "", "a\rb", "^inside", "\r", std::string(200, 'x'), "last"};
    const std::string bytes = encoded(framing, messages) + encoded(framing, {"part"});
    std::minstd_rand chance(1);
    for (int round = 0; round < 200; ++round) {
        MessageTracker tracker(framing, 10);
        Seen seen;
        for (std::size_t at = 0; at < bytes.size() - 1;) {
            const std::size_t step = 1 + chance() % (round == 0 ? 1 : 1 + chance() % 50);
            take(tracker, std::string_view(bytes).substr(0, bytes.size() - 1).substr(at, step),
                 seen);
            at += step;
        }
        CHECK(tracker.inside());
        CHECK(tracker.begun() == messages.size() + 1);
        REQUIRE(seen.sizes.size() == messages.size());
        for (std::size_t i = 0; i < messages.size(); ++i) {
            CHECK(seen.sizes[i] == messages[i].size());
            CHECK(seen.heads[i] == messages[i].substr(0, 10));
        }
    }
}

TEST_CASE("counts no message as begun between messages or without a framing") {
    for (const char* const name : {"line", "len2", "caret"}) {
        const Framing& framing = *find_framing(name);
        MessageTracker tracker(framing, 10);
        Seen seen;
        CHECK_FALSE(tracker.inside());
        take(tracker, encoded(framing, {"one", "two"}), seen);
        CHECK(seen.sizes.size() == 2);
        CHECK_FALSE(tracker.inside());
    }
    Seen seen;
    MessageTracker caret(*find_framing("caret"), 10);
    take(caret, "$junk$", seen);
    CHECK_FALSE(caret.inside());
    MessageTracker raw(*find_framing("raw"), 10);
    take(raw, "anything", seen);
    CHECK_FALSE(raw.inside());
    CHECK(seen.sizes.empty());
}
