// Tests streams over TLS, against another stream or plain OpenSSL.
#include "bufio/tls.hpp"

#include "tests/bufio/system.hpp"
#include "tests/bufio/tls_world.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/ioctl.h>

#include <list>
#include <thread>

using namespace test;

namespace {

// A client and a server that echoes.
struct Secure : Pair {
    explicit Secure(const TlsContext& client, const TlsContext& server = server_of(),
                    const std::string& host = "localhost",
                    std::pair<Fd, Fd> sockets = socket_pair())
        : Pair({client.connect(std::move(sockets.first), host),
                server.accept(std::move(sockets.second))}) {
        echo();
    }
    // Waits for an echo, which follows the tickets.
    void exchange() {
        near.stream->write("x");
        if (!run_until([&] { return near.got == "x"; })) throw std::runtime_error("no echo");
    }
    const bufio::TlsFacts& facts() const { return *near.stream->tls(); }
};

// A plain OpenSSL peer, driven by the test, for behavior that no stream shows.
struct RawPeer {
    RawPeer(const SSL_METHOD* method, Fd fd)
        : socket(std::move(fd)),
          ctx(SSL_CTX_new(method)),
          client(method == TLS_client_method()) {
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
        client ? SSL_set_connect_state(ssl) : SSL_set_accept_state(ssl);
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
    // Writes what the system accepts of the bytes, and returns the rest.
    std::string_view send(std::string_view bytes) const {
        while (!bytes.empty()) {
            const ssize_t count = ::send(socket.get(), bytes.data(), bytes.size(), 0);
            if (count <= 0) break;
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
        return bytes;
    }
    void discard_input() const {
        char bytes[65536];
        while (::recv(socket.get(), bytes, sizeof bytes, 0) > 0) {
        }
    }

    Fd socket;
    SSL_CTX* ctx;
    const bool client;
    SSL* ssl = nullptr;
    std::string got;
};

// A client's stream, and a server that the test drives.
struct HalfRaw : Stage {
    explicit HalfRaw(TlsVersion version) : HalfRaw(TlsContext::client(trusting(version))) {}
    explicit HalfRaw(const TlsContext& client, const std::string& host = "localhost") {
        auto [one, other] = socket_pair();
        peer = std::make_unique<RawPeer>(TLS_server_method(), std::move(other));
        descriptor = one.get();
        near.open(loop, client.connect(std::move(one), host));
    }
    void open() {
        peer->begin();
        REQUIRE(run_until([&] { return peer->handshake(); }));
        REQUIRE(run_until([&] { return near.stream->is_open(); }));
        run_pending(loop);
    }
    void ends_with(Reason reason, const std::string& text) {
        REQUIRE(run_until([&] { return near.ends == 1; }));
        CHECK(near.reason() == reason);
        CHECK(near.text() == text);
    }
    // Like ends_with(), while the peer continues its handshake.
    void fails_with(Reason reason, const std::string& text) {
        REQUIRE(run_until([&] {
            peer->handshake();
            return near.ends == 1;
        }));
        ends_with(reason, text);
    }

    int descriptor = -1;  // the stream's
    Taker near;
    std::unique_ptr<RawPeer> peer;
};

struct OpenHalf : HalfRaw {
    explicit OpenHalf(TlsVersion version) : HalfRaw(version) { open(); }
    explicit OpenHalf(const TlsContext& client) : HalfRaw(client) { open(); }
};

// A server's stream, and a client that the test drives.
struct RawClient : Stage {
    RawClient() : RawClient(socket_pair()) {}
    explicit RawClient(std::pair<Fd, Fd> sockets)
        : peer(TLS_client_method(), std::move(sockets.second)) {
        far.open(loop, server_of().accept(std::move(sockets.first)));
        peer.begin();
    }
    Taker far;
    RawPeer peer;
};

std::string alert_record(int alert) {
    return std::string("\x15\3\3\0\2\2", 6) + static_cast<char>(alert);
}

int waiting_bytes(int fd) {
    int count = 0;
    REQUIRE(::ioctl(fd, FIONREAD, &count) == 0);
    return count;
}

}  // namespace

TEST_CASE("offers the key exchange groups of the options", "[tls]") {
    TlsClientOptions options = trusting(GENERATE(tls12, tls13));
    options.groups = "P-256:X25519";
    Secure secure(TlsContext::client(options));
    REQUIRE(secure.opened());
    CHECK(secure.facts().group == "secp256r1");
    CHECK(TlsContext::knows_groups(options.groups));
    CHECK_FALSE(TlsContext::knows_groups("P-256:X0"));
    CHECK_FALSE(TlsContext::knows_groups(":"));
}

TEST_CASE("provides the facts of a TLS connection", "[tls]") {
    const TlsVersion version = GENERATE(tls12, tls13);
    Secure secure(TlsContext::client(trusting(version)));
    REQUIRE(secure.opened());
    const bufio::TlsFacts& facts = secure.facts();
    CHECK(facts.version == (version == tls12 ? "TLSv1.2" : "TLSv1.3"));
    CHECK_FALSE(facts.cipher.empty());
    CHECK_FALSE(facts.group.empty());
    CHECK(facts.unanswered_hello_size == 0);
    CHECK(facts.subject == "CN=localhost");
    CHECK(facts.issuer == "CN=Test Authority");
    CHECK(facts.days_left == 10);
    CHECK(facts.pin == server_of().pin());
    CHECK(facts.faults_text.empty());
    REQUIRE(facts.chain.size() == 1);
    check_contains(facts.chain[0], "CN=localhost, until 2");
    CHECK_FALSE(facts.is_resumed);
}

TEST_CASE("reports a FIN without close_notify as a truncation", "[tls]") {
    OpenHalf half(GENERATE(tls12, tls13));
    half.peer->write("cut");
    half.peer->socket.reset();
    half.ends_with(Reason::truncated,
                   "the peer closed the connection without a TLS close_notify");
    CHECK(half.near.got == "cut");
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
                          text.find("the TLS handshake failed: ") != std::string::npos;
    INFO(text);
    CHECK(reported);
}

TEST_CASE("reports a peer that does not speak TLS", "[tls]") {
    HalfRaw half(TlsContext::client(trusting()));
    char hello[4096];
    const ssize_t size = ::read(half.peer->socket.get(), hello, sizeof hello);
    REQUIRE(size > 0);
    const std::string answer = GENERATE("an echo", "220 mail.example ESMTP ready\r\n",
                                        "HTTP/1.1 400 Bad Request\r\n\r\n");
    half.peer->send(answer == "an echo" ? std::string(hello, static_cast<std::size_t>(size))
                                        : answer);
    half.ends_with(Reason::tls, "the peer does not speak TLS");
}

TEST_CASE("explains the alert of a server that aborts the TLS handshake", "[tls]") {
    const struct {
        int alert;
        std::string text;
    } rows[] = {
        {SSL_AD_HANDSHAKE_FAILURE, "aborted the connection (TLS alert: handshake failure)"},
        {SSL_AD_BAD_CERTIFICATE, "aborted the connection (TLS alert: bad certificate)"},
        {SSL_AD_MISSING_EXTENSION, "aborted the connection (TLS alert: missing extension)"},
        {SSL_AD_NO_APPLICATION_PROTOCOL,
         "aborted the connection (TLS alert: no application protocol)"},
        {SSL_AD_PROTOCOL_VERSION,
         "supports none of our TLS versions (TLS alert: protocol version)"},
        {255, "aborted the connection (TLS alert: unknown)"},
    };
    for (const auto& row : rows) {
        HalfRaw half(tls13);
        half.peer->send(alert_record(row.alert));
        half.ends_with(Reason::tls, "the peer " + row.text);
    }
}

TEST_CASE("explains the alert of a server that has received our certificate", "[tls]") {
    const struct {
        int alert;
        Reason reason;
        std::string text;
    } rows[] = {
        {SSL_AD_BAD_CERTIFICATE, Reason::own_certificate, "refused our certificate"},
        {SSL_AD_UNSUPPORTED_CERTIFICATE, Reason::own_certificate, "refused our certificate"},
        {SSL_AD_CERTIFICATE_REVOKED, Reason::own_certificate, "refused our certificate"},
        {SSL_AD_CERTIFICATE_UNKNOWN, Reason::own_certificate, "refused our certificate"},
        {SSL_AD_ILLEGAL_PARAMETER, Reason::tls, "aborted the connection"},
        {SSL_AD_HANDSHAKE_FAILURE, Reason::tls, "aborted the connection"},
        {SSL_AD_PROTOCOL_VERSION, Reason::tls, "supports none of our TLS versions"},
    };
    const TlsContext client = TlsContext::client(certified(tls12));
    for (const auto& row : rows) {
        HalfRaw half(client);
        SSL_CTX_set_verify(half.peer->ctx, SSL_VERIFY_PEER, nullptr);
        half.peer->begin();
        half.peer->handshake();  // our certificate follows
        run_pending(half.loop);
        half.peer->send(alert_record(row.alert));
        REQUIRE(half.run_until([&] { return half.near.ends == 1; }));
        CHECK(half.near.reason() == row.reason);
        CHECK(half.near.text().starts_with("the peer " + row.text + " (TLS alert: "));
    }
}

TEST_CASE("explains the alert of a server that ends an open connection", "[tls]") {
    OpenHalf half(tls12);
    const bool renegotiated = GENERATE(false, true);
    if (renegotiated) {
        SSL_renegotiate(half.peer->ssl);
        half.peer->handshake();
        run_pending(half.loop);
        half.peer->discard_input();
    }
    // A forged record. If it is shorter than a MAC, OpenSSL's versions send different alerts.
    const std::string record = std::string("\x17\3\3\0\x40", 5) + std::string(64, 'x');
    SSL_set0_rbio(half.peer->ssl,
                  BIO_new_mem_buf(record.data(), static_cast<int>(record.size())));
    CHECK_FALSE(half.peer->read());
    half.ends_with(Reason::receive,
                   std::string("the peer aborted the connection") +
                       (renegotiated ? ", because its renegotiation was refused" : "") +
                       " (TLS alert: bad record mac)");
}

TEST_CASE("a server reports a client that does not speak TLS, or aborts the handshake",
          "[tls]") {
    const std::string bytes =
        GENERATE("GET / HTTP/1.1\r\n\r\n", "hello, world", "\x16\3\1\xff\xff\1", "");
    RawClient raw;
    if (bytes.empty()) {
        SSL_set_max_proto_version(raw.peer.ssl, TLS1_2_VERSION);
        raw.peer.handshake();
        run_pending(raw.loop);
    }
    raw.peer.send(bytes.empty() ? alert_record(SSL_AD_PROTOCOL_VERSION) : bytes);
    REQUIRE(raw.run_until([&] { return raw.far.ends == 1; }));
    CHECK(raw.far.reason() == Reason::tls);
    CHECK(raw.far.text() ==
          (bytes.empty() ? "the peer aborted the connection (TLS alert: protocol version)"
                         : "the peer does not speak TLS"));
}

TEST_CASE("the handshake fails without a common TLS version", "[tls]") {
    TlsClientOptions options = trusting();
    options.min_version = tls13;
    HalfRaw half(TlsContext::client(options));
    SSL_CTX_set_max_proto_version(half.peer->ctx, TLS1_2_VERSION);
    half.peer->begin();
    half.fails_with(Reason::tls,
                    "the peer supports none of our TLS versions (TLS alert: protocol version)");
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
    const struct {
        std::string host, sent;
    } rows[] = {{"localhost", "localhost"},
                {"localhost.", "localhost"},
                {"127.0.0.1", ""},
                {"::1", ""}};
    for (const auto& row : rows) {
        CAPTURE(row.host);
        HalfRaw half(TlsContext::client(trusting()), row.host);
        half.peer->begin();
        half.peer->handshake();
        const char* const name = SSL_get_servername(half.peer->ssl, TLSEXT_NAMETYPE_host_name);
        CHECK(std::string(name ? name : "") == row.sent);
    }
}

TEST_CASE("accepts TLS handshake messages at any time and in any pieces", "[tls]") {
    OpenHalf half(TlsContext::client(certified(tls13)));
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
    RawClient raw;
    RawPeer& peer = raw.peer;
    SSL_set_max_proto_version(peer.ssl, TLS1_2_VERSION);
    REQUIRE(raw.run_until([&] { return peer.handshake() && raw.far.stream->is_open(); }));
    SSL_renegotiate(peer.ssl);
    CHECK_FALSE(peer.handshake());
    run_pending(raw.loop);
    CHECK_FALSE(peer.handshake());
    CHECK(ERR_GET_REASON(ERR_peek_error()) == SSL_R_NO_RENEGOTIATION);
    ERR_clear_error();
}

TEST_CASE("the next connections to the same host resume the TLS session", "[tls]") {
    const struct {
        bool allowed, certified;
    } rows[] = {{true, false}, {true, true}, {false, false}};
    for (const auto& row : rows)
        for (const TlsVersion version : {tls12, tls13}) {
            CAPTURE(row.allowed, row.certified, version == tls12);
            TlsClientOptions options = row.certified ? certified(version) : trusting(version);
            options.may_resume = row.allowed;
            const TlsContext client = TlsContext::client(options);
            const TlsContext server =
                server_of(world().server, row.certified ? world().ca.certificate : "");
            for (const bool later : {false, true, true}) {
                Secure secure(client, server);
                secure.exchange();
                CHECK(secure.facts().is_resumed == (later && row.allowed));
                CHECK(secure.facts().subject == "CN=localhost");
                CHECK(secure.facts().faults_text.empty());
                if (row.certified) CHECK(secure.far.stream->tls()->subject == "CN=client");
            }
            Secure elsewhere(client, server, "127.0.0.1");
            REQUIRE(elsewhere.opened());
            CHECK_FALSE(elsewhere.facts().is_resumed);
        }
}

TEST_CASE("threads use one TLS context concurrently, and resume their own sessions", "[tls]") {
    TlsClientOptions options = trusting(GENERATE(tls12, tls13));
    options.key_log_file = world().files.path("keys of threads");
    const TlsContext client = TlsContext::client(options);
    const TlsContext server = server_of();
    constexpr std::size_t threads = 3;
    std::vector<std::pair<Fd, Fd>> sockets[threads];
    for (auto& each : sockets)
        for (int i = 0; i < 20; ++i) each.push_back(socket_pair());
    std::vector<bool> resumed[threads];
    const auto converse = [&](std::size_t number) {  // Catch2's assertions are not thread-safe
        for (auto& [one, other] : sockets[number]) {
            Secure pair(client, server, "localhost", {std::move(one), std::move(other)});
            pair.exchange();
            resumed[number].push_back(pair.facts().is_resumed);
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
    const TlsContext server = server_of();
    Secure(client, server).exchange();
    std::list<Secure> later;
    for (int i = 0; i < 3; ++i) later.emplace_back(client, server);
    std::vector<bool> resumed;
    for (Secure& each : later) {
        REQUIRE(each.opened());
        resumed.push_back(each.facts().is_resumed);
    }
    CHECK(resumed == std::vector{true, true, false});  // OpenSSL sends two tickets
}

TEST_CASE("appends secrets to the key log, which only its owner may read", "[tls]") {
    TlsClientOptions options = trusting();
    options.key_log_file = world().files.path("keys.log");
    for (int i = 0; i < 2; ++i) REQUIRE(Secure(TlsContext::client(options)).opened());
    const std::string log = contents(options.key_log_file);
    const std::size_t first = log.find("CLIENT_TRAFFIC_SECRET_0 ");
    CHECK(first != std::string::npos);
    CHECK(log.find("CLIENT_TRAFFIC_SECRET_0 ", first + 1) != std::string::npos);
    CHECK(log.back() == '\n');
    CHECK(std::filesystem::status(options.key_log_file).permissions() ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}

TEST_CASE("reports a lost TLS connection in every state", "[tls]") {
    const DeadlySigpipe deadly;
    OpenHalf half(GENERATE(tls12, tls13));
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
    const bool reported = reason == Reason::closed_early || reason == Reason::reset ||
                          reason == Reason::truncated;
    CHECK(reported);
    CHECK(half.near.text().find("Success") == std::string::npos);
}

TEST_CASE("does not notify the owner of TLS records without data", "[tls]") {
    OpenHalf half(tls13);
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

TEST_CASE("a long connection may update its TLS keys any number of times", "[tls]") {
    OpenHalf half(tls13);
    for (int i = 0; i < 10'100 && half.near.ends == 0; ++i) {
        half.peer->update_keys(1, SSL_KEY_UPDATE_NOT_REQUESTED);
        half.loop.step(patience);
    }
    REQUIRE(half.near.ends == 0);
    half.peer->write("news");
    REQUIRE(half.run_until([&] { return half.near.got == "news"; }));
}

TEST_CASE("limits TLS key updates in each turn, even with data between them", "[tls]") {
    OpenHalf half(tls13);
    half.peer->keep_written();
    const int updates_per_byte = GENERATE(1, 20);  // key updates before each byte of data
    CAPTURE(updates_per_byte);
    for (int i = 0; i < 4000; i += updates_per_byte) {
        half.peer->update_keys(updates_per_byte, SSL_KEY_UPDATE_NOT_REQUESTED);
        half.peer->write("x");
    }
    const std::string flood = half.peer->written();
    REQUIRE(half.peer->send(flood).empty());
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
    REQUIRE(half.run_until([&] {
        return half.near.got.size() == static_cast<std::size_t>(4000 / updates_per_byte);
    }));
}

TEST_CASE(
    "reads a flood of TLS records without data over several turns, and then ends the stream",
    "[tls]") {
    OpenHalf half(tls13);
    half.peer->keep_written();
    const int request = GENERATE(SSL_KEY_UPDATE_NOT_REQUESTED, SSL_KEY_UPDATE_REQUESTED);
    CAPTURE(request);
    std::size_t sent = 0;
    while (half.near.ends == 0 && sent < 8 * 1024 * 1024) {
        half.peer->update_keys(5000, request);
        const std::string flood = half.peer->written();
        std::string_view rest = flood;
        while (!rest.empty() && half.near.ends == 0) {
            rest = half.peer->send(rest);
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
    check_contains(half.near.text(), "records without data");
}

TEST_CASE("reads tiny TLS records over several turns, and then many bytes", "[tls]") {
    OpenHalf half(tls13);
    half.peer->keep_written();
    constexpr std::size_t tiny = 4000, count = tiny + 2 * 1024 * 1024;
    for (std::size_t i = 0; i < tiny; ++i) half.peer->write("x");
    half.peer->write(std::string(count - tiny, 'x'));
    const std::string records = half.peer->written();
    std::string_view rest = half.peer->send(records);
    half.loop.step(1s);
    CHECK(half.near.got.size() == 256);
    REQUIRE(half.run_until([&] {
        if (waiting_bytes(half.descriptor) == 0)  // also leaves a part of a record to be read
            rest = half.peer->send(rest);
        return half.near.got.size() == count;
    }));
    CHECK_FALSE(half.near.stream->end());
}

TEST_CASE("reports a TLS handshake that is done when its stream is made", "[tls]") {
    auto [one, other] = socket_pair();
    auto transport = server_of().accept(std::move(one));
    RawPeer peer(TLS_client_method(), std::move(other));
    peer.begin();
    peer.handshake();
    CHECK(transport->handshake().status == bufio::IoStatus::wants_read);
    REQUIRE(peer.handshake());
    const std::string sent = GENERATE("", "hello");
    if (!sent.empty()) peer.write(sent);
    ev::Loop loop;
    Taker far;
    far.open(loop, std::move(transport));
    CHECK(far.stream->is_open());
    CHECK(far.calls == 0);
    REQUIRE(run_until(loop, [&] { return far.calls > 0 && far.got == sent; }));
    run_pending(loop);
    CHECK(far.calls == 1);
}

TEST_CASE("closes the output after a partial TLS message", "[tls]") {
    HalfRaw half(tls13);
    // Makes each ticket longer than one record.
    SSL_CTX_set_max_send_fragment(half.peer->ctx, 512);
    const auto enlarge = [](SSL* ssl, void*) {
        const std::string data(1000, 'x');
        return SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), data.data(), data.size());
    };
    SSL_CTX_set_session_ticket_cb(half.peer->ctx, enlarge, nullptr, nullptr);
    half.open();
    half.peer->keep_written();
    REQUIRE(SSL_new_session_ticket(half.peer->ssl) == 1);
    REQUIRE(half.peer->handshake());
    const std::string ticket = half.peer->written();
    half.peer->send(ticket.substr(0, 600));  // the first record
    run_pending(half.loop);
    half.near.stream->finish();
    run_pending(half.loop);
    CHECK_FALSE(half.near.stream->output_failed());
    half.peer->send(ticket.substr(600));
    REQUIRE(half.run_until([&] { return half.near.stream->output_closed(); }));
    CHECK_FALSE(half.peer->read());
    CHECK(SSL_get_shutdown(half.peer->ssl) == SSL_RECEIVED_SHUTDOWN);
    SSL_shutdown(half.peer->ssl);
    half.peer->send(half.peer->written());
    half.ends_with(Reason::clean, "closed");
}

TEST_CASE("reports a wrong signature in the TLS handshake", "[tls]") {
    // In three handshakes out of four, the signature contains a number of 33 bytes. Makes this
    // number larger than the curve allows.
    const std::string number("\x02\x21\0", 3);
    constexpr std::size_t tail = 90;  // bytes; contain the signature and ServerHelloDone
    for (int tries = 0; tries < 100; ++tries) {
        HalfRaw half(tls12);
        half.peer->begin();
        half.peer->keep_written();
        half.peer->handshake();
        std::string flight = half.peer->written();
        const std::size_t at = flight.rfind(number);
        if (at == std::string::npos || at + tail < flight.size()) continue;
        half.peer->send(flight.replace(at + number.size(), 32, 32, '\xff'));
        return half.ends_with(Reason::tls, "TLS: bad signature");
    }
    FAIL("no signature was fit");
}

TEST_CASE("a server that violates the order of TLS messages counts as speaking TLS", "[tls]") {
    HalfRaw half(tls12);
    half.peer->begin();
    half.peer->keep_written();
    half.peer->handshake();
    std::string flight = half.peer->written();
    // Makes ServerHelloDone (9 bytes) follow ServerHello immediately.
    const std::size_t hello = 5 + 256u * static_cast<unsigned char>(flight[3]) +
                              static_cast<unsigned char>(flight[4]);
    half.peer->send(flight.erase(hello, flight.size() - 9 - hello));
    half.ends_with(Reason::tls, "TLS: unexpected message");
}

TEST_CASE("a client that violates the TLS protocol gets one alert", "[tls]") {
    RawClient raw;
    RawPeer& peer = raw.peer;
    SSL_set_max_proto_version(peer.ssl, TLS1_2_VERSION);
    peer.keep_written();
    peer.handshake();
    std::string hello = peer.written();
    const bool second = GENERATE(false, true);
    if (second) {
        peer.send(hello);
        run_pending(raw.loop);
        peer.discard_input();
        hello[2] = 3;  // TLS 1.2, which is negotiated by now
    } else {
        hello[5] = SSL3_MT_CERTIFICATE;
    }
    peer.send(hello);
    REQUIRE(raw.run_until([&] { return raw.far.ends == 1; }));
    CHECK(raw.far.reason() == Reason::tls);
    CHECK(raw.far.text() ==
          (second ? "TLS: unexpected message" : "the peer does not speak TLS"));
    raw.far.stream.reset();
    char alert[100];
    CHECK(::recv(peer.socket.get(), alert, sizeof alert, 0) == 7);
    CHECK(alert[0] == SSL3_RT_ALERT);
    CHECK(alert[6] == SSL_AD_UNEXPECTED_MESSAGE);
}

TEST_CASE("reports a damaged TLS record", "[tls]") {
    OpenHalf half(GENERATE(tls12, tls13));
    half.peer->keep_written();
    half.peer->write("hello");
    std::string record = half.peer->written();
    record.back() = static_cast<char>(record.back() ^ 1);
    half.peer->send(record);
    half.ends_with(Reason::receive, "TLS: decryption failed or bad record mac");
}

TEST_CASE("reports that our certificate suits none of the peer's algorithms", "[tls]") {
    const TlsVersion version = GENERATE(tls12, tls13);
    HalfRaw half(TlsContext::client(certified(version)));
    SSL_CTX_load_verify_file(half.peer->ctx, world().ca.certificate.c_str());
    SSL_CTX_set_verify(half.peer->ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                       nullptr);
    SSL_CTX_set1_client_sigalgs_list(half.peer->ctx, "RSA-PSS+SHA256:RSA+SHA256");
    half.peer->begin();
    half.fails_with(
        Reason::own_certificate,
        "the peer accepts no signature algorithm of our certificate (TLS alert: " +
            std::string(version == tls12 ? "handshake failure" : "certificate required") + ")");
}

TEST_CASE("a key log on a full disk ends the handshake", "[tls]") {
    TlsClientOptions options = trusting();
    options.key_log_file = "/dev/full";
    Secure secure(TlsContext::client(options));
    REQUIRE(secure.run_until([&] { return secure.near.ends == 1; }));
    CHECK(secure.near.reason() == Reason::output);
    CHECK(secure.near.text() == "key log /dev/full: No space left on device");
}
