#include "bufio/dial.hpp"

#include "tests/bufio/fixture.hpp"
#include "tests/bufio/system.hpp"

#include <arpa/inet.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <optional>

using namespace test;
using bufio::Address;
using bufio::Dialer;
using bufio::DialResult;
using bufio::Endpoint;

namespace {

Address v6(int last, int port) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET6, "2001:db8::", &address.sin6_addr);
    address.sin6_addr.s6_addr[15] = static_cast<unsigned char>(last);
    return {reinterpret_cast<const sockaddr*>(&address), sizeof address};
}

Address v4(int last, int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(0x7f000000u + static_cast<unsigned>(last));
    return {reinterpret_cast<const sockaddr*>(&address), sizeof address};
}

std::vector<std::string> texts(const std::vector<Address>& addresses) {
    std::vector<std::string> list;
    for (const Address& address : addresses) list.push_back(address.text());
    return list;
}

Endpoint to(const std::string& host, int port) {
    Endpoint endpoint;
    endpoint.host = host;
    endpoint.service = std::to_string(port);
    return endpoint;
}

// A port of the loopback that takes no connection more: its queue is full.
struct Dawdling {
    explicit Dawdling() : listening(listen_somewhere(where, 0)) {
        for (int i = 0; i < 3; ++i) {
            waiting.push_back(bufio::open_socket(AF_INET));
            ::connect(waiting.back().get(), where.get(), where.size);
        }
    }
    Address where;
    Fd listening;
    std::vector<Fd> waiting;
};

struct Dial {
    void start(const Endpoint& endpoint) {
        dialer.emplace(loop, endpoint, [this](DialResult dialed) {
            ++calls;
            result = std::move(dialed);
        });
    }
    bool done() {
        return run_until(loop, [this] { return calls > 0; });
    }

    ev::Loop loop;
    std::optional<Dialer> dialer;
    DialResult result;
    int calls = 0;
};

// Every name has two addresses: one that can't be reached, and then this one.
void one_unreachable(Faults& faults, const Address& where) {
    faults.resolve = [&where](const std::string&) {
        return std::vector<Address>{v6(1, where.port()), where};
    };
    faults.connect = [](const Address& address) {
        return address.family() == AF_INET6 ? ENETUNREACH : 0;
    };
}

ev::Time fake_now{};
ev::Time fake_clock() { return fake_now; }

}  // namespace

TEST_CASE("dialing tries the families in turn, the resolver's first one first") {
    CHECK(texts(bufio::interleave({})).empty());
    CHECK(texts(bufio::interleave({v6(1, 7), v6(2, 7), v6(3, 7), v4(1, 7), v4(2, 7)})) ==
          texts({v6(1, 7), v4(1, 7), v6(2, 7), v4(2, 7), v6(3, 7)}));
    CHECK(texts(bufio::interleave({v4(1, 7), v4(2, 7), v6(1, 7)})) ==
          texts({v4(1, 7), v6(1, 7), v4(2, 7)}));
}

TEST_CASE("dialing connects to a numeric address, and tells how long it took") {
    Address where;
    const Fd listening = listen_somewhere(where);
    Dial dial;
    dial.start(to("127.0.0.1", where.port()));
    CHECK(dial.calls == 0);
    CHECK(dial.dialer->phase() == "resolving");
    REQUIRE(dial.done());
    CHECK_FALSE(dial.result.end);
    CHECK(dial.result.socket);
    CHECK(dial.result.address.text() == where.text());
    CHECK(dial.result.lookup_time >= ev::Duration::zero());
    CHECK(dial.result.connect_time >= ev::Duration::zero());
}

TEST_CASE("dialing a port where nobody listens is refused") {
    Address where;
    listen_somewhere(where).reset();
    Dial dial;
    dial.start(to("127.0.0.1", where.port()));
    REQUIRE(dial.done());
    CHECK_FALSE(dial.result.socket);
    CHECK(dial.result.end.reason == Reason::connect);
    CHECK(dial.result.end.text == "cannot connect to " + where.text() + ": Connection refused");
}

TEST_CASE("dialing goes on to the next address when one fails at once") {
    Address where;
    const Fd listening = listen_somewhere(where);
    Faults faults;
    one_unreachable(faults, where);
    Dial dial;
    dial.start(to("service.example", where.port()));
    REQUIRE(dial.done());
    CHECK(dial.result.socket);
    CHECK(dial.result.address.text() == where.text());
}

TEST_CASE("dialing tells of all addresses that failed") {
    Address where;
    listen_somewhere(where).reset();
    Faults faults;
    one_unreachable(faults, where);
    Dial dial;
    dial.start(to("service.example", where.port()));
    REQUIRE(dial.done());
    CHECK(dial.result.end.text ==
          "cannot connect to service.example:" + std::to_string(where.port()) + ": " +
              v6(1, where.port()).text() + ": Network is unreachable; " + where.text() +
              ": Connection refused");
}

TEST_CASE("dialing starts the next attempt after 250 ms, and the first to connect wins") {
    const Dawdling dawdling;
    Address where;
    const Fd listening = listen_somewhere(where);
    Faults faults;
    std::vector<std::string> tried;
    faults.resolve = [&](const std::string&) {
        return std::vector<Address>{dawdling.where, where};
    };
    faults.connect = [&](const Address& address) {
        tried.push_back(address.text());
        return 0;
    };
    fake_now = ev::Time{} + 1h;
    ev::Loop loop(fake_clock);
    int calls = 0;
    DialResult result;
    const int before = open_descriptors();
    Dialer dialer(loop, to("service.example", where.port()), [&](DialResult dialed) {
        ++calls;
        result = std::move(dialed);
    });
    REQUIRE(run_until(loop, [&] { return tried.size() == 1; }));
    fake_now += 249ms;
    settle(loop);
    CHECK(tried.size() == 1);
    CHECK(dialer.phase() == "connecting " + dawdling.where.text());
    fake_now += 1ms;
    settle(loop);
    CHECK(tried == texts({dawdling.where, where}));
    REQUIRE(run_until(loop, [&] { return calls == 1; }));
    CHECK(result.address.text() == where.text());
    CHECK(result.connect_time == 250ms);
    result.socket.reset();
    CHECK(open_descriptors() <= before + 1);  // the look-up's own; no attempt is left
}

TEST_CASE("dialing that is given up calls nobody and leaves nothing") {
    const Dawdling dawdling;
    const int before = open_descriptors();
    {
        Dial dial;
        dial.start(to("127.0.0.1", dawdling.where.port()));
        settle(dial.loop);
        CHECK(dial.dialer->phase() == "connecting " + dawdling.where.text());
        dial.dialer.reset();
        settle(dial.loop);
        CHECK(dial.calls == 0);
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("a look-up that is given up calls nobody, and ends by itself") {
    std::promise<void> started;
    std::promise<void> answer;
    std::shared_future<void> answered = answer.get_future().share();
    Faults faults;
    faults.resolve = [&started, answered](const std::string&) {
        started.set_value();
        answered.wait();
        return std::vector<Address>{};
    };
    Dial dial;
    dial.start(to("slow.example", 7));
    settle(dial.loop);
    started.get_future().wait();
    CHECK(dial.dialer->phase() == "resolving");
    dial.dialer.reset();
    answer.set_value();
    settle(dial.loop);
    CHECK(dial.calls == 0);
}

TEST_CASE("a look-up calls back once") {
    Faults faults;
    faults.resolve = [](const std::string&) { return std::vector{v4(1, 7)}; };
    ev::Loop loop;
    int calls = 0;
    const bufio::Lookup lookup(loop, to("some.example", 7),
                               [&](bufio::LookupResult) { ++calls; });
    REQUIRE(run_until(loop, [&] { return calls > 0; }));
    settle(loop);
    CHECK(calls == 1);
}

TEST_CASE("a look-up takes no signal, and leaves no program what it opens") {
    const auto takes_signals = [] {
        sigset_t blocked;
        ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
        return ::sigismember(&blocked, SIGINT) == 0;
    };
    const auto inherited = [] {
        int count = 0;
        for (int fd = 0; fd < 256; ++fd) count += ::fcntl(fd, F_GETFD) == 0;
        return count;
    };
    std::promise<bool> took;
    Faults faults;
    faults.resolve = [&](const std::string&) {
        took.set_value(takes_signals());
        return std::vector{v4(1, 7)};
    };
    ev::Loop loop;
    const int before = inherited();
    bool found = false;
    const bufio::Lookup lookup(loop, to("some.example", 7), [&](auto) { found = true; });
    CHECK(inherited() == before);
    CHECK(takes_signals());
    CHECK_FALSE(took.get_future().get());
    CHECK(run_until(loop, [&] { return found; }));
}

TEST_CASE("localhost is known without asking, and is the loopback also to listen on") {
    Endpoint endpoint = to("localhost", 7);
    endpoint.family = AF_INET;
    endpoint.passive = true;
    CHECK(texts(bufio::resolve_without_network(endpoint).addresses) == texts({loopback(7)}));
    endpoint.host.clear();
    const auto any = bufio::resolve_without_network(endpoint).addresses;
    REQUIRE(any.size() == 1);
    CHECK(any[0].text() == "0.0.0.0:7");
}

TEST_CASE("a program may end while a look-up goes on") {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
        std::promise<void> started;
        Faults faults;
        faults.resolve = [&](const std::string&) {
            started.set_value();
            for (;;) ::pause();
            return std::vector<Address>{};
        };
        Dial dial;
        dial.start(to("slow.example", 7));
        settle(dial.loop);
        started.get_future().wait();
        std::exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
}

TEST_CASE("a name without an address is told") {
    Faults faults;
    faults.resolve = [](const std::string&) { return std::vector<Address>{}; };
    Dial dial;
    Endpoint endpoint = to("nowhere.example", 7);
    endpoint.numeric = GENERATE(false, true);
    dial.start(endpoint);
    REQUIRE(dial.done());
    CHECK(dial.result.end.reason == Reason::lookup);
    CHECK(dial.result.end.text.find("cannot resolve nowhere.example:7: ") == 0);
}

TEST_CASE("a dialer may be destroyed by its callback") {
    Address where;
    const Fd listening = listen_somewhere(where);
    ev::Loop loop;
    std::optional<Dialer> dialer;
    bool called = false;
    const std::string host = GENERATE("127.0.0.1", "255.255.255.255", "::1%nowhere");
    dialer.emplace(loop, to(host, where.port()), [&](DialResult) {
        called = true;
        dialer.reset();
    });
    REQUIRE(run_until(loop, [&] { return called; }));
    CHECK_FALSE(dialer);
}

TEST_CASE("dialing can be held to a family, and to an address of our own") {
    Address where;
    const Fd listening = listen_somewhere(where);
    Endpoint endpoint = to("127.0.0.1", where.port());
    Dial dial;
    SECTION("the other family") {
        endpoint.family = AF_INET6;
        dial.start(endpoint);
        REQUIRE(dial.done());
        CHECK(dial.result.end.reason == Reason::lookup);
    }
    SECTION("from an address") {
        endpoint.source_host = "127.0.0.2";
        dial.start(endpoint);
        REQUIRE(dial.done());
        REQUIRE(dial.result.socket);
        Address peer;
        peer.size = sizeof peer.storage;
        const Fd accepted(
            ::accept(listening.get(), reinterpret_cast<sockaddr*>(&peer.storage), &peer.size));
        CHECK(peer.text().find("127.0.0.2:") == 0);
    }
    SECTION("from a port") {
        Address free_port;
        listen_somewhere(free_port).reset();
        endpoint.source_port = std::to_string(free_port.port());
        dial.start(endpoint);
        REQUIRE(dial.done());
        REQUIRE(dial.result.socket);
        CHECK(Address::of_socket(dial.result.socket.get()).port() == free_port.port());
    }
    SECTION("from a port that a closed connection still holds") {
        Address free_port;
        listen_somewhere(free_port).reset();
        endpoint.source_port = std::to_string(free_port.port());
        dial.start(endpoint);
        REQUIRE(dial.done());
        dial.result.socket.reset();
        Fd(::accept(listening.get(), nullptr, nullptr)).reset();
        const Fd elsewhere = listen_somewhere(where);
        endpoint.service = std::to_string(where.port());
        Dial again;
        again.start(endpoint);
        REQUIRE(again.done());
        CHECK(again.result.end.text.empty());
    }
    SECTION("from an address of the other family") {
        endpoint.host = "::1";
        endpoint.source_host = "127.0.0.2";
        dial.start(endpoint);
        REQUIRE(dial.done());
        CHECK(dial.result.end.text.find("Address family not supported") != std::string::npos);
    }
    SECTION("from an address that is not ours") {
        endpoint.source_host = "192.0.2.1";
        dial.start(endpoint);
        REQUIRE(dial.done());
        CHECK(dial.result.end.reason == Reason::connect);
    }
    SECTION("from no address at all") {
        endpoint.source_host = "here";
        dial.start(endpoint);
        REQUIRE(dial.done());
        CHECK(dial.result.end.reason == Reason::lookup);
    }
}

TEST_CASE("a connection to itself is none") {
    Address port;
    listen_somewhere(port).reset();
    Endpoint endpoint = to("127.0.0.1", port.port());
    endpoint.source_host = "127.0.0.1";
    endpoint.source_port = endpoint.service;
    Dial dial;
    dial.start(endpoint);
    REQUIRE(dial.done());
    CHECK(dial.result.end.reason == Reason::connect);
}

TEST_CASE("a unix-domain path that is too long is told") {
    Endpoint endpoint;
    endpoint.path = "/" + std::string(200, 'x');
    Dial dial;
    dial.start(endpoint);
    REQUIRE(dial.done());
    CHECK(dial.result.end.reason == Reason::lookup);
}

TEST_CASE("a path that leads to no socket is not called refused") {
    Endpoint endpoint;
    endpoint.path = GENERATE("/dev/null", "/", "/proc/self/exe");
    Dial dial;
    dial.start(endpoint);
    REQUIRE(dial.done());
    CHECK(dial.result.end.reason == Reason::connect);
    CHECK(dial.result.end.text ==
          "cannot connect to " + endpoint.path + ": it is not a socket");
}

TEST_CASE("addresses are written as they are typed") {
    CHECK(loopback(7).text() == "127.0.0.1:7");
    CHECK(v6(1, 7).text() == "[2001:db8::1]:7");
    CHECK(Address::unix_path("/run/echo").text() == "/run/echo");
    CHECK(Address().text() == "unnamed");
    CHECK(to("::1", 7).text() == "[::1]:7");
    CHECK(to("host", 7).text() == "host:7");
}
