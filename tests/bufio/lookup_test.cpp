#include "bufio/dial.hpp"

#include "tests/bufio/addresses.hpp"
#include "tests/bufio/fixture.hpp"
#include "tests/bufio/system.hpp"

#include <sys/wait.h>

#include <cstdio>
#include <future>

using namespace test;
using bufio::Address;
using bufio::Endpoint;
using bufio::Lookup;

TEST_CASE("a look-up calls back once") {
    Faults faults;
    faults.resolve = [](const std::string&) { return std::vector{v4(1, 7)}; };
    ev::Loop loop;
    int calls = 0;
    const Lookup lookup(loop, to("some.example", 7), [&](auto) { ++calls; });
    REQUIRE(run_until(loop, [&] { return calls > 0; }));
    run_pending(loop);
    CHECK(calls == 1);
}

TEST_CASE("the descriptors of a look-up are closed on exec") {
    const auto inherited = [] {
        int count = 0;
        for (int fd = 0; fd < 256; ++fd) count += ::fcntl(fd, F_GETFD) == 0;
        return count;
    };
    Faults faults;
    faults.resolve = [](const std::string&) { return std::vector{v4(1, 7)}; };
    ev::Loop loop;
    const int before = inherited();
    bool found = false;
    const Lookup lookup(loop, to("some.example", 7), [&](auto) { found = true; });
    CHECK(inherited() == before);
    CHECK(run_until(loop, [&] { return found; }));
}

TEST_CASE(
    "localhost is resolved without the resolver, and is the loopback also for listening") {
    Endpoint endpoint = to("localhost", 7);
    endpoint.family = AF_INET;
    endpoint.passive = true;
    CHECK(texts(bufio::resolve_without_network(endpoint).addresses) == texts({loopback(7)}));
    endpoint.host.clear();
    const auto any = bufio::resolve_without_network(endpoint).addresses;
    REQUIRE(any.size() == 1);
    CHECK(any[0].text() == "0.0.0.0:7");
}

TEST_CASE("an endpoint may be reached at another host and service") {
    Endpoint endpoint{.host = "service.example", .service = "7", .family = AF_INET};
    endpoint.connect_host = "127.0.0.1";
    CHECK(endpoint.dialed().text() == "127.0.0.1:7");
    endpoint.connect_service = "8";
    CHECK(texts(bufio::resolve_without_network(endpoint).addresses) == texts({loopback(8)}));
    endpoint.connect_host = "localhost";
    CHECK(texts(bufio::look_up(endpoint).addresses) == texts({loopback(8)}));
    CHECK(endpoint.text() == "service.example:7");
}

TEST_CASE("a program can exit while a look-up is in progress") {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
        std::promise<void> started;
        Faults faults;
        faults.resolve = [&](const std::string&) -> std::vector<Address> {
            started.set_value();
            for (;;) ::pause();
        };
        ev::Loop loop;
        const Lookup lookup(loop, to("slow.example", 7), [](auto) {});
        started.get_future().wait();
        std::exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
}
