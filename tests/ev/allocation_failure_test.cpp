#include "tests/ev/fixture.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/catch.hpp"

#include <new>

using namespace std::chrono_literals;

namespace {

// Repeats an operation that failed for lack of memory: nothing must have changed.
template <class Operation>
void retry(Operation operation) {
    try {
        operation();
    } catch (const std::bad_alloc&) {
        operation();
    }
}

// Each member of a crowd reads a byte and passes one on; then its timer fires. Signals arrive
// meanwhile.
class Scene {
public:
    Scene(const std::string& backend, std::size_t crowd)
        : loop_(backend), watches_(crowd), timers_(crowd) {
        while (channels_.size() < crowd) channels_.push_back(make_pipe());
    }

    // Runs until the loop has nothing left to wait for.
    void play() {
        for (std::size_t i = 0; i < channels_.size(); ++i) join(i);
        retry([&] { one_ = ev::Signal(loop_, SIGUSR1, [this] { signalled(); }); });
        std::raise(SIGUSR1);
        channels_[0].put();
        bool goes_on = true;
        for (int turns = 0; goes_on && turns < 1000; ++turns)
            retry([&] { goes_on = loop_.turn_after(1ms); });
    }

    std::size_t heard = 0;
    std::size_t timed = 0;
    int signals = 0;

private:
    void join(std::size_t i) {
        retry([&] { timers_[i] = ev::Timer(loop_, [this, i] { timed_out(i); }); });
        retry([&] { timers_[i].start(1h); });
        retry([&] {
            watches_[i] = ev::Watch(loop_, channels_[i].out, ev::readable,
                                    [this, i](ev::Events) { hear(i); });
        });
    }

    // An exception from here passes through the turn; the byte is still unread in the next
    // turn.
    void hear(std::size_t i) {
        ev::Watch another(loop_, channels_[i].in, ev::writable, [](ev::Events) {});
        timers_[i].start(1ms * static_cast<int>(channels_.size() - i));
        retry([&] { watches_[i].want(ev::readable | ev::writable); });
        heard += channels_[i].take();
        channels_[(i == 0 ? channels_.size() : i) - 1].put();
        watches_[i].want(ev::none);
    }

    void timed_out(std::size_t i) {
        ++timed;
        watches_[i] = {};
        retry([&] { timers_[i] = ev::Timer(loop_, [this, i] { timers_[i] = {}; }); });
        retry([&] { timers_[i].start(0ms); });
    }

    void signalled() {
        ++signals;
        retry([&] {
            other_ = ev::Signal(loop_, SIGUSR2, [this] {
                ++signals;
                other_ = {};
            });
        });
        std::raise(SIGUSR2);
        one_ = {};
    }

    FakeLoop loop_;
    std::vector<Channel> channels_;
    std::vector<ev::Watch> watches_;
    std::vector<ev::Timer> timers_;
    ev::Signal one_, other_;
};

}  // namespace

TEST_CASE("a loop loses nothing when any one allocation fails") {
    const auto [backend, crowd] = GENERATE(table<std::string, std::size_t>(
        {{"poll", 20}, {"select", 20}, {"auto", 40}}));  // 40 make auto use epoll
    auto& [count, largest, refused] = test::allocations;
    const auto before = open_descriptors();
    bool met = true;
    for (std::size_t nth = 1; met; ++nth) {
        {
            Scene scene(backend, crowd);
            refused = count + nth;
            scene.play();
            met = count >= refused;
            refused = 0;
            INFO("refused: allocation " << nth);
            REQUIRE(scene.heard == crowd);
            REQUIRE(scene.timed == crowd);
            REQUIRE(scene.signals == 2);
        }
        REQUIRE(std::signal(SIGUSR1, SIG_DFL) == SIG_DFL);
        REQUIRE(std::signal(SIGUSR2, SIG_DFL) == SIG_DFL);
        REQUIRE(open_descriptors() == before);
    }
}

TEST_CASE("a registration that fails for lack of memory reports nothing") {
    for (const std::string& name : backends()) {
        INFO(name);
        const std::unique_ptr<ev::Backend> backend = ev::make_backend(name);
        auto pipe = make_pipe();
        pipe.put();
        std::vector<Fd> fds;
        std::vector<ev::Registration> registrations(20);
        for (std::size_t i = 0; i < registrations.size(); ++i) {
            if (i % 2 == 0) fds.emplace_back(::dup(pipe.out));  // each is watched twice
            registrations[i].fd = fds.back();
            for (std::size_t nth = 1; registrations[i].interest == ev::none; ++nth) {
                std::vector<ev::Readiness> ready;
                backend->wait(0ns, ready);
                REQUIRE(ready.size() == i);
                test::allocations.refused = test::allocations.count + nth;
                try {
                    backend->set(registrations[i], ev::readable);
                } catch (const std::bad_alloc&) {
                }
                test::allocations.refused = 0;
            }
        }
    }
}
