// Tests the verification of certificates and the messages about refused certificates.
#include "bufio/tls.hpp"

#include "tests/bufio/certificates.hpp"
#include "tests/bufio/fixture.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <string>

using namespace test;
using bufio::TlsClientOptions;
using bufio::TlsContext;
using bufio::TlsServerOptions;
using bufio::TlsVersion;

namespace {

constexpr long day = 86400;  // seconds

struct Outcome {
    bufio::End end;  // empty if a message was echoed
    bufio::TlsFacts facts;
    bufio::End server_end;
};

bool mentions(const std::string& text, const std::string& part) {
    INFO(text);
    const bool found = text.find(part) != std::string::npos;
    CHECK(found);
    return found;
}

// Performs a handshake, sends a message and waits for its echo or an end.
Outcome talk(const TlsContext& client, const TlsContext& server,
             const std::string& host = "localhost") {
    ev::Loop loop;
    Taker near;
    Taker far;
    auto [one, other] = socket_pair();
    near.open(loop, client.connect(std::move(one), host));
    far.open(loop, server.accept(std::move(other)));
    far.on_change = [&](Stream& stream) {
        stream.write(stream.received());
        stream.consume(stream.received().size());
    };
    near.stream->write("hello");
    REQUIRE(run_until(loop, [&] { return near.ends > 0 || near.got == "hello"; }));
    Outcome outcome{near.stream->end(), *near.stream->tls(), {}};
    near.stream.reset();
    REQUIRE(run_until(loop, [&] { return far.ends > 0 || far.stream->input_ended(); }));
    outcome.server_end = far.stream->end();
    return outcome;
}

struct World {
    Certificates files;
    Identity ca = files.authority("Test Authority");
    Identity stranger = files.authority("Stranger");
    Identity good = files.make("localhost", {.issuer = &ca});

    TlsContext server(const Identity& identity) const {
        return TlsContext::server({identity.certificate, identity.key, {}});
    }
    TlsClientOptions trusting() const {
        TlsClientOptions options;
        options.ca_file = ca.certificate;
        return options;
    }
    Outcome talk_to(const Identity& identity, const std::string& host = "localhost") const {
        return talk(TlsContext::client(trusting()), server(identity), host);
    }
};

World& world() {
    static World made;
    return made;
}

// Returns the bytes that this process has read; 0 if the system does not count them.
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

TEST_CASE("a certificate for the host by a trusted authority is accepted", "[certificate]") {
    for (const char* const host : {"localhost", "localhost.", "LOCALHOST", "127.0.0.1", ""}) {
        const Outcome outcome = world().talk_to(world().good, host);
        INFO(host << ": " << outcome.end.text);
        CHECK_FALSE(outcome.end);
        CHECK(outcome.facts.unverified.empty());
    }
}

TEST_CASE("reports the faults of a certificate, and the certificate concerned",
          "[certificate]") {
    World& w = world();
    Certificates& files = w.files;
    Outcome outcome;
    std::string said;
    SECTION("self-signed") {
        outcome = w.talk_to(files.make("localhost", {}));
        said = "the certificate of localhost is self-signed";
    }
    SECTION("expired") {
        outcome = w.talk_to(
            files.make("localhost", {.from = -9 * day, .until = -2 * day, .issuer = &w.ca}));
        said = "the certificate of localhost expired on 20";
        CHECK(outcome.facts.expired);
    }
    SECTION("not yet valid") {
        outcome = w.talk_to(files.make("localhost", {.from = 2 * day, .issuer = &w.ca}));
        said = "the certificate of localhost is not valid before 20";
    }
    SECTION("for another host") {
        outcome = w.talk_to(files.make(
            "other", {.names = "DNS:other.example,DNS:*.example.org", .issuer = &w.ca}));
        said = "is for other.example, *.example.org, not for localhost";
    }
    SECTION("for another host than the local one, reached over a path") {
        outcome =
            w.talk_to(files.make("other", {.names = "DNS:other.example", .issuer = &w.ca}), "");
        said = "is for other.example, not for localhost";
    }
    SECTION("for a wildcard") {
        outcome =
            w.talk_to(files.make("open", {.names = "DNS:w*.example.org", .issuer = &w.ca}),
                      "www.example.org");
        said = "is for w*.example.org, not for www.example.org";
    }
    SECTION("for another address") {
        outcome = w.talk_to(
            files.make("x", {.names = "IP:10.1.2.3,IP:fe80::1", .issuer = &w.ca}), "127.0.0.1");
        said = "is for 10.1.2.3, fe80::1, not for 127.0.0.1";
    }
    SECTION("for an address of five bytes") {
        const Identity odd =
            files.make("x", {.names = "DER:3007870501020304AA", .issuer = &w.ca});
        outcome = w.talk_to(odd);
        said = "is for an address of unknown type, not for localhost";
    }
    SECTION("an address as a name") {
        outcome = w.talk_to(
            files.make("127.0.0.1", {.names = "DNS:127.0.0.1", .issuer = &w.ca}), "127.0.0.1");
        said = "the certificate of 127.0.0.1 has 127.0.0.1 as a DNS name, not as an address";
    }
    SECTION("by an issuer that is neither trusted nor sent") {
        outcome = w.talk_to(files.make("localhost", {.issuer = &w.stranger}));
        said = "was sent without the certificate of its issuer CN=Stranger, an intermediate or "
               "an untrusted CA";
        CHECK(outcome.facts.incomplete);
    }
    SECTION("by an intermediate of an authority that is neither trusted nor sent") {
        const Identity middle = files.make("Middle", {.names = "", .issuer = &w.stranger});
        Identity shown = files.make("localhost", {.issuer = &middle});
        shown.certificate = files.bundle({shown.certificate, middle.certificate});
        outcome = w.talk_to(shown);
        said = "is issued by an untrusted CA: CN=Stranger";
        CHECK_FALSE(outcome.facts.incomplete);
    }
    SECTION("for no host, with a name only in the subject") {
        outcome = w.talk_to(files.make("localhost", {.named = false, .issuer = &w.ca}));
        said = "names no host: it has no subject alternative name, and its subject "
               "CN=localhost is ignored";
    }
    SECTION("for an address in the subject") {
        outcome =
            w.talk_to(files.make("127.0.0.1", {.named = false, .issuer = &w.ca}), "127.0.0.1");
        said = "names no host: it has no subject alternative name";
    }
    SECTION("for a mail address") {
        outcome = w.talk_to(files.make("x", {.names = "email:a@localhost", .issuer = &w.ca}));
        said =
            "names no host: its subject alternative name contains no DNS name and no address";
    }
    SECTION("for more hosts than a sentence lists") {
        std::string names = "DNS:a.example";
        for (int i = 1; i < 500; ++i) names += ",DNS:host" + std::to_string(i) + ".example";
        outcome = w.talk_to(files.make("many", {.names = names, .issuer = &w.ca}));
        said = "is for a.example, host1.example, host2.example and 497 more, not for localhost";
    }
    SECTION("for a host with a long name") {
        outcome = w.talk_to(
            files.make("long", {.names = "DNS:" + std::string(20000, 'x'), .issuer = &w.ca}));
        said = "xxx..., not for localhost";
        CHECK(outcome.end.text.size() < 400);
    }
    SECTION("expired and not trusted") {
        outcome = w.talk_to(files.make("localhost", {.from = -9 * day, .until = -2 * day}));
        said = "the certificate of localhost is self-signed; it also expired on 20";
        CHECK(outcome.facts.untrusted);
        CHECK(outcome.facts.expired);
        CHECK(outcome.facts.faults == 2);
    }
    SECTION("by many authorities that have all expired") {
        std::vector<Identity> chain{w.ca};
        std::vector<std::string> certificates;
        for (int i = 0; i < 20; ++i) {
            chain.push_back(files.make(
                "Middle " + std::to_string(i),
                {.names = "", .from = -9 * day, .until = -2 * day, .issuer = &chain.back()}));
            certificates.insert(certificates.begin(), chain.back().certificate);
        }
        Identity shown = files.make("localhost", {.issuer = &chain.back()});
        certificates.insert(certificates.begin(), shown.certificate);
        shown.certificate = files.bundle(certificates);
        outcome = w.talk_to(shown);
        said = "is issued by CN=Middle 0, whose certificate expired on 20";
        mentions(outcome.end.text, "; and more");
        CHECK(outcome.end.text.size() < 1000);
        CHECK(outcome.facts.faults == 20);
        CHECK(outcome.facts.chain.size() == 11);
        CHECK(outcome.facts.chain.back() == "11 more");
    }
    SECTION("expired, for another host, and by an untrusted authority") {
        Identity shown = files.make("x", {.names = "DNS:other.example",
                                          .from = -9 * day,
                                          .until = -2 * day,
                                          .issuer = &w.stranger});
        shown.certificate = files.bundle({shown.certificate, w.stranger.certificate});
        outcome = w.talk_to(shown);
        said = "is issued by an untrusted CA: CN=Stranger; it also is for "
               "other.example, not for localhost; it also expired on 20";
        CHECK(outcome.facts.faults == 3);
    }
    SECTION("by an untrusted authority that is sent") {
        Identity shown = files.make("localhost", {.issuer = &w.stranger});
        shown.certificate = files.bundle({shown.certificate, w.stranger.certificate});
        outcome = w.talk_to(shown);
        said = "is issued by an untrusted CA: CN=Stranger";
        CHECK(outcome.facts.chain.size() == 2);
    }
    SECTION("by an authority that has expired") {
        const Identity middle = files.make(
            "Middle", {.names = "", .from = -9 * day, .until = -2 * day, .issuer = &w.ca});
        Identity shown = files.make("localhost", {.issuer = &middle});
        shown.certificate = files.bundle({shown.certificate, middle.certificate});
        outcome = w.talk_to(shown);
        said = "the certificate of localhost is issued by CN=Middle, whose certificate expired "
               "on 20";
    }
    CHECK(outcome.end.reason == Reason::certificate);
    mentions(outcome.end.text, said);
    CHECK_FALSE(outcome.facts.unverified.empty());
    CHECK_FALSE(outcome.facts.pin.empty());
    CHECK_FALSE(outcome.facts.issuer.empty());
    CHECK(outcome.facts.not_before < outcome.facts.not_after);
    CHECK_FALSE(outcome.facts.chain.empty());
    mentions(outcome.server_end.text, "TLS alert: ");
}

TEST_CASE("counts whole days until or since the end of a certificate", "[certificate]") {
    World& w = world();
    struct Case {
        long until;  // seconds from now
        long days;
        bool expired;
    };
    const Case c =
        GENERATE(Case{-2 * day - 240, -2, true}, Case{-day - 240, -1, true},
                 Case{-240, 0, true}, Case{240, 0, false}, Case{day + 240, 1, false});
    TlsClientOptions options = w.trusting();
    options.verify = false;
    const Identity identity =
        w.files.make("localhost", {.from = -9 * day, .until = c.until, .issuer = &w.ca});
    const Outcome outcome = talk(TlsContext::client(options), w.server(identity));
    CHECK(outcome.facts.days_left == c.days);
    CHECK(outcome.facts.expired == c.expired);
}

TEST_CASE("a chain with an intermediate authority is accepted", "[certificate]") {
    Certificates& files = world().files;
    const Identity middle = files.make("Middle", {.names = "", .issuer = &world().ca});
    Identity shown = files.make("localhost", {.issuer = &middle});
    shown.certificate = files.bundle({shown.certificate, middle.certificate});
    const Outcome outcome = world().talk_to(shown);
    CHECK_FALSE(outcome.end);
    REQUIRE(outcome.facts.chain.size() == 2);
    mentions(outcome.facts.chain[1], "CN=Middle, until 20");
}

TEST_CASE("reports a certificate accepted without verification as unverified",
          "[certificate]") {
    TlsClientOptions options = world().trusting();
    options.verify = false;
    const Outcome outcome =
        talk(TlsContext::client(options), world().server(world().files.make("localhost", {})));
    CHECK_FALSE(outcome.end);
    CHECK(outcome.facts.unverified == "is self-signed");
    CHECK(outcome.facts.chain.size() == 1);
}

TEST_CASE("an option replaces the host as the name to verify", "[certificate]") {
    TlsClientOptions options = world().trusting();
    options.verify_name = "other.example";
    const Identity other =
        world().files.make("other", {.names = "DNS:other.example", .issuer = &world().ca});
    CHECK_FALSE(talk(TlsContext::client(options), world().server(other)).end);
    CHECK(talk(TlsContext::client(options), world().server(world().good)).end);
}

TEST_CASE("a pinned key replaces the verification of the chain", "[certificate]") {
    const Identity own = world().files.make("anything", {.names = "DNS:anything"});
    TlsClientOptions options;
    options.pins = {world().server(world().good).pin(), world().server(own).pin()};
    const Outcome outcome = talk(TlsContext::client(options), world().server(own));
    CHECK_FALSE(outcome.end);
    CHECK(outcome.facts.unverified.empty());
}

TEST_CASE("refuses any key but the pinned one, whatever else would be accepted",
          "[certificate]") {
    const Identity own = world().files.make("localhost", {});
    TlsClientOptions options = world().trusting();
    options.pins = {world().server(own).pin()};
    options.verify = GENERATE(true, false);
    options.max_version = GENERATE(TlsVersion::v1_2, TlsVersion::v1_3);
    const TlsContext client = TlsContext::client(options);
    const TlsContext server = world().server(world().good);
    for (int i = 0; i < 2; ++i) {  // the second connection could resume a session
        const Outcome outcome = talk(client, server);
        CHECK(outcome.end.reason == Reason::pin);
        mentions(outcome.end.text, server.pin());
    }
}

TEST_CASE("a self-signed server is trusted by its pin", "[certificate]") {
    const TlsContext server = TlsContext::self_signed_server();
    TlsClientOptions options;
    options.pins = {server.pin()};
    CHECK_FALSE(talk(TlsContext::client(options), server, "127.0.0.1").end);
    options.pins.clear();
    CHECK(talk(TlsContext::client(options), server).end.reason == Reason::certificate);
}

TEST_CASE("reports a requested client certificate that is missing or refused",
          "[certificate]") {
    World& w = world();
    TlsClientOptions options = w.trusting();
    options.max_version = GENERATE(TlsVersion::v1_2, TlsVersion::v1_3);
    std::string said;
    SECTION("missing") {
        said = "the peer requires a client certificate (TLS alert: ";
        said += options.max_version == TlsVersion::v1_2 ? "handshake failure"
                                                        : "certificate required";
    }
    SECTION("by a stranger") {
        const Identity strange = w.files.make("client", {.issuer = &w.stranger});
        options.certificate = strange.certificate;
        options.key = strange.key;
        said = "the peer refused our certificate (TLS alert: unknown CA)";
    }
    SECTION("expired") {
        const Identity old =
            w.files.make("client", {.from = -9 * day, .until = -2 * day, .issuer = &w.ca});
        options.certificate = old.certificate;
        options.key = old.key;
        said = "the peer refused our certificate (TLS alert: certificate expired)";
    }
    const TlsContext server =
        TlsContext::server({w.good.certificate, w.good.key, w.ca.certificate});
    const Outcome outcome = talk(TlsContext::client(options), server);
    CHECK(outcome.end.reason == Reason::own_certificate);
    mentions(outcome.end.text, said);
    CHECK(outcome.server_end);
}

TEST_CASE("a requested client certificate is sent", "[certificate]") {
    World& w = world();
    TlsClientOptions options = w.trusting();
    const Identity own = w.files.make("client", {.issuer = &w.ca});
    options.certificate = own.certificate;
    SECTION("key in a separate file") { options.key = own.key; }
    SECTION("key behind the certificate") {
        options.certificate = w.files.bundle({own.certificate, own.key});
    }
    const TlsContext server =
        TlsContext::server({w.good.certificate, w.good.key, w.ca.certificate});
    CHECK_FALSE(talk(TlsContext::client(options), server).end);
}

TEST_CASE("takes the trusted file and directory from the environment", "[certificate]") {
    struct Case {
        std::string file, directory;
        bool accepted;
    };
    World& w = world();
    const std::string authority = w.ca.certificate;
    const std::string hashed = w.files.hashed({w.ca});
    const std::string others = w.files.hashed({w.stranger});
    const Case c =
        GENERATE_REF(Case{"", "", false}, Case{authority, "", true}, Case{"", hashed, true},
                     Case{"", "/nowhere:" + hashed, true}, Case{authority, others, true},
                     Case{w.stranger.certificate, hashed, true},
                     Case{w.stranger.certificate, others, false});
    const Variable file("SSL_CERT_FILE", c.file);
    const Variable directory("SSL_CERT_DIR", c.directory);
    const TlsContext client = TlsContext::client({});
    for (int i = 0; i < 2; ++i) {
        const Outcome outcome = talk(client, w.server(w.good));
        INFO(c.file << " " << c.directory << ": " << outcome.end.text);
        CHECK(outcome.end.reason == (c.accepted ? Reason::none : Reason::certificate));
    }
}

TEST_CASE("reports a missing file that the environment names", "[certificate]") {
    const Variable file("SSL_CERT_FILE", "/nowhere.pem");
    CHECK_THROWS_AS(TlsContext::client({}), bufio::TlsError);
}

TEST_CASE("does not read the system's bundle if the hashed directory suffices",
          "[certificate]") {
    World& w = world();
    const std::string bundle = w.files.path("bundle.pem");
    std::ofstream(bundle) << std::string(1000000, '\n') << contents(w.stranger.certificate);
    const Variable file("SSL_CERT_FILE", GENERATE_REF(std::string(), bundle));
    const Variable directory("SSL_CERT_DIR", w.files.hashed({w.ca}));
    const TlsContext server = w.server(w.good);
    const long before = bytes_read();
    CHECK_FALSE(talk(TlsContext::client({}), server).end);
    CHECK(bytes_read() - before < 100000);
}

TEST_CASE("refuses unusable settings, and names the file", "[certificate]") {
    World& w = world();
    const std::string text = w.files.path("text.pem");
    std::fclose(std::fopen(text.c_str(), "w"));
    TlsClientOptions options;
    Reason reason = Reason::trust;
    std::string named;
    SECTION("no file of authorities") { named = options.ca_file = "/nowhere/ca.pem"; }
    SECTION("an empty file of authorities") { named = options.ca_file = text; }
    SECTION("no certificate") {
        named = options.certificate = "/nowhere/cert.pem";
        reason = Reason::own_certificate;
    }
    SECTION("no key") {
        options.certificate = w.good.certificate;
        named = options.key = "/nowhere/key.pem";
        reason = Reason::own_certificate;
    }
    SECTION("another's key") {
        options.certificate = w.good.certificate;
        named = options.key = w.ca.key;
        reason = Reason::own_certificate;
    }
    SECTION("a key log that can't be written") {
        named = options.key_log_file = "/nowhere/keys.log";
        reason = Reason::output;
    }
    SECTION("a key log that is a FIFO without a reader") {
        named = options.key_log_file = w.files.path("keys.fifo");
        ::mkfifo(named.c_str(), 0600);
        reason = Reason::output;
    }
    SECTION("an invalid name to verify") {
        named = options.verify_name = ".test";
        reason = Reason::tls;
    }
    SECTION("an invalid name to send") {
        named = options.server_name = "local host";
        reason = Reason::tls;
    }
    SECTION("a certificate without its key") {
        named = options.certificate = w.good.certificate;
        reason = Reason::own_certificate;
        named += " contains no private key";
    }
    SECTION("a key without its certificate") {
        named = options.certificate = w.good.key;
        reason = Reason::own_certificate;
        named += " contains no certificate";
    }
    try {
        const TlsContext made = TlsContext::client(options);
        FAIL("accepted");
    } catch (const bufio::TlsError& error) {
        CHECK(error.end().reason == reason);
        mentions(error.what(), named);
    }
    // An earlier failure has no effect on later connections.
    CHECK_FALSE(world().talk_to(world().good).end);
}
