#include "ev/backends/system.hpp"

#if EV_HAS_EPOLL
#    include "ev/backends/backends.hpp"
#    include "tests/ev/fixture.hpp"
#    include "tests/support/catch.hpp"

#    include <sys/epoll.h>

#    include <algorithm>
#    include <chrono>
#    include <filesystem>
#    include <numeric>
#    include <system_error>

using namespace std::chrono_literals;

namespace {

class Crowd {
public:
    void join() {
        channels_.push_back(make_pipe());
        watches_.emplace_back(loop_, channels_.back().out, ev::readable,
                              [this, i = channels_.size() - 1](ev::Events) {
                                  channels_[i].take();
                                  heard_.push_back(i);
                              });
    }
    void join(int silent) {
        watches_.emplace_back(loop_, silent, ev::readable, [](ev::Events) {});
    }
    // Sends a byte to each; returns true if each is reported once.
    bool all_hear() {
        heard_.clear();
        for (auto& channel : channels_) channel.put();
        while (heard_.size() < channels_.size()) loop_.step(ev::Duration::zero());
        loop_.step(ev::Duration::zero());
        std::sort(heard_.begin(), heard_.end());
        std::vector<std::size_t> all(channels_.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        return heard_ == all;
    }
    void idle() { loop_.step(ev::Duration::zero()); }
    static bool uses_epoll() {
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
            if (std::error_code gone;
                std::filesystem::read_symlink(entry, gone) == "anon_inode:[eventpoll]")
                return true;
        return false;
    }

private:
    ev::Loop loop_{ev::Clock::now, "auto"};
    std::vector<Channel> channels_;
    std::vector<ev::Watch> watches_;
    std::vector<std::size_t> heard_;
};

// The lowest free descriptor changes whenever the instance of epoll is opened or closed.
int free_descriptor() { return Fd(::fcntl(0, F_DUPFD_CLOEXEC, 0)); }

// Waits with the backend itself, with given counts of watched and of ready descriptors.
class Load {
public:
    explicit Load(std::size_t watched) : registrations_(watched) {
        while (channels_.size() < watched) channels_.push_back(make_pipe());
        for (std::size_t i = 0; i < watched; ++i) {
            registrations_[i].fd = channels_[i].out;
            auto_->set(registrations_[i], ev::readable);
        }
    }
    ~Load() {
        for (ev::Registration& registration : registrations_)
            auto_->set(registration, ev::none);
    }
    // Waits `waits` times, and returns the number of changes of the backend. Limits a wait
    // that nothing can end.
    int changes(std::size_t ready, ev::Duration longest, int waits) {
        make_ready(ready);
        int changes = 0;
        int before = free_descriptor();
        for (; waits > 0; --waits) {
            std::vector<ev::Readiness> found;
            auto_->wait(longest, found);
            if (found.size() != ready) return -1;
            const int now = free_descriptor();
            changes += now != before;
            before = now;
        }
        return changes;
    }

private:
    void make_ready(std::size_t count) {
        for (std::size_t i = 0; i < channels_.size(); ++i)
            if (i < count)
                channels_[i].put();
            else
                while (channels_[i].take()) {
                }
    }
    std::vector<Channel> channels_;
    std::vector<ev::Registration> registrations_;
    const std::unique_ptr<ev::Backend> auto_ = ev::make_auto_backend();
};

}  // namespace

TEST_CASE("auto chooses by the numbers of watched and ready descriptors", "[backend]") {
    struct Row {
        std::size_t watched, ready;
        ev::Duration longest;
        bool epoll;
    };
    const auto row =
        GENERATE(Row{1, 1, 1h, false}, Row{2, 2, 1h, false}, Row{3, 1, 0s, false},
                 Row{11, 1, 0s, true}, Row{11, 1, 1h, true}, Row{11, 11, 0s, false},
                 Row{50, 1, 0s, true}, Row{50, 10, 0s, false}, Row{50, 50, 1h, false},
                 Row{200, 1, 0s, true}, Row{200, 200, 0s, false});
    Load load(row.watched);
    CAPTURE(row.watched, row.ready);
    CHECK(load.changes(row.ready, row.longest, 300) == row.epoll);
    CHECK(Crowd::uses_epoll() == row.epoll);
}

TEST_CASE("auto returns to poll when most descriptors are ready", "[backend]") {
    Load load(50);
    CHECK(load.changes(1, 0s, 200) == 1);
    CHECK(Crowd::uses_epoll());
    CHECK(load.changes(50, 0s, 200) == 1);
    CHECK_FALSE(Crowd::uses_epoll());
    CHECK(load.changes(1, 0s, 200) == 1);
    CHECK(Crowd::uses_epoll());
}

TEST_CASE("auto does not oscillate with changes of the load", "[backend]") {
    Load load(50);
    int changes = 0;
    for (int phases = 0; phases < 500; ++phases)
        changes += load.changes(phases % 2 ? 1 : 50, 0s, 20);
    CHECK(changes < 10);
}

TEST_CASE("auto changes from poll to epoll with many descriptors", "[backend]") {
    Crowd crowd;
    for (int i = 0; i < 200; ++i) crowd.join();
    for (int turns = 0; turns < 1000 && !Crowd::uses_epoll(); ++turns) crowd.idle();
    CHECK(Crowd::uses_epoll());
    CHECK(crowd.all_hear());
    for (int more = 0; more < 10; ++more) crowd.join();
    CHECK(crowd.all_hear());
}

TEST_CASE("auto stays with poll when epoll can't be created", "[backend]") {
    Crowd crowd;
    for (int i = 0; i < 100; ++i) crowd.join();
    {
        const DescriptorLimit limit(256);
        std::vector<Fd> rest;
        while (rest.empty() || rest.back() >= 0) rest.emplace_back(::dup(0));
        CHECK(crowd.all_hear());
    }
    CHECK(crowd.all_hear());
    CHECK_FALSE(Crowd::uses_epoll());
}

TEST_CASE("auto stays with poll when epoll refuses a descriptor", "[backend]") {
    // epoll instances nested as deep as the system allows, so that no other accepts the last.
    std::vector<Fd> sets;
    epoll_event readable{EPOLLIN, {}};
    do {
        sets.emplace_back(::epoll_create1(0));
        REQUIRE(sets.back() >= 0);
    } while (sets.size() < 2 ||
             ::epoll_ctl(sets.back(), EPOLL_CTL_ADD, sets[sets.size() - 2], &readable) == 0);
    Crowd crowd;
    for (int i = 0; i < 10; ++i) crowd.join();
    crowd.join(sets[sets.size() - 2]);
    for (int i = 0; i < 50; ++i) crowd.join();
    CHECK(crowd.all_hear());
    crowd.join();
    CHECK(crowd.all_hear());
}

#endif
