// Tests the verification of certificates and the messages about refused certificates.
#include "bufio/tls.hpp"

#include "tests/bufio/tls_world.hpp"

#include <sys/stat.h>

using namespace test;

namespace {

using Wish = Certificates::Wish;
constexpr long day = 86400;  // seconds

struct Outcome {
    bufio::End end;  // empty if a message was echoed
    bufio::TlsFacts facts;
    bufio::End server_end;
};

// Performs a handshake, sends a message and waits for its echo or an end.
Outcome talk(const TlsContext& client, const TlsContext& server,
             const std::string& host = "localhost") {
    auto [one, other] = socket_pair();
    Pair pair({client.connect(std::move(one), host), server.accept(std::move(other))});
    pair.echo();
    pair.near.stream->write("hello");
    REQUIRE(pair.run_until([&] { return pair.near.ends > 0 || pair.near.got == "hello"; }));
    Outcome outcome{pair.near.stream->end(), *pair.near.stream->tls(), {}};
    pair.near.stream.reset();
    REQUIRE(
        pair.run_until([&] { return pair.far.ends > 0 || pair.far.stream->input_ended(); }));
    outcome.server_end = pair.far.stream->end();
    return outcome;
}

std::string repeated(const std::string& text, int count) {
    std::string all;
    while (count-- > 0) all += text;
    return all;
}

void check_refusal(const Outcome& outcome, const std::string& text) {
    CHECK(outcome.end.reason == Reason::certificate);
    check_contains(outcome.end.text(), text);
    CHECK_FALSE(outcome.facts.faults_text.empty());
    CHECK_FALSE(outcome.facts.pin.empty());
    CHECK_FALSE(outcome.facts.issuer.empty());
    check_contains(outcome.server_end.text(), "TLS alert: ");
}

Outcome talk_to(const Identity& identity, const std::string& host = "localhost") {
    return talk(TlsContext::client(trusting()), server_of(identity), host);
}

// Returns the bytes that this process has read, or 0 if the system does not count them.
long bytes_read() {
    std::ifstream counts("/proc/self/io");
    std::string name;
    long count = 0;
    counts >> name >> count;
    return count;
}

// Sets an environment variable for its lifetime, or removes it if the value is empty.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) {
        if (const char* const before = std::getenv(name)) before_ = before;
        set(value);
    }
    ~Variable() { set(before_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    void set(const std::string& value) {
        if (value.empty()) {
            ::unsetenv(name_);
        } else {
            ::setenv(name_, value.c_str(), 1);
        }
    }

    const char* name_;
    std::string before_;
};

}  // namespace

TEST_CASE("a certificate for the host by a trusted authority is accepted") {
    for (const char* const host : {"localhost", "localhost.", "LOCALHOST", "127.0.0.1", ""}) {
        const Outcome outcome = talk_to(world().server, host);
        INFO(host << ": " << outcome.end.text());
        CHECK_FALSE(outcome.end);
        CHECK(outcome.facts.faults_text.empty());
    }
}

TEST_CASE("reports the fault of a certificate") {
    World& w = world();
    const Wish expired{.from = -9 * day, .until = -2 * day, .issuer = &w.ca};
    const Wish future{.from = 2 * day, .issuer = &w.ca};
    const Wish strange{.issuer = &w.stranger};
    const Wish unnamed{.named = false, .issuer = &w.ca};
    const auto names = [&](std::string list) {
        return Wish{.names = std::move(list), .issuer = &w.ca};
    };
    std::string many = "DNS:a.example";
    for (int i = 1; i < 500; ++i) many += ",DNS:host" + std::to_string(i) + ".example";
    const struct {
        std::string subject;
        Wish wish;
        std::string host, text;
    } rows[] = {
        {"localhost", {}, "localhost", "the certificate of localhost is self-signed"},
        {"localhost", expired, "localhost", "the certificate of localhost expired on 20"},
        {"localhost", future, "localhost",
         "the certificate of localhost is not valid before 20"},
        {"other", names("DNS:other.example,DNS:*.example.org"), "localhost",
         "is for other.example, *.example.org, not for localhost"},
        {"other", names("DNS:other.example"), "", "is for other.example, not for localhost"},
        {"open", names("DNS:w*.example.org"), "www.example.org",
         "is for w*.example.org, not for www.example.org"},
        {"x", names("IP:10.1.2.3,IP:fe80::1"), "127.0.0.1",
         "is for 10.1.2.3, fe80::1, not for 127.0.0.1"},
        {"x", names("DER:3007870501020304AA"), "localhost",
         "is for an address of unknown type, not for localhost"},
        {"127.0.0.1", names("DNS:127.0.0.1"), "127.0.0.1",
         "the certificate of 127.0.0.1 contains 127.0.0.1 as a DNS name, not as an IP address"},
        {"localhost", strange, "localhost",
         "was sent without the certificate of its issuer CN=Stranger, which is an "
         "intermediate or an untrusted CA"},
        {"localhost", unnamed, "localhost",
         "names no host: it has no subject alternative name, and its subject CN=localhost is "
         "ignored"},
        {"127.0.0.1", unnamed, "127.0.0.1",
         "names no host: it has no subject alternative name"},
        {"x", names("email:a@localhost"), "localhost",
         "names no host: its subject alternative name contains no DNS name and no address"},
        {"many", names("DNS:a.example,DNS:b.example,DNS:c.example"), "localhost",
         "is for a.example, b.example, c.example, not for localhost"},
        {"many", names(many), "localhost",
         "is for a.example, host1.example, host2.example and 497 more, not for localhost"},
        {"x" + repeated("\xf0\x9f\x98\x80", 63), unnamed, "localhost",
         "its subject CN=x" + repeated("\xf0\x9f\x98\x80", 62) + "... is ignored"},
        {"bad", names("DNS:" + std::string(300, '\x80')), "localhost",
         "is for " + std::string(252, '\x80') + "..., not for localhost"},
        {"long", names("DNS:" + std::string(255, 'x')), "localhost",
         "is for " + std::string(255, 'x') + ", not for localhost"},
        {"long", names("DNS:" + std::string(256, 'x')), "localhost",
         "is for " + std::string(255, 'x') + "..., not for localhost"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.text);
        const Outcome outcome = talk_to(w.files.make(row.subject, row.wish), row.host);
        check_refusal(outcome, row.text);
        CHECK(outcome.facts.fault_count == 1);
        CHECK(outcome.facts.is_expired == (row.wish.until < 0));
        CHECK(outcome.facts.has_incomplete_chain == (row.wish.issuer == &w.stranger));
        CHECK(outcome.facts.is_untrusted == (row.wish.issuer != &w.ca));
        CHECK(outcome.facts.chain.size() == 1);
    }
}

TEST_CASE("reports the faults of a chain, and the certificates concerned") {
    World& w = world();
    std::vector<Identity> chain;
    std::string text;
    int faults = 1;
    const auto add = [&](const std::string& name, Wish wish) {
        if (name != "localhost" && wish.names == Wish().names) wish.names = "";
        if (!wish.issuer && !chain.empty()) wish.issuer = &chain[0];
        chain.insert(chain.begin(), w.files.make(name, wish));
    };
    const long begin = -9 * day, end = -2 * day;
    SECTION("expired and self-signed") {
        add("localhost", {.from = begin, .until = end});
        text = "the certificate of localhost is self-signed; it also expired on 20";
        faults = 2;
    }
    SECTION("by an intermediate of an authority that is neither trusted nor sent") {
        add("Middle", {.issuer = &w.stranger});
        add("localhost", {});
        text = "was issued by an untrusted CA: CN=Stranger";
    }
    SECTION("by an untrusted authority that is sent") {
        chain = {w.stranger};
        add("localhost", {});
        text = "was issued by an untrusted CA: CN=Stranger";
    }
    SECTION("expired, for another host, and by an untrusted authority") {
        chain = {w.stranger};
        add("x", {.names = "DNS:other.example", .from = begin, .until = end});
        text = "was issued by an untrusted CA: CN=Stranger; it also is for "
               "other.example, not for localhost; it also expired on 20";
        faults = 3;
    }
    SECTION("by an authority that has expired") {
        add("Middle", {.from = begin, .until = end, .issuer = &w.ca});
        add("localhost", {});
        text = "the certificate of localhost was issued by CN=Middle, whose certificate "
               "expired on 20";
    }
    SECTION("expired on the same day as its authority") {
        add("Middle", {.from = begin, .until = end, .issuer = &w.ca});
        add("localhost", {.from = begin, .until = end});
        text = "; it also expired on 20";
        faults = 2;
    }
    SECTION("by many authorities that have all expired") {
        add("Middle 0", {.from = begin, .until = end, .issuer = &w.ca});
        for (faults = 1; faults < 20; ++faults)
            add("Middle " + std::to_string(faults), {.from = begin, .until = end});
        add("localhost", {});
        text = "was issued by CN=Middle 0, whose certificate expired on 20";
    }
    const Outcome outcome = talk_to(w.files.chained(chain));
    check_refusal(outcome, text);
    CHECK(outcome.facts.fault_count == faults);
    CHECK_FALSE(outcome.facts.has_incomplete_chain);
    // The facts are bounded, because the peer chooses the lengths of its chain and of its
    // faults.
    CHECK(outcome.facts.chain.size() == std::min<std::size_t>(chain.size(), 11));
    CHECK((outcome.facts.chain.back() == "11 more") == (chain.size() > 10));
    const std::string all = outcome.end.text();
    CHECK(all.ends_with("; and more") == (faults > 5));
    CHECK(std::count(all.begin(), all.end(), ';') == std::min(faults - 1, 5));
}

TEST_CASE("counts whole days until or since the end of a certificate") {
    World& w = world();
    const struct {
        long until;  // seconds from now
        long days;
        bool expired;
    } rows[] = {{-2 * day - 240, -2, true},
                {-day - 240, -1, true},
                {-240, 0, true},
                {240, 0, false},
                {day + 240, 1, false}};
    TlsClientOptions options = trusting();
    options.must_verify = false;
    for (const auto& row : rows) {
        CAPTURE(row.until);
        const Identity identity =
            w.files.make("localhost", {.from = -9 * day, .until = row.until, .issuer = &w.ca});
        const Outcome outcome = talk(TlsContext::client(options), server_of(identity));
        CHECK(outcome.facts.days_left == row.days);
        CHECK(outcome.facts.is_expired == row.expired);
    }
}

TEST_CASE("a chain with an intermediate authority is accepted") {
    Certificates& files = world().files;
    const Identity middle = files.make("Middle", {.names = "", .issuer = &world().ca});
    const Outcome outcome =
        talk_to(files.chained({files.make("localhost", {.issuer = &middle}), middle}));
    CHECK_FALSE(outcome.end);
    REQUIRE(outcome.facts.chain.size() == 2);
    check_contains(outcome.facts.chain[1], "CN=Middle, until 20");
}

TEST_CASE("reports a certificate accepted without verification as unverified") {
    TlsClientOptions options = trusting();
    options.must_verify = false;
    const Outcome outcome =
        talk(TlsContext::client(options), server_of(world().files.make("localhost", {})));
    CHECK_FALSE(outcome.end);
    CHECK(outcome.facts.faults_text == "is self-signed");
    CHECK(outcome.facts.chain.size() == 1);
}

TEST_CASE("a pinned key replaces the verification of the chain") {
    const Identity own = world().files.make("anything", {.names = "DNS:anything"});
    TlsClientOptions options;
    options.pins = {server_of(world().server).pin(), server_of(own).pin()};
    const Outcome outcome = talk(TlsContext::client(options), server_of(own));
    CHECK_FALSE(outcome.end);
    CHECK(outcome.facts.faults_text.empty());
}

TEST_CASE("refuses any key but the pinned one, whatever else would be accepted") {
    const Identity own = world().files.make("localhost", {});
    TlsClientOptions options = trusting();
    options.pins = {server_of(own).pin()};
    options.must_verify = GENERATE(true, false);
    options.max_version = GENERATE(tls12, tls13);
    const TlsContext client = TlsContext::client(options);
    const TlsContext server = server_of(world().server);
    for (int i = 0; i < 2; ++i) {  // the second connection could resume a session
        const Outcome outcome = talk(client, server);
        CHECK(outcome.end.reason == Reason::pin);
        check_contains(outcome.end.text(), server.pin());
    }
}

TEST_CASE("a self-signed server is trusted by its pin, and is for this host, for a year") {
    const TlsContext server = TlsContext::server();
    for (const std::string host : {"localhost", "127.0.0.1", "::1"}) {
        CAPTURE(host);
        TlsClientOptions options;
        options.pins = {server.pin()};
        CHECK_FALSE(talk(TlsContext::client(options), server, host).end);
        options.pins.clear();
        const Outcome outcome = talk(TlsContext::client(options), server, host);
        CHECK(outcome.end.reason == Reason::certificate);
        CHECK(outcome.facts.faults_text == "is self-signed");
        CHECK(std::abs(outcome.facts.days_left - 365) <= 1);
    }
}

TEST_CASE("reports a requested client certificate that is missing or refused") {
    World& w = world();
    const TlsContext server = server_of(w.server, w.ca.certificate);
    const Wish strange{.issuer = &w.stranger};
    const Wish expired{.from = -9 * day, .until = -2 * day, .issuer = &w.ca};
    const struct {
        const Wish* wish;
        TlsVersion version;
        std::string text;
    } rows[] = {
        {nullptr, tls12, "requires a client certificate (TLS alert: handshake failure)"},
        {nullptr, tls13, "requires a client certificate (TLS alert: certificate required)"},
        {&strange, tls12, "refused our certificate (TLS alert: unknown CA)"},
        {&strange, tls13, "refused our certificate (TLS alert: unknown CA)"},
        {&expired, tls12, "refused our certificate (TLS alert: certificate expired)"},
        {&expired, tls13, "refused our certificate (TLS alert: certificate expired)"},
    };
    for (const auto& row : rows) {
        const TlsClientOptions options =
            row.wish ? certified(row.version, w.files.make("client", *row.wish))
                     : trusting(row.version);
        const Outcome outcome = talk(TlsContext::client(options), server);
        CHECK(outcome.end.reason == Reason::own_certificate);
        CHECK(outcome.end.text() == "the peer " + row.text);
        CHECK(outcome.server_end);
    }
}

TEST_CASE("a requested client certificate is sent") {
    World& w = world();
    TlsClientOptions options = trusting();
    const Identity own = w.files.make("client", {.issuer = &w.ca});
    options.certificate = own.certificate;
    SECTION("key in a separate file") { options.key = own.key; }
    SECTION("key behind the certificate") {
        options.certificate = w.files.bundle({own.certificate, own.key});
    }
    const TlsContext server = server_of(w.server, w.ca.certificate);
    CHECK_FALSE(talk(TlsContext::client(options), server).end);
}

TEST_CASE("takes the trusted file and directory from the environment") {
    World& w = world();
    const std::string authority = w.ca.certificate;
    const std::string hashed = w.files.hashed({w.ca});
    const std::string others = w.files.hashed({w.stranger});
    const struct {
        std::string file, directory;
        bool accepted;
    } rows[] = {{"", "", false},
                {authority, "", true},
                {"", hashed, true},
                {"", "/nowhere:" + hashed, true},
                {authority, others, true},
                {w.stranger.certificate, hashed, true},
                {w.stranger.certificate, others, false},
                {"/dev/null", others, false},
                {"/dev/null", hashed, true},
                {"/nowhere.pem", hashed, true}};
    for (const auto& row : rows) {
        const Variable file("SSL_CERT_FILE", row.file);
        const Variable directory("SSL_CERT_DIR", row.directory);
        const TlsContext client = TlsContext::client({});
        for (int i = 0; i < 2; ++i) {
            const Outcome outcome = talk(client, server_of(w.server));
            INFO(row.file << " " << row.directory << ": " << outcome.end.text());
            CHECK(outcome.end.reason == (row.accepted ? Reason::none : Reason::certificate));
        }
    }
    const Variable missing("SSL_CERT_FILE", "/nowhere.pem");
    const Variable also_missing("SSL_CERT_DIR", "/nowhere");
    CHECK_THROWS_WITH(TlsContext::client({}),
                      "trusted certificates /nowhere.pem: No such file or directory");
}

TEST_CASE("reads the system's bundle only if a chain needs it") {
    World& w = world();
    const Identity middle = w.files.make("Middle", {.names = "", .issuer = &w.ca});
    const Identity leaf = w.files.make("localhost", {.issuer = &middle});
    const Identity sent = w.files.chained({leaf, middle});
    const std::string bundle = w.files.path("bundle.pem");
    std::ofstream(bundle) << std::string(1000000, '\n') << contents(w.ca.certificate);
    const Variable file("SSL_CERT_FILE", bundle);
    const std::string pin = server_of(leaf).pin();
    const struct {
        std::string name;
        const Identity& identity;
        const Identity& directory;
        TlsClientOptions options;
        bool reads;
    } rows[] = {{"issued by an authority of the directory", w.server, w.ca, {}, false},
                {"with its issuer in the directory", leaf, middle, {}, true},
                {"with the chain to the directory", sent, w.ca, {}, false},
                {"missing from the directory", sent, w.stranger, {}, true},
                {"not verified", sent, w.stranger, {.must_verify = false}, false},
                {"pinned", sent, w.stranger, {.pins = {pin}}, false},
                {"with its own authority", sent, w.stranger, trusting(), false}};
    for (const auto& row : rows) {
        const Variable directory("SSL_CERT_DIR", w.files.hashed({row.directory}));
        const TlsContext server = server_of(row.identity);
        const long before = bytes_read();
        const Outcome outcome = talk(TlsContext::client(row.options), server);
        INFO(row.name << ": " << outcome.end.text());
        CHECK_FALSE(outcome.end);
        CHECK((bytes_read() - before > 1000000) == (row.reads && before > 0));
    }
}

TEST_CASE("refuses unusable settings, and names the file") {
    World& w = world();
    const std::string text = w.files.path("text.pem");
    const std::string fifo = w.files.path("keys.fifo");
    std::ofstream(text).flush();
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    using enum Reason;
    const Identity& own = w.server;
    const struct {
        Reason reason;
        std::string text;
        TlsClientOptions options;
    } rows[] = {
        {trust, "trusted certificates /nowhere/ca.pem: ", {.ca_file = "/nowhere/ca.pem"}},
        {trust, "trusted certificates " + text + ": ", {.ca_file = text}},
        {own_certificate, "/nowhere/cert.pem", {.certificate = "/nowhere/cert.pem"}},
        {own_certificate,
         "/nowhere/a.key",
         {.certificate = own.certificate, .key = "/nowhere/a.key"}},
        {own_certificate,
         "key " + w.ca.key + " does not match certificate " + own.certificate,
         {.certificate = own.certificate, .key = w.ca.key}},
        {own_certificate,
         own.certificate + " contains no private key",
         {.certificate = own.certificate}},
        {own_certificate, own.key + " contains no certificate", {.certificate = own.key}},
        {output, "key log /nowhere/keys.log: ", {.key_log_file = "/nowhere/keys.log"}},
        {output, "key log " + fifo + " is a FIFO, but must be a file", {.key_log_file = fifo}},
        {tls, "key exchange groups P-256:X0: ", {.groups = "P-256:X0"}},
    };
    for (const auto& row : rows) {
        CAPTURE(row.text);
        try {
            const TlsContext made = TlsContext::client(row.options);
            FAIL("accepted");
        } catch (const bufio::TlsError& error) {
            CHECK(error.reason == row.reason);
            check_contains(error.what(), row.text);
        }
        // An earlier failure has no effect on later connections.
        CHECK_FALSE(talk_to(w.server).end);
    }
}
