// The servers of several threads, and clients on the loop of the test.

#include "app/server/server_threads.hpp"

#include "tests/app/fixture.hpp"
#include "tests/app/server/raw_client.hpp"

#include <poll.h>
#include <unistd.h>

#include <system_error>
#include <thread>

using namespace std::chrono_literals;
using namespace yodel;

using test::any_loopback_port;
using test::RawClient;
using test::turn_until;
using Kind = RawClient::Kind;

namespace {

// Returns this number of threads if they can share a port, or else 1.
std::size_t up_to(std::size_t threads) { return bufio::ports_can_be_shared() ? threads : 1; }

bool heard(test::RawClient& client) {
    client.receive();
    return client.over() || !client.got.empty();
}

struct Fixture {
    ev::Loop loop;
    std::vector<std::string> log;
    std::optional<ServerThreads> servers;
    std::vector<RawClient> clients;

    bufio::Address start(ServerThreads::Options options,
                         const bufio::Address& where = any_loopback_port()) {
        servers.emplace(loop, options, [this, self = std::this_thread::get_id()](auto& event) {
            CHECK(std::this_thread::get_id() == self);
            log.push_back(event.text);
        });
        const bufio::Address address = servers->listen(where);
        servers->start();
        return address;
    }
    void connect(const bufio::Address& to, std::size_t count, bool datagrams = false) {
        for (std::size_t i = 0; i < count; ++i)
            clients.emplace_back(to, datagrams ? Kind::datagrams : Kind::stream);
    }
    // Sends from all clients, and waits until each has received a reply or an end.
    void exchange() {
        for (RawClient& client : clients)
            turn_until(loop, [&] { return client.send("hello") > 0; });
        for (RawClient& client : clients) turn_until(loop, [&] { return heard(client); });
    }
    yodel::Counters counters() {
        std::optional<yodel::Counters> counted;
        servers->count([&](const auto& all) { counted = all; });
        CHECK_FALSE(counted);
        turn_until(loop, [&] { return counted.has_value(); });
        return *counted;
    }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "adds up the counters of all threads") {
    const std::size_t threads = up_to(GENERATE(as<std::size_t>{}, 1, 2, 3));
    const bufio::Address address = start({.udp = true, .threads = threads});
    connect(address, 20);
    connect(address, 30, true);
    exchange();
    const yodel::Counters all = counters();
    CHECK(all.connections == 20);
    CHECK(all.accepted == 20);
    CHECK(all.bytes_in == 100);
    CHECK(all.bytes_out == 100);
    CHECK(all.datagrams_in == 30);
    CHECK(all.datagrams_out == 30);
    CHECK(all.datagram_bytes_out == 150);
}

TEST_CASE_METHOD(Fixture, "serves in other threads while the first one is busy") {
    if (!bufio::ports_can_be_shared()) return;
    const bool datagrams = GENERATE(false, true);
    const bufio::Address address = start({.udp = true, .threads = 2});
    connect(address, 40, datagrams);
    const auto served = [&] {
        std::size_t count = 0;
        for (RawClient& client : clients) count += heard(client);
        return count;
    };
    for (const RawClient& client : clients) client.send("hello");
    const ev::Time limit = ev::Clock::now() + 20s;  // the loop makes no turn until then
    while (served() < 2 && ev::Clock::now() < limit) std::this_thread::sleep_for(1ms);
    CHECK(served() >= 2);
    CHECK(served() < clients.size());
    turn_until(loop, [&] { return served() == clients.size(); });
}

TEST_CASE_METHOD(Fixture, "applies one limit on connections to all threads together") {
    EchoServer::Options streams;
    streams.max_connections = 4;
    const bufio::Address address = start({.streams = streams, .threads = up_to(3)});
    connect(address, 10);
    exchange();
    CHECK(counters().connections == 4);
    CHECK(counters().turned_away == 6);
    std::erase_if(clients, [](const RawClient& client) { return client.over(); });
    CHECK(clients.size() == 4);
    clients.clear();
    turn_until(loop, [&] { return counters().connections == 0; });
    connect(address, 4);
    exchange();
    CHECK(counters().connections == 4);
}

TEST_CASE_METHOD(Fixture, "refuses an address that another server uses") {
    const std::size_t threads = up_to(GENERATE(as<std::size_t>{}, 1, 2));
    const bufio::Address address = start({.udp = true, .threads = threads});
    for (const std::size_t others : {1U, 2U}) {
        ServerThreads second(loop, {.udp = true, .threads = others}, [](auto&) {});
        CHECK_THROWS_AS(second.listen(address), std::system_error);
    }
}

TEST_CASE_METHOD(Fixture, "refuses several threads if a port can't be shared") {
    if (bufio::ports_can_be_shared()) return;
    CHECK_THROWS_AS(start({.threads = 2}), std::system_error);
}

TEST_CASE_METHOD(Fixture, "serves the path of a unix-domain socket in one thread") {
    const std::string path = "/tmp/yodel-test-" + std::to_string(::getpid());
    const bufio::Address address =
        start({.udp = true, .threads = 3}, bufio::Address::unix_path(path));
    connect(address, 5);
    exchange();
    CHECK(counters().accepted == 5);
    servers.reset();
    CHECK(::access(path.c_str(), F_OK) != 0);
}

TEST_CASE_METHOD(Fixture, "logs the lines of all threads in the first one") {
    EchoServer::Options streams;
    streams.verbose = true;
    const bufio::Address address = start({.streams = streams, .threads = up_to(3)});
    connect(address, 20);
    exchange();
    const auto connected = [&] { return std::count(log.begin(), log.end(), "connected"); };
    turn_until(loop, [&] { return connected() == 20; });
}

TEST_CASE_METHOD(Fixture, "counts the lines of a thread that are too many for the first one") {
    if (!bufio::ports_can_be_shared()) return;
    EchoServer::Options streams;
    streams.verbose = true;
    const bufio::Address address = start({.streams = streams, .threads = 2});
    connect(address, 40);
    exchange();
    turn_until(loop, [&] { return log.size() == 80; });  // connected, and read
    log.clear();
    // Without a turn of the loop, only clients of the other thread are answered.
    std::vector<pollfd> sockets;
    for (const RawClient& client : clients) {
        client.send("x");
        sockets.push_back({client.socket.get(), POLLIN, 0});
    }
    REQUIRE(::poll(sockets.data(), sockets.size(), 20'000) > 0);
    const auto answered = std::find_if(sockets.begin(), sockets.end(),
                                       [](const pollfd& each) { return each.revents != 0; });
    RawClient& other = clients[static_cast<std::size_t>(answered - sockets.begin())];
    const std::size_t more = 1500;
    for (std::size_t i = 0; i < more; ++i) {
        other.receive();
        other.send("x");
        REQUIRE(::poll(&*answered, 1, 20'000) == 1);
    }
    const std::string remark = " lines dropped, because the log was overloaded";
    turn_until(loop, [&] {
        const auto line = std::find_if(log.begin(), log.end(), [&](const std::string& each) {
            return each.ends_with(remark);
        });
        if (line == log.end()) return false;
        const std::size_t logged = log.size() - 1;
        return *line == std::to_string(clients.size() + more - logged) + remark;
    });
}

TEST_CASE_METHOD(Fixture, "waits for all threads when draining, and ends each connection") {
    EchoServer::Options streams;
    streams.faults.delay = 50ms;
    const bufio::Address address =
        start({.streams = streams, .udp = true, .threads = up_to(3)});
    connect(address, 20);
    for (const RawClient& client : clients) client.send("hello");
    turn_until(loop, [&] { return counters().bytes_in == 100; });
    int drained = 0;
    servers->drain(20s, [&] { ++drained; });
    CHECK(drained == 0);
    turn_until(loop, [&] { return drained > 0; });
    for (RawClient& client : clients) {
        turn_until(loop, [&] { return heard(client) && client.ended; });
        CHECK(client.got == "hello");
    }
    CHECK(counters().connections == 0);
    CHECK(drained == 1);
}

TEST_CASE_METHOD(Fixture, "waits for a thread that still delivers while others are idle") {
    EchoServer::Options streams;
    streams.faults.delay = 200ms;
    const bufio::Address address =
        start({.streams = streams, .udp = true, .threads = up_to(4)});
    connect(address, 1);
    clients.front().send("hello");
    turn_until(loop, [&] { return counters().bytes_in == 5; });
    bool delivered = false;
    bool drained = false;
    servers->drain(20s, [&] {
        delivered = heard(clients.front());
        drained = true;
    });
    turn_until(loop, [&] { return drained; });
    CHECK(delivered);
}

TEST_CASE_METHOD(Fixture, "draws the faults of a thread from the seed plus its number") {
    if (!bufio::ports_can_be_shared()) return;
    // Half of the datagrams are dropped, so the answers to 64 datagrams of one sender reveal
    // the seed of the thread that received them.
    const auto answered = [&](std::uint64_t seed, std::size_t threads) {
        DatagramServer::Options datagrams;
        datagrams.faults.drop = 0.5;
        datagrams.faults.seed = seed;
        const bufio::Address address =
            start({.datagrams = datagrams, .udp = true, .threads = threads});
        RawClient client(address, Kind::datagrams);
        std::string marks;
        for (char mark = '0'; mark < '0' + 64; ++mark) {
            client.send({&mark, 1});
            turn_until(loop, [&] {
                return counters().datagrams_in == static_cast<std::uint64_t>(mark - '0') + 1;
            });
            client.got.clear();
            marks += heard(client) ? mark : ' ';
        }
        return marks;
    };
    const std::string first = answered(7, 1);
    const std::string second = answered(8, 1);
    REQUIRE(first != second);
    bool both_met = false;
    std::string met_first;
    for (int i = 0; i < 60 && !both_met; ++i) {
        const std::string met = answered(7, 2);
        CHECK((met == first || met == second));
        both_met = !met_first.empty() && met != met_first;
        met_first = met;
    }
    CHECK(both_met);
}

TEST_CASE_METHOD(Fixture, "uses a new certificate for later connections") {
    EchoServer::Options streams;
    streams.tls = bufio::TlsContext::self_signed_server();
    const bufio::Address address = start({.streams = streams, .threads = up_to(2)});
    const bufio::TlsContext next = bufio::TlsContext::self_signed_server();
    servers->set_tls(next);
    counters();  // now all threads have the certificate
    bufio::TlsClientOptions options;
    options.pins = {next.pin()};
    const bufio::TlsContext client = bufio::TlsContext::client(options);
    struct Nobody final : bufio::Stream::User {
        void stream_changed(bufio::Stream&) override {}
    } nobody;
    for (int i = 0; i < 12; ++i) {
        RawClient raw(address);
        bufio::Stream stream(loop, client.connect(std::move(raw.socket), "localhost"), nobody);
        turn_until(loop, [&] { return stream.is_open() || stream.end(); });
        CHECK(stream.is_open());
    }
}
