#include "ev/threads/mailbox.hpp"

#include "tests/ev/fixture.hpp"
#include "tests/support/catch.hpp"

#include <stdexcept>
#include <system_error>
#include <thread>

using namespace std::chrono_literals;
using ev::Mailbox;

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
