#include "bufio/listen.hpp"

#include "bufio/dial.hpp"
#include "tests/bufio/certificates.hpp"
#include "tests/bufio/fixture.hpp"
#include "tests/bufio/packet_fixture.hpp"
#include "tests/bufio/system.hpp"

#include <system_error>

using namespace test;
using bufio::Acceptor;
using bufio::Address;
using bufio::Dialer;
using bufio::DialResult;
using bufio::Listener;

namespace {

ev::Time fake_now{};
ev::Time fake_clock() { return fake_now; }

Fd connect_to(const Address& where) {
    Fd socket = bufio::open_socket(where.family());
    const int result = ::connect(socket.get(), where.get(), where.size);
    REQUIRE((result == 0 || errno == EINPROGRESS));
    return socket;
}

struct Counting {
    explicit Counting(ev::Loop& loop, const Address& where)
        : listener(
              loop, where,
              [this](Fd socket, const Address& peer) {
                  sockets.push_back(std::move(socket));
                  last_peer = peer;
              },
              [this](int code) { reported.push_back(code); }) {}
    std::vector<int> reported;  // codes passed to on_exhausted
    std::vector<Fd> sockets;
    Address last_peer;
    Listener listener;
};

// Accepts peers, and stores what it gets.
struct Accepting {
    Accepting(ev::Loop& loop, bool udp) : acceptor(loop, loopback(), udp) {}
    void accept() {
        acceptor.accept([this](DialResult result) { results.push_back(std::move(result)); });
    }
    Acceptor acceptor;
    std::vector<DialResult> results;
};

}  // namespace

TEST_CASE("passes each accepted connection on, ready for a stream") {
    ev::Loop loop;
    Counting counting(loop, loopback());
    CHECK(counting.listener.address().port() > 0);
    const Fd one = connect_to(counting.listener.address());
    const Fd two = connect_to(counting.listener.address());
    REQUIRE(run_until(loop, [&] { return counting.sockets.size() == 2; }));
    CHECK(counting.last_peer.text().find("127.0.0.1:") == 0);
    const int fd = counting.sockets[0].get();
    CHECK((::fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
    CHECK((::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("listening on an address in use is refused, with the address in the message") {
    ev::Loop loop;
    const Counting first(loop, loopback());
    const Address used = first.listener.address();
    CHECK_THROWS_WITH(Counting(loop, used),
                      "cannot listen on " + used.text() + ": Address already in use");
}

TEST_CASE("refuses to listen if the system does not report the port") {
    ev::Loop loop;
    Faults faults;
    faults.getsockname = [] { return ENOBUFS; };
    const std::string port = loopback().text();
    CHECK_THROWS_WITH(Counting(loop, loopback()),
                      Catch::Matchers::StartsWith("cannot listen on " + port));
    CHECK_THROWS_WITH(bufio::bound_datagram_socket(loopback()),
                      Catch::Matchers::StartsWith("cannot listen on udp " + port));
}

TEST_CASE("out of descriptors, accepting pauses for a second, reports it once and resumes") {
    fake_now = ev::Time{} + 1h;
    ev::Loop loop(fake_clock);
    Counting counting(loop, loopback());
    Faults faults;
    int refusals = 0;
    const int code = GENERATE(EMFILE, ENFILE, ENOBUFS, ENOMEM, EINVAL);
    const auto refuse = [&] {
        ++refusals;
        return code;
    };
    faults.accept = refuse;
    const Fd one = connect_to(counting.listener.address());
    REQUIRE(run_until(loop, [&] { return refusals == 1; }));
    run_pending(loop, 20);
    CHECK(refusals == 1);  // no spinning
    fake_now += 999ms;
    run_pending(loop);
    CHECK(refusals == 1);
    fake_now += 1ms;
    run_pending(loop);
    CHECK(refusals == 2);
    CHECK(counting.reported == std::vector{code});
    faults.accept = {};
    counting.listener.resume();
    CHECK(counting.sockets.empty());  // not from inside the call
    run_pending(loop);
    CHECK(counting.sockets.size() == 1);
    faults.accept = refuse;
    const Fd two = connect_to(counting.listener.address());
    run_pending(loop);
    CHECK(counting.reported == std::vector{code, code});
}

TEST_CASE("accepts no more than 64 connections a turn") {
    ev::Loop loop;
    Counting counting(loop, loopback());
    std::vector<Fd> clients;
    for (int i = 0; i < 65; ++i) clients.push_back(connect_to(counting.listener.address()));
    loop.step(patience);
    CHECK(counting.sockets.size() == 64);
    loop.step(patience);
    CHECK(counting.sockets.size() == 65);
}

TEST_CASE("a connection that was lost before it was accepted does not stop the others") {
    for (const int code : {ECONNABORTED, EPROTO, ENETDOWN, ENETUNREACH, EHOSTUNREACH}) {
        CAPTURE(code);
        ev::Loop loop;
        Counting counting(loop, loopback());
        Faults faults;
        int accepts = 0;
        faults.accept = [&] { return ++accepts == 1 ? code : 0; };
        const Fd one = connect_to(counting.listener.address());
        loop.step(patience);
        CHECK(counting.sockets.size() == 1);
    }
}

TEST_CASE("a unix-domain socket is created, dialed and removed") {
    const Certificates directory;
    const std::string path = directory.path("socket");
    ev::Loop loop;
    {
        Counting counting(loop, Address::unix_path(path));
        bufio::Endpoint endpoint;
        endpoint.path = path;
        bool connected = false;
        const Dialer dialer(loop, endpoint, [&](DialResult dialed) {
            connected = static_cast<bool>(dialed.socket);
            CHECK(dialed.address.text() == path);
        });
        REQUIRE(run_until(loop, [&] { return connected && counting.sockets.size() == 1; }));
        CHECK(counting.last_peer.text() == "unnamed");
    }
    CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("replaces the path of a dead server, but not of a live server or a file") {
    const Certificates directory;
    const std::string path = directory.path("socket");
    const Address address = Address::unix_path(path);
    ev::Loop loop;
    SECTION("dead") {
        Fd dead = bufio::open_socket(AF_UNIX);
        REQUIRE(::bind(dead.get(), address.get(), address.size) == 0);
        dead.reset();
        const Counting counting(loop, address);
        CHECK(counting.listener.address().text() == path);
    }
    SECTION("live") {
        const Counting living(loop, address);
        CHECK_THROWS_AS(Counting(loop, address), std::system_error);
        CHECK(std::filesystem::exists(path));
    }
    SECTION("file") {
        std::ofstream(path) << "precious";
        CHECK_THROWS_WITH(Counting(loop, address),
                          "cannot listen on " + path + ": File exists");
        CHECK(contents(path) == "precious");
    }
}

TEST_CASE("a listener does not remove its path if another file has taken it") {
    const Certificates directory;
    const std::string path = directory.path("socket");
    const std::string aside = directory.path("aside");
    ev::Loop loop;
    auto counting = std::make_unique<Counting>(loop, Address::unix_path(path));
    SECTION("another server") {
        std::filesystem::remove(path);
        const Counting other(loop, Address::unix_path(path));
        counting.reset();
        CHECK(std::filesystem::is_socket(path));
        const Fd client = connect_to(Address::unix_path(path));
    }
    SECTION("a file") {
        std::filesystem::remove(path);
        std::ofstream(path) << "precious";
        counting.reset();
        CHECK(contents(path) == "precious");
    }
    SECTION("a link, even to the socket itself") {
        std::filesystem::rename(path, aside);
        std::filesystem::create_symlink(aside, path);
        counting.reset();
        CHECK(std::filesystem::is_symlink(path));
        CHECK(std::filesystem::is_socket(aside));
    }
}

TEST_CASE("an acceptor passes on one peer for each call") {
    ev::Loop loop;
    Accepting accepting(loop, false);
    const Fd one = connect_to(accepting.acceptor.address());
    const Fd two = connect_to(accepting.acceptor.address());
    run_pending(loop);
    CHECK(accepting.results.empty());
    accepting.accept();
    REQUIRE(run_until(loop, [&] { return accepting.results.size() == 1; }));
    run_pending(loop);
    REQUIRE(accepting.results.size() == 1);
    CHECK(accepting.results[0].socket);
    CHECK(accepting.results[0].address.text() == Address::of_socket(one.get()).text());
    accepting.accept();
    accepting.acceptor.cancel();
    run_pending(loop);
    CHECK(accepting.results.size() == 1);
    accepting.accept();
    REQUIRE(run_until(loop, [&] { return accepting.results.size() == 2; }));
    CHECK(accepting.results[1].address.text() == Address::of_socket(two.get()).text());
}

TEST_CASE("an acceptor of datagrams leaves the first one to its owner") {
    ev::Loop loop;
    Accepting accepting(loop, true);
    const Address address = accepting.acceptor.address();
    for (const std::string text : {"first", "second"}) {
        PacketSocket client(connected_to(address));
        const bufio::Packet packet{text};
        REQUIRE(client.send({&packet, 1}) == 1);
        accepting.accept();
        REQUIRE(run_until(loop, [&] { return !accepting.results.empty(); }));
        CHECK(accepting.results[0].address.text() == client.address().text());
        char bytes[10];
        const auto size = ::recv(accepting.results[0].socket.get(), bytes, sizeof bytes, 0);
        REQUIRE(size > 0);
        CHECK(std::string(bytes, static_cast<std::size_t>(size)) == text);
        accepting.results.clear();
    }
}

TEST_CASE("out of descriptors, an acceptor reports it once for each call") {
    ev::Loop loop;
    const bool udp = GENERATE(false, true);
    Accepting accepting(loop, udp);
    const Fd client(::socket(AF_INET, udp ? SOCK_DGRAM : SOCK_STREAM, 0));
    const Address to = accepting.acceptor.address();
    REQUIRE(::connect(client.get(), to.get(), to.size) == 0);
    REQUIRE((!udp || ::send(client.get(), "first", 5, 0) == 5));
    accepting.accept();
    {
        const DescriptorLimit limit(static_cast<rlim_t>(free_descriptor()));
        REQUIRE(run_until(loop, [&] { return !accepting.results.empty(); }));
        run_pending(loop);
        REQUIRE(accepting.results.size() == 1);
        CHECK_FALSE(accepting.results[0].socket);
        CHECK(accepting.results[0].end.text() == "accepting failed: Too many open files");
    }
    accepting.accept();
    REQUIRE(run_until(loop, [&] { return accepting.results.size() == 2; }));
    CHECK(accepting.results[1].socket);
}

TEST_CASE("a dialer with an acceptor waits for a peer") {
    ev::Loop loop;
    Acceptor acceptor(loop, loopback(), false);
    const bufio::Endpoint endpoint{.acceptor = &acceptor};
    std::vector<DialResult> results;
    const auto dial = [&] {
        return std::make_unique<Dialer>(
            loop, endpoint, [&](DialResult result) { results.push_back(std::move(result)); });
    };
    auto dialer = dial();
    CHECK(dialer->phase() == "listening " + acceptor.address().text());
    run_pending(loop);
    dialer.reset();
    const Fd client = connect_to(acceptor.address());
    run_pending(loop);
    CHECK(results.empty());
    dialer = dial();
    REQUIRE(run_until(loop, [&] { return !results.empty(); }));
    CHECK(results[0].socket);
    CHECK(results[0].lookup_time == ev::Duration::zero());
    CHECK(results[0].connect_time == ev::Duration::zero());
}
