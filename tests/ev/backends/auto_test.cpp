#include "ev/system.hpp"

#if EV_HAS_EPOLL
#    include "ev/backends/backends.hpp"
#    include "tests/ev/fixture.hpp"
#    include "tests/support/catch.hpp"

#    include <sys/epoll.h>

#    include <chrono>
#    include <deque>
#    include <filesystem>
#    include <system_error>

using namespace std::chrono_literals;

namespace {

bool uses_epoll() {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
        if (std::error_code gone;
            std::filesystem::read_symlink(entry, gone) == "anon_inode:[eventpoll]")
            return true;
    return false;
}

// Waits in an auto backend, with given counts of watched and of ready descriptors.
class Load {
public:
    explicit Load(std::size_t watched) { add(watched); }
    ~Load() {
        for (ev::Registration& registration : registrations_)
            auto_->set(registration, ev::none);
    }
    void add(std::size_t count) {
        for (; count > 0; --count) {
            channels_.push_back(make_pipe());
            add_silent(channels_.back().out);
        }
    }
    void add_silent(int fd) {
        registrations_.push_back({nullptr, fd});
        auto_->set(registrations_.back(), ev::readable);
    }
    // Waits `waits` times. Returns the number of changes of the backend, or -1 if a wait does
    // not find `ready` descriptors.
    int changes(std::size_t ready, ev::Duration max_wait, int waits) {
        make_ready(ready);
        int changes = 0;
        int before =
            test::free_descriptor();  // differs once the epoll instance is opened or closed
        for (; waits > 0; --waits) {
            std::vector<ev::Readiness> found;
            auto_->wait(max_wait, found);
            if (found.size() != ready) return -1;
            const int now = test::free_descriptor();
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
    std::deque<ev::Registration> registrations_;
    const std::unique_ptr<ev::Backend> auto_ = ev::make_auto_backend();
};

}  // namespace

TEST_CASE("auto chooses by the numbers of watched and ready descriptors") {
    struct Row {
        std::size_t watched, ready;
        ev::Duration max_wait;
        bool epoll;
    };
    const auto row =
        GENERATE(Row{1, 1, 1h, false}, Row{2, 2, 1h, false}, Row{3, 1, 0s, false},
                 Row{11, 1, 0s, true}, Row{11, 1, 1h, true}, Row{11, 11, 0s, false},
                 Row{50, 1, 0s, true}, Row{50, 10, 0s, false}, Row{50, 50, 1h, false},
                 Row{200, 1, 0s, true}, Row{200, 200, 0s, false});
    Load load(row.watched);
    CAPTURE(row.watched, row.ready);
    CHECK(load.changes(row.ready, row.max_wait, 300) == row.epoll);
    CHECK(uses_epoll() == row.epoll);
}

TEST_CASE("auto returns to poll when most descriptors are ready") {
    Load load(50);
    CHECK(load.changes(1, 0s, 200) == 1);
    CHECK(uses_epoll());
    CHECK(load.changes(50, 0s, 200) == 1);
    CHECK_FALSE(uses_epoll());
    CHECK(load.changes(1, 0s, 200) == 1);
    CHECK(uses_epoll());
}

TEST_CASE("auto does not oscillate with changes of the load") {
    Load load(50);
    int changes = 0;
    for (int phases = 0; phases < 500; ++phases)
        changes += load.changes(phases % 2 ? 1 : 50, 0s, 20);
    CHECK(changes < 10);
}

TEST_CASE("auto serves descriptors that are added after a change") {
    Load load(200);
    CHECK(load.changes(1, 0s, 200) == 1);
    load.add(10);
    CHECK(load.changes(210, 0s, 1) == 0);
}

TEST_CASE("auto stays with poll when epoll can't be created") {
    Load load(100);
    {
        const DescriptorLimit limit(256);
        std::vector<Fd> rest;
        while (rest.empty() || rest.back() >= 0) rest.emplace_back(::dup(0));
        CHECK(load.changes(1, 0s, 300) == 0);
        CHECK_THROWS_AS(ev::make_epoll_backend(), std::system_error);
    }
    CHECK_FALSE(uses_epoll());
}

TEST_CASE("auto stays with poll when epoll refuses a descriptor") {
    // epoll instances nested as deep as the system allows, so that no other accepts the last.
    std::vector<Fd> sets;
    epoll_event readable{EPOLLIN, {}};
    do {
        sets.emplace_back(::epoll_create1(0));
        REQUIRE(sets.back() >= 0);
    } while (sets.size() < 2 ||
             ::epoll_ctl(sets.back(), EPOLL_CTL_ADD, sets[sets.size() - 2], &readable) == 0);
    Load load(10);
    load.add_silent(sets[sets.size() - 2]);
    load.add(50);
    CHECK(load.changes(1, 0s, 300) == 0);
    CHECK(load.changes(60, 0s, 1) == 0);
}

#endif
