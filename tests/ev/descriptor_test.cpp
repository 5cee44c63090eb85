#include "tests/ev/fixture.hpp"
#include "tests/support/catch.hpp"

#ifdef __linux__
#    include <sys/epoll.h>
#endif
#include <sys/resource.h>
#include <sys/select.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <system_error>

using namespace std::chrono_literals;
using ev::Events;
using ev::Watch;

namespace {

// What a watch was told, turn by turn.
struct Record {
    void operator()(Events events) { told.push_back(events); }
    std::vector<Events> told;
};

// Sets how many descriptors the process may have, for as long as it lives.
class DescriptorLimit {
public:
    explicit DescriptorLimit(rlim_t count) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit wanted{std::min(count, before_.rlim_max), before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &wanted);
        allowed_ = wanted.rlim_cur;
    }
    ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    rlim_t allowed() const { return allowed_; }

private:
    rlimit before_{};
    rlim_t allowed_;
};

}  // namespace

TEST_CASE("readable and writable are told as asked for", "[descriptor]") {
    FakeLoop loop;
    auto pair = make_socketpair();
    Record record;
    Watch watch(loop, pair.out, ev::readable | ev::writable, std::ref(record));
    loop.turn();
    pair.put();
    loop.turn();
    watch.want(ev::readable);
    loop.turn();
    pair.take();
    loop.turn();
    CHECK(record.told == std::vector{ev::writable, ev::readable | ev::writable, ev::readable});
}

TEST_CASE("who wants a hang-up is told of that alone", "[descriptor]") {
    if (backend_is("select")) return;
    FakeLoop loop;
    auto pair = make_socketpair();
    Record record;
    Watch watch(loop, pair.out, ev::hangup, std::ref(record));
    pair.put();
    loop.turn();
    CHECK(record.told.empty());
    pair.in.close();
    loop.turn();
    REQUIRE(record.told.size() == 1);
    CHECK((record.told[0] & ev::hangup));
}

TEST_CASE("a watch without interest is told nothing and keeps the loop", "[descriptor]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    pipe.put();
    Record record;
    Watch watch(loop, pipe.out, ev::none, std::ref(record));
    CHECK(loop.turn());
    pipe.in.close();
    CHECK(loop.turn());
    CHECK(record.told.empty());
    CHECK(watch.wanted() == ev::none);
    watch.want(ev::readable);
    loop.turn();
    CHECK(record.told.size() == 1);
}

TEST_CASE("a watch may end in its own callback", "[descriptor]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    pipe.put();
    int told = 0;
    std::optional<Watch> watch;
    watch.emplace(loop, pipe.out, ev::readable, [&](Events) {
        ++told;
        watch.reset();
    });
    CHECK(loop.turn());
    CHECK_FALSE(loop.turn());
    CHECK(told == 1);
}

TEST_CASE("a watch ended or put to sleep by another's callback is not told", "[descriptor]") {
    const bool ends = GENERATE(true, false);
    FakeLoop loop;
    auto one = make_pipe(), other = make_pipe();
    const bool hangs_up = GENERATE(false, true);
    hangs_up ? one.in.close() : one.put();
    hangs_up ? other.in.close() : other.put();
    int told = 0;
    std::optional<Watch> first, second;
    const auto watch = [&](Channel& pipe, std::optional<Watch>& rival) {
        return Watch(loop, pipe.out, ev::readable, [&](Events) {
            ++told;
            ends ? rival.reset() : rival->want(ev::none);
        });
    };
    first = watch(one, second);
    second = watch(other, first);
    loop.turn();
    CHECK(told == 1);
}

TEST_CASE("a descriptor number used again in the same turn is a new descriptor",
          "[descriptor]") {
    FakeLoop loop;
    auto first = make_pipe(), second = make_pipe(), fresh = make_pipe();
    first.put();
    second.put();
    int told_fresh = 0;
    std::optional<Watch> watches[2];
    // Whichever comes first replaces the other, which is ready too, under the same number.
    const auto replace = [&](Channel& pipe, std::optional<Watch>& watch) {
        watch.reset();
        const int number = pipe.out;
        ::dup2(fresh.out, number);
        watch.emplace(loop, number, ev::readable, [&](Events) {
            ++told_fresh;
            fresh.take();
        });
    };
    watches[0].emplace(loop, first.out, ev::readable, [&](Events) {
        first.take();
        replace(second, watches[1]);
    });
    watches[1].emplace(loop, second.out, ev::readable, [&](Events) {
        second.take();
        replace(first, watches[0]);
    });
    loop.turn();
    CHECK(told_fresh == 0);
    fresh.put();
    loop.turn();
    CHECK(told_fresh == 1);
}

TEST_CASE("a watch made in a callback is told from the next turn on", "[descriptor]") {
    FakeLoop loop;
    auto pipe = make_pipe(), other = make_pipe();
    pipe.put();
    other.put();
    Record record;
    std::optional<Watch> made;
    Watch watch(loop, pipe.out, ev::readable, [&](Events) {
        pipe.take();
        made.emplace(loop, other.out, ev::readable, std::ref(record));
    });
    loop.turn();
    CHECK(record.told.empty());
    loop.turn();
    CHECK(record.told == std::vector{ev::readable});
}

TEST_CASE("a writer whose reader is gone is told the error and does not spin", "[descriptor]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    pipe.fill();
    Record record;
    Watch watch(loop, pipe.in, ev::writable, std::ref(record));
    loop.turn();
    CHECK(record.told.empty());
    pipe.out.close();
    for (int turns = 0; turns < 10; ++turns) loop.turn();
    REQUIRE(record.told.size() >= 1);
    CHECK((record.told[0] & ev::error));
    CHECK((record.told[0] & ev::writable));
}

TEST_CASE("a hang-up is told once, together with what was asked for", "[descriptor]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    Record record;
    Watch watch(loop, pipe.out, ev::readable, std::ref(record));
    pipe.in.close();
    for (int turns = 0; turns < 10; ++turns) loop.turn();
    CHECK(record.told == std::vector{ev::readable | ev::hangup});
    CHECK(watch.wanted() == ev::none);
    watch.want(ev::readable);
    loop.turn();
    CHECK(record.told.size() == 2);
}

TEST_CASE("a hang-up reaches a watch that only writes", "[descriptor]") {
    FakeLoop loop;
    auto pair = make_socketpair();
    Record record;
    Watch watch(loop, pair.in, ev::writable, [&](Events events) {
        record(events);
        watch.want(ev::none);
    });
    pair.out.close();
    for (int turns = 0; turns < 10; ++turns) loop.turn();
    CHECK(record.told == std::vector{ev::writable | ev::hangup});
}

TEST_CASE("the last bytes before a hang-up are told as readable until they are read",
          "[descriptor]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    pipe.put();
    pipe.put();
    pipe.in.close();
    int taken = 0;
    Watch watch(loop, pipe.out, ev::readable, [&](Events) { taken += pipe.take(); });
    for (int turns = 0; turns < 10; ++turns) loop.turn();
    CHECK(taken == 2);
}

TEST_CASE("an invalid descriptor is told as an error, once", "[descriptor]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    const int number = pipe.out;
    pipe.out.close();
    Record record;
    Watch watch(loop, number, ev::readable, std::ref(record));
    for (int turns = 0; turns < 10; ++turns) loop.turn();
    CHECK(record.told == std::vector{ev::readable | ev::error});
}

TEST_CASE("an invalid descriptor does not keep others from being told", "[descriptor]") {
    FakeLoop loop;
    auto pipe = make_pipe(), closed = make_pipe();
    pipe.put();
    const int number = closed.out;
    closed.out.close();
    Record record, invalid;
    Watch watch(loop, pipe.out, ev::readable, std::ref(record));
    Watch wrong(loop, number, ev::readable, std::ref(invalid));
    loop.turn();
    CHECK(record.told == std::vector{ev::readable});
    CHECK(invalid.told == std::vector{ev::readable | ev::error});
}

TEST_CASE("a negative descriptor is reported as an error, once", "[descriptor]") {
    const int negative = GENERATE(-1, -7, std::numeric_limits<int>::min());
    FakeLoop loop;
    auto pipe = make_pipe();
    pipe.put();
    Record record, other, valid;
    const Watch watch(loop, negative, ev::readable, std::ref(record));
    const Watch same(loop, negative, ev::writable, std::ref(other));
    const Watch beside(loop, pipe.out, ev::readable, std::ref(valid));
    loop.turn();
    CHECK(record.told == std::vector{ev::readable | ev::error});
    CHECK(other.told == std::vector{ev::writable | ev::error});
    CHECK(valid.told == std::vector{ev::readable});
    loop.turn();
    CHECK(record.told.size() == 1);
    CHECK(valid.told.size() == 2);
}

TEST_CASE("a negative descriptor ends a wait without limit", "[descriptor]") {
    FakeLoop loop;
    Record record;
    const Watch watch(loop, -1, ev::hangup, std::ref(record));
    loop.step();
    CHECK(record.told == std::vector{ev::hangup | ev::error});
}

TEST_CASE("two watches of one descriptor are each notified of what they want", "[descriptor]") {
    FakeLoop loop;
    auto pair = make_socketpair();
    Record reader, writer;
    Watch reading(loop, pair.out, ev::readable, std::ref(reader));
    Watch writing(loop, pair.out, ev::writable, std::ref(writer));
    loop.turn();
    CHECK(reader.told.empty());
    CHECK(writer.told == std::vector{ev::writable});
    writing.want(ev::none);
    pair.put();
    loop.turn();
    CHECK(reader.told == std::vector{ev::readable});
    CHECK(writer.told.size() == 1);
    writing.want(ev::readable | ev::writable);
    loop.turn();
    CHECK(reader.told.size() == 2);
    CHECK(writer.told.back() == (ev::readable | ev::writable));
}

TEST_CASE("either of two watches of one descriptor outlasts the other", "[descriptor]") {
    const std::size_t first = GENERATE(0U, 1U);
    const bool by_sleep = GENERATE(true, false);
    FakeLoop loop;
    auto pipe = make_pipe();
    pipe.put();
    Record records[2];
    std::optional<Watch> watches[2];
    for (const std::size_t i : {0U, 1U})
        watches[i].emplace(loop, pipe.out, ev::readable, std::ref(records[i]));
    if (by_sleep)
        watches[first]->want(ev::none);
    else
        watches[first].reset();
    loop.turn();
    CHECK(records[first].told.empty());
    CHECK(records[1 - first].told == std::vector{ev::readable});
    watches[first].emplace(loop, pipe.out, ev::readable, std::ref(records[first]));
    watches[1 - first].reset();
    loop.turn();
    CHECK(records[first].told == std::vector{ev::readable});
    CHECK(records[1 - first].told.size() == 1);
}

TEST_CASE("two watches of one descriptor are both notified of its hang-up", "[descriptor]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    Record records[2];
    Watch one(loop, pipe.out, ev::readable, std::ref(records[0]));
    Watch other(loop, pipe.out, ev::readable, std::ref(records[1]));
    pipe.in.close();
    for (int turns = 0; turns < 10; ++turns) loop.turn();
    CHECK(records[0].told == std::vector{ev::readable | ev::hangup});
    CHECK(records[1].told == std::vector{ev::readable | ev::hangup});
}

TEST_CASE("watches of one descriptor leave no descriptor behind", "[descriptor]") {
    auto pipe = make_pipe(), other = make_pipe();
    const auto before = open_descriptors();
    {
        FakeLoop loop;
        Record record;
        std::vector<Watch> watches;
        for (int i = 0; i < 5; ++i)
            watches.emplace_back(loop, pipe.out, ev::readable, std::ref(record));
        const auto most = open_descriptors();
        for (int i = 0; i < 10; ++i) {
            Watch another(loop, pipe.out, ev::writable, std::ref(record));
            another.want(ev::readable);
        }
        CHECK(open_descriptors() == most);
        pipe.put();
        loop.turn();
        CHECK(record.told.size() == 5);
        // A watch of a descriptor that was closed too early takes the others along nowhere.
        Watch early(loop, other.out, ev::readable, [](Events) {});
        other.out.close();
        early = {};
        CHECK(open_descriptors().size() + 1 == most.size());
        loop.turn();
        CHECK(record.told.size() == 10);
    }
    CHECK(open_descriptors().size() + 1 == before.size());
}

TEST_CASE("a descriptor closed while it is watched is told as an error", "[descriptor]") {
    FakeLoop loop;
    auto pipe = make_pipe(), other = make_pipe();
    Record record;
    Watch watch(loop, pipe.out, ev::readable, std::ref(record));
    pipe.out.close();
    if (backend_is("epoll"))
        watch.want(ev::readable | ev::writable);  // it is found out by this
    for (int turns = 0; turns < 10; ++turns) loop.turn();
    REQUIRE(record.told.size() == 1);
    CHECK((record.told[0] & ev::error));
}

TEST_CASE("a descriptor closed too early leaves nothing behind", "[descriptor]") {
    FakeLoop loop;
    auto pipe = make_pipe(), other = make_pipe();
    const Fd twin(::dup(pipe.out));
    Record record, fresh;
    std::optional<Watch> watch(std::in_place, loop, pipe.out, ev::readable, std::ref(record));
    Watch others(loop, other.out, ev::readable, std::ref(fresh));
    pipe.out.close();
    watch.reset();
    pipe.put();
    other.put();
    loop.turn();
    CHECK(record.told.empty());
    CHECK(fresh.told == std::vector{ev::readable});
}

TEST_CASE("a descriptor closed too early is let go of where no other is to be had",
          "[descriptor]") {
    FakeLoop loop;
    auto pipe = make_pipe(), other = make_pipe();
    std::optional<Watch> watch(std::in_place, loop, pipe.out, ev::readable, [](Events) {});
    Record record;
    Watch others(loop, other.out, ev::readable, std::ref(record));
    pipe.out.close();
    const DescriptorLimit limit(64);
    std::vector<Fd> rest;
    while (rest.empty() || rest.back() >= 0) rest.emplace_back(::dup(other.in));
    watch.reset();
    other.put();
    loop.turn();
    CHECK(record.told == std::vector{ev::readable});
}

TEST_CASE("a regular file is always ready", "[descriptor]") {
    FakeLoop loop;
    std::FILE* const file = std::tmpfile();
    Record record;
    Watch watch(loop, ::fileno(file), ev::readable | ev::writable, std::ref(record));
    loop.step();
    watch.want(ev::readable);
    loop.step();
    CHECK(record.told == std::vector{ev::readable | ev::writable, ev::readable});
    watch = {};
    std::fclose(file);
}

TEST_CASE("thousands of descriptors are told in one turn", "[descriptor]") {
    const DescriptorLimit limit(backend_is("select") ? FD_SETSIZE : 20'000);
    FakeLoop loop;
    auto pipe = make_pipe();
    pipe.put();
    std::size_t told = 0;
    std::vector<Fd> fds;
    std::vector<Watch> watches;
    while (watches.size() + 50 < std::min<rlim_t>(limit.allowed(), 5050)) {
        fds.emplace_back(::dup(pipe.out));
        watches.emplace_back(loop, fds.back(), ev::readable, [&](Events) { ++told; });
    }
    for (int turns = 0; turns < 100 && told < watches.size(); ++turns) loop.turn();
    CHECK(told >= watches.size());
    CHECK(watches.size() > 100);
}

TEST_CASE("a small limit of descriptors is enough", "[descriptor]") {
    auto pipe = make_pipe();
    FakeLoop loop;
    const DescriptorLimit limit(8);
    pipe.put();
    Record record;
    Watch watch(loop, pipe.out, ev::readable, std::ref(record));
    loop.turn();
    CHECK(record.told.size() == 1);
}

TEST_CASE("select refuses a descriptor that it cannot hold", "[descriptor]") {
    const DescriptorLimit limit(FD_SETSIZE + 16);
    auto pipe = make_pipe();
    const Fd high(::fcntl(pipe.out, F_DUPFD, FD_SETSIZE));
    if (high < 0) return;  // the system allows no more
    ev::Loop loop(ev::Clock::now, "select");
    CHECK_THROWS_AS(Watch(loop, high, ev::readable, [](Events) {}), std::system_error);
    const Fd last(::fcntl(pipe.out, F_DUPFD, FD_SETSIZE - 1));
    pipe.put();
    Record record;
    Watch watch(loop, last, ev::readable, std::ref(record));
    loop.step(0s);
    CHECK(record.told.size() == 1);
}

#ifdef __linux__

namespace {

// The loop chooses its backend as where the environment names none.
class Crowd {
public:
    Crowd() : loop_(make()) {}
    void join() {
        channels_.push_back(make_pipe());
        watches_.emplace_back(*loop_, channels_.back().out, ev::readable,
                              [this, i = channels_.size() - 1](ev::Events) {
                                  channels_[i].take();
                                  told_.push_back(i);
                              });
    }
    void join(int silent) {
        watches_.emplace_back(*loop_, silent, ev::readable, [](ev::Events) {});
    }
    // Each is told once what it is sent.
    bool all_hear() {
        told_.clear();
        for (auto& channel : channels_) channel.put();
        while (told_.size() < channels_.size()) loop_->step(ev::Duration::zero());
        loop_->step(ev::Duration::zero());
        std::sort(told_.begin(), told_.end());
        std::vector<std::size_t> all(channels_.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        return told_ == all;
    }
    static bool uses_epoll() {
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
            if (std::error_code gone;
                std::filesystem::read_symlink(entry, gone) == "anon_inode:[eventpoll]")
                return true;
        return false;
    }

private:
    static std::unique_ptr<ev::Loop> make() {
        ::unsetenv("EV_BACKEND");
        return std::make_unique<ev::Loop>();
    }
    std::unique_ptr<ev::Loop> loop_;
    std::vector<Channel> channels_;
    std::vector<ev::Watch> watches_;
    std::vector<std::size_t> told_;
};

}  // namespace

TEST_CASE("from poll the loop goes over to epoll with many descriptors", "[descriptor]") {
    Crowd crowd;
    while (!Crowd::uses_epoll()) {
        crowd.join();
        REQUIRE(crowd.all_hear());
    }
    for (int more = 0; more < 10; ++more) crowd.join();
    CHECK(crowd.all_hear());
}

TEST_CASE("where epoll can't be had, poll goes on", "[descriptor]") {
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

TEST_CASE("where epoll refuses a descriptor, poll goes on with them all", "[descriptor]") {
    // A set within a set within a set, as deep as may be: it can be in no other.
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
