// The client's verdict on each class of faulty server. The table is the specification;
// tests/peers/tls_classes.sh makes the certificates.
#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <sstream>
#include <stdexcept>

using namespace test;

namespace {

// Returns the certificates, made once for all rows.
const Folder& certificates() {
    static const Folder folder;
    static const Outcome made = run({"sh", peers + "/tls_classes.sh", folder.path("")});
    if (made.status != 0) throw std::runtime_error(contents(folder.path("openssl.log")));
    return folder;
}

struct Row {
    const char* server;  // class of its certificate, and options of tests/peers/tls_server.py
    const char* client;  // options; CLASS.pem and the like are files of the certificates
    int status;
    const char* sentence;  // with HOST for the target; empty: all is well
};

// A protocol's name of 40 letters, forty times, so that a hello exceeds a segment.
const std::string many_protocols = [] {
    std::string list = "a";
    for (int i = 0; i < 40; ++i) list += "," + std::string(40, 'b');
    return list;
}();

const Row rows[] = {
    {"right", "", 0, ""},
    {"right newest=1.2", "", 0, ""},
    {"chained", "", 0, ""},
    {"right clients=ca.pem", "--cert client.pem --key client.key", 0, ""},

    // The certificate.
    {"expired", "", 60, "the certificate of HOST expired on 20"},
    {"early", "", 60, "the certificate of HOST is not valid before 20"},
    {"elsewhere", "", 60,
     "the certificate of HOST is for example.org, not for HOST; to accept"},
    {"alone", "", 60,
     "the certificate of HOST is self-signed; to accept it: --cacert FILE, --pinnedpubkey "
     "sha256"},
    {"untrusted", "", 60,
     "the certificate of HOST was sent without the certificate of its issuer CN=unknown, an "
     "intermediate or an untrusted CA"},
    {"incomplete", "", 60,
     "the certificate of HOST was sent without the certificate of its issuer CN=intermediate, "
     "an intermediate or an untrusted CA; the server should send its intermediate certificate; "
     "to accept it: --cacert FILE"},
    {"nameless", "", 60,
     "the certificate of HOST names no host: it has no subject alternative name, and its "
     "subject "
     "CN=nameless is ignored"},
    {"common", "", 60, "its subject CN=localhost is ignored"},
    {"sha1", "", 60,
     "the certificate of HOST is signed with ecdsa-with-SHA1, which is too weak; to accept"},
    {"short", "", 60,
     "the certificate of HOST has a key of 1024 bits (rsaEncryption), which is too weak"},

    // Ours.
    {"right clients=ca.pem", "", 58,
     "the server requires a client certificate (TLS alert: certificate required); use --cert "
     "FILE"},
    {"right clients=ca.pem", "--cert stranger.pem --key stranger.key", 58,
     "the server refused our certificate (TLS alert: unknown CA)"},

    // The protocol.
    {"right newest=1.0", "", 35,
     "the server supports none of our TLS versions (TLS alert: protocol version)"},
    {"right newest=1.1", "", 35, "the server supports none of our TLS versions"},
    {"right newest=1.2", "--tls-min 1.3", 35, "the server supports none of our"},
    {"right abrupt", "-c 5 -i 50ms", 56, "the server closed without a TLS close_notify"},
    {"right small-hello", "-w 300ms --alpn MANY", 28,
     "bytes, which exceeds one TCP segment and is too large for some servers and middleboxes: "
     "--groups X25519 makes it smaller"},
    {"right small-hello", "-w 300ms --alpn MANY --groups X25519", 28,
     "too large for some servers and middleboxes\n"},
    {"right group=secp521r1", "--groups X25519", 35,
     "the server aborted the connection (TLS alert: handshake failure); it may not support the "
     "groups of --groups X25519\n"},
    {"right group=secp521r1", "--groups P-521", 0, ""},
};

std::vector<std::string> words(const std::string& text) {
    std::vector<std::string> list;
    std::istringstream stream(text);
    for (std::string word; stream >> word;) list.push_back(word);
    return list;
}

std::string with_files(std::string word) {
    for (const char* suffix : {".pem", ".key"})
        if (word.ends_with(suffix)) {
            const std::size_t name = word.find('=') + 1;
            return word.substr(0, name) + certificates().path(word.substr(name));
        }
    return word == "MANY" ? many_protocols : word;
}

Peer server_of(const Row& row) {
    std::vector<std::string> options = words(row.server);
    const std::string file = certificates().path(options.front());
    std::vector<std::string> command{"python3", peers + "/tls_server.py", "PORT", file + ".pem",
                                     file + ".key"};
    for (std::size_t i = 1; i < options.size(); ++i) command.push_back(with_files(options[i]));
    return Peer(command);
}

Outcome told(const Row& row, const std::string& port, const std::vector<std::string>& more) {
    std::vector<std::string> command{yodel, "--cacert", certificates().path("ca.pem")};
    for (const std::string& word : words(row.client)) command.push_back(with_files(word));
    command.insert(command.end(), more.begin(), more.end());
    command.push_back("tls://127.0.0.1:" + port);
    return run(command, "hello\n");
}

std::string sentence_of(const Row& row) {
    std::string text = row.sentence;
    for (std::size_t at = text.find("HOST"); at != text.npos; at = text.find("HOST", at))
        text.replace(at, 4, "127.0.0.1");
    return text;
}

}  // namespace

TEST_CASE("each class of TLS server gets its verdict, sentence and status") {
    for (const Row& row : rows) {
        CAPTURE(row.server, row.client);
        Peer server = server_of(row);
        const Outcome outcome = told(row, server.port(), {});
        CAPTURE(outcome.errors);
        CHECK(outcome.status == row.status);
        CHECK(contains(outcome.errors, sentence_of(row)));
        CHECK(contains(outcome.output, "hello") == (row.status == 0));
    }
}

TEST_CASE("with -k or its pin each certificate is accepted, and -k causes a remark") {
    for (const Row& row : rows) {
        if (row.status != 60 || std::string(row.client) != "") continue;
        CAPTURE(row.server);
        Peer server = server_of(row);
        const Outcome refused = told(row, server.port(), {});
        const Outcome insecure = told(row, server.port(), {"-k"});
        CHECK(insecure.status == 0);
        CHECK(contains(insecure.errors, "UNVERIFIED (-k): the certificate "));
        const Outcome verbose = told(row, server.port(), {"-k", "-v"});
        CHECK(contains(verbose.errors, ", UNVERIFIED: the certificate "));
        const Outcome as_json = told(row, server.port(), {"-k", "--json"});
        CHECK(contains(as_json.output, "\"unverified\":\"the certificate "));
        const std::size_t pin = refused.errors.find("sha256//");
        REQUIRE(pin != std::string::npos);
        const Outcome pinned =
            told(row, server.port(), {"--pinnedpubkey", refused.errors.substr(pin, 8 + 44)});
        CHECK(pinned.status == 0);
        CHECK_FALSE(contains(pinned.errors, "UNVERIFIED"));
    }
}

TEST_CASE("servers without TLS get their verdict, sentence and status") {
    struct Case {
        std::vector<std::string> steps;  // arguments of tests/peers/scripted.py
        int status;
        const char* sentence;
    };
    const Case cases[] = {
        {{"send:SSH-2.0-OpenSSH_9.2\\r\\n", "wait"}, 35, "the server does not speak TLS"},
        {{"wait"}, 28, "within 300ms: still in the TLS handshake with 127.0.0.1:"},
        {{"shut", "wait"}, 35, "the server closed the connection during the TLS handshake"},
        {{"send:\\x16\\x03\\x03\\x00\\x10", "shut", "wait"},
         35,
         "the server closed the connection during the TLS handshake"},
        {{"send:\\x15\\x03\\x03\\x00\\x02\\x02\\x50", "wait"},
         35,
         "the server aborted the connection (TLS alert: internal error)"},
        {{"send:\\x16\\x03\\x03\\xff\\xff\\x02\\x02", "wait"},
         35,
         "the server does not speak TLS"},
        {{"some", "reset"}, 35, "TLS handshake: Connection reset by peer"},
    };
    for (const Case& each : cases) {
        std::vector<std::string> command{"python3", peers + "/scripted.py", "PORT"};
        command.insert(command.end(), each.steps.begin(), each.steps.end());
        CAPTURE(each.steps.front());
        Peer peer(command);
        const Outcome outcome =
            run({yodel, "-k", "-w", "300ms", "tls://127.0.0.1:" + peer.port()}, "hello\n");
        CAPTURE(outcome.errors);
        CHECK(outcome.status == each.status);
        CHECK(contains(outcome.errors, each.sentence));
    }
}

TEST_CASE("a server that requests renegotiation is refused, and its end is explained") {
    const std::string file = certificates().path("right");
    Peer server({"openssl", "s_server", "-tls1_2", "-accept", "127.0.0.1:PORT", "-cert",
                 file + ".pem", "-key", file + ".key"});
    Process client({yodel, "--cacert", certificates().path("ca.pem"), "--expect", "none", "-i",
                    "20ms", "tls://127.0.0.1:" + server.port()});
    REQUIRE(server.process().wait_for_output("Secure Renegotiation IS supported"));
    server.process().write("r\n");  // the server's command for renegotiation
    REQUIRE(server.process().wait_for_output("SSL_do_handshake"));
    CHECK(client.wait_exit() == 56);
    CHECK(contains(client.errors(),
                   "the server aborted the connection, because its renegotiation was refused"));
}
