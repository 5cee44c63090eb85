// The faults that a server draws, and the limit of unsent replies. For the effects of faults
// see echo_server_test.cpp.

#include "app/server/responder.hpp"

#include "bufio/stream.hpp"
#include "bufio/transport.hpp"
#include "tests/support/blocked.hpp"
#include "tests/support/virtual_time.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <bitset>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

std::string plans(const Faults& faults, std::uint64_t connection) {
    FaultDice dice(faults, connection);
    std::string all;
    for (int i = 0; i < 100; ++i) {
        const FaultDice::Plan plan = dice.next();
        all += std::to_string(plan.is_dropped) + std::to_string(plan.is_duplicated) +
               std::to_string(plan.is_corrupted) + std::to_string(plan.bit_choice) + " " +
               std::to_string(plan.delay.count()) + ";";
    }
    return all;
}

}  // namespace

TEST_CASE("chooses the faults of a message by seed, connection and number alone") {
    Faults faults{.delay = 100ms, .jitter = 20ms, .drop = 0.5, .corrupt = 0.5, .dup = 0.5};
    const std::string first = plans(faults, 1);
    CHECK(plans(faults, 1) == first);
    CHECK(plans(faults, 2) != first);
    faults.seed = 2;
    CHECK(plans(faults, 1) != first);
}

TEST_CASE("keeps the outcomes of other faults when the chance of one changes") {
    const Faults often{.drop = 0.9, .corrupt = 0.5, .dup = 0.5};
    const Faults never{.drop = 0, .corrupt = 0.5, .dup = 0.5};
    FaultDice with(often, 1);
    FaultDice without(never, 1);
    for (int i = 0; i < 100; ++i) {
        const FaultDice::Plan a = with.next();
        const FaultDice::Plan b = without.next();
        CHECK(a.is_duplicated == b.is_duplicated);
        CHECK(a.is_corrupted == b.is_corrupted);
        CHECK(a.bit_choice == b.bit_choice);
    }
}

TEST_CASE("keeps a delay within the jitter, and uses both halves of it") {
    const Faults faults{.delay = 100ms, .jitter = 20ms};
    FaultDice dice(faults, 1);
    ev::Duration shortest = 1h;
    ev::Duration longest{};
    for (int i = 0; i < 1000; ++i) {
        const ev::Duration delay = dice.next().delay;
        shortest = std::min(shortest, delay);
        longest = std::max(longest, delay);
    }
    CHECK(shortest >= 80ms);
    CHECK(shortest < 85ms);
    CHECK(longest > 115ms);
    CHECK(longest <= 120ms);
}

TEST_CASE("corrupts one bit, and never creates a byte that ends a message") {
    const std::string before = "\x0b\x1a\x0e\x02";  // each differs in one bit from a newline
    for (std::uint64_t bit_choice = 0; bit_choice < 64; ++bit_choice) {
        std::string payload = before;
        corrupt(payload.data(), payload.size(), bit_choice << 32 | bit_choice, "\n");
        std::size_t differing = 0;
        for (std::size_t i = 0; i < before.size(); ++i)
            differing +=
                std::bitset<8>(static_cast<unsigned char>(payload[i] ^ before[i])).count();
        CHECK(differing == 1);
        CHECK(payload.find('\n') == payload.npos);
    }
    corrupt(nullptr, 0, 1, "");
}

TEST_CASE("stops answering at the limit if the peer reads nothing") {
    struct Owner final : bufio::Stream::Owner {
        void stream_changed(bufio::Stream&) override {}
    } owner;
    const Faults none;
    constexpr EchoLimits limits{.max_buffer = 10'000, .max_message = 100'000};
    const std::string text(40'000, 'x');
    for (const auto& [framing, message] :
         std::initializer_list<std::pair<const char*, std::string>>{
             {"raw", text},
             {"len4", std::string("\0\0\x9c\x40", 4) + text},
             {"caret", "^" + text}}) {
        INFO(framing);
        test::VirtualLoop loop;
        test::Ends ends = test::socket_ends();
        ::fcntl(ends.writer.get(), F_SETFL, O_NONBLOCK);
        bufio::Stream stream(loop, bufio::make_plain_transport(std::move(ends.writer)), owner);
        const auto responder =
            make_responder(loop, none, *find_framing(framing), limits, 1, stream);
        while (stream.pending() == 0) stream.write(std::string(6'000, '.'));
        REQUIRE(::send(ends.reader.get(), message.data(), message.size(), 0) ==
                static_cast<ssize_t>(message.size()));
        loop.settle();
        const std::size_t before = stream.pending();
        for (int call = 0; call < 100; ++call) responder->answer();
        CHECK(stream.pending() > before);
        CHECK(stream.pending() <= limits.max_buffer);
        CHECK_FALSE(stream.received().empty());
    }
}
