#include "ev/threads/crew.hpp"

#include "ev/threads/loop_thread.hpp"
#include "ev/threads/mailbox.hpp"
#include "tests/ev/fixture.hpp"
#include "tests/support/catch.hpp"

#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>

using namespace std::chrono_literals;
using ev::Crew;
using ev::LoopThread;
using ev::Mailbox;

namespace {

// A thread, and the loop of its owner.
struct Owned {
    ev::Loop loop;
    Mailbox mailbox{loop};
    LoopThread thread{mailbox};
};

struct Member {
    std::size_t thread = 0;
    ev::Mailbox* owner = nullptr;
    std::thread::id ran_in{};
};

std::unique_ptr<Member> make_member(ev::Loop&, std::size_t thread, ev::Mailbox* owner) {
    return std::make_unique<Member>(Member{thread, owner});
}

struct Threads {
    std::multiset<std::size_t> numbers;
    void add(const Threads& other) {
        numbers.insert(other.numbers.begin(), other.numbers.end());
    }
};

Threads number_of(const Member& member) { return {{member.thread}}; }

}  // namespace

TEST_CASE("the loop runs tasks of another thread in order") {
    ev::Loop loop;
    Mailbox mailbox(loop);
    constexpr int count = 100'000;  // exceeds the bytes that fit into a pipe
    std::vector<int> called;
    std::thread other([&] {
        for (int i = 0; i < count; ++i) mailbox.post([&, i] { called.push_back(i); });
        mailbox.post([&] { loop.stop(); });
    });
    const auto self = std::this_thread::get_id();
    mailbox.post([&] { CHECK(std::this_thread::get_id() == self); });
    loop.run();
    other.join();
    REQUIRE(called.size() == count);
    for (int i = 0; i < count; ++i) REQUIRE(called[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("a task wakes the loop, and an empty mailbox keeps it waiting") {
    ev::Loop loop;
    Mailbox mailbox(loop);
    int called = 0;
    CHECK(loop.step(1ms));
    CHECK(called == 0);
    std::thread other([&] { mailbox.post([&] { ++called; }); });
    while (called == 0) REQUIRE(loop.step());  // without a limit
    other.join();
    CHECK(loop.step(1ms));
    CHECK(called == 1);
}

TEST_CASE("a task that throws leaves the others for the next turns") {
    FakeLoop loop;
    Mailbox mailbox(loop);
    int called = 0;
    mailbox.post([] { throw std::runtime_error("this one"); });
    mailbox.post([&] { ++called; });
    CHECK_THROWS_WITH(loop.turn(), "this one");
    CHECK(called == 0);
    loop.turn();
    CHECK(called == 1);
}

TEST_CASE("many tasks don't keep a descriptor waiting") {
    FakeLoop loop;
    Mailbox mailbox(loop);
    int read = 0;
    Channel channel = make_pipe();
    ev::Watch watch(loop, channel.out, ev::readable, [&](auto) { ++read; });
    channel.put();
    for (int i = 0; i < 100; ++i) mailbox.post([] {});
    loop.turn();
    CHECK(read == 1);
}

TEST_CASE("a task may post another one, and destroy the mailbox") {
    FakeLoop loop;
    auto mailbox = std::make_unique<Mailbox>(loop);
    int called = 0;
    mailbox->post([&] {
        ++called;
        mailbox->post([&] { mailbox.reset(); });
        mailbox->post([&] { ++called; });
    });
    loop.turn();
    CHECK(called == 1);
    loop.turn();
    CHECK_FALSE(mailbox);
    CHECK_FALSE(loop.turn());
    CHECK(called == 1);
}

TEST_CASE("reports that the system no longer watches a mailbox") {
    ev::Loop loop(ev::Clock::now, std::make_unique<BrokenBackend>());
    Mailbox mailbox(loop);
    CHECK_THROWS_AS(loop.step(0ms), std::system_error);
}

TEST_CASE("a thread serves objects that were made for its loop before it started") {
    Owned owned;
    std::thread::id caller;
    ev::Timer timer(owned.thread.loop(), [&] {
        caller = std::this_thread::get_id();
        owned.mailbox.post([&] { owned.loop.stop(); });
    });
    timer.start(1ms);
    owned.thread.start();
    owned.loop.run();
    owned.thread.join();
    CHECK(caller != std::thread::id());
    CHECK(caller != std::this_thread::get_id());
}

TEST_CASE("join() waits for posted tasks") {
    Owned owned;
    int called = 0;
    owned.thread.start();
    for (int i = 0; i < 1000; ++i) owned.thread.post([&] { ++called; });
    owned.thread.join();
    CHECK(called == 1000);
    owned.thread.join();
}

TEST_CASE("join() returns immediately if the thread never started") {
    Owned owned;
    owned.thread.post([] { FAIL("nobody serves this"); });
    owned.thread.join();
}

TEST_CASE("the owner's loop rethrows an exception from a thread") {
    Owned owned;
    owned.thread.start();
    owned.thread.post([] { throw std::runtime_error("in the thread"); });
    owned.thread.post([] { FAIL("the thread has ended"); });
    CHECK_THROWS_WITH(owned.loop.run(), "in the thread");
    owned.thread.join();
}

TEST_CASE("a thread blocks all signals, and leaves its owner's mask unchanged") {
    const auto blocked = [](int signo) {
        sigset_t mask;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        return ::sigismember(&mask, signo) == 1;
    };
    Owned owned;
    bool all = false;
    owned.thread.start();
    owned.thread.post([&] { all = blocked(SIGINT) && blocked(SIGUSR1) && blocked(SIGCHLD); });
    owned.thread.join();
    CHECK(all);
    CHECK_FALSE(blocked(SIGINT));
}

TEST_CASE("there is at least one processor") { CHECK(ev::processor_count() >= 1); }

TEST_CASE("a crew has one object a thread, and the first is on the owner's loop") {
    ev::Loop loop;
    Crew<Member> crew(loop, 3, make_member);
    CHECK_FALSE(crew.is_single_threaded());
    CHECK(crew.first().owner == nullptr);
    crew.start();
    crew.post_to_each([](Member& member) { member.ran_in = std::this_thread::get_id(); });
    CHECK(crew.first().ran_in == std::this_thread::get_id());
    crew.join();
    std::set<std::thread::id> ids;
    crew.for_each_on_this_thread([&](const Member& member) {
        CHECK((member.thread == 0) == (member.owner == nullptr));
        ids.insert(member.ran_in);
    });
    CHECK(ids.size() == 3);
    CHECK(ids.count(std::thread::id()) == 0);
}

TEST_CASE("a crew calls back with the sum over its threads, once, from the owner's loop") {
    ev::Loop loop;
    Crew<Member> crew(loop, 4, make_member);
    crew.start();
    int calls = 0;
    crew.gather<Threads>(number_of, [&](const Threads& sum) {
        ++calls;
        CHECK(sum.numbers == std::multiset<std::size_t>{0, 1, 2, 3});
        loop.stop();
    });
    CHECK(calls == 0);
    loop.run();
    CHECK(calls == 1);
}

TEST_CASE("a crew of one needs no thread and no mailbox") {
    ev::Loop loop;
    Crew<Member> crew(loop, 1, make_member);
    CHECK(crew.is_single_threaded());
    crew.start();
    int calls = 0;
    crew.gather<Threads>(number_of, [&](const Threads& sum) {
        ++calls;
        CHECK(sum.numbers == std::multiset<std::size_t>{0});
    });
    CHECK(calls == 1);
}

TEST_CASE("a crew may be destroyed while its threads answer") {
    ev::Loop loop;
    for (int i = 0; i < 20; ++i) {
        Crew<Member> crew(loop, 3, make_member);
        crew.start();
        crew.gather<Threads>(number_of, [](const Threads&) { FAIL("the crew is gone"); });
    }
}
