// The echo server and clients that behave as badly as they can, on one loop.

#include "app/server/echo_server.hpp"
#include "tests/app/fixture.hpp"
#include "tests/support/catch.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using namespace yodel;

using test::any_loopback_port;
using test::turn_until;

namespace {

// A server and its log.
struct LoggedServer {
    explicit LoggedServer(EchoServer::Options options = {},
                          ev::ReadClock clock = ev::Clock::now)
        : loop(clock),
          server(loop, std::move(options),
                 [this](const EchoServer::Event& event) { log.push_back(event.text); }),
          address(server.listen(any_loopback_port())) {}

    void until(const std::function<bool()>& condition) { turn_until(loop, condition); }
    void until_connections(std::size_t count) {
        until([&] { return server.connections() == count; });
    }

    std::vector<std::string> log;
    ev::Loop loop;
    EchoServer server;
    bufio::Address address;
};

EchoServer::Options framed(const char* framing) {
    EchoServer::Options options;
    options.framing = find_framing(framing);
    return options;
}

// A client that uses system calls only.
struct Peer {
    explicit Peer(const LoggedServer& host, int receive_buffer = 0)
        : socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)) {
        if (receive_buffer > 0)
            ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer,
                         sizeof receive_buffer);
        const int on = 1;
        ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        ::connect(socket.get(), host.address.get(), host.address.size);
    }

    // Returns the number of bytes that the system took.
    std::size_t send(std::string_view bytes) const {
        const ssize_t count = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        return count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    // Returns true if there was something, even the end.
    bool receive(std::size_t most = 65536) {
        std::string room(most, '\0');
        const ssize_t count = ::recv(socket.get(), room.data(), room.size(), 0);
        if (count > 0) got.append(room, 0, static_cast<std::size_t>(count));
        if (count == 0) ended = true;
        if (count < 0 && errno == ECONNRESET) reset = true;
        return count >= 0;
    }
    // Sends all, then closes its side, and reads to the end.
    void exchange(LoggedServer& host, const std::string& bytes, std::size_t step = 65536) {
        std::size_t sent = 0;
        host.until([&] {
            sent += send(std::string_view(bytes).substr(sent, step));
            if (sent == bytes.size()) ::shutdown(socket.get(), SHUT_WR);
            receive(step);
            return ended || reset;
        });
    }
    void abort() {
        const linger at_once{1, 0};
        ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        socket.reset();
    }

    bufio::Fd socket;
    std::string got;
    bool ended = false;
    bool reset = false;
};

std::string bytes_of(std::size_t count) {
    std::string bytes(count, '\0');
    char* const to = bytes.data();  // += takes long in tests that are not optimized
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<char>(i * 2654435761U >> 13);
    return bytes;
}

struct Deaf final : bufio::Stream::User {
    void stream_changed(bufio::Stream&) override {}
};

// A clock that stands still until it is moved.
ev::Time fake_now{};

}  // namespace

TEST_CASE("returns every byte to a client that closes its side, in reads of any size") {
    const auto [size, step, receive_buffer] =
        GENERATE(table<std::size_t, std::size_t, int>({{1, 65536, 0},
                                                       {65'536, 65536, 0},
                                                       {65'537, 1000, 0},
                                                       {3'000'000, 65536, 0},
                                                       {500'000, 3000, 4096}}));
    LoggedServer host;
    const std::string bytes = bytes_of(size);
    Peer peer(host, receive_buffer);
    peer.exchange(host, bytes, step);
    CHECK((peer.got == bytes));
    CHECK(host.log.empty());
    host.until_connections(0);
}

TEST_CASE("returns all bytes that are sent before anything is read") {
    LoggedServer host;
    const std::string bytes = bytes_of(2'000'000);
    Peer peer(host);
    std::size_t sent = 0;
    host.until([&] {
        sent += peer.send(std::string_view(bytes).substr(sent));
        return sent == bytes.size();
    });
    peer.exchange(host, "");
    CHECK((peer.got == bytes));
}

TEST_CASE("returns all messages to a client that reads only after it has sent all") {
    EchoServer::Options options = framed("len4");
    options.max_buffer = 4096;
    options.faults.delay = GENERATE(0ns, 1ns);  // also held whole by the faults
    const auto size = GENERATE(as<std::size_t>{}, 1, 65'536, 32 * 1024 * 1024);
    std::string bytes;
    for (const std::size_t each : {std::size_t{6}, std::size_t{6}, size, std::size_t{6}})
        encode(*options.framing, bytes_of(each), bytes);
    LoggedServer host(std::move(options));
    Peer peer(host);
    std::size_t sent = 0;
    host.until([&] {
        sent += peer.send(std::string_view(bytes).substr(sent));
        return sent == bytes.size();
    });
    peer.exchange(host, "");
    CHECK((peer.got == bytes));
    CHECK(host.log.empty());
}

TEST_CASE("lets a client send messages up to the size of the longest before it reads") {
    struct Case {
        std::size_t size, count;
    };
    const Case c = GENERATE(Case{64 * 1024, 511}, Case{1024 * 1024, 31},
                            Case{32 * 1024 * 1024, 2}, Case{1, 200'000});
    EchoServer::Options options = framed("len4le");
    std::string bytes;
    for (std::size_t i = 0; i < c.count; ++i)
        encode(*options.framing, std::string(c.size, 'z'), bytes);
    LoggedServer host(std::move(options));
    Peer peer(host);
    std::size_t sent = 0;
    host.until([&] {
        sent += peer.send(std::string_view(bytes).substr(sent));
        return sent == bytes.size();
    });
    peer.exchange(host, "", 1024 * 1024);
    CHECK((peer.got == bytes));
}

TEST_CASE("logs a message with a length that is cut by the end, and does not answer it") {
    EchoServer::Options options = framed("len2");
    options.faults.delay = GENERATE(0ns, 1ns);
    const auto [fragment, sentence] = GENERATE(table<std::string, std::string>(
        {{std::string("\0", 1), "closed inside a message, after 1 byte of its length"},
         {std::string("\0\4", 2), "closed inside a message, after 0 of 4 bytes"},
         {std::string("\0\4abc", 5), "closed inside a message, after 3 of 4 bytes"}}));
    LoggedServer host(std::move(options));
    Peer peer(host);
    const std::string whole("\0\5whole", 7);
    peer.exchange(host, whole + fragment);
    CHECK(peer.got == whole);
    CHECK(host.log == std::vector<std::string>{sentence});
    CHECK(host.server.counters().failed == 1);
}

TEST_CASE("returns all bytes even with a small buffer") {
    EchoServer::Options options = framed(GENERATE("raw", "len4", "caret"));
    options.max_buffer = GENERATE(as<std::size_t>{}, 4, 5, 1000);
    std::string bytes;
    for (int i = 0; i < 1000; ++i) encode(*options.framing, "abc", bytes);
    std::string expected = bytes;
    if (options.framing->reply) {
        expected = "*";
        for (int i = 0; i < 1000; ++i) expected += "bcd";
    }
    LoggedServer host(std::move(options));
    Peer peer(host);
    peer.send(bytes);
    host.until([&] { return peer.receive() && peer.got.size() >= expected.size(); });
    CHECK((peer.got == expected));
}

TEST_CASE("returns messages as long as a faulty server's buffer") {
    EchoServer::Options options = framed("len4");
    options.faults.delay = 1ns;
    options.max_buffer = 4;
    // At its high-water mark the input is to end inside a message.
    std::string bytes;
    for (const char* message : {"a", "b"}) encode(*options.framing, message, bytes);
    while (bytes.size() < 200'000) encode(*options.framing, "four", bytes);
    LoggedServer host(std::move(options));
    Peer peer(host);
    std::size_t sent = 0;
    host.until([&] {
        sent += peer.send(std::string_view(bytes).substr(sent));
        peer.receive();
        return peer.got.size() == bytes.size();
    });
    CHECK((peer.got == bytes));
}

TEST_CASE("returns their own bytes to each of many clients at once") {
    LoggedServer host;
    std::vector<Peer> peers;
    for (int i = 0; i < 200; ++i) peers.emplace_back(host);
    host.until_connections(200);
    for (std::size_t i = 0; i < peers.size(); ++i) {
        peers[i].send("client " + std::to_string(i));
        ::shutdown(peers[i].socket.get(), SHUT_WR);
    }
    host.until_connections(0);
    for (std::size_t i = 0; i < peers.size(); ++i) {
        host.until([&] { return peers[i].receive() && peers[i].ended; });
        CHECK(peers[i].got == "client " + std::to_string(i));
    }
    CHECK(host.server.counters().accepted == 200);
}

TEST_CASE("bounds the output for a client that never reads by the buffer") {
    EchoServer::Options options;
    options.max_buffer = 100'000;
    options.framing = find_framing(GENERATE("raw", "line", "caret"));
    LoggedServer host(std::move(options));
    Peer peer(host, 4096);
    peer.send("^");
    const std::string chunk(1'000'000, '\0');
    int refused = 0;
    // The system's own buffers take some megabytes; then nothing more is taken.
    host.until([&] {
        refused = peer.send(chunk) > 0 ? 0 : refused + 1;
        return refused == 50;
    });
    const yodel::Counters counters = host.server.counters();
    CHECK(counters.bytes_in - counters.bytes_out <= 100'000 + 2 * 65536);
    CHECK(host.server.connections() == 1);
}

TEST_CASE("logs at most one line for a client that resets at any moment") {
    LoggedServer host;
    Peer standing(host);
    for (int moment = 0; moment < 4; ++moment) {
        Peer peer(host);
        if (moment > 0) host.until_connections(2);
        if (moment > 1) peer.send(bytes_of(50'000));
        if (moment > 2) host.until([&] { return peer.receive(1); });
        peer.abort();
        host.until_connections(1);
    }
    CHECK(host.log.size() <= 4);
    CHECK(host.server.counters().failed == host.log.size());
    standing.exchange(host, "still here");
    CHECK(standing.got == "still here");
}

TEST_CASE("survives many clients that reset at different moments") {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    const auto burst =
        static_cast<std::size_t>(std::min<rlim_t>(1000, (limit.rlim_cur - 100) / 2));
    EchoServer::Options options;
    options.max_connections = burst;
    LoggedServer host(std::move(options));
    Peer standing(host);
    host.until_connections(1);
    std::minstd_rand chance(7);
    std::vector<Peer> peers;
    for (std::size_t i = 1; i < burst; ++i) peers.emplace_back(host);
    const std::string bytes = bytes_of(100'000);
    while (!peers.empty()) {
        Peer& peer = peers[chance() % peers.size()];
        if (chance() % 2 == 0) peer.send(std::string_view(bytes).substr(chance() % 100'000));
        if (chance() % 2 == 0) host.loop.step(0s);
        if (chance() % 2 == 0) peer.receive();
        if (chance() % 2 == 0) continue;
        peer.abort();
        std::swap(peer, peers.back());
        peers.pop_back();
    }
    host.until([&] { return host.server.counters().accepted == burst; });
    host.until_connections(1);
    CHECK(host.log.size() < burst);
    CHECK(host.server.counters().failed == host.log.size());
    standing.exchange(host, "still here");
    CHECK(standing.got == "still here");
}

TEST_CASE("counts idleness from the last byte in either direction") {
    EchoServer::Options options;
    options.idle_timeout = 10s;
    fake_now = ev::Time{} + 1h;
    LoggedServer host(std::move(options), [] { return fake_now; });
    Peer peer(host, 4096);
    host.until_connections(1);
    const auto moved = [&] {
        const yodel::Counters counters = host.server.counters();
        return counters.bytes_in + counters.bytes_out;
    };
    const std::string bytes = bytes_of(300'000);
    std::size_t sent = 0;
    std::uint64_t seen = 0;
    host.until([&] {  // first it sends, then it reads the waiting bytes
        sent += peer.send(std::string_view(bytes).substr(sent, 10'000));
        if (sent == bytes.size()) peer.receive();
        if (moved() > seen) fake_now += 6s;
        seen = moved();
        return peer.got.size() == bytes.size();
    });
    CHECK(host.server.connections() == 1);
    fake_now += 10s;
    host.until_connections(0);
    CHECK(host.log == std::vector<std::string>{"idle for 10s"});
}

TEST_CASE("does not extend the deadline of a handshake that comes byte by byte") {
    EchoServer::Options options;
    options.tls = bufio::TlsContext::self_signed_server();
    options.handshake_timeout = 10s;
    fake_now = ev::Time{} + 1h;
    LoggedServer host(std::move(options), [] { return fake_now; });
    Peer peer(host);
    host.until_connections(1);
    const std::string hello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
    for (std::size_t i = 0; i < 10; ++i) {
        CHECK(host.server.connections() == 1);
        peer.send(hello.substr(i, 1));
        host.loop.step(0s);
        fake_now += 1s;
    }
    host.until_connections(0);
    CHECK(host.log == std::vector<std::string>{"no TLS handshake within 10s"});
}

TEST_CASE("closes a connection above the limit at once, and accepts again below it") {
    EchoServer::Options options;
    options.max_connections = 2;
    LoggedServer host(std::move(options));
    Peer first(host);
    Peer second(host);
    host.until_connections(2);
    Peer third(host);
    host.until([&] { return third.receive() || third.reset; });
    CHECK(third.ended);
    CHECK(host.server.counters().turned_away == 1);
    second.abort();
    host.until_connections(1);
    Peer fourth(host);
    fourth.exchange(host, "in");
    CHECK(fourth.got == "in");
}

TEST_CASE("pauses accepting without free descriptors, and resumes when there are some") {
    fake_now = ev::Time{} + 1h;
    LoggedServer host({}, [] { return fake_now; });
    std::vector<Peer> peers;
    for (int i = 0; i < 10; ++i) peers.emplace_back(host);
    rlimit before{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    rlimit few = before;
    few.rlim_cur = static_cast<rlim_t>(peers.back().socket.get()) + 4;
    ::setrlimit(RLIMIT_NOFILE, &few);
    host.until_connections(3);
    for (int i = 0; i < 10; ++i) host.loop.step(0s);
    CHECK(host.server.connections() == 3);
    for (int i = 0; i < 3; ++i) {  // it looks again, in vain, and logs no more
        fake_now += 10s;
        for (int turn = 0; turn < 3; ++turn) host.loop.step(0s);
    }
    CHECK(host.log == std::vector<std::string>{"paused, Too many open files"});
    peers[0].abort();
    host.until_connections(2);
    host.until_connections(4);  // at once, in the descriptors of both ends of the first
    ::setrlimit(RLIMIT_NOFILE, &before);
    fake_now += 10s;
    host.until_connections(9);
}

TEST_CASE("answers the messages before a length that is too great, and then ends") {
    EchoServer::Options options = framed("len2");
    options.max_frame = 3;
    LoggedServer host(std::move(options));
    Peer peer(host);
    const std::string good("\x00\x03one\x00\x00\x00\x03two", 12);
    for (const char byte : good) {  // cut at every place
        peer.send({&byte, 1});
        host.loop.step(1ms);
    }
    peer.send(std::string("\x00\x04long", 6));
    host.until([&] { return peer.receive() && peer.ended; });
    CHECK(peer.got == good);
    CHECK(host.log == std::vector<std::string>{
                          "a message of 4 bytes exceeds the limit of 3 (--max-frame)"});
    peer.socket.reset();
    host.until_connections(0);
    CHECK(host.log.size() == 1);
}

TEST_CASE("refuses a length that is too great even if the end came with it") {
    EchoServer::Options options = framed("len1");
    options.max_frame = 3;
    options.tls = bufio::TlsContext::self_signed_server();
    bufio::TlsClientOptions client;
    client.pins = {options.tls->pin()};
    LoggedServer host(std::move(options));
    Peer peer(host);
    Deaf user;
    bufio::Stream stream(
        host.loop,
        bufio::TlsContext::client(client).connect(std::move(peer.socket), "localhost"), user);
    stream.write("\x03one\x04long");
    stream.finish();
    host.until([&] { return static_cast<bool>(stream.end()); });
    CHECK(stream.received() == "\x03one");
    CHECK(host.log.size() == 1);
}

TEST_CASE("reads a length in little-endian order") {
    EchoServer::Options options = framed("len4le");
    options.max_frame = 256;
    LoggedServer host(std::move(options));
    const std::string good = std::string("\x00\x01\x00\x00", 4) + std::string(256, 'x');
    Peer peer(host);
    peer.exchange(host, good + std::string("\x01\x01\x00\x00", 4));
    CHECK((peer.got.substr(0, good.size()) == good));
    Peer over(host);
    over.send(std::string("\x01\x01\x00\x00", 4));
    host.until([&] { return over.receive() && over.ended; });
    CHECK(over.got.empty());
}

TEST_CASE("caret with a fault ignores bytes outside of messages, and the end ends a message") {
    EchoServer::Options options = framed("caret");
    options.faults.chunk = 1;
    options.max_buffer = 100;
    LoggedServer host(std::move(options));
    Peer peer(host);
    peer.exchange(host, std::string(100'000, 'x') + "^abc$de^ab");
    CHECK(peer.got == "*bcdbc");
    host.until_connections(0);
    CHECK(host.log.empty());
}

TEST_CASE("closes the connection at once with --close-after 0") {
    EchoServer::Options options;
    options.faults.close_after = 0;
    LoggedServer host(std::move(options));
    Peer peer(host);
    host.until([&] { return peer.receive() && peer.ended; });
    CHECK(peer.got.empty());
}

TEST_CASE("cuts chunks to the size of the buffer") {
    EchoServer::Options options;
    options.faults.chunk = 4096;
    options.max_buffer = 1024;
    LoggedServer host(std::move(options));
    const std::string bytes = bytes_of(3000);
    Peer peer(host);
    peer.exchange(host, bytes);
    CHECK((peer.got == bytes));
}

TEST_CASE("answers a message that does not fit beside delayed replies after them") {
    EchoServer::Options options = framed("line");
    options.faults.dup = 1;
    options.max_buffer = 1024;
    LoggedServer host(std::move(options));
    const std::string lines = std::string(700, 'a') + "\n" + std::string(700, 'b') + "\n";
    Peer peer(host);
    peer.send(lines);
    host.until([&] { return peer.receive() && peer.got.size() == 2 * lines.size(); });
    CHECK(peer.got.substr(2 * 701, 701) == lines.substr(701));
}

TEST_CASE("bounds many small delayed replies like a few large ones") {
    EchoServer::Options options = framed("caret");
    options.faults.delay = 1h;
    options.max_buffer = 100'000;
    LoggedServer host(std::move(options));
    Peer peer(host);
    std::string empty;
    while (empty.size() < 1'000'000) empty += "^$";
    std::size_t sent = 0;
    int refused = 0;
    // The system's own buffers take some megabytes; then nothing more is taken.
    host.until([&] {
        const std::size_t taken = peer.send(empty);
        sent += taken;
        refused = taken > 0 ? 0 : refused + 1;
        return refused == 50 || sent > 100'000'000;
    });
    CHECK(host.server.counters().bytes_in <= 100'000 + 2 * 65536);
}

TEST_CASE("drains by answering the received bytes, and leaves idle peers at once") {
    LoggedServer host;
    Peer idle(host);
    Peer busy(host);
    host.until_connections(2);
    busy.send("last words");
    bool drained = false;
    host.server.drain(1h, [&] { drained = true; });
    host.until([&] { return busy.receive() && busy.ended; });
    CHECK(busy.got == "last words");
    host.until([&] { return idle.receive() && idle.ended; });
    busy.socket.reset();
    idle.socket.reset();
    host.until([&] { return drained; });
}

TEST_CASE("does not wait for peers that keep their side open when draining") {
    EchoServer::Options options;
    const bool tls = GENERATE(false, true);
    bufio::TlsClientOptions trusting;
    if (tls) options.tls = bufio::TlsContext::self_signed_server();
    if (tls) trusting.pins = {options.tls->pin()};
    fake_now = ev::Time{} + 1h;
    LoggedServer host(std::move(options), [] { return fake_now; });
    Peer idle(host);
    Deaf user;
    std::unique_ptr<bufio::Stream> stream;
    if (tls) {
        stream = std::make_unique<bufio::Stream>(
            host.loop,
            bufio::TlsContext::client(trusting).connect(std::move(idle.socket), "localhost"),
            user);
        host.until([&] { return stream->open(); });
    }
    host.until_connections(1);
    bool drained = false;
    host.server.drain(1h, [&] { drained = true; });
    // A peer that has just sent something gets a moment to send more.
    host.until([&] {
        fake_now += 10ms;
        return drained;
    });
    CHECK(fake_now < ev::Time{} + 1h + 30s);
    if (tls) {
        host.until([&] { return stream->input_ended(); });
        CHECK_FALSE(stream->end());  // close_notify came
    } else {
        host.until([&] { return idle.receive() && idle.ended; });
    }
    CHECK(host.log.empty());
}

TEST_CASE("waits at most for the grace to deliver pending output when draining") {
    EchoServer::Options options = framed("len2");
    const bool delayed = GENERATE(false, true);
    if (delayed) options.faults.delay = 1h;
    fake_now = ev::Time{} + 1h;
    LoggedServer host(std::move(options), [] { return fake_now; });
    Peer peer(host);
    peer.send(delayed ? std::string("\0\4four", 6) : std::string("\0\4par", 5));
    host.until([&] { return host.server.counters().bytes_in > 0; });
    bool drained = false;
    host.server.drain(5s, [&] { drained = true; });
    for (int i = 0; i < 10; ++i) host.loop.step(0s);
    fake_now += 4s;
    for (int i = 0; i < 10; ++i) host.loop.step(0s);
    CHECK_FALSE(drained);
    fake_now += 1s;
    host.until([&] { return drained; });
    CHECK(host.log == std::vector<std::string>{"not all echoes were sent in time (--grace)"});
}

TEST_CASE("logs many connections that the grace cuts off in one line, or each with -v") {
    EchoServer::Options options = framed("len2");
    options.verbose = GENERATE(false, true);
    fake_now = ev::Time{} + 1h;
    LoggedServer host(options, [] { return fake_now; });
    std::vector<Peer> peers;
    for (int i = 0; i < 20; ++i) {
        peers.emplace_back(host);
        peers.back().send(std::string("\0\4par", 5));
    }
    host.until([&] { return host.server.counters().bytes_in == 20 * 5; });
    bool drained = false;
    host.server.drain(5s, [&] { drained = true; });
    for (int i = 0; i < 10; ++i) host.loop.step(0s);
    CHECK(host.server.counters().failed == 0);
    host.log.clear();
    fake_now += 5s;
    host.until([&] { return drained; });
    CHECK(host.server.counters().failed == 20);
    if (options.verbose)
        CHECK(std::count(host.log.begin(), host.log.end(),
                         "not all echoes were sent in time (--grace)") == 20);
    else
        CHECK(host.log == std::vector<std::string>{
                              "20 connections did not receive all echoes in time (--grace)"});
}

TEST_CASE("answers a message that is half received when draining begins") {
    LoggedServer host(framed("len2"));
    Peer peer(host);
    peer.send(std::string("\0\4par", 5));
    host.until([&] { return host.server.counters().bytes_in > 0; });
    bool drained = false;
    host.server.drain(1h, [&] { drained = true; });
    for (int i = 0; i < 10; ++i) host.loop.step(1ms);
    peer.send("t");
    host.until([&] { return peer.receive() && peer.ended; });
    CHECK(peer.got == std::string("\0\4part", 6));
    host.until([&] { return drained; });  // although the peer has not closed its side
}

TEST_CASE("drains a peer that keeps sending no longer than the grace") {
    fake_now = ev::Time{} + 1h;
    LoggedServer host({}, [] { return fake_now; });
    Peer peer(host);
    peer.send("before");
    host.until([&] { return peer.receive() && peer.got == "before"; });
    bool drained = false;
    host.server.drain(5s, [&] { drained = true; });
    host.until([&] {
        peer.send("x");
        for (int i = 0; i < 3; ++i) host.loop.step(0s);
        fake_now += 50ms;
        return drained;
    });
    CHECK(fake_now >= ev::Time{} + 1h + 5s);
    CHECK(fake_now <= ev::Time{} + 1h + 6s);
    CHECK(host.log.empty());
}

TEST_CASE("uses another certificate from the next connection on") {
    EchoServer::Options options;
    options.tls = bufio::TlsContext::self_signed_server();
    LoggedServer host(std::move(options));
    auto other = bufio::TlsContext::self_signed_server();
    bufio::TlsClientOptions client;
    client.pins = {other.pin()};
    host.server.set_tls(std::move(other));
    Peer peer(host);
    host.until_connections(1);
    Deaf user;
    bufio::Stream stream(
        host.loop,
        bufio::TlsContext::client(client).connect(std::move(peer.socket), "localhost"), user);
    host.until([&] { return stream.open() || stream.end(); });
    CHECK(stream.open());
}

// --- The limit on connections.

TEST_CASE("refuses a connection at the limit until one is given back") {
    ConnectionLimit limit(2);
    CHECK(limit.take());
    CHECK(limit.take());
    CHECK_FALSE(limit.take());
    CHECK_FALSE(limit.take());
    limit.give_back();
    CHECK(limit.take());
    CHECK_FALSE(limit.take());
}

TEST_CASE("never exceeds the limit with several threads") {
    ConnectionLimit limit(3);
    std::atomic<int> taken = 0;
    std::atomic<bool> exceeded = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int n = 0; n < 10'000; ++n) {
                if (!limit.take()) continue;
                if (++taken > 3) exceeded = true;
                --taken;
                limit.give_back();
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK_FALSE(exceeded);
    CHECK(limit.take());
}
