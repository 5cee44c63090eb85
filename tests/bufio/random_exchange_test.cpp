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
class Talker final : public Stream::Owner {
public:
    Talker(std::mt19937& random, const std::string& sent, const std::string& expected)
        : random_(random), sent_(sent), expected_(expected) {}

    void open(ev::Loop& loop, std::unique_ptr<bufio::Transport> transport,
              Stream::Limits limits) {
        go_on_ = ev::Timer(loop, [this] { move(); });
        stream_ = std::make_unique<Stream>(loop, std::move(transport), *this, limits);
        move();
    }

    void stream_changed(Stream&) override { move(); }
    bool done() const { return stream_ && stream_->end(); }
    const bufio::End& end() const { return stream_->end(); }
    std::size_t received() const { return received_; }

private:
    std::size_t some(std::size_t most) {
        return std::uniform_int_distribution<std::size_t>(0, most)(random_);
    }

    void move() {
        take();
        if (written_ < total) {
            const std::size_t size =
                std::min(total - written_, some(some(3) == 0 ? 50000 : 100));
            if (stream_->write(std::string_view(sent_).substr(written_, size)))
                written_ += size;
            if (written_ == total) stream_->finish();
        }
        const bool more = written_ < total || !stream_->received().empty();
        if (more && !stream_->end()) go_on_.start(ev::Duration::zero());
    }

    void take() {
        const std::string_view bytes = stream_->received();
        const std::size_t count = stream_->end() ? bytes.size() : some(bytes.size());
        REQUIRE(bytes.substr(0, count) == std::string_view(expected_).substr(received_, count));
        received_ += count;
        stream_->consume(count);
    }

    std::mt19937& random_;
    const std::string& sent_;
    const std::string& expected_;
    std::size_t written_ = 0;
    std::size_t received_ = 0;
    ev::Timer go_on_;
    std::unique_ptr<Stream> stream_;
};

void exchange(unsigned seed, bool tls, std::size_t most) {
    std::mt19937 random(seed);
    const auto some = [&](std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(1, limit)(random);
    };
    Faults faults;
    const auto fault = [&](std::size_t size) -> long {
        switch (some(8)) {
        case 1: return -EAGAIN;
        case 2: return -EINTR;
        default: return static_cast<long>(some(std::min(size, most)));
        }
    };
    faults.recv = fault;
    faults.send = fault;
    const std::string there = pattern(total);
    const std::string back(there.rbegin(), there.rend());
    ev::Loop loop;
    Talker near(random, there, back);
    Talker far(random, back, there);
    const Stream::Limits limits{some(100000), 1, 64 * 1024 + some(200000)};
    auto [one, other] = make_transports(tls);
    near.open(loop, std::move(one), limits);
    far.open(loop, std::move(other), limits);
    INFO("seed " << seed << " pieces of up to " << most);
    REQUIRE(run_until(loop, [&] { return near.done() && far.done(); }));
    CHECK(near.end().text() == "closed");
    CHECK(far.end().text() == "closed");
    CHECK(near.received() == total);
    CHECK(far.received() == total);
}

}  // namespace

TEST_CASE("random exchanges deliver every byte", "[random]") {
    const bool tls = GENERATE(false, true);
    for (unsigned seed = 1; seed <= 6; ++seed) exchange(seed, tls, 20000);
    exchange(7, tls, 100);
}
