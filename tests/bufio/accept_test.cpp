#include "bufio/listen.hpp"

#include "tests/bufio/fixture.hpp"
#include "tests/bufio/packet_fixture.hpp"

#include <sys/resource.h>

using namespace test;
using bufio::Acceptor;
using bufio::Address;
using bufio::Dialer;
using bufio::DialResult;

namespace {

Fd connect_to(const Address& where) {
    Fd socket = bufio::open_socket(where.family());
    const int result = ::connect(socket.get(), where.get(), where.size);
    REQUIRE((result == 0 || errno == EINPROGRESS));
    return socket;
}

// Accepts peers, and stores what it gets.
struct Accepting {
    Accepting(ev::Loop& loop, bool udp) : acceptor(loop, loopback(), udp) {}
    void accept() {
        acceptor.accept([this](DialResult result) { results.push_back(std::move(result)); });
    }
    Acceptor acceptor;
    std::vector<DialResult> results;
};

// While it exists, no descriptor can be opened.
class FullTable {
public:
    FullTable() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const Fd next = bufio::open_socket(AF_INET);
        const rlimit full{static_cast<rlim_t>(next.get()), before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &full);
    }
    ~FullTable() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    FullTable(const FullTable&) = delete;

private:
    rlimit before_{};
};

void settle(ev::Loop& loop) {
    for (int i = 0; i < 10; ++i) loop.step(std::chrono::milliseconds(1));
}

}  // namespace

TEST_CASE("an acceptor passes on one peer for each call") {
    ev::Loop loop;
    Accepting accepting(loop, false);
    const Fd one = connect_to(accepting.acceptor.address());
    const Fd two = connect_to(accepting.acceptor.address());
    settle(loop);
    CHECK(accepting.results.empty());
    accepting.accept();
    REQUIRE(run_until(loop, [&] { return accepting.results.size() == 1; }));
    settle(loop);
    REQUIRE(accepting.results.size() == 1);
    CHECK(accepting.results[0].socket);
    CHECK(accepting.results[0].address.text() == Address::of_socket(one.get()).text());
    accepting.accept();
    accepting.acceptor.cancel();
    settle(loop);
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
        const FullTable table;
        REQUIRE(run_until(loop, [&] { return !accepting.results.empty(); }));
        settle(loop);
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
    settle(loop);
    dialer.reset();
    const Fd client = connect_to(acceptor.address());
    settle(loop);
    CHECK(results.empty());
    dialer = dial();
    REQUIRE(run_until(loop, [&] { return !results.empty(); }));
    CHECK(results[0].socket);
    CHECK(results[0].lookup_time == ev::Duration::zero());
    CHECK(results[0].connect_time == ev::Duration::zero());
}
