// Tests streams over TLS, against another stream or plain OpenSSL.
#include "bufio/tls.hpp"

#include "tests/bufio/certificates.hpp"
#include "tests/bufio/fixture.hpp"
#include "tests/bufio/system.hpp"
#include "tests/support/allocations.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <cerrno>
#include <list>
#include <set>
#include <thread>
#include <utility>
#include <vector>

using namespace test;
using bufio::TlsClientOptions;
using bufio::TlsContext;
using bufio::TlsServerOptions;
using bufio::TlsVersion;

namespace {

constexpr TlsVersion tls12 = TlsVersion::v1_2;
constexpr TlsVersion tls13 = TlsVersion::v1_3;

// Identities by one authority, made once because making keys takes time.
struct World {
    Certificates files;
    Identity ca = files.authority("Test Authority");
    Identity server = files.make("localhost", {.issuer = &ca});
    Identity client = files.make("client", {.issuer = &ca});
};

World& world() {
    static World made;
    return made;
}

TlsClientOptions trusting(std::optional<TlsVersion> max_version = {}) {
    TlsClientOptions options;
    options.ca_file = world().ca.certificate;
    options.max_version = max_version;
    return options;
}

TlsContext usual_server() {
    return TlsContext::server({world().server.certificate, world().server.key, {}});
}

// A client and a server on one loop.
struct Secure {
    void connect(const TlsContext& client, const TlsContext& server,
                 const std::string& host = "localhost", Stream::Limits limits = {}) {
        auto [one, other] = socket_pair();
        near.open(loop, client.connect(std::move(one), host), limits);
        far.open(loop, server.accept(std::move(other)), limits);
    }

    bool run_until(std::function<bool()> condition) {
        return test::run_until(loop, std::move(condition));
    }
    bool opened() {
        return run_until([&] { return near.stream->open() && far.stream->open(); });
    }
    void echo() {
        far.on_change = [](Stream& stream) {
            if (stream.write(stream.received())) stream.consume(stream.received().size());
        };
    }

    ev::Loop loop;
    Taker near;
    Taker far;
};

// A plain OpenSSL peer, driven by the test, for behaviour that no stream shows.
struct RawPeer {
    RawPeer(const SSL_METHOD* method, Fd fd) : socket(std::move(fd)), ctx(SSL_CTX_new(method)) {
        SSL_CTX_use_certificate_chain_file(ctx, world().server.certificate.c_str());
        SSL_CTX_use_PrivateKey_file(ctx, world().server.key.c_str(), SSL_FILETYPE_PEM);
    }
    ~RawPeer() {
        SSL_free(ssl);
        SSL_CTX_free(ctx);
    }
    RawPeer(const RawPeer&) = delete;
    RawPeer& operator=(const RawPeer&) = delete;

    void begin() {
        ssl = SSL_new(ctx);
        SSL_set_fd(ssl, socket.get());
        SSL_set_accept_state(ssl);
    }
    bool handshake() {
        ERR_clear_error();
        return SSL_do_handshake(ssl) == 1;
    }
    void write(const std::string& bytes) {
        REQUIRE(SSL_write(ssl, bytes.data(), static_cast<int>(bytes.size())) ==
                static_cast<int>(bytes.size()));
    }
    bool read() {
        char bytes[65536];
        ERR_clear_error();
        const int count = SSL_read(ssl, bytes, sizeof bytes);
        if (count > 0) got.append(bytes, static_cast<std::size_t>(count));
        return count > 0;
    }

    // Stores written bytes from now on; the test sends them.
    void keep_written() { SSL_set0_wbio(ssl, BIO_new(BIO_s_mem())); }
    std::string written() {
        char* bytes = nullptr;
        const long count = BIO_get_mem_data(SSL_get_wbio(ssl), &bytes);
        std::string all(bytes, static_cast<std::size_t>(count));
        BIO_reset(SSL_get_wbio(ssl));
        return all;
    }
    void update_keys(int count, int request) {
        for (int i = 0; i < count; ++i) {
            SSL_key_update(ssl, request);
            handshake();
        }
    }
    // Writes what the system accepts.
    void send(std::string_view& bytes) const {
        while (!bytes.empty()) {
            const ssize_t count = ::send(socket.get(), bytes.data(), bytes.size(), 0);
            if (count <= 0) return;
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
    }
    void discard_input() const {
        char bytes[65536];
        while (::recv(socket.get(), bytes, sizeof bytes, 0) > 0) {
        }
    }

    Fd socket;
    SSL_CTX* ctx;
    SSL* ssl = nullptr;
    std::string got;
};

// A client's stream, and a server that the test drives.
struct HalfRaw {
    explicit HalfRaw(TlsVersion version) : HalfRaw(TlsContext::client(trusting(version))) {}
    explicit HalfRaw(const TlsContext& client) {
        auto [one, other] = socket_pair();
        peer = std::make_unique<RawPeer>(TLS_server_method(), std::move(other));
        descriptor = one.get();
        near.open(loop, client.connect(std::move(one), "localhost"));
    }
    void open() {
        peer->begin();
        REQUIRE(run_until([&] { return peer->handshake(); }));
        REQUIRE(run_until([&] { return near.stream->open(); }));
    }
    bool run_until(std::function<bool()> condition) {
        const ev::Time give_up = ev::Clock::now() + patience;
        while (!condition()) {
            if (ev::Clock::now() > give_up) return false;
            loop.step(1ms);
        }
        return true;
    }

    ev::Loop loop;
    int descriptor = -1;  // the stream's
    Taker near;
    std::unique_ptr<RawPeer> peer;
};

int waiting_bytes(int fd) {
    int count = 0;
    REQUIRE(::ioctl(fd, FIONREAD, &count) == 0);
    return count;
}

// Returns the size of the first TLS record, header included.
std::size_t record_size(std::string_view bytes) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes.at(at)); };
    return 5 + 256u * byte(3) + byte(4);
}

bool mentions(const std::string& text, const std::string& part) {
    INFO(text);
    const bool found = text.find(part) != std::string::npos;
    CHECK(found);
    return found;
}

}  // namespace

TEST_CASE("offers the key exchange groups of the options", "[tls]") {
    Secure secure;
    TlsClientOptions options = trusting();
    options.groups = "P-256:X25519";
    options.max_version = GENERATE(tls12, tls13);
    secure.connect(TlsContext::client(options), usual_server());
    REQUIRE(secure.opened());
    CHECK(secure.near.stream->tls()->group == "secp256r1");
    CHECK(TlsContext::knows_groups(options.groups));
    CHECK_FALSE(TlsContext::knows_groups("P-256:X0"));
    CHECK_FALSE(TlsContext::knows_groups(":"));
}

TEST_CASE("provides the facts of a TLS connection", "[tls]") {
    Secure secure;
    TlsClientOptions options = trusting();
    const TlsVersion version = GENERATE(tls12, tls13);
    options.max_version = version;
    secure.connect(TlsContext::client(options), usual_server());
    REQUIRE(secure.opened());
    const bufio::TlsFacts& facts = *secure.near.stream->tls();
    CHECK(facts.version == (version == tls12 ? "TLSv1.2" : "TLSv1.3"));
    CHECK_FALSE(facts.cipher.empty());
    CHECK_FALSE(facts.group.empty());
    CHECK(facts.unanswered_hello == 0);
    CHECK(facts.subject == "CN=localhost");
    CHECK(facts.issuer == "CN=Test Authority");
    CHECK(facts.days_left == 10);
    CHECK(facts.pin == usual_server().pin());
    CHECK(facts.unverified.empty());
    REQUIRE(facts.chain.size() == 1);
    mentions(facts.chain[0], "CN=localhost, until 2");
    CHECK_FALSE(facts.resumed);
}

TEST_CASE("messages around the size of a TLS record are echoed", "[tls]") {
    Secure secure;
    secure.connect(TlsContext::client(trusting(GENERATE(tls12, tls13))), usual_server());
    secure.echo();
    REQUIRE(secure.opened());
    for (const std::size_t size : {1u, 4096u, 16384u, 17408u, 65536u, 300000u}) {
        secure.near.got.clear();
        const std::string bytes = pattern(size);
        CHECK(secure.near.stream->write(bytes));
        REQUIRE(secure.run_until([&] { return secure.near.got.size() == size; }));
        CHECK((secure.near.got == bytes));
    }
}

TEST_CASE("a TLS client can send first, also after it has received tickets", "[tls]") {
    Secure secure;
    secure.connect(TlsContext::client(trusting()), usual_server());
    REQUIRE(secure.opened());
    SECTION("at once") {}
    SECTION("idle") { run_pending(secure.loop, 20); }
    secure.near.stream->write("hello");
    REQUIRE(secure.run_until([&] { return secure.far.got == "hello"; }));
}

TEST_CASE("delivers bytes after the TLS handshake that were written before it", "[tls]") {
    Secure secure;
    secure.connect(TlsContext::client(trusting()), usual_server());
    secure.near.stream->write("early");
    secure.near.stream->finish();
    REQUIRE(secure.run_until([&] { return secure.far.stream->input_ended(); }));
    CHECK(secure.far.got == "early");
}

TEST_CASE("close_notify in one direction leaves the other usable", "[tls]") {
    Secure secure;
    secure.connect(TlsContext::client(trusting(GENERATE(tls12, tls13))), usual_server());
    REQUIRE(secure.opened());
    secure.near.stream->write("question");
    secure.near.stream->finish();
    REQUIRE(secure.run_until([&] { return secure.far.stream->input_ended(); }));
    CHECK(secure.far.got == "question");
    CHECK_FALSE(secure.near.stream->end());
    const std::string answer = pattern(100000);
    secure.far.stream->write(answer);
    secure.far.stream->finish();
    REQUIRE(secure.run_until([&] { return secure.near.ends && secure.far.ends; }));
    CHECK((secure.near.got == answer));
    CHECK(secure.near.reason() == Reason::clean);
    CHECK(secure.far.reason() == Reason::clean);
}

TEST_CASE("close() of a TLS stream still sends close_notify", "[tls]") {
    Secure secure;
    secure.connect(TlsContext::client(trusting(GENERATE(tls12, tls13))), usual_server());
    REQUIRE(secure.opened());
    secure.near.stream->write("last words");
    secure.near.stream->close();
    secure.near.stream.reset();
    REQUIRE(secure.run_until([&] { return secure.far.stream->input_ended(); }));
    CHECK(secure.far.got == "last words");
    CHECK(secure.far.reason() != Reason::truncated);
}

TEST_CASE("reports a FIN without close_notify as a truncation", "[tls]") {
    HalfRaw half(GENERATE(tls12, tls13));
    half.open();
    half.peer->write("cut");
    half.peer->socket.reset();
    REQUIRE(half.run_until([&] { return half.near.ends == 1; }));
    CHECK(half.near.got == "cut");
    CHECK(half.near.reason() == Reason::truncated);
}

TEST_CASE("reports a connection closed during the TLS handshake", "[tls]") {
    HalfRaw half(tls13);
    const int peer = half.peer->socket.get();
    SECTION("with an alert") { REQUIRE(::write(peer, "\x15\3\3\0\2\1\0", 7) == 7); }
    SECTION("without an alert") { ::shutdown(peer, SHUT_WR); }
    SECTION("in both directions") { half.peer->socket.reset(); }
    REQUIRE(half.run_until([&] { return half.near.ends == 1; }));
    CHECK(half.near.reason() == Reason::handshake_interrupted);
    const std::string& text = half.near.text();
    const bool reported = text.find("during the TLS handshake") != std::string::npos ||
                          text.find("TLS handshake: ") != std::string::npos;
    INFO(text);
    CHECK(reported);
}

TEST_CASE("reports a peer that does not speak TLS", "[tls]") {
    auto [one, other] = socket_pair();
    ev::Loop loop;
    Taker near;
    near.open(loop, TlsContext::client(trusting()).connect(std::move(one), "localhost"));
    char hello[4096];
    const ssize_t size = ::read(other.get(), hello, sizeof hello);
    REQUIRE(size > 0);
    std::string answer;
    SECTION("and echoes") { answer.assign(hello, static_cast<std::size_t>(size)); }
    SECTION("and greets") { answer = "220 mail.example ESMTP ready\r\n"; }
    SECTION("and refuses") { answer = "HTTP/1.1 400 Bad Request\r\n\r\n"; }
    REQUIRE(::write(other.get(), answer.data(), answer.size()) > 0);
    REQUIRE(run_until(loop, [&] { return near.ends == 1; }));
    CHECK(near.reason() == Reason::tls);
    mentions(near.text(), "does not speak TLS");
}

TEST_CASE("reports the name of a TLS alert", "[tls]") {
    HalfRaw half(TlsContext::client(trusting()));
    SSL_CTX_set_max_proto_version(half.peer->ctx, TLS1_2_VERSION);
    SSL_CTX_set_cipher_list(half.peer->ctx,
                            "ECDHE-RSA-AES128-GCM-SHA256");  // the server has no such key
    half.peer->begin();
    REQUIRE(half.run_until([&] {
        half.peer->handshake();
        return half.near.ends == 1;
    }));
    CHECK(half.near.reason() == Reason::tls);
    mentions(half.near.text(), "TLS alert: handshake failure");
}

TEST_CASE("the handshake fails without a common TLS version", "[tls]") {
    Secure secure;
    TlsClientOptions options = trusting();
    options.min_version = tls13;
    auto [one, other] = socket_pair();
    RawPeer peer(TLS_server_method(), std::move(other));
    SSL_CTX_set_max_proto_version(peer.ctx, TLS1_2_VERSION);
    peer.begin();
    secure.near.open(secure.loop,
                     TlsContext::client(options).connect(std::move(one), "localhost"));
    peer.handshake();
    REQUIRE(secure.run_until([&] { return secure.near.ends == 1; }));
    CHECK(secure.near.reason() == Reason::tls);
    mentions(secure.near.text(), "protocol version");
}

TEST_CASE("the server chooses a protocol offered by ALPN", "[tls]") {
    TlsClientOptions options = trusting();
    options.alpn = {"echo/2", "echo/1"};
    HalfRaw half(TlsContext::client(options));
    SSL_CTX_set_alpn_select_cb(
        half.peer->ctx,
        [](SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* list,
           unsigned, void*) {
            *chosen = list + 8;  // the second of two names of 6 bytes
            *size = 6;
            return SSL_TLSEXT_ERR_OK;
        },
        nullptr);
    half.open();
    CHECK(half.near.stream->tls()->alpn == "echo/1");
}

TEST_CASE("sends the host as SNI unless it is an address", "[tls]") {
    struct Case {
        std::string host, server_name, sent;
    };
    const Case c =
        GENERATE(Case{"localhost", "", "localhost"}, Case{"localhost.", "", "localhost"},
                 Case{"127.0.0.1", "", ""}, Case{"::1", "", ""},
                 Case{"localhost", "other.example", "other.example"});
    TlsClientOptions options = trusting();
    options.verify = false;
    options.server_name = c.server_name;
    auto [one, other] = socket_pair();
    ev::Loop loop;
    Taker near;
    near.open(loop, TlsContext::client(options).connect(std::move(one), c.host));
    RawPeer peer(TLS_server_method(), std::move(other));
    peer.begin();
    peer.handshake();
    const char* const name = SSL_get_servername(peer.ssl, TLSEXT_NAMETYPE_host_name);
    CHECK(std::string(name ? name : "") == c.sent);
}

TEST_CASE("updates TLS keys while both directions carry data", "[tls]") {
    HalfRaw half(tls13);
    half.open();
    const std::string bytes = pattern(2 * 1024 * 1024);
    CHECK(half.near.stream->write(bytes));
    std::string expected;
    int round = 0;
    REQUIRE(half.run_until([&] {
        if (half.peer->got.size() < bytes.size() && round++ < 50) {
            SSL_key_update(half.peer->ssl, SSL_KEY_UPDATE_REQUESTED);
            half.peer->write("update");
            expected += "update";
        }
        while (half.peer->read()) {
        }
        return half.peer->got.size() == bytes.size();
    }));
    CHECK((half.peer->got == bytes));
    REQUIRE(half.run_until([&] { return half.near.got == expected; }));
    CHECK(round > 1);
}

TEST_CASE("accepts TLS handshake messages at any time and in any pieces", "[tls]") {
    TlsClientOptions options = trusting(tls13);
    options.certificate = world().client.certificate;
    options.key = world().client.key;
    HalfRaw half(TlsContext::client(options));
    half.open();
    SSL* const ssl = half.peer->ssl;
    SSL_CTX_load_verify_file(half.peer->ctx, world().ca.certificate.c_str());
    SSL_set_verify(ssl, SSL_VERIFY_PEER, nullptr);
    Faults faults;
    faults.recv = [](std::size_t) { return 7; };
    std::string expected;
    for (int i = 0; i < 12; ++i) {
        if (i % 3 == 0) SSL_new_session_ticket(ssl);
        if (i % 3 == 1) SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED);
        if (i == 5) CHECK(SSL_verify_client_post_handshake(ssl) == 1);
        CHECK(half.peer->handshake());
        half.peer->write("word");
        expected += "word";
        half.near.stream->write("word");
        REQUIRE(half.run_until([&] {
            half.peer->read();
            return half.near.got == expected && half.peer->got == expected;
        }));
    }
    CHECK(SSL_get0_peer_certificate(ssl) != nullptr);
}

TEST_CASE("refuses a client's request for a TLS renegotiation", "[tls]") {
    auto [one, other] = socket_pair();
    ev::Loop loop;
    Taker far;
    far.open(loop, usual_server().accept(std::move(one)));
    RawPeer peer(TLS_client_method(), std::move(other));
    SSL_CTX_set_max_proto_version(peer.ctx, TLS1_2_VERSION);
    peer.begin();
    SSL_set_connect_state(peer.ssl);
    REQUIRE(run_until(loop, [&] { return peer.handshake() && far.stream->open(); }));
    SSL_renegotiate(peer.ssl);
    CHECK_FALSE(peer.handshake());
    run_pending(loop);
    CHECK_FALSE(peer.handshake());
    CHECK(ERR_GET_REASON(ERR_peek_error()) == SSL_R_NO_RENEGOTIATION);
    ERR_clear_error();
}

TEST_CASE("refuses TLS renegotiation and continues the connection", "[tls]") {
    HalfRaw half(tls12);
    half.open();
    SSL_renegotiate(half.peer->ssl);
    half.peer->handshake();
    run_pending(half.loop);
    ERR_clear_error();
    half.near.stream->write("hello");
    run_pending(half.loop);
    half.peer->read();
    // The peer may continue or give up, but there was no second handshake.
    CHECK(SSL_num_renegotiations(half.peer->ssl) <= 1);
    CHECK(half.near.stream->open());
    ERR_clear_error();
}

TEST_CASE("the next connection to the same host resumes the TLS session", "[tls]") {
    const TlsVersion version = GENERATE(tls12, tls13);
    const TlsContext client = TlsContext::client(trusting(version));
    const TlsContext server = usual_server();
    for (const bool resumed : {false, true, true}) {
        Secure secure;
        secure.connect(client, server);
        secure.echo();
        REQUIRE(secure.opened());
        CHECK(secure.near.stream->tls()->resumed == resumed);
        CHECK(secure.near.stream->tls()->subject == "CN=localhost");
        CHECK(secure.near.stream->tls()->unverified.empty());
        secure.near.stream->write("x");  // its echo follows the tickets
        REQUIRE(secure.run_until([&] { return secure.near.got == "x"; }));
    }
    Secure elsewhere;
    elsewhere.connect(client, server, "127.0.0.1");
    REQUIRE(elsewhere.opened());
    CHECK_FALSE(elsewhere.near.stream->tls()->resumed);
}

TEST_CASE("threads use one TLS context at once, and resume their own sessions", "[tls]") {
    TlsClientOptions options = trusting(GENERATE(tls12, tls13));
    options.key_log_file = world().files.path("keys of threads");
    const TlsContext client = TlsContext::client(options);
    const TlsContext server = usual_server();
    constexpr std::size_t threads = 3;
    std::vector<std::pair<Fd, Fd>> sockets[threads];
    for (auto& each : sockets)
        for (int i = 0; i < 20; ++i) each.push_back(socket_pair());
    std::vector<bool> resumed[threads];
    const auto converse = [&](std::size_t number) {  // Catch2's assertions are not thread-safe
        for (auto& [one, other] : sockets[number]) {
            Secure pair;
            pair.near.open(pair.loop, client.connect(std::move(one), "localhost"));
            pair.far.open(pair.loop, server.accept(std::move(other)));
            pair.echo();
            pair.near.stream->write("hello");
            pair.run_until([&] { return pair.near.got == "hello"; });
            resumed[number].push_back(pair.near.stream->tls()->resumed);
        }
    };
    std::vector<std::thread> running;
    for (std::size_t i = 0; i < threads; ++i) running.emplace_back(converse, i);
    for (std::thread& thread : running) thread.join();
    std::vector<bool> expected(20, true);
    expected.front() = false;
    for (const std::vector<bool>& each : resumed) CHECK(each == expected);
}

TEST_CASE("uses a TLS 1.3 ticket only once", "[tls]") {
    const TlsContext client = TlsContext::client(trusting(tls13));
    const TlsContext server = usual_server();
    Secure first;
    first.connect(client, server);
    first.echo();
    first.near.stream->write("x");  // its echo follows the tickets
    REQUIRE(first.run_until([&] { return first.near.got == "x"; }));
    Secure later[3];
    for (Secure& each : later) each.connect(client, server);
    for (Secure& each : later) REQUIRE(each.opened());
    CHECK(later[0].near.stream->tls()->resumed);
    CHECK(later[1].near.stream->tls()->resumed);
    CHECK_FALSE(later[2].near.stream->tls()->resumed);  // OpenSSL sends two tickets
}

TEST_CASE("connections at the same time all resume a TLS session", "[tls]") {
    const TlsContext client = TlsContext::client(trusting(GENERATE(tls12, tls13)));
    const TlsContext server = usual_server();
    for (const bool resumed : {false, true, true}) {
        std::list<Secure> together(3);
        for (Secure& each : together) {
            each.connect(client, server);
            each.echo();
        }
        for (Secure& each : together) {
            REQUIRE(each.opened());
            CHECK(each.near.stream->tls()->resumed == resumed);
        }
        for (Secure& each : together) {
            each.near.stream->write("x");  // its echo follows the tickets
            REQUIRE(each.run_until([&] { return each.near.got == "x"; }));
        }
    }
}

TEST_CASE("resumes no TLS session if the options forbid it", "[tls]") {
    TlsClientOptions options = trusting(GENERATE(tls12, tls13));
    options.resume = false;
    const TlsContext client = TlsContext::client(options);
    const TlsContext server = usual_server();
    for (int i = 0; i < 2; ++i) {
        Secure secure;
        secure.connect(client, server);
        secure.echo();
        REQUIRE(secure.opened());
        CHECK_FALSE(secure.near.stream->tls()->resumed);
        secure.near.stream->write("x");
        REQUIRE(secure.run_until([&] { return secure.near.got == "x"; }));
    }
}

TEST_CASE("resumes a TLS session with a client certificate", "[tls]") {
    TlsClientOptions options = trusting(GENERATE(tls12, tls13));
    options.certificate = world().client.certificate;
    options.key = world().client.key;
    const TlsContext client = TlsContext::client(options);
    const TlsContext server = TlsContext::server(
        {world().server.certificate, world().server.key, world().ca.certificate});
    for (const bool resumed : {false, true}) {
        Secure secure;
        secure.connect(client, server);
        secure.echo();
        REQUIRE(secure.opened());
        CHECK(secure.near.stream->tls()->resumed == resumed);
        CHECK(secure.far.stream->tls()->subject == "CN=client");
        secure.near.stream->write("x");
        REQUIRE(secure.run_until([&] { return secure.near.got == "x"; }));
    }
}

TEST_CASE("connections of a server's old TLS context continue beside the new context",
          "[tls]") {
    const TlsContext client = TlsContext::client(trusting());
    Secure old;
    old.connect(client, usual_server());
    old.echo();
    REQUIRE(old.opened());
    const Identity renewed = world().files.make("renewed", {.issuer = &world().ca});
    Secure next;
    next.connect(client, TlsContext::server({renewed.certificate, renewed.key, {}}));
    REQUIRE(next.opened());
    CHECK(next.near.stream->tls()->subject == "CN=renewed");
    old.near.stream->write("still here");
    REQUIRE(old.run_until([&] { return old.near.got == "still here"; }));
}

TEST_CASE("appends secrets to the key log, which only its owner may read", "[tls]") {
    TlsClientOptions options = trusting();
    options.key_log_file = world().files.path("keys.log");
    for (int i = 0; i < 2; ++i) {
        Secure secure;
        secure.connect(TlsContext::client(options), usual_server());
        REQUIRE(secure.opened());
    }
    const std::string log = contents(options.key_log_file);
    const std::size_t first = log.find("CLIENT_TRAFFIC_SECRET_0 ");
    CHECK(first != std::string::npos);
    CHECK(log.find("CLIENT_TRAFFIC_SECRET_0 ", first + 1) != std::string::npos);
    CHECK(log.back() == '\n');
    struct stat status {};
    REQUIRE(::stat(options.key_log_file.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("reports a lost TLS connection in every state", "[tls]") {
    const DeadlySigpipe deadly;
    HalfRaw half(GENERATE(tls12, tls13));
    half.open();
    SECTION("with more to send than the system accepts") {
        half.near.stream->write(pattern(8 * 1024 * 1024));
        run_pending(half.loop, 2);
    }
    SECTION("half-closed by us") {
        half.near.stream->finish();
        run_pending(half.loop, 2);
    }
    SECTION("half-closed by the peer") {
        SSL_shutdown(half.peer->ssl);
        REQUIRE(half.run_until([&] { return half.near.stream->input_ended(); }));
        half.near.stream->write(pattern(8 * 1024 * 1024));
    }
    half.peer->socket.reset();
    REQUIRE(half.run_until([&] { return half.near.ends == 1; }));
    const Reason reason = half.near.reason();
    INFO(half.near.text());
    const bool reported = reason == Reason::closed_early || reason == Reason::receive ||
                          reason == Reason::truncated;
    CHECK(reported);
    CHECK(half.near.text().find("Success") == std::string::npos);
}

TEST_CASE("delivers all bytes written before finish() over TLS", "[tls]") {
    Secure secure;
    secure.connect(TlsContext::client(trusting()), usual_server());
    REQUIRE(secure.opened());
    const std::string bytes = pattern(8 * 1024 * 1024);
    CHECK(secure.near.stream->write(bytes));
    secure.near.stream->finish(patience);
    REQUIRE(secure.run_until([&] { return secure.far.stream->input_ended(); }));
    CHECK((secure.far.got == bytes));
    secure.far.stream->finish();
    REQUIRE(secure.run_until([&] { return secure.near.ends == 1; }));
    CHECK(secure.near.reason() == Reason::clean);
}

TEST_CASE("reading from TLS stops above the high-water mark and resumes", "[tls]") {
    Secure secure;
    const Stream::Limits limits{32 * 1024, 8 * 1024, 64 * 1024 * 1024};
    secure.connect(TlsContext::client(trusting()), usual_server(), "localhost", limits);
    REQUIRE(secure.opened());
    secure.near.on_change = [](Stream&) {};
    const std::string bytes = pattern(4 * 1024 * 1024);
    secure.far.stream->write(bytes);
    run_pending(secure.loop, 100);
    CHECK(secure.near.stream->received().size() > 32 * 1024);
    CHECK(secure.near.stream->received().size() <= (32 + 64) * 1024);
    secure.near.on_change = {};
    secure.near.take(*secure.near.stream);
    REQUIRE(secure.run_until([&] { return secure.near.got.size() == bytes.size(); }));
    CHECK((secure.near.got == bytes));
}

TEST_CASE("two TLS streams with both directions full resume when one side reads", "[tls]") {
    Secure secure;
    secure.connect(TlsContext::client(trusting()), usual_server());
    REQUIRE(secure.opened());
    const std::string bytes = pattern(4 * 1024 * 1024);
    secure.near.on_change = secure.far.on_change = [](Stream&) {};
    CHECK(secure.near.stream->write(bytes));
    CHECK(secure.far.stream->write(bytes));
    run_pending(secure.loop, 200);
    CHECK(secure.near.stream->pending() > 0);
    CHECK(secure.far.stream->pending() > 0);
    for (Taker* const side : {&secure.near, &secure.far}) {
        side->on_change = {};
        side->take(*side->stream);
        REQUIRE(secure.run_until([&] { return side->got.size() == bytes.size(); }));
        CHECK((side->got == bytes));
    }
}

TEST_CASE("a TLS echo in the steady state allocates nothing", "[tls]") {
    Secure secure;
    secure.connect(TlsContext::client(trusting()), usual_server());
    secure.echo();
    REQUIRE(secure.opened());
    secure.near.got.reserve(1000);
    std::size_t before = 0;
    for (std::size_t i = 1; i <= 100; ++i) {
        if (i == 10) before = test::allocations.count;
        secure.near.stream->write("ping");
        while (secure.near.got.size() < 4 * i && secure.loop.step(patience)) {
        }
    }
    CHECK(test::allocations.count == before);
}

TEST_CASE("does not notify the user of TLS records without data", "[tls]") {
    HalfRaw half(tls13);
    half.open();
    run_pending(half.loop);
    half.near.calls = 0;
    for (int i = 0; i < 10; ++i) {
        CHECK(SSL_new_session_ticket(half.peer->ssl) == 1);
        CHECK(half.peer->handshake());
        CHECK(SSL_key_update(half.peer->ssl, SSL_KEY_UPDATE_NOT_REQUESTED) == 1);
        CHECK(half.peer->handshake());
        run_pending(half.loop);
    }
    CHECK(half.near.calls == 0);
    half.peer->write("news");
    REQUIRE(half.run_until([&] { return half.near.got == "news"; }));
}

TEST_CASE("limits TLS key updates in each turn, even with data between them", "[tls]") {
    HalfRaw half(tls13);
    half.open();
    run_pending(half.loop);
    half.peer->keep_written();
    const int data_after = GENERATE(1, 20);  // messages
    CAPTURE(data_after);
    for (int i = 0; i < 4000; i += data_after) {
        half.peer->update_keys(data_after, SSL_KEY_UPDATE_NOT_REQUESTED);
        half.peer->write("x");
    }
    const std::string flood = half.peer->written();
    std::string_view rest = flood;
    half.peer->send(rest);
    REQUIRE(rest.empty());
    // At first the stream reads the usual amount.
    REQUIRE(half.run_until([&] { return waiting_bytes(half.descriptor) < 100 * 1024; }));
    int turns = 0;
    while (waiting_bytes(half.descriptor) > 0 && half.near.ends == 0) {
        const int before = waiting_bytes(half.descriptor);
        half.loop.step(patience);
        CHECK(before - waiting_bytes(half.descriptor) <= 4 * 1024);
        ++turns;
    }
    CHECK(turns >= 10);
    REQUIRE(half.run_until(
        [&] { return half.near.got.size() == static_cast<std::size_t>(4000 / data_after); }));
}

TEST_CASE(
    "reads a flood of TLS records without data over several turns, and then ends the stream",
    "[tls]") {
    HalfRaw half(tls13);
    half.open();
    run_pending(half.loop);
    half.peer->keep_written();
    const int request = GENERATE(SSL_KEY_UPDATE_NOT_REQUESTED, SSL_KEY_UPDATE_REQUESTED);
    CAPTURE(request);
    std::size_t sent = 0;
    while (half.near.ends == 0 && sent < 8 * 1024 * 1024) {
        half.peer->update_keys(5000, request);
        const std::string flood = half.peer->written();
        std::string_view rest = flood;
        while (!rest.empty() && half.near.ends == 0) {
            half.peer->send(rest);
            half.peer->discard_input();
            const int before = waiting_bytes(half.descriptor);
            half.loop.step(ev::Duration::zero());
            if (half.near.ends == 0)
                CHECK(before - waiting_bytes(half.descriptor) <= 96 * 1024);
        }
        sent += flood.size();
    }
    CHECK(sent <= 2 * 1024 * 1024);
    CHECK(half.near.reason() == Reason::receive);
    mentions(half.near.text(), "records without data");
}

TEST_CASE("reads tiny TLS records over several turns", "[tls]") {
    HalfRaw half(tls13);
    half.open();
    run_pending(half.loop);
    half.peer->keep_written();
    constexpr std::size_t count = 4000;
    for (std::size_t i = 0; i < count; ++i) half.peer->write("x");
    const std::string records = half.peer->written();
    std::string_view rest = records;
    half.peer->send(rest);
    half.loop.step(1s);
    CHECK(half.near.got.size() > 0);
    CHECK(half.near.got.size() <= 1000);
    REQUIRE(half.run_until([&] {
        half.peer->send(rest);
        return half.near.got.size() == count;
    }));
    CHECK_FALSE(half.near.stream->end());
}

TEST_CASE("reports a TLS handshake that is done when its stream is made", "[tls]") {
    auto [one, other] = socket_pair();
    auto transport = usual_server().accept(std::move(one));
    RawPeer peer(TLS_client_method(), std::move(other));
    peer.begin();
    SSL_set_connect_state(peer.ssl);
    peer.handshake();
    CHECK(transport->handshake().status == bufio::IoStatus::wants_read);
    REQUIRE(peer.handshake());
    std::string sent;
    SECTION("alone") {}
    SECTION("once, together with bytes") { sent = "hello"; }
    if (!sent.empty()) peer.write(sent);
    ev::Loop loop;
    Taker far;
    far.open(loop, std::move(transport));
    CHECK(far.stream->open());
    CHECK(far.calls == 0);
    REQUIRE(run_until(loop, [&] { return far.calls > 0 && far.got == sent; }));
    run_pending(loop);
    CHECK(far.calls == 1);
}

TEST_CASE("closes the output after a partial TLS message", "[tls]") {
    HalfRaw half(tls13);
    // Tickets of more than one record.
    SSL_CTX_set_max_send_fragment(half.peer->ctx, 512);
    const auto enlarge = [](SSL* ssl, void*) {
        const std::string data(1000, 'x');
        return SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), data.data(), data.size());
    };
    SSL_CTX_set_session_ticket_cb(half.peer->ctx, enlarge, nullptr, nullptr);
    half.open();
    run_pending(half.loop);
    half.peer->keep_written();
    REQUIRE(SSL_new_session_ticket(half.peer->ssl) == 1);
    REQUIRE(half.peer->handshake());
    const std::string ticket = half.peer->written();
    std::string_view first_record = std::string_view(ticket).substr(0, 600);
    half.peer->send(first_record);
    run_pending(half.loop);
    half.near.stream->finish();
    run_pending(half.loop);
    CHECK_FALSE(half.near.stream->output_failed());
    std::string_view rest = std::string_view(ticket).substr(600);
    half.peer->send(rest);
    REQUIRE(half.run_until([&] { return half.near.stream->output_closed(); }));
    CHECK_FALSE(half.peer->read());
    CHECK(SSL_get_shutdown(half.peer->ssl) == SSL_RECEIVED_SHUTDOWN);
    SSL_shutdown(half.peer->ssl);
    const std::string end = half.peer->written();
    rest = end;
    half.peer->send(rest);
    REQUIRE(half.run_until([&] { return half.near.ends == 1; }));
    CHECK(half.near.reason() == Reason::clean);
}

TEST_CASE("reports a wrong signature in the TLS handshake", "[tls]") {
    // In three handshakes out of four, the signature contains a number of 33 bytes. Makes it
    // larger than the curve allows.
    const std::string number("\x02\x21\0", 3);
    constexpr std::size_t tail = 90;  // bytes; contain the signature and ServerHelloDone
    for (int tries = 0; tries < 100; ++tries) {
        HalfRaw half(tls12);
        half.peer->begin();
        half.peer->keep_written();
        REQUIRE(half.run_until([&] {
            half.peer->handshake();
            return waiting_bytes(half.peer->socket.get()) == 0;
        }));
        std::string flight = half.peer->written();
        const std::size_t at = flight.rfind(number);
        if (at == std::string::npos || at + tail < flight.size()) continue;
        flight.replace(at + number.size(), 32, 32, '\xff');
        std::string_view rest = flight;
        half.peer->send(rest);
        REQUIRE(half.run_until([&] { return half.near.ends == 1; }));
        CHECK(half.near.reason() == Reason::tls);
        CHECK(half.near.text() == "TLS: bad signature");
        return;
    }
    FAIL("no signature was fit");
}

TEST_CASE("a server that violates the order of TLS messages counts as speaking TLS", "[tls]") {
    HalfRaw half(tls12);
    half.peer->begin();
    half.peer->keep_written();
    half.peer->handshake();
    std::string flight = half.peer->written();
    // ServerHelloDone (9 bytes) follows ServerHello immediately.
    flight.erase(record_size(flight), flight.size() - 9 - record_size(flight));
    std::string_view rest = flight;
    half.peer->send(rest);
    REQUIRE(half.run_until([&] { return half.near.ends == 1; }));
    CHECK(half.near.reason() == Reason::tls);
    CHECK(half.near.text() == "TLS: unexpected message");
}

TEST_CASE("a client that violates the TLS protocol gets one alert", "[tls]") {
    auto [one, other] = socket_pair();
    ev::Loop loop;
    Taker far;
    far.open(loop, usual_server().accept(std::move(one)));
    RawPeer peer(TLS_client_method(), std::move(other));
    peer.begin();
    SSL_set_connect_state(peer.ssl);
    SSL_set_max_proto_version(peer.ssl, TLS1_2_VERSION);
    peer.keep_written();
    peer.handshake();
    std::string hello = peer.written();
    std::string said = "the peer does not speak TLS";
    SECTION("in its first message") { hello[5] = SSL3_MT_CERTIFICATE; }
    SECTION("in its second message") {
        said = "TLS: unexpected message";
        REQUIRE(::write(peer.socket.get(), hello.data(), hello.size()) > 0);
        run_pending(loop);
        peer.discard_input();
        hello[2] = 3;  // TLS 1.2, which is negotiated by now
    }
    REQUIRE(::write(peer.socket.get(), hello.data(), hello.size()) > 0);
    REQUIRE(run_until(loop, [&] { return far.ends == 1; }));
    CHECK(far.reason() == Reason::tls);
    CHECK(far.text() == said);
    far.stream.reset();
    char alert[100];
    CHECK(::recv(peer.socket.get(), alert, sizeof alert, 0) == 7);
    CHECK(alert[0] == SSL3_RT_ALERT);
    CHECK(alert[6] == SSL_AD_UNEXPECTED_MESSAGE);
}

TEST_CASE("reports a damaged TLS record", "[tls]") {
    HalfRaw half(GENERATE(tls12, tls13));
    half.open();
    run_pending(half.loop);
    half.peer->keep_written();
    half.peer->write("hello");
    std::string record = half.peer->written();
    record.back() = static_cast<char>(record.back() ^ 1);
    std::string_view rest = record;
    half.peer->send(rest);
    REQUIRE(half.run_until([&] { return half.near.ends == 1; }));
    CHECK(half.near.reason() == Reason::receive);
    CHECK(half.near.text() == "TLS: decryption failed or bad record mac");
}

TEST_CASE("reports that our certificate suits none of the peer's algorithms", "[tls]") {
    const TlsVersion version = GENERATE(tls12, tls13);
    TlsClientOptions options = trusting(version);
    options.certificate = world().client.certificate;
    options.key = world().client.key;
    HalfRaw half(TlsContext::client(options));
    SSL_CTX_load_verify_file(half.peer->ctx, world().ca.certificate.c_str());
    SSL_CTX_set_verify(half.peer->ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                       nullptr);
    SSL_CTX_set1_client_sigalgs_list(half.peer->ctx, "RSA-PSS+SHA256:RSA+SHA256");
    half.peer->begin();
    REQUIRE(half.run_until([&] {
        half.peer->handshake();
        return half.near.ends == 1;
    }));
    CHECK(half.near.reason() == Reason::own_certificate);
    mentions(half.near.text(), "the peer accepts no signature algorithm of our certificate "
                               "(TLS alert: ");
}

TEST_CASE("a key log on a full disk ends the handshake", "[tls]") {
    Secure secure;
    TlsClientOptions options = trusting();
    options.key_log_file = "/dev/full";
    secure.connect(TlsContext::client(options), usual_server());
    REQUIRE(secure.run_until([&] { return secure.near.ends == 1; }));
    CHECK(secure.near.reason() == Reason::output);
    mentions(secure.near.text(), "key log /dev/full: ");
}

TEST_CASE("a TLS echo takes one call to read and one to write", "[tls]") {
    Secure secure;
    secure.connect(TlsContext::client(trusting()), usual_server());
    secure.echo();
    REQUIRE(secure.opened());
    secure.near.stream->write("x");
    REQUIRE(secure.run_until([&] { return secure.near.got == "x"; }));
    Faults faults;
    for (std::size_t i = 1; i <= 100; ++i) {
        secure.near.stream->write("ping");
        REQUIRE(secure.run_until([&] { return secure.near.got.size() == 1 + 4 * i; }));
    }
    CHECK(faults.recv_calls == 200);
    CHECK(faults.send_calls == 200);
}

TEST_CASE("hashes with SHA-1 as in the examples of RFC 3174") {
    CHECK(bufio::sha1("abc") ==
          "\xa9\x99\x3e\x36\x47\x06\x81\x6a\xba\x3e\x25\x71\x78\x50\xc2\x6c\x9c\xd0\xd8\x9d");
    CHECK(bufio::sha1("") ==
          "\xda\x39\xa3\xee\x5e\x6b\x4b\x0d\x32\x55\xbf\xef\x95\x60\x18\x90\xaf\xd8\x07\x09");
    CHECK(bufio::sha1(std::string(100000, 'x')).size() == 20);
}

TEST_CASE("random bytes differ") {
    CHECK(bufio::random_bytes(0).empty());
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) seen.insert(bufio::random_bytes(16));
    CHECK(seen.size() == 100);
    CHECK(seen.begin()->size() == 16);
}
