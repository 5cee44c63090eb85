#include "app/protocol/dialogue.hpp"

#include "app/text/units.hpp"
#include "tests/support/escapes.hpp"
#include "tests/support/table.hpp"

using namespace yodel;

namespace {

// A dialogue for a service of STARTTLS, or with the lines of --on-connect for a framing, and
// the bytes that it has not yet consumed.
struct Opening {
    explicit Opening(const std::string& name, const std::vector<std::string>& lines = {})
        : service(find_service(name)),
          dialogue(service ? Dialogue(*service, notes)
                           : Dialogue(*find_framing(name), false, lines, notes)) {
        receive("");
    }

    static const Starttls* find_service(const std::string& name) {
        for (const auto& [each, row] : starttls_services())
            if (name == "starttls " + each) return row;
        return nullptr;
    }

    void receive(const std::string& bytes) {
        input += bytes;
        if (dialogue.is_done()) return;
        std::string_view left = input;
        sent += dialogue.advance(left);
        input = std::string(left);
    }
    std::string failure() const { return dialogue.failure().text("the server"); }
    std::string early_end() const { return dialogue.early_end().text("the server"); }

    std::vector<std::string> notes;
    std::string input;
    std::string sent;
    const Starttls* service;
    Dialogue dialogue;
};

// Returns "SENT | NOTE; NOTE | FAILURE" for "NAME | LINE, LINE | RECEIVED". Instead of a
// failure, the rest of the input may follow. Checks that nothing depends on where the received
// bytes are cut.
std::string outcome(const std::string& row) {
    const std::size_t first = row.find(" | ");
    const std::size_t second = row.find(" | ", first + 1);
    const std::string name = row.substr(0, first);
    const std::string received = test::bytes(row.substr(second + 3));
    std::string whole;
    for (std::size_t cut = 0; cut <= received.size(); ++cut) {
        CAPTURE(cut);
        Opening opening(name, comma_separated(row.substr(first + 3, second - first - 3)));
        opening.receive(received.substr(0, cut));
        opening.receive(received.substr(cut));
        const std::string failure = opening.failure();
        CHECK(opening.dialogue.is_done() == failure.empty());
        if (opening.service && !failure.empty())
            CHECK(opening.dialogue.failure().reason == bufio::Reason::tls);
        const std::string end = failure.empty() ? test::shown(opening.input) : failure;
        const std::string text =
            test::shown(opening.sent) + " | " + join(opening.notes, "; ") + " | " + end;
        if (cut == 0) whole = text;
        CHECK(text == whole);
    }
    return whole.substr(0, whole.find_last_not_of(' ') + 1);
}

}  // namespace

TEST_CASE("a dialogue opens a connection, wherever the answers are cut") {
    test::check_table(R"(resp | AUTH secret,PING | +OK\r\n$4\r\nPONG\r\n:1\r\n
=> AUTH secret\r\nPING\r\n | --on-connect 1, AUTH ...: OK; --on-connect 2, PING: "PONG" | :1\r\n
resp | AUTH a,GET b | -WRONGPASS no\r\n
=> AUTH a\r\n | --on-connect 1, AUTH ...: (error) WRONGPASS no | the server refused --on-connect 1: -WRONGPASS no
resp | SUBSCRIBE a | >2\r\n+x\r\n+y\r\n+OK\r\n
=> SUBSCRIBE a\r\n | greeting: 1) x; 2) y; --on-connect 1, SUBSCRIBE ...: OK |
resp | GET a | nonsense\r\n
=> GET a\r\n |  | the server sent "nonsense", which is not valid for -f resp
smtp | EHLO me | 220 mail\r\n250-mail\r\n250 HELP\r\n
=> EHLO me\r\n | greeting: 220 mail; --on-connect 1, EHLO ...: 250-mail; 250 HELP |
smtp | NOOP | 220 mail\r\n450 later\r\n
=> NOOP\r\n | greeting: 220 mail; --on-connect 1, NOOP: 450 later | the server refused --on-connect 1: 450 later
line | hello,you there | hello\n
=> hello\nyou there\n | --on-connect 1, hello; --on-connect 2, you ... | hello\n
len2 | a | \x00 => \x00\x01a | --on-connect 1, a | \x00
starttls smtp |  | 220-a\r\n220 b\r\n250-STARTTLS\r\n250 HELP\r\n220 go\r\n
=> EHLO localhost\r\nSTARTTLS\r\n | STARTTLS: 220-a; 220 b; STARTTLS: 250-STARTTLS; 250 HELP; STARTTLS: 220 go |
starttls imap |  | * OK a\r\n* CAPABILITY x\r\na ok\r\n
=> a STARTTLS\r\n | STARTTLS: * OK a; STARTTLS: * CAPABILITY x; STARTTLS: a ok |
starttls pop3 |  | +OK a\r\n+OK go\r\n
=> STLS\r\n | STARTTLS: +OK a; STARTTLS: +OK go |
starttls ftp |  | 120 soon\r\n220-a\r\n 530 b\r\n220 c\r\n234 go\r\n
=> AUTH TLS\r\n | STARTTLS: 120 soon; STARTTLS: 220-a;  530 b; 220 c; STARTTLS: 234 go |
starttls smtp |  | 220 a\r\n250 b\r\n454-no\r\n454 x\r\n
=> EHLO localhost\r\nSTARTTLS\r\n | STARTTLS: 220 a; STARTTLS: 250 b; STARTTLS: 454-no; 454 x | the server answered STARTTLS with: 454-no; expected 220
starttls smtp |  | 250 a\r\n
=>  | STARTTLS: 250 a | the server greeted with: 250 a; expected 220
starttls imap |  | * OK\r\na NO x\r\n
=> a STARTTLS\r\n | STARTTLS: * OK; STARTTLS: a NO x | the server answered STARTTLS with: a NO x; expected a OK
starttls imap |  | * OKAY\r\n
=>  | STARTTLS: * OKAY | the server greeted with: * OKAY; expected * OK
starttls pop3 |  | +OK\r\n-ERR\r\n
=> STLS\r\n | STARTTLS: +OK; STARTTLS: -ERR | the server answered STLS with: -ERR; expected +OK
)",
                      outcome);
}

TEST_CASE("a dialogue sends a line only after the answer to the line before") {
    Opening opening("starttls smtp");
    CHECK(opening.sent.empty());
    CHECK(opening.early_end() == "the server closed the connection before it greeted");
    opening.receive("220-a\r\n220 b\r");
    CHECK(opening.sent.empty());
    opening.receive("\n");
    CHECK(opening.sent == "EHLO localhost\r\n");
    CHECK(opening.early_end() ==
          "the server closed the connection before it answered EHLO localhost");
}

TEST_CASE("STARTTLS refuses plaintext after the last answer, and too much of it before") {
    const struct {
        std::string name;
        std::string first;  // the answers before the last
        std::string last;
        std::string more;  // begins a line that is not yet the last answer
    } rows[] = {
        {"smtp", "220 a\r\n250 b\r\n", "220 go\r\n", "220-"},
        {"imap", "* OK a\r\n", "a ok\r\n", "----"},
        {"pop3", "+OK a\r\n", "+OK go\r\n", "----"},
        {"ftp", "220 a\r\n", "234 go\r\n", "234-"},
    };
    for (const auto& [name, first, last, more] : rows) {
        CAPTURE(name);
        for (const std::string& rest : {std::string("x"), last}) {
            Opening opening("starttls " + name);
            opening.receive(first + last + rest);
            CHECK(opening.failure().starts_with("the server sent more plaintext after it "));
        }
        for (const std::size_t size : {32U, 65U}) {
            Opening opening("starttls " + name);
            opening.receive(first);
            std::string line = more + std::string(1018, '-');
            if (name != "pop3") line += "\r\n";
            for (std::size_t i = 0; i < size; ++i) opening.receive(line);
            CHECK_FALSE(opening.dialogue.is_done());
            CHECK(opening.failure().starts_with("the server sent more than 64 KiB") ==
                  (size == 65));
        }
    }
}
