#include "ev/threads/loop_thread.hpp"

#include "tests/ev/fixture.hpp"
#include "tests/support/catch.hpp"

#include <stdexcept>
#include <thread>

using namespace std::chrono_literals;
using ev::LoopThread;
using ev::Mailbox;

TEST_CASE("a thread serves objects that were made for its loop before it started") {
    ev::Loop loop;
    Mailbox mailbox(loop);
    LoopThread thread(mailbox);
    std::thread::id caller;
    ev::Timer timer(thread.loop(), [&] {
        caller = std::this_thread::get_id();
        mailbox.post([&] { loop.stop(); });
    });
    timer.start(1ms);
    thread.start();
    loop.run();
    thread.join();
    CHECK(caller != std::thread::id());
    CHECK(caller != std::this_thread::get_id());
}

TEST_CASE("join() waits for posted tasks") {
    ev::Loop loop;
    Mailbox mailbox(loop);
    LoopThread thread(mailbox);
    int called = 0;
    thread.start();
    for (int i = 0; i < 1000; ++i) thread.post([&] { ++called; });
    thread.join();
    CHECK(called == 1000);
    thread.join();
}

TEST_CASE("join() returns immediately if the thread never started") {
    ev::Loop loop;
    Mailbox mailbox(loop);
    LoopThread thread(mailbox);
    thread.post([] { FAIL("nobody serves this"); });
    thread.join();
}

TEST_CASE("the owner's loop rethrows an exception from a thread") {
    ev::Loop loop;
    Mailbox mailbox(loop);
    LoopThread thread(mailbox);
    thread.start();
    thread.post([] { throw std::runtime_error("in the thread"); });
    thread.post([] { FAIL("the thread has ended"); });
    CHECK_THROWS_WITH(loop.run(), "in the thread");
    thread.join();
}

TEST_CASE("a thread blocks all signals, and leaves its owner's mask unchanged") {
    const auto blocked = [](int signo) {
        sigset_t mask;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        return ::sigismember(&mask, signo) == 1;
    };
    ev::Loop loop;
    Mailbox mailbox(loop);
    LoopThread thread(mailbox);
    bool all = false;
    thread.start();
    thread.post([&] { all = blocked(SIGINT) && blocked(SIGUSR1) && blocked(SIGCHLD); });
    thread.join();
    CHECK(all);
    CHECK_FALSE(blocked(SIGINT));
}

TEST_CASE("there is at least one processor") { CHECK(ev::processor_count() >= 1); }
