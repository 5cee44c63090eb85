// The echo server and clients that behave as badly as they can, on one loop.

#include "app/text/exit_status.hpp"
#include "bufio/dial.hpp"
#include "tests/app/server/house.hpp"

#include <sys/resource.h>

#include <random>

using namespace std::chrono_literals;
using namespace yodel;
using test::play;
using Peer = test::RawClient;

namespace {

struct House : test::HouseOn<ev::Loop> {
    using HouseOn::HouseOn;

    // Sends the bytes from the peer, which also reads. Then closes its side, and reads to the
    // end.
    void exchange(Peer& peer, std::string_view bytes, std::size_t step = 65536) {
        until([&] {
            bytes.remove_prefix(peer.send(bytes.substr(0, step)));
            if (bytes.empty()) peer.shut();
            peer.receive(step);
            return peer.over();
        });
    }
    // Sends from the peer until nothing more is accepted. Fails if it accepts 100 MB.
    void fill(Peer& peer, const std::string& bytes) {
        std::size_t sent = 0;
        for (int refused = 0; refused < 50; loop.step(0s)) {
            const std::size_t taken = peer.send(bytes);
            sent += taken;
            refused = taken > 0 ? 0 : refused + 1;
            REQUIRE(sent < 100'000'000);
        }
    }
};

using VirtualHouse = test::HouseOn<test::VirtualLoop>;

EchoServer::Options framed(const char* framing, Faults faults = {}) {
    EchoServer::Options options;
    options.framing = find_framing(framing);
    options.faults = std::move(faults);
    return options;
}

EchoServer::Options buffered(EchoServer::Options options, std::size_t max_buffer) {
    options.max_buffer = max_buffer;
    return options;
}

std::string bytes_of(std::size_t count) {
    std::string bytes(count, '\0');
    char* const to = bytes.data();  // += takes long in tests that are not optimized
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<char>(i * 2654435761U >> 13);
    return bytes;
}

// A client with TLS.
struct TlsPeer final : bufio::Stream::Owner {
    template <class AnyHouse>
    explicit TlsPeer(AnyHouse& house) : stream(house.loop, transport(house.peer()), *this) {}
    static std::unique_ptr<bufio::Transport> transport(Peer peer) {
        bufio::TlsClientOptions options;
        options.must_verify = false;
        return bufio::TlsContext::client(options).connect(std::move(peer.socket), "localhost");
    }
    void stream_changed(bufio::Stream&) override {}

    bufio::Stream stream;
};

}  // namespace

TEST_CASE("returns all messages, to a client that also reads or only after it has sent all") {
    using Sizes = std::vector<std::size_t>;
    const Faults held{.delay = 1ns};
    const auto len4 = [](std::size_t buffer, Faults faults = {}) {
        return buffered(framed("len4", std::move(faults)), buffer);
    };
    // Makes the input of a faulty server end inside a message at its high-water mark.
    Sizes as_long_as_buffer(252, 4);
    as_long_as_buffer[0] = as_long_as_buffer[1] = 1;
    const struct {
        EchoServer::Options options;
        Sizes messages;
        bool reads = false;
        std::size_t step = 65536;
        int room = 0;
    } rows[] = {
        {{}, {1}, true},
        {{}, {65'536}, true},
        {{}, {65'537}, true, 1000},
        {{}, {3'000'000}, true},
        {{}, {500'000}, true, 3000, 4096},
        {{}, {2'000'000}},
        {buffered({}, 4), {3000}, true},
        {buffered({}, 5), {3000}, true},
        {len4(4), Sizes(1000, 3), true},
        {len4(5), Sizes(1000, 3), true},
        {len4(1000), Sizes(1000, 3), true},
        {len4(4, held), as_long_as_buffer, true},
        {len4(4096), {6, 6, 1, 6}},
        {len4(4096), {6, 6, 65'536, 6}},
        {len4(4096), {6, 6, 2'000'000, 6}},
        {len4(4096, held), {6, 6, 1, 6}},  // held as a whole
        {len4(4096, held), {6, 6, 2'000'000, 6}},
        {framed("len4le"), Sizes(511, 64 * 1024)},  // up to the size of the longest message
        {framed("len4le"), Sizes(31, 1024 * 1024)},
        {framed("len4le"), Sizes(2, 32 * 1024 * 1024)},
        {framed("len4le"), Sizes(200'000, 1)},
    };
    for (const auto& row : rows) {
        std::string bytes;
        for (const std::size_t size : row.messages)
            encode(*row.options.framing, bytes_of(size), bytes);
        House house(row.options);
        Peer peer = house.peer(row.room);
        std::string_view unsent = bytes;
        house.until([&] {
            if (!row.reads) unsent.remove_prefix(peer.send(unsent));
            return row.reads || unsent.empty();
        });
        house.exchange(peer, unsent, row.reads ? row.step : 1024 * 1024);
        CHECK((peer.got == bytes));
        CHECK(house.log.empty());
        house.until_count(&Counters::connections, 0);
        CHECK(house.server.counters().bytes_in == bytes.size());
        CHECK(house.server.counters().bytes_out == bytes.size());
    }
}

TEST_CASE("returns their own bytes to each of many clients") {
    House house;
    std::vector<Peer> peers;
    for (int i = 0; i < 200; ++i) peers.push_back(house.peer());
    house.until_count(&Counters::connections, 200);
    for (std::size_t i = 0; i < peers.size(); ++i) {
        peers[i].send("client " + std::to_string(i));
        peers[i].shut();
    }
    house.until_count(&Counters::connections, 0);
    for (std::size_t i = 0; i < peers.size(); ++i) {
        house.until([&] { return peers[i].receive() && peers[i].ended; });
        CHECK(peers[i].got == "client " + std::to_string(i));
    }
    CHECK(house.server.counters().accepted == 200);
}

TEST_CASE("bounds the output for a client that never reads by the buffer") {
    for (const char* const framing : {"raw", "line", "caret"}) {
        House house(buffered(framed(framing), 100'000));
        Peer peer = house.peer(4096);
        peer.send("^");
        house.fill(peer, std::string(1'000'000, '\0'));
        const yodel::Counters counters = house.server.counters();
        CHECK(counters.bytes_in - counters.bytes_out <= 100'000 + 2 * 65536);
        CHECK(house.server.counters().connections == 1);
    }
}

TEST_CASE("bounds many small delayed replies like a few large ones") {
    House house(buffered(framed("caret", {.delay = 1h}), 100'000));
    Peer peer = house.peer();
    std::string empty;
    while (empty.size() < 1'000'000) empty += "^$";
    house.fill(peer, empty);
    CHECK(house.server.counters().bytes_in <= 100'000 + 2 * 65536);
}

TEST_CASE("survives many clients that reset at different moments, and logs a line for each") {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    const auto burst =
        static_cast<std::size_t>(std::min<rlim_t>(1000, (limit.rlim_cur - 100) / 2));
    EchoServer::Options options;
    options.max_connections = burst;
    House house(std::move(options));
    Peer standing = house.peer();
    house.until_count(&Counters::connections, 1);
    std::minstd_rand chance(7);
    std::vector<Peer> peers;
    for (std::size_t i = 1; i < burst; ++i) peers.push_back(house.peer());
    const std::string bytes = bytes_of(100'000);
    while (!peers.empty()) {
        Peer& peer = peers[chance() % peers.size()];
        if (chance() % 2 == 0) peer.send(std::string_view(bytes).substr(chance() % 100'000));
        if (chance() % 2 == 0) house.loop.step(0s);
        if (chance() % 2 == 0) peer.receive();
        if (chance() % 2 == 0) continue;
        peer.abort();
        std::swap(peer, peers.back());
        peers.pop_back();
    }
    house.until([&] { return house.server.counters().accepted == burst; });
    house.until_count(&Counters::connections, 1);
    CHECK(house.log.size() < burst);
    CHECK(house.server.counters().failed == house.log.size());
    house.exchange(standing, "still here");
    CHECK(standing.got == "still here");
}

TEST_CASE("counts idleness from the last byte in either direction") {
    EchoServer::Options options;
    options.idle_timeout = 10s;
    play(options, "+9s; log =>; +1s; log => idle for 10s");
    play(options, "send a; +6s; send b; +6s; got => ab; +3999ms; log =>; +1ms; "
                  "log => idle for 10s; got =>  end; failed => 1");
    options.framing = find_framing("line");
    options.faults.delay = 6s;
    play(options, R"(send a\n; +6s; got => a\n; +9s; log =>; +1s; log => idle for 10s)");
}

TEST_CASE("a handshake has a deadline, even if it arrives byte by byte") {
    for (const bool tls : {true, false}) {
        EchoServer::Options options;
        if (tls) options.tls = bufio::TlsContext::server();
        if (!tls) options.framing = websocket_framing();
        options.handshake_timeout = 10s;
        play(options,
             tls ? R"(send \x16; +5s; send \x03; +4s; send \x01; +900ms; got =>; log =>; +100ms;
log => no TLS handshake within 10s; got =>  end)"
                 : "send GET; +9900ms; log =>; +100ms; "
                   "log => no WebSocket handshake within 10s; got =>  end");
    }
}

TEST_CASE("closes a connection above the limit immediately, and accepts again below it") {
    EchoServer::Options options;
    options.max_connections = 2;
    House house(std::move(options));
    Peer first = house.peer();
    Peer second = house.peer();
    house.until_count(&Counters::connections, 2);
    Peer third = house.peer();
    third.send("unread");
    house.until([&] { return third.receive() || third.reset; });
    CHECK(third.ended);
    CHECK(house.log ==
          std::vector<std::string>{"refused: more than 2 connections (--max-conns)"});
    CHECK(house.server.counters().turned_away == 1);
    second.abort();
    house.until_count(&Counters::connections, 1);
    Peer fourth = house.peer();
    house.exchange(fourth, "in");
    CHECK(fourth.got == "in");
}

TEST_CASE("pauses accepting without free descriptors, and resumes when there are some") {
    VirtualHouse house;
    std::vector<Peer> peers;
    for (int i = 0; i < 10; ++i) peers.push_back(house.peer());
    rlimit before{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    rlimit few = before;
    few.rlim_cur = static_cast<rlim_t>(peers.back().socket.get()) + 4;
    ::setrlimit(RLIMIT_NOFILE, &few);
    house.until_count(&Counters::connections, 3);
    house.loop.pass(30s);  // the server tries again in vain, and logs nothing more
    CHECK(house.server.counters().connections == 3);
    CHECK(house.log == std::vector<std::string>{"paused, Too many open files"});
    peers[0].abort();
    house.until_count(&Counters::connections, 2);
    house.until_count(&Counters::connections, 4);  // both ends of the first peer are free
    ::setrlimit(RLIMIT_NOFILE, &before);
    house.loop.pass(10s);
    house.until_count(&Counters::connections, 9);
}

TEST_CASE("ends after a message that can't be answered, and logs why, once") {
    EchoServer::Options options = framed("len2");
    options.max_frame = 3;
    play(options,
         R"(send \x00\x03one\x00; send \x00; send \x00\x04; got => \x00\x03one\x00\x00 end;
log => a message of 4 bytes exceeds the limit of 3 (--max-frame); leave; log =>; failed => 1)");
    play(options, R"(send \x00\x04; +1998ms; connections => 1; +2ms; connections => 0)");
}

TEST_CASE("ends after a message that faults cannot hold, but holds the longest") {
    const std::string exceeds = " end; log => a message exceeds the limit of 10";
    play(buffered(framed("line", {.dup = 1}), 10), "send ***********; got => " + exceeds);
    play(buffered(framed("line", {.dup = 1}), 10),
         R"(send **********; log =>; send \n; got => **********\n**********\n)");
    EchoServer::Options options = framed("len2", {.dup = 1});
    options.max_frame = 10;
    play(options, R"(send \x00\x0b; got => )" + exceeds + " (--max-frame)");
}

TEST_CASE("corrupts one bit within the payload, and writes one chunk a turn") {
    play(framed("line", {.corrupt = 1}), R"(send a message\n; got => a meSsage\n)");
    play(framed("len2", {.corrupt = 1}), R"(send \x00\x04part; got => \x00\x04parT)");
    House house(framed("line", {.chunk = 1}));
    const Peer peer = house.peer();
    peer.send("several chunks\n");
    house.until([&] { return house.server.counters().bytes_out > 0; });
    CHECK(house.server.counters().bytes_out == 1);
    house.loop.step(0s);
    CHECK(house.server.counters().bytes_out == 2);
}

TEST_CASE("refuses a length that is too great even if the end arrives with it") {
    EchoServer::Options options = framed("len1");
    options.max_frame = 3;
    options.tls = bufio::TlsContext::server();
    House house(std::move(options));
    TlsPeer peer(house);
    peer.stream.write("\x03one\x04long");
    peer.stream.finish();
    house.until([&] { return static_cast<bool>(peer.stream.end()); });
    CHECK(peer.stream.received() == "\x03one");
    CHECK(house.log.size() == 1);
}

TEST_CASE("answers by the rules of each framing, however the bytes are cut") {
    const struct {
        const char* framing;
        std::string sent;
        const char* answered;
    } rows[] = {
        {"raw", "any\nbytes", "any\\nbytes"},
        {"line", "a line\nand a part", "a line\\nand a part"},
        {"len2", std::string("\0\4part\0\0", 8), "\\x00\\x04part\\x00\\x00"},
        {"len4le", std::string("\2\0\0\0ab", 6), "\\x02\\x00\\x00\\x00ab"},
        {"caret", "junk^ab$x^^\xff$$^cde$", "*bc_\\x00def"},
    };
    for (const auto& row : rows)
        for (const std::size_t step : {1U, 3U, 100U}) {
            std::string script;
            for (std::size_t at = 0; at < row.sent.size(); at += step)
                script += "send " + test::shown(row.sent.substr(at, step)) + "; ";
            play(framed(row.framing), script + "got => " + row.answered + "; log =>");
        }
    for (const std::size_t buffer : {4U, 5U, 1000U})
        play(buffered(framed("caret"), buffer), "send ^abc$^de$^f; got => *bcdefg");
    play(framed("len2"), R"(send \x00\x04par; got =>; send t; got => \x00\x04part)");
    play(framed("line"), "send par; got => par");
}

TEST_CASE("reports an end inside a message with a length, and names the missing part") {
    for (const auto& [fragment, where] :
         {std::pair{R"(\x00)", "after 1 byte of its length prefix"},
          {R"(\x00\x04)", "after 0 of 4 bytes"},
          {R"(\x00\x04par)", "after 3 of 4 bytes"}})
        for (const ev::Duration delay : {0ns, 1ns})
            play(framed("len2", {.delay = delay}),
                 "send " + std::string(fragment) +
                     "; log =>; shut; got =>  end; "
                     "log => the client closed the connection inside a message, " +
                     where + "; failed => 1");
}

TEST_CASE("applies the faults of connections") {
    const std::string two = R"(send one\ntwo\n; got => )";
    play(framed("line", {.drop = 1}), two);
    play(framed("line", {.dup = 1}), two + R"(one\none\ntwo\ntwo\n)");
    play(framed("line", {.dup = 1}), "send part; got =>; shut; got => partpart end");
    play(framed("line", {.chunk = 1}), two + R"(one\ntwo\n)");
    play(framed("line", {.is_handshake_stalled = true}), two);
    play(framed("line", {.banner = "welcome\n"}), two + R"(welcome\none\ntwo\n; log =>)");
    play(framed("line", {.close_after = 1}), two + R"(one\n end; failed => 0)");
    play(framed("line", {.close_after = 2}),
         R"(send 1\n; got => 1\n; send 2\n3\n; got => 2\n end)");
    play(framed("line", {.reset_after = 2}),
         R"(send 1\n2\n3\n; got => 1\n2\n reset; failed => 0)");
    play(framed("line", {.delay = 100ms}),
         R"(send 1\n2\n; +99ms; got =>; +1ms; got => 1\n2\n)");
    play(framed("line", {.delay = 100ms, .jitter = 90ms}),
         R"(send 1\n2\n3\n4\n5\n; +9ms; got =>;
+190ms; got => 1\n2\n3\n4\n5\n)");
    play(buffered(framed("caret", {.chunk = 1}), 100),
         "send *{5000}; send ^abc$de^ab; shut; got => *bcdbc end; log =>");
    play(framed("raw", {.close_after = 0}), "got =>  end; log =>");
    play(framed("line", {.reset_after = 0}), "got =>  reset; failed => 0");
    play(framed("line", {.is_half_closed = true}), "got =>  end; send a; log =>");
    play(framed("raw", {.must_not_read = true}), "send a; got =>; drain 1s; got =>  end");
    play(buffered(framed("raw", {.chunk = 4096}), 1024), "send *{3000}; got => *{3000}");
    play(buffered(framed("line", {.dup = 1}), 1024),
         R"(send *{700}\n*{800}\n; got => *{700}\n*{700}\n*{800}\n*{800}\n)");
}

TEST_CASE("logs connections and reads if it is verbose") {
    EchoServer::Options options;
    options.is_verbose = true;
    play(options, "send hello; log => connected, read 5 bytes: hello; shut; got => hello end; "
                  "log => closed, 5 bytes in, 5 out");
    options.tls = bufio::TlsContext::server();
    House house(options);
    TlsPeer peer(house);
    house.until([&] { return peer.stream.is_open() && !house.log.empty(); });
    CHECK(house.log[0].starts_with("connected, TLSv1.3 TLS_"));
}

TEST_CASE("a drain answers the received bytes, and does not wait for peers") {
    play({}, "drain 1h; got =>  end; leave; drained => yes; log =>");
    play({}, "send last; drain 1h; got => last end; +90ms; drained => no; "
             "+20ms; drained => yes; log =>");
    play(framed("len2"), R"(send \x00\x04par; drain 1h; +1s; drained => no; send t;
got => \x00\x04part end; +2s; drained => yes; failed => 0)");
}

TEST_CASE("a drain lasts at most for the grace, and logs an undelivered echo") {
    const std::string late = "; drain 5s; +4900ms; drained => no; +100ms; drained => yes; "
                             "log => not all echoes were sent in time; failed => 1";
    play(framed("len2"), R"(send \x00\x04par)" + late);
    play(framed("len2", {.delay = 1h}), R"(send \x00\x04four)" + late);
    std::string busy = "send before; got => before; drain 5s; ";
    for (int i = 0; i < 98; ++i) busy += "send x; +50ms; ";
    play({}, busy + "drained => no; +50ms; +50ms; drained => yes; log =>; failed => 0");
}

TEST_CASE("a drain sends close_notify over TLS") {
    EchoServer::Options options;
    options.tls = bufio::TlsContext::server();
    VirtualHouse house(std::move(options));
    TlsPeer peer(house);
    house.until([&] { return peer.stream.is_open(); });
    bool drained = false;
    house.server.drain(1h, [&] { drained = true; });
    house.loop.pass(1s);
    CHECK(drained);
    CHECK(peer.stream.input_ended());
    CHECK_FALSE(peer.stream.end());  // because close_notify was received
    CHECK(house.log.empty());
}

TEST_CASE("logs many connections that the grace cuts off in one line, or each with -v") {
    const std::string each = "not all echoes were sent in time";
    for (const auto& [count, verbose] : {std::pair{8, false}, {9, false}, {9, true}}) {
        EchoServer::Options options = framed("len2");
        options.is_verbose = verbose;
        VirtualHouse house(options);
        std::vector<Peer> peers;
        for (int i = 0; i < count; ++i) peers.push_back(house.peer());
        for (const Peer& peer : peers) peer.send(std::string("\0\4par", 5));
        const auto failures = static_cast<std::uint64_t>(count);
        house.until([&] { return house.server.counters().bytes_in == failures * 5; });
        house.server.drain(5s, [] {});
        house.loop.pass(4s);
        CHECK(house.server.counters().failed == 0);
        house.loop.pass(1s);
        CHECK(house.server.counters().failed == failures);
        const bool summed = count == 9 && !verbose;
        CHECK(std::count(house.log.begin(), house.log.end(), each) == (summed ? 0 : count));
        if (!summed) continue;
        CHECK(yodel::join(house.log, "; ") ==
              "9 connections did not receive all echoes in time");
    }
}

TEST_CASE("the built-in server completes the endpoint with its address, and echoes") {
    const bool datagrams = GENERATE(false, true);
    const auto [family, host] = GENERATE(table<int, std::string>(
        {{AF_UNSPEC, "127.0.0.1"}, {AF_INET, "127.0.0.1"}, {AF_INET6, "::1"}}));
    ev::Loop loop;
    bufio::Endpoint endpoint;
    endpoint.family = family;
    endpoint.is_udp = datagrams;
    const auto server = start_own_server(loop, endpoint, *find_framing("line"), 1, nullptr);
    CHECK(endpoint.host == host);
    const bufio::Address to = bufio::resolve_without_network(endpoint).addresses.at(0);
    Peer client(to, datagrams ? Peer::Kind::datagrams : Peer::Kind::stream);
    for (int i = 0; i < 100; ++i)  // more often than yodeld answers the same datagram
        REQUIRE(client.send("a\n") == 2);
    test::turn_until(loop, [&] {
        client.receive();
        return client.got.size() == 200;
    });
}

TEST_CASE("a client trusts the built-in server by its pin, if it can echo the framing") {
    ev::Loop loop;
    bufio::Endpoint endpoint;
    bufio::TlsClientOptions tls;
    const auto server = start_own_server(loop, endpoint, *find_framing("line"), 1, &tls);
    REQUIRE(tls.pins.size() == 1);
    CHECK(tls.pins[0].starts_with("sha256//"));
    CHECK_THROWS_AS(start_own_server(loop, endpoint, *find_framing("smtp"), 1, nullptr),
                    UsageError);
}
