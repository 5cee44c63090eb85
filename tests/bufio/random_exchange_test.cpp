// Exchanges random messages over sockets that split, interrupt and delay at random, and
// compares every byte.
#include "tests/bufio/pair.hpp"
#include "tests/bufio/system.hpp"

#include <random>

using namespace test;

namespace {

constexpr std::size_t total = 512 * 1024;  // bytes, each way

// Writes a known sequence in pieces of random size. Checks the received sequence, and consumes
// it in pieces of random size.
class Talker {
public:
    Talker(ev::Loop& loop, Taker& side, std::mt19937& random, const std::string& sent,
           const std::string& expected)
        : side_(side), random_(random), sent_(sent), expected_(expected) {
        go_on_ = ev::Timer(loop, [this] { move(); });
        side.on_change = [this](Stream&) { move(); };
        move();
    }

private:
    std::size_t some(std::size_t most) {
        return std::uniform_int_distribution<std::size_t>(0, most)(random_);
    }

    void move() {
        Stream& stream = *side_.stream;
        const std::string_view bytes = stream.received();
        const std::size_t count = stream.end() ? bytes.size() : some(bytes.size());
        REQUIRE(bytes.substr(0, count) ==
                std::string_view(expected_).substr(side_.got.size(), count));
        side_.got += bytes.substr(0, count);
        stream.consume(count);
        if (written_ < total) {
            const std::size_t size =
                std::min(total - written_, some(some(3) == 0 ? 50000 : 100));
            if (stream.write(std::string_view(sent_).substr(written_, size))) written_ += size;
            if (written_ == total) stream.finish();
        }
        const bool more = written_ < total || !stream.received().empty();
        if (more && !stream.end()) go_on_.start(ev::Duration::zero());
    }

    Taker& side_;
    std::mt19937& random_;
    const std::string& sent_;
    const std::string& expected_;
    std::size_t written_ = 0;
    ev::Timer go_on_;
};

void exchange(unsigned seed, bool tls, std::size_t most) {
    std::mt19937 random(seed);
    const auto some = [&](std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(1, limit)(random);
    };
    Faults faults;
    faults.recv = faults.send = [&](std::size_t size) -> long {
        switch (some(8)) {
        case 1: return -EAGAIN;
        case 2: return -EINTR;
        default: return static_cast<long>(some(std::min(size, most)));
        }
    };
    const std::string there = pattern(total);
    const std::string back(there.rbegin(), there.rend());
    Pair pair(make_transports(tls), {some(100000), 1, 64 * 1024 + some(200000)});
    const Talker near(pair.loop, pair.near, random, there, back);
    const Talker far(pair.loop, pair.far, random, back, there);
    INFO("seed " << seed << " pieces of up to " << most);
    REQUIRE(pair.run_until([&] { return pair.near.ends > 0 && pair.far.ends > 0; }));
    for (const Taker* const side : {&pair.near, &pair.far}) {
        CHECK(side->text() == "closed");
        CHECK(side->got.size() == total);
    }
}

}  // namespace

TEST_CASE("random exchanges deliver every byte", "[random]") {
    const bool tls = GENERATE(false, true);
    for (unsigned seed = 1; seed <= 6; ++seed) exchange(seed, tls, 20000);
    exchange(7, tls, 100);
}
