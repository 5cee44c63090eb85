// Services that do not echo: Redis, and servers whose replies have codes, such as mail servers.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <fstream>

using test::contains;
using test::Folder;
using test::Outcome;
using test::Peer;
using test::run;
using test::yodel;
using test::yodel_load;

namespace {

class Redis {
public:
    Outcome talk(std::vector<std::string> options, const std::string& input = "",
                 const std::string& program = yodel) const {
        options.insert(options.begin(), {program, "-f", "resp"});
        options.insert(options.end(), {"127.0.0.1", peer_.port()});
        return run(options, input);
    }

private:
    Peer peer_{{"redis-server", "--port", "PORT", "--bind", "127.0.0.1", "--save", ""}};
};

Outcome mail(const Peer& peer, std::vector<std::string> options, const std::string& input,
             const std::string& program = yodel) {
    options.insert(options.begin(), {program, "-f", "smtp"});
    options.insert(options.end(), {"127.0.0.1", peer.port()});
    return run(options, input);
}

const std::string mail_server = test::peers + "/mail.py";

}  // namespace

TEST_CASE("each Redis command has one reply, of any type") {
    const Redis redis;
    const Outcome outcome = redis.talk(
        {}, "PING\nECHO hello\nECHO \"a\\r\\nb\"\nGET none\nNONSENSE\nRPUSH list one two\n"
            "LRANGE list 0 -1\nEVAL \"return {1,{2,{'x'},{}}}\" 0\nLRANGE none 0 -1\n");
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "9 sent, 9 answered, 0 bad, 0 lost;"));
    CHECK(contains(outcome.output, "+PONG\n$5\r\nhello\n$4\r\na\r\nb\n$-1\n-ERR "));
    CHECK(contains(outcome.output, "\n:2\n*2\r\n$3\r\none\r\n$3\r\ntwo\n"
                                   "*2\r\n:1\r\n*3\r\n:2\r\n*1\r\n$1\r\nx\r\n*0\n*0\n"));
}

TEST_CASE("Redis replies and pushes in RESP3") {
    const Redis redis;
    const Outcome outcome =
        redis.talk({"--window", "1"}, "HELLO 3\nHSET h a 1\nHGETALL h\nGET none\nZADD z 1.5 m\n"
                                      "ZSCORE z m\nSADD s x\nSMEMBERS s\nCLIENT TRACKING ON\n"
                                      "GET key\nSET key 1\nPING\n");
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "12 sent, 12 answered, 0 bad, 0 lost, 1 unsolicited;"));
    CHECK(contains(outcome.output, "%7\r\n$6\r\nserver\r\n"));
    CHECK(
        contains(outcome.output, "%1\r\n$1\r\na\r\n$1\r\n1\n_\n:1\n,1.5\n:1\n~1\r\n$1\r\nx\n"));
    CHECK(contains(outcome.output, ">2\r\n$10\r\ninvalidate\r\n*1\r\n$3\r\nkey\n"));
}

TEST_CASE("a command of Redis may be an array that contains CRLF") {
    const Redis redis;
    const Outcome outcome =
        redis.talk({"--escapes"}, "*2\\r\\n$4\\r\\nECHO\\r\\n$3\\r\\n\\r\\n\\0\nPING\n");
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(outcome.output == std::string("$3\r\n\r\n\0\n+PONG\n", 14));
}

TEST_CASE("a large reply of Redis is one message, up to the limit") {
    const Redis redis;
    const std::string fill = "EVAL \"redis.call('SET','k',string.rep('x',9000000))\" 0\n";
    const Outcome whole = redis.talk({"--window", "1"}, fill + "GET k\n");
    CHECK(whole.status == 0);
    CHECK(whole.output.size() == std::string("$-1\n$9000000\r\n\n").size() + 9000000);
    const Outcome refused = redis.talk({"--max-frame", "1M"}, "GET k\n");
    CHECK(refused.status == 56);
    CHECK(contains(refused.errors, "a message of 9000010 bytes or more exceeds the limit of "
                                   "1048576 (--max-frame)"));
}

TEST_CASE("own commands load Redis at a rate") {
    const Redis redis;
    const auto options = GENERATE(values<std::vector<std::string>>(
        {{"--rate", "2k", "-c", "400"},
         {"--rate", "2k", "-c", "400", "--connections", "4", "--threads", "2"},
         {"--connections", "3", "-c", "400", "--churn", "50"},
         {"--window", "20", "-c", "400"}}));
    std::vector<std::string> words{"--messages", "-"};
    words.insert(words.end(), options.begin(), options.end());
    const Outcome outcome = redis.talk(
        words, "SET a \"one two\"\nGET a\nRPUSH l x\nLRANGE l 0 5\nHELLO 3\n", yodel_load);
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "400 sent, 400 answered, 0 bad, 0 lost"));
}

TEST_CASE("a conversation with Redis is recorded and replayed") {
    const Redis redis;
    const Folder folder;
    const std::string file = folder.path("talk.json");
    const std::string commands = "SET k v\nLRANGE list 0 -1\nGET k\n";
    const Outcome recorded = redis.talk({"--json", "--payload"}, commands);
    CHECK(recorded.status == 0);
    std::ofstream(file) << recorded.output;
    const Outcome same = redis.talk({"--replay", file, "--fast"});
    CAPTURE(same.errors, same.output);
    CHECK(same.status == 0);
    redis.talk({}, "RPUSH list x\n");
    const Outcome other = redis.talk({"--replay", file, "--fast"});
    CHECK(other.status == 1);
    CHECK(contains(other.output, "*1^M^J$1^M^Jx"));
}

TEST_CASE("bytes that are no reply of the framing end the connection with a sentence") {
    struct Case {
        const char* framing;
        const char* sent;
        const char* sentence;
    };
    const Case each = GENERATE(
        Case{"resp", "send:HTTP/1.1 400 no\\r\\n",
             "the server sent \"HTTP/1.1 400 no\", which is not valid for -f resp"},
        Case{"resp", "send:*99999999999999999999\\r\\n",
             "the server sent \"*99999999999999999999\", which contains no valid length"},
        Case{"resp", "send:$99999999999\\r\\n",
             "a message of 100000000013 bytes or more exceeds the limit of 33554432"},
        Case{"resp", "send:$5\\r\\nhel", "the server closed inside a message, after 7 bytes"},
        Case{"smtp", "send:SSH-2.0-\x1b[2J\\r\\n",
             "the server sent \"SSH-2.0-^[[2J\", which is not valid for -f smtp"});
    std::vector<std::string> steps{"python3", test::peers + "/scripted.py", "PORT"};
    if (std::string(each.framing) == "resp") steps.emplace_back("line");
    steps.insert(steps.end(), {each.sent, "close"});
    Peer peer(steps);
    const Outcome outcome =
        run({yodel, "-f", each.framing, "127.0.0.1", peer.port()}, "PING\n");
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 56);
    CHECK(contains(outcome.errors, each.sentence));
}

TEST_CASE("a mail session takes turns, from the greeting on") {
    Peer peer({"python3", mail_server, "PORT"});
    const Outcome outcome = mail(peer, {"--escapes"},
                                 "EHLO me\nMAIL FROM:<a@b>\nRCPT TO:<c@d>\nNOOP\n"
                                 "DATA\n"
                                 "Subject: hello\\r\\n\\r\\nhello\\r\\n.\nQUIT\n");
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(outcome.output ==
          "220-mail.test\r\n220 ready\n"
          "250-mail.test\r\n250-SIZE 1000\r\n250 HELP\n250 OK\n250 OK\n250 OK\n"
          "354 end with a dot\n250 accepted\n221 bye\n");
    CHECK(contains(outcome.errors, "7 sent, 7 answered, 0 bad, 0 lost, 1 unsolicited;"));
}

TEST_CASE("a reply of FTP contains lines without a code") {
    Peer peer({"python3", mail_server, "PORT"});
    const Outcome outcome = mail(peer, {}, "USER anonymous\nPASS me\nFEAT\nQUIT\n");
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.output,
                   "331 password, please\n230-Welcome.\r\n230-\r\n  100 files\r\n"
                   "230 Logged in.\n211-Features:\r\n SIZE\r\n MDTM\r\n211 End\n221 bye\n"));
}

TEST_CASE("a load awaits the greeting of each connection") {
    Peer peer({"python3", mail_server, "PORT"});
    const Outcome outcome =
        mail(peer, {"--messages", "-", "-c", "60", "--connections", "3", "--churn", "7"},
             "NOOP\n", yodel_load);
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.errors, "60 sent, 60 answered, 0 bad, 0 lost"));
}

TEST_CASE("a mail session over TLS begins after handshake and greeting") {
    const test::Certificates certificates;
    Peer peer({"python3", mail_server, "PORT", "tls", certificates.file("ca.pem"),
               certificates.file("ca.key")});
    const Outcome outcome = mail(peer, {"--tls", "-k", "--json"}, "EHLO me\nQUIT\n");
    CAPTURE(outcome.errors, outcome.output);
    CHECK(outcome.status == 0);
    const std::string connection = outcome.output.substr(0, outcome.output.find('\n'));
    CHECK(contains(connection, "\"handshake_us\":"));
}

TEST_CASE("a server that does not greet, or closes instead, is named") {
    Peer mute({"python3", mail_server, "PORT", "mute"});
    const Outcome silent = mail(mute, {"-w", "300ms"}, "NOOP\n");
    CAPTURE(silent.errors);
    CHECK(silent.status == 28);
    CHECK(
        contains(silent.errors, "within 300ms: still waiting for the greeting of 127.0.0.1:"));
    CHECK(contains(silent.errors, "0 sent"));
    Peer closing(
        {"python3", test::peers + "/scripted.py", "PORT", "send:220-a\\r\\n", "close"});
    const Outcome cut = mail(closing, {}, "NOOP\n");
    CAPTURE(cut.errors);
    CHECK(cut.status == 56);
    CHECK(contains(cut.errors, "the server closed inside a message, after 7 bytes"));
    Peer closed({"python3", test::peers + "/scripted.py", "PORT", "close"});
    CHECK(mail(closed, {}, "NOOP\n").status == 56);
}

TEST_CASE("a framing for services that do not echo needs a target") {
    const Outcome outcome = run({GENERATE(yodel, yodel_load), "-f", "resp", "-c", "1"});
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.errors,
                   "-f resp needs a target, because the built-in server only echoes"));
}
