#ifdef __linux__
#    include "tests/ev/fixture.hpp"
#    include "tests/support/catch.hpp"

#    include <sys/epoll.h>

#    include <algorithm>
#    include <filesystem>
#    include <numeric>
#    include <system_error>

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
    // Sends a byte to each, which must be reported once.
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

}  // namespace

TEST_CASE("auto changes from poll to epoll with many descriptors", "[backend]") {
    Crowd crowd;
    while (!Crowd::uses_epoll()) {
        crowd.join();
        REQUIRE(crowd.all_hear());
    }
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
    // Sets nested as deep as the system allows, so that no further set takes the last one.
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
