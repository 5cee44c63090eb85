#include "tests/ev/fixture.hpp"
#include "tests/support/catch.hpp"

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

// The events reported to a watch, one entry per callback.
struct Record {
    void operator()(Events now) { events.push_back(now); }
    std::vector<Events> events;
};

}  // namespace

TEST_CASE("only wanted events are reported", "[descriptor]") {
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
    CHECK(record.events ==
          std::vector{ev::writable, ev::readable | ev::writable, ev::readable});
}

TEST_CASE("a watch that wants only hang-ups is not woken by data", "[descriptor]") {
    if (backend_is("select")) return;
    FakeLoop loop;
    auto pair = make_socketpair();
    Record record;
    Watch watch(loop, pair.out, ev::hangup, std::ref(record));
    pair.put();
    loop.turn();
    CHECK(record.events.empty());
    pair.in.close();
    loop.turn();
    REQUIRE(record.events.size() == 1);
    CHECK((record.events[0] & ev::hangup));
}

TEST_CASE("reports a requested hang-up once", "[descriptor]") {
    if (backend_is("select")) return;
    FakeLoop loop;
    auto pair = make_socketpair();
    Record record;
    Watch watch(loop, pair.out, ev::hangup, std::ref(record));
    pair.in.close();
    for (int turns = 0; turns < 10; ++turns) loop.turn();
    CHECK(record.events == std::vector{ev::hangup});
    CHECK(watch.wanted() == ev::none);
}

TEST_CASE("a watch without interest gets no events and keeps the loop running",
          "[descriptor]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    pipe.put();
    Record record;
    Watch watch(loop, pipe.out, ev::none, std::ref(record));
    CHECK(loop.turn());
    pipe.in.close();
    CHECK(loop.turn());
    CHECK(record.events.empty());
    CHECK(watch.wanted() == ev::none);
    watch.want(ev::readable);
    loop.turn();
    CHECK(record.events.size() == 1);
}

TEST_CASE("a watch may be destroyed in its own callback", "[descriptor]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    pipe.put();
    int calls = 0;
    std::optional<Watch> watch;
    watch.emplace(loop, pipe.out, ev::readable, [&](Events) {
        ++calls;
        watch.reset();
    });
    CHECK(loop.turn());
    CHECK_FALSE(loop.turn());
    CHECK(calls == 1);
}

TEST_CASE("a watch destroyed or put to sleep by another's callback is not called",
          "[descriptor]") {
    const bool ends = GENERATE(true, false);
    FakeLoop loop;
    auto one = make_pipe(), other = make_pipe();
    const bool hangs_up = GENERATE(false, true);
    hangs_up ? one.in.close() : one.put();
    hangs_up ? other.in.close() : other.put();
    int calls = 0;
    std::optional<Watch> first, second;
    const auto watch = [&](Channel& pipe, std::optional<Watch>& rival) {
        return Watch(loop, pipe.out, ev::readable, [&](Events) {
            ++calls;
            ends ? rival.reset() : rival->want(ev::none);
        });
    };
    first = watch(one, second);
    second = watch(other, first);
    loop.turn();
    CHECK(calls == 1);
}

TEST_CASE("a descriptor number reused in the same turn gets no event of the old descriptor",
          "[descriptor]") {
    FakeLoop loop;
    auto first = make_pipe(), second = make_pipe(), fresh = make_pipe();
    first.put();
    second.put();
    int fresh_calls = 0;
    std::optional<Watch> watches[2];
    // The watch that is served first replaces the other, also ready watch with a watch of
    // another descriptor under the same number.
    const auto replace = [&](Channel& pipe, std::optional<Watch>& watch) {
        watch.reset();
        const int number = pipe.out;
        ::dup2(fresh.out, number);
        watch.emplace(loop, number, ev::readable, [&](Events) {
            ++fresh_calls;
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
    CHECK(fresh_calls == 0);
    fresh.put();
    loop.turn();
    CHECK(fresh_calls == 1);
}

TEST_CASE("a watch made in a callback is served from the next turn on", "[descriptor]") {
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
    CHECK(record.events.empty());
    loop.turn();
    CHECK(record.events == std::vector{ev::readable});
}

TEST_CASE("a writer without a reader gets an error and does not spin", "[descriptor]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    pipe.fill();
    Record record;
    Watch watch(loop, pipe.in, ev::writable, std::ref(record));
    loop.turn();
    CHECK(record.events.empty());
    pipe.out.close();
    for (int turns = 0; turns < 10; ++turns) loop.turn();
    REQUIRE(record.events.size() >= 1);
    CHECK((record.events[0] & ev::error));
    CHECK((record.events[0] & ev::writable));
}

TEST_CASE("a hang-up is reported once, together with the wanted events", "[descriptor]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    Record record;
    Watch watch(loop, pipe.out, ev::readable, std::ref(record));
    pipe.in.close();
    for (int turns = 0; turns < 10; ++turns) loop.turn();
    CHECK(record.events == std::vector{ev::readable | ev::hangup});
    CHECK(watch.wanted() == ev::none);
    watch.want(ev::readable);
    loop.turn();
    CHECK(record.events.size() == 2);
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
    CHECK(record.events == std::vector{ev::writable | ev::hangup});
}

TEST_CASE("a hang-up is readable until the last bytes are read", "[descriptor]") {
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

TEST_CASE("an invalid descriptor is reported as an error, once", "[descriptor]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    const int number = pipe.out;
    pipe.out.close();
    Record record;
    Watch watch(loop, number, ev::readable, std::ref(record));
    for (int turns = 0; turns < 10; ++turns) loop.turn();
    CHECK(record.events == std::vector{ev::readable | ev::error});
}

TEST_CASE("an invalid descriptor does not hide the events of others", "[descriptor]") {
    FakeLoop loop;
    auto pipe = make_pipe(), closed = make_pipe();
    pipe.put();
    const int number = closed.out;
    closed.out.close();
    Record record, invalid;
    Watch watch(loop, pipe.out, ev::readable, std::ref(record));
    Watch wrong(loop, number, ev::readable, std::ref(invalid));
    loop.turn();
    CHECK(record.events == std::vector{ev::readable});
    CHECK(invalid.events == std::vector{ev::readable | ev::error});
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
    CHECK(record.events == std::vector{ev::readable | ev::error});
    CHECK(other.events == std::vector{ev::writable | ev::error});
    CHECK(valid.events == std::vector{ev::readable});
    loop.turn();
    CHECK(record.events.size() == 1);
    CHECK(valid.events.size() == 2);
}

TEST_CASE("a negative descriptor ends a wait without limit", "[descriptor]") {
    FakeLoop loop;
    Record record;
    const Watch watch(loop, -1, ev::hangup, std::ref(record));
    loop.step();
    CHECK(record.events == std::vector{ev::hangup | ev::error});
}

TEST_CASE("each of two watches of one descriptor reports its own interest", "[descriptor]") {
    FakeLoop loop;
    auto pair = make_socketpair();
    Record reader, writer;
    Watch reading(loop, pair.out, ev::readable, std::ref(reader));
    Watch writing(loop, pair.out, ev::writable, std::ref(writer));
    loop.turn();
    CHECK(reader.events.empty());
    CHECK(writer.events == std::vector{ev::writable});
    writing.want(ev::none);
    pair.put();
    loop.turn();
    CHECK(reader.events == std::vector{ev::readable});
    CHECK(writer.events.size() == 1);
    writing.want(ev::readable | ev::writable);
    loop.turn();
    CHECK(reader.events.size() == 2);
    CHECK(writer.events.back() == (ev::readable | ev::writable));
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
    CHECK(records[first].events.empty());
    CHECK(records[1 - first].events == std::vector{ev::readable});
    watches[first].emplace(loop, pipe.out, ev::readable, std::ref(records[first]));
    watches[1 - first].reset();
    loop.turn();
    CHECK(records[first].events == std::vector{ev::readable});
    CHECK(records[1 - first].events.size() == 1);
}

TEST_CASE("two watches of one descriptor are both notified of its hang-up", "[descriptor]") {
    FakeLoop loop;
    auto pipe = make_pipe();
    Record records[2];
    Watch one(loop, pipe.out, ev::readable, std::ref(records[0]));
    Watch other(loop, pipe.out, ev::readable, std::ref(records[1]));
    pipe.in.close();
    for (int turns = 0; turns < 10; ++turns) loop.turn();
    CHECK(records[0].events == std::vector{ev::readable | ev::hangup});
    CHECK(records[1].events == std::vector{ev::readable | ev::hangup});
}

TEST_CASE("watches of a shared descriptor leave no duplicate behind", "[descriptor]") {
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
        CHECK(record.events.size() == 5);
        // Removing a descriptor that was closed too early keeps the others watched.
        Watch early(loop, other.out, ev::readable, [](Events) {});
        other.out.close();
        early = {};
        loop.turn();
        CHECK(open_descriptors().size() + 1 == most.size());
        CHECK(record.events.size() == 10);
    }
    CHECK(open_descriptors().size() + 1 == before.size());
}

TEST_CASE("a descriptor closed while it is watched is reported as an error", "[descriptor]") {
    FakeLoop loop;
    auto pipe = make_pipe(), other = make_pipe();
    Record record;
    Watch watch(loop, pipe.out, ev::readable, std::ref(record));
    pipe.out.close();
    if (backend_is("epoll")) watch.want(ev::readable | ev::writable);  // epoll notices it here
    for (int turns = 0; turns < 10; ++turns) loop.turn();
    REQUIRE(record.events.size() == 1);
    CHECK((record.events[0] & ev::error));
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
    CHECK(record.events.empty());
    CHECK(fresh.events == std::vector{ev::readable});
}

TEST_CASE("removes a descriptor closed too early even if descriptors have run out",
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
    CHECK(record.events == std::vector{ev::readable});
}

TEST_CASE("removes two descriptors closed too early in either order", "[descriptor]") {
    auto low = make_pipe(), high = make_pipe(),
         other = make_pipe();  // numbers below the loop's
    FakeLoop loop;
    Record record, valid;
    std::vector<Channel> idle;  // enough to make auto use epoll
    std::vector<Watch> watches;
    for (int i = 0; i < 60; ++i) {
        idle.push_back(make_pipe());
        watches.emplace_back(loop, idle.back().out, ev::readable, [](Events) {});
    }
    Watch left(loop, low.out, ev::readable, std::ref(record));
    std::optional<Watch> forgotten(std::in_place, loop, high.out, ev::readable, [](Events) {});
    Watch others(loop, other.out, ev::readable, std::ref(valid));
    for (int turns = 0; turns < 200; ++turns) loop.turn();
    low.out.close();
    high.out.close();
    forgotten.reset();
    other.put();
    for (int turns = 0; turns < 10; ++turns) loop.turn();
    CHECK(record.events == std::vector{ev::readable | ev::error});
    CHECK(valid.events == std::vector<Events>(10, ev::readable));
}

TEST_CASE("a regular file is always ready", "[descriptor]") {
    FakeLoop loop;
    std::FILE* const file = std::tmpfile();
    Record record;
    Watch watch(loop, ::fileno(file), ev::readable | ev::writable, std::ref(record));
    loop.step();
    watch.want(ev::readable);
    loop.step();
    CHECK(record.events == std::vector{ev::readable | ev::writable, ev::readable});
    watch = {};
    std::fclose(file);
}

TEST_CASE("serves thousands of descriptors", "[descriptor]") {
    const DescriptorLimit limit(backend_is("select") ? FD_SETSIZE : 20'000);
    FakeLoop loop;
    auto pipe = make_pipe();
    pipe.put();
    std::size_t calls = 0;
    std::vector<Fd> fds;
    std::vector<Watch> watches;
    while (watches.size() + 50 < std::min<rlim_t>(limit.allowed(), 5050)) {
        fds.emplace_back(::dup(pipe.out));
        watches.emplace_back(loop, fds.back(), ev::readable, [&](Events) { ++calls; });
    }
    loop.turn();  // one turn serves all
    CHECK(calls == watches.size());
    CHECK(watches.size() > 100);
}

TEST_CASE("refuses a watch beyond the descriptor limit", "[descriptor]") {
    auto pipe = make_pipe();
    pipe.put();
    FakeLoop loop;
    const DescriptorLimit limit(64);
    Record record;
    std::vector<Watch> watches;
    std::error_code reason;
    while (!reason && watches.size() < 100) {
        try {
            watches.emplace_back(loop, pipe.out, ev::readable, std::ref(record));
        } catch (const std::system_error& refused) {
            reason = refused.code();
        }
    }
    CHECK(reason == std::errc::too_many_files_open);
    loop.turn();
    CHECK(record.events.size() == watches.size());
    watches.pop_back();
    watches.emplace_back(loop, pipe.out, ev::readable, std::ref(record));
    loop.turn();
    CHECK(record.events.size() == 2 * watches.size());
}

TEST_CASE("a limit lowered below the number of watches loses no event", "[descriptor]") {
    FakeLoop loop;
    std::vector<Channel> pipes;
    std::vector<Record> records(40);
    std::vector<Watch> watches;
    for (Record& record : records) {
        pipes.push_back(make_pipe());
        watches.emplace_back(loop, pipes.back().out, ev::readable, std::ref(record));
    }
    const DescriptorLimit limit(20);
    for (Channel& pipe : pipes) pipe.put();
    for (std::size_t turns = 0; turns < records.size(); ++turns) loop.turn();
    for (const Record& record : records) {
        REQUIRE(record.events.size() >= 1);
        REQUIRE((record.events[0] & ev::readable));
    }
}

TEST_CASE("a small descriptor limit suffices", "[descriptor]") {
    auto pipe = make_pipe();
    FakeLoop loop;
    const DescriptorLimit limit(8);
    pipe.put();
    Record record;
    Watch watch(loop, pipe.out, ev::readable, std::ref(record));
    loop.turn();
    CHECK(record.events.size() == 1);
}
