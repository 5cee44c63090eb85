#include "bufio/dial.hpp"

#include "tests/bufio/addresses.hpp"
#include "tests/bufio/fixture.hpp"
#include "tests/bufio/system.hpp"

#include <cerrno>
#include <future>
#include <memory>
#include <optional>

using namespace test;
using bufio::Address;
using bufio::Dialer;
using bufio::DialResult;
using bufio::Endpoint;
using bufio::ephemeral_port_count;

namespace {

// A loopback port that accepts no more connections, because its queue is full.
struct FullPort {
    explicit FullPort() : listening(listen_somewhere(where, 0)) {
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

// Gives every name two addresses: first an unreachable address, then `reachable`.
void one_unreachable(Faults& faults, const Address& reachable) {
    faults.resolve = [&reachable](const std::string&) {
        return std::vector<Address>{v6(1, reachable.port()), reachable};
    };
    faults.connect = [](const Address& address) {
        return address.family() == AF_INET6 ? ENETUNREACH : 0;
    };
}

ev::Time fake_now{};
ev::Time fake_clock() { return fake_now; }

}  // namespace

TEST_CASE("dialing alternates the families, beginning with the family of the first address",
          "[dial]") {
    CHECK(texts(bufio::interleave({}, AF_INET6)).empty());
    CHECK(texts(bufio::interleave({v6(1, 7), v6(2, 7), v6(3, 7), v4(1, 7), v4(2, 7)},
                                  AF_INET6)) ==
          texts({v6(1, 7), v4(1, 7), v6(2, 7), v4(2, 7), v6(3, 7)}));
    CHECK(texts(bufio::interleave({v4(1, 7), v4(2, 7), v6(1, 7)}, AF_INET)) ==
          texts({v4(1, 7), v6(1, 7), v4(2, 7)}));
    CHECK(texts(bufio::interleave({v6(1, 7), v4(1, 7)}, AF_INET)) ==
          texts({v4(1, 7), v6(1, 7)}));
    CHECK(texts(bufio::interleave({v6(1, 7), v6(2, 7)}, AF_INET)) ==
          texts({v6(1, 7), v6(2, 7)}));
}

TEST_CASE("dialing connects to a numeric address, and reports the time taken", "[dial]") {
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

TEST_CASE("dialing a port without a listener is refused", "[dial]") {
    Address where;
    listen_somewhere(where).reset();
    Dial dial;
    dial.start(to("127.0.0.1", where.port()));
    REQUIRE(dial.done());
    CHECK_FALSE(dial.result.socket);
    CHECK(dial.result.end.reason == Reason::connect);
    CHECK(dial.result.end.text == "cannot connect to " + where.text() + ": Connection refused");
}

TEST_CASE("dialing continues with the next address when one fails at once", "[dial]") {
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

TEST_CASE("dialing reports all addresses that failed", "[dial]") {
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

TEST_CASE("dialing starts the next attempt after 250 ms, and the first to connect wins",
          "[dial]") {
    const FullPort full;
    Address where;
    const Fd listening = listen_somewhere(where);
    Faults faults;
    std::vector<std::string> tried;
    faults.resolve = [&](const std::string&) {
        return std::vector<Address>{full.where, where};
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
    run_pending(loop);
    CHECK(tried.size() == 1);
    CHECK(dialer.phase() == "connecting " + full.where.text());
    fake_now += 1ms;
    run_pending(loop);
    CHECK(tried == texts({full.where, where}));
    REQUIRE(run_until(loop, [&] { return calls == 1; }));
    CHECK(result.address.text() == where.text());
    CHECK(result.connect_time == 250ms);
    result.socket.reset();
    CHECK(open_descriptors() <= before + 1);  // the look-up's; no attempt is left
}

TEST_CASE("lookup_time is 0 without a look-up", "[dial]") {
    struct Case {
        std::string host;
        bool known;
        ev::Duration time;
    };
    const Case c =
        GENERATE(Case{"127.0.0.1", false, 0ms}, Case{"localhost", false, 0ms},
                 Case{"service.example", true, 0ms}, Case{"service.example", false, 3ms});
    CAPTURE(c.host, c.known);
    Address where;
    const Fd listening = listen_somewhere(where);
    Faults faults;
    faults.resolve = [&where](const std::string&) { return std::vector<Address>{where}; };
    Endpoint endpoint = to(c.host, where.port());
    endpoint.family = AF_INET;
    if (c.known) endpoint.known = std::make_shared<const std::vector<Address>>(1, where);
    fake_now = ev::Time{} + 1h;
    ev::Loop loop(fake_clock);
    std::optional<DialResult> result;
    Dialer dialer(loop, endpoint, [&](DialResult dialed) { result = std::move(dialed); });
    fake_now += 17ms;  // during the rest of the turn
    loop.step(ev::Duration::zero());
    fake_now += 3ms;
    REQUIRE(run_until(loop, [&] { return result.has_value(); }));
    CHECK(result->lookup_time == c.time);
}

TEST_CASE("a dialer that is destroyed early does not call back and leaves no descriptor open",
          "[dial]") {
    const FullPort full;
    const int before = open_descriptors();
    {
        Dial dial;
        dial.start(to("127.0.0.1", full.where.port()));
        run_pending(dial.loop);
        CHECK(dial.dialer->phase() == "connecting " + full.where.text());
        dial.dialer.reset();
        run_pending(dial.loop);
        CHECK(dial.calls == 0);
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("a dialer that is destroyed while it resolves does not call back", "[dial]") {
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
    run_pending(dial.loop);
    started.get_future().wait();
    CHECK(dial.dialer->phase() == "resolving");
    dial.dialer.reset();
    answer.set_value();
    run_pending(dial.loop);
    CHECK(dial.calls == 0);
}

TEST_CASE("a name without an address is reported", "[dial]") {
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

TEST_CASE("does not look up a name whose addresses are known", "[dial]") {
    Faults faults;
    faults.resolve = [](const std::string&) { return std::vector<Address>{}; };
    Address where;
    const Fd listening = listen_somewhere(where, 5);
    Dial dial;
    Endpoint endpoint = to("nowhere.example", 7);
    endpoint.known = std::make_shared<const std::vector<Address>>(1, where);
    dial.start(endpoint);
    REQUIRE(dial.done());
    CHECK(dial.result.socket);
    CHECK(dial.result.address.text() == where.text());
}

TEST_CASE("a dialer may be destroyed by its callback", "[dial]") {
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

TEST_CASE("dialing can be limited to an address family and to a source address", "[dial]") {
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
    SECTION("from an address of another machine") {
        endpoint.source_host = "192.0.2.1";
        endpoint.datagrams = GENERATE(false, true);
        dial.start(endpoint);
        REQUIRE(dial.done());
        CHECK(dial.result.end.reason == Reason::connect);
        CHECK(dial.result.end.text == "cannot connect to " + endpoint.text() +
                                          ": 192.0.2.1 is not an address of this machine");
    }
    SECTION("from a port that another socket uses") {
        endpoint.source_host = "127.0.0.1";
        endpoint.source_port = std::to_string(where.port());
        dial.start(endpoint);
        REQUIRE(dial.done());
        CHECK(dial.result.end.text ==
              "cannot connect to " + endpoint.text() + ": Address already in use");
    }
    SECTION("from no address at all") {
        endpoint.source_host = "here";
        dial.start(endpoint);
        REQUIRE(dial.done());
        CHECK(dial.result.end.reason == Reason::lookup);
    }
}

TEST_CASE("reports a lack of source ports", "[dial]") {
    const auto [datagrams, code, counted] = GENERATE(table<bool, int, bool>(
        {{false, EADDRNOTAVAIL, true}, {true, EAGAIN, true}, {false, EAGAIN, false}}));
    test::Faults faults;
    faults.connect = [failure = code](const Address&) { return failure; };
    Endpoint endpoint = to("127.0.0.1", 7);
    endpoint.datagrams = datagrams;
    Dial dial;
    dial.start(endpoint);
    REQUIRE(dial.done());
    const std::string expected = counted && ephemeral_port_count() > 0
                                     ? "no ephemeral port is left: the system has " +
                                           std::to_string(ephemeral_port_count()) +
                                           " for each destination"
                                     : std::generic_category().message(code);
    CHECK(dial.result.end.text == "cannot connect to 127.0.0.1:7: " + expected);
}

TEST_CASE("reports a socket connected to itself as refused", "[dial]") {
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

TEST_CASE("reports a unix-domain path that is too long", "[dial]") {
    Endpoint endpoint;
    endpoint.path = "/" + std::string(200, 'x');
    Dial dial;
    dial.start(endpoint);
    REQUIRE(dial.done());
    CHECK(dial.result.end.reason == Reason::lookup);
}

TEST_CASE("reports a path that is not a socket", "[dial]") {
    Endpoint endpoint;
    endpoint.path = GENERATE("/dev/null", "/", "/proc/self/exe");
    Dial dial;
    dial.start(endpoint);
    REQUIRE(dial.done());
    CHECK(dial.result.end.reason == Reason::connect);
    CHECK(dial.result.end.text ==
          "cannot connect to " + endpoint.path + ": it is not a socket");
}
