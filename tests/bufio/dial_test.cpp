#include "bufio/dial.hpp"

#include "tests/bufio/fixture.hpp"
#include "tests/bufio/system.hpp"

#include <sys/wait.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <future>
#include <thread>

using namespace test;
using bufio::Address;
using bufio::Dialer;
using bufio::DialResult;
using bufio::Endpoint;
using bufio::ephemeral_port_count;
using bufio::Lookup;

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
    explicit Dial(const Endpoint& endpoint, ev::ReadClock clock = ev::Clock::now)
        : loop(clock), dialer(std::in_place, loop, endpoint, [this](DialResult dialed) {
              ++calls;
              result = std::move(dialed);
              if (destroys) dialer.reset();
          }) {}
    DialResult& wait() {
        REQUIRE(run_until(loop, [this] { return calls > 0; }));
        return result;
    }

    ev::Loop loop;
    DialResult result;
    int calls = 0;
    bool destroys = false;
    std::optional<Dialer> dialer;
};

std::vector<std::string> texts(const std::vector<Address>& addresses) {
    std::vector<std::string> list;
    for (const Address& address : addresses) list.push_back(address.text());
    return list;
}

// Returns an address on which nobody listens.
Address free_address() {
    Address where;
    listen_somewhere(where).reset();
    return where;
}

ev::Time fake_now{};
ev::Time fake_clock() { return fake_now; }

}  // namespace

TEST_CASE("dialing alternates the families, beginning with the first address's, or with IPv4") {
    const std::map<char, Address> addresses{{'a', at("2001:db8::1", 7)},
                                            {'b', at("2001:db8::2", 7)},
                                            {'c', at("2001:db8::3", 7)},
                                            {'1', at("127.0.0.1", 7)},
                                            {'2', at("127.0.0.2", 7)}};
    const struct {
        bool udp;
        std::string found, tried;
    } rows[] = {{false, "abc12", "a1b2c"},
                {false, "12a", "1a2"},
                {true, "a1", "1a"},
                {true, "ab", "ab"}};
    for (const auto& row : rows) {
        std::vector<Address> found;
        for (const char each : row.found) found.push_back(addresses.at(each));
        std::string tried;
        Faults faults;
        faults.connect = [&](const Address& to) {
            for (const auto& [name, address] : addresses)
                if (address.text() == to.text()) tried += name;
            return ENETUNREACH;
        };
        Endpoint endpoint = to("service.example", 7);
        endpoint.is_udp = row.udp;
        endpoint.known_addresses = std::make_shared<const std::vector<Address>>(found);
        Dial(endpoint).wait();
        CHECK(tried == row.tried);
    }
}

TEST_CASE("dialing connects to an address or a name, and reports the time taken") {
    Address where;
    const Fd listening = listen_somewhere(where);
    Endpoint endpoint = to(GENERATE("127.0.0.1", "localhost"), where.port());
    endpoint.family = AF_INET;
    endpoint.is_udp = GENERATE(false, true);
    Dial dial(endpoint);
    CHECK(dial.calls == 0);
    CHECK(dial.dialer->phase() == "resolving");
    const DialResult& result = dial.wait();
    CHECK_FALSE(result.end);
    CHECK(result.socket);
    CHECK(result.address.text() == where.text());
    CHECK(result.lookup_time >= ev::Duration::zero());
    CHECK(result.connect_time >= ev::Duration::zero());
}

TEST_CASE("dialing reports all addresses that failed") {
    const Address away = at("2001:db8::1", 7), closed = free_address();
    Faults faults;
    faults.resolve = [&](const std::string&) { return std::vector<Address>{away, closed}; };
    faults.connect = [](const Address& address) {
        return address.family() == AF_INET6 ? ENETUNREACH : 0;
    };
    CHECK(Dial(to("service.example", 7)).wait().end.text() ==
          "cannot connect to service.example:7: " + away.text() + ": Network is unreachable; " +
              closed.text() + ": Connection refused");
}

TEST_CASE("dialing starts the next attempt after 250 ms, and the first to connect wins") {
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
    const std::vector<int> before = open_descriptors();
    Dial dial(to("service.example", where.port()), fake_clock);
    REQUIRE(run_until(dial.loop, [&] { return tried.size() == 1; }));
    fake_now += 249ms;
    run_pending(dial.loop);
    CHECK(tried.size() == 1);
    CHECK(dial.dialer->phase() == "connecting " + full.where.text());
    fake_now += 1ms;
    run_pending(dial.loop);
    CHECK(tried == texts({full.where, where}));
    CHECK(dial.wait().address.text() == where.text());
    CHECK(dial.result.connect_time == 250ms);
    dial.result.socket.reset();
    // Waits for the look-up's thread. No attempt holds a descriptor.
    while (open_descriptors().size() > before.size()) std::this_thread::yield();
}

TEST_CASE("lookup_time is 0 without a look-up, which known addresses make needless") {
    const struct {
        std::string host;
        bool known;
        ev::Duration time;
    } rows[] = {{"127.0.0.1", false, 0ms},
                {"localhost", false, 0ms},
                {"service.example", true, 0ms},
                {"service.example", false, 3ms}};
    for (const auto& row : rows) {
        CAPTURE(row.host, row.known);
        Address where;
        const Fd listening = listen_somewhere(where);
        Faults faults;
        std::atomic<int> lookups = 0;
        faults.resolve = [&](const std::string&) {
            ++lookups;
            return std::vector<Address>{where};
        };
        Endpoint endpoint = to(row.host, where.port());
        endpoint.family = AF_INET;
        if (row.known)
            endpoint.known_addresses = std::make_shared<const std::vector<Address>>(1, where);
        fake_now = ev::Time{} + 1h;
        Dial dial(endpoint, fake_clock);
        // The rest of the turn takes 17 ms, which must not count as look-up time.
        fake_now += 17ms;
        dial.loop.step(ev::Duration::zero());
        fake_now += 3ms;
        CHECK(dial.wait().lookup_time == row.time);
        CHECK(dial.result.address.text() == where.text());
        CHECK(lookups == (row.time > 0ms));
    }
}

TEST_CASE("a dialer that is destroyed early does not call back and leaves no descriptor open") {
    const FullPort full;
    const std::vector<int> before = open_descriptors();
    {
        Dial dial(to("127.0.0.1", full.where.port()));
        run_pending(dial.loop);
        CHECK(dial.dialer->phase() == "connecting " + full.where.text());
        dial.dialer.reset();
        run_pending(dial.loop);
        CHECK(dial.calls == 0);
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("a dialer that is destroyed while it resolves does not call back") {
    std::promise<void> started;
    std::promise<void> answer;
    std::shared_future<void> answered = answer.get_future().share();
    Faults faults;
    faults.resolve = [&started, answered](const std::string&) {
        started.set_value();
        answered.wait();
        return std::vector<Address>{};
    };
    Dial dial(to("slow.example", 7));
    run_pending(dial.loop);
    started.get_future().wait();
    CHECK(dial.dialer->phase() == "resolving");
    dial.dialer.reset();
    answer.set_value();
    run_pending(dial.loop);
    CHECK(dial.calls == 0);
}

TEST_CASE("a dialer may be destroyed by its callback") {
    Address where;
    const Fd listening = listen_somewhere(where);
    Dial dial(to(GENERATE("127.0.0.1", "255.255.255.255", "::1%nowhere"), where.port()));
    dial.destroys = true;
    dial.wait();
    CHECK_FALSE(dial.dialer);
}

TEST_CASE("dials from a given address and port") {
    Address where;
    const Fd listening = listen_somewhere(where);
    Endpoint endpoint = to("127.0.0.1", where.port());
    SECTION("an address") {
        endpoint.source_host = "127.0.0.2";
        Dial dial(endpoint);
        REQUIRE(dial.wait().socket);
        CHECK(Address::of_socket(dial.result.socket.get()).text().starts_with("127.0.0.2:"));
    }
    SECTION("a port, even if a closed connection still holds it") {
        const int port = free_address().port();
        endpoint.source_port = std::to_string(port);
        Address other;
        const Fd also_listening = listen_somewhere(other);
        for (const int destination : {where.port(), other.port()}) {
            endpoint.service = std::to_string(destination);
            Dial dial(endpoint);
            REQUIRE(dial.wait().socket);
            CHECK(Address::of_socket(dial.result.socket.get()).port() == port);
            dial.result.socket.reset();
            Fd(::accept(listening.get(), nullptr, nullptr)).reset();
        }
    }
}

TEST_CASE("reports why it can't dial") {
    Address where;
    const Fd listening = listen_somewhere(where);
    const std::string port = std::to_string(where.port());
    const std::string free_port = std::to_string(free_address().port());
    const std::string local = "127.0.0.1";
    Faults faults;
    faults.resolve = [](const std::string&) { return std::vector<Address>{}; };
    Endpoint from_free_port{
        .host = local, .service = port, .is_udp = true, .source_host = local};
    from_free_port.source_port = free_port;
    Dial first(from_free_port);
    REQUIRE(first.wait().socket);
    using enum Reason;
    const std::string foreign = "192.0.2.1 is not an address of this machine";
    const std::string many = "broadcast and multicast addresses are not supported";
    const std::string used = "Address already in use";
    const struct {
        Reason reason;
        std::string why;  // the beginning of the reason
        std::string host, service, source_host = {}, source_port = {};
        bool udp = false;
        int family = AF_UNSPEC;
        bool numeric = false;
    } rows[] = {
        {connect, used, local, port, local, free_port, true},
        {refused, "Connection refused", local, free_port},
        // It would connect to itself.
        {refused, "Connection refused", local, free_port, local, free_port},
        {lookup, "", local, port, "", "", false, AF_INET6},
        {lookup, "", "nowhere.example", port},
        {lookup, "", "nowhere.example", port, "", "", false, AF_UNSPEC, true},
        {connect, "Address family not supported", "::1", port, "127.0.0.2"},
        {connect, foreign, local, port, "192.0.2.1"},
        {connect, foreign, local, port, "192.0.2.1", "", true},
        {connect, used, local, port, local, port},
        {lookup, "here: ", local, port, "here"},
        {connect, many, "224.0.0.1", port, "", "", true},
        {connect, many, "255.255.255.255", port, "", "", true},
        {connect, many, "127.255.255.255", port, "", "", true},
        {lookup, "File name too long", "/" + std::string(200, 'x'), ""},
        {connect, "it is not a socket", "/dev/null", ""},
        {connect, "it is not a socket", std::filesystem::temp_directory_path(), ""},
    };
    for (const auto& row : rows) {
        Endpoint endpoint{.family = row.family, .is_numeric = row.numeric, .is_udp = row.udp};
        (row.host[0] == '/' ? endpoint.path : endpoint.host) = row.host;
        endpoint.service = row.service;
        endpoint.source_host = row.source_host;
        endpoint.source_port = row.source_port;
        Dial dial(endpoint);
        const bufio::End& end = dial.wait().end;
        CAPTURE(end.text());
        CHECK_FALSE(dial.result.socket);
        CHECK(end.reason == row.reason);
        const std::string deed =
            row.reason == lookup ? "cannot resolve " : "cannot connect to ";
        CHECK(end.text().starts_with(deed + endpoint.text() + ": " + row.why));
        CHECK_FALSE(end.text().ends_with(": "));
    }
}

TEST_CASE("reports a lack of source ports") {
    const struct {
        bool udp;
        int code;
        bool counted;
    } rows[] = {{false, EADDRNOTAVAIL, true}, {true, EAGAIN, true}, {false, EAGAIN, false}};
    for (const auto& row : rows) {
        Faults faults;
        faults.connect = [&](const Address&) { return row.code; };
        Endpoint endpoint = to("127.0.0.1", 7);
        endpoint.is_udp = row.udp;
        Dial dial(endpoint);
        const std::size_t ports = row.counted ? ephemeral_port_count() : 0;
        CHECK(dial.wait().end.text() ==
              "cannot connect to 127.0.0.1:7: " +
                  (ports == 0 ? std::generic_category().message(row.code)
                              : "no ephemeral port is left; the system has " +
                                    std::to_string(ports) + " ports for each destination"));
    }
}

TEST_CASE("is refused if every address refuses") {
    for (const int second : {ECONNREFUSED, ETIMEDOUT}) {
        Faults faults;
        int attempts = 0;
        faults.connect = [&](const Address&) {
            return ++attempts == 1 ? ECONNREFUSED : second;
        };
        Endpoint endpoint;
        endpoint.known_addresses = std::make_shared<const std::vector<Address>>(2, loopback());
        Dial dial(endpoint);
        CHECK(dial.wait().end.reason ==
              (second == ECONNREFUSED ? Reason::refused : Reason::connect));
    }
}

TEST_CASE("at most six addresses are tried at a time") {
    fake_now = ev::Time{} + 1h;
    const FullPort full;
    Endpoint endpoint;
    endpoint.known_addresses = std::make_shared<const std::vector<Address>>(20, full.where);
    Faults faults;
    int attempts = 0;
    faults.connect = [&](const Address&) {
        ++attempts;
        return 0;
    };
    Dial dial(endpoint, fake_clock);
    for (int i = 0; i < 20; ++i) {
        run_pending(dial.loop);
        fake_now += 250ms;
    }
    CHECK(attempts == 6);
}

// --- Look-ups.

TEST_CASE("a look-up calls back once") {
    Faults faults;
    faults.resolve = [](const std::string&) { return std::vector{at("127.0.0.1", 7)}; };
    ev::Loop loop;
    int calls = 0;
    const Lookup lookup(loop, to("some.example", 7), [&](auto) { ++calls; });
    REQUIRE(run_until(loop, [&] { return calls > 0; }));
    run_pending(loop);
    CHECK(calls == 1);
}

TEST_CASE(
    "localhost is resolved without the resolver, and is the loopback also for listening") {
    Endpoint endpoint = to("localhost", 7);
    endpoint.family = AF_INET;
    endpoint.is_passive = true;
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
