#include "app/protocol/dialogue.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace yodel;

namespace {

struct Row {
    std::string opening;             // a service of STARTTLS, or else a framing
    std::vector<std::string> lines;  // of --on-connect
    std::string received;            // what the service sends, whatever it has received
    std::string sent;                // what it has received in the end
    std::string end;                 // how opening the connection fails; empty if it succeeds
    std::vector<std::string> notes;
    std::string rest = {};  // input after the opening
};

const Row rows[] = {
    {"resp",
     {"AUTH secret", "PING"},
     "+OK\r\n$4\r\nPONG\r\n:1\r\n",
     "AUTH secret\r\nPING\r\n",
     "",
     {"--on-connect 1, AUTH ...: +OK", "--on-connect 2, PING: $4", "PONG"},
     ":1\r\n"},
    {"resp",
     {"AUTH a", "GET b"},
     "-WRONGPASS no\r\n",
     "AUTH a\r\n",
     "the server refused --on-connect 1: -WRONGPASS no",
     {"--on-connect 1, AUTH ...: -WRONGPASS no"}},
    {"resp",
     {"SUBSCRIBE a"},
     ">2\r\n+x\r\n+y\r\n+OK\r\n",
     "SUBSCRIBE a\r\n",
     "",
     {"greeting: >2", "+x", "+y", "--on-connect 1, SUBSCRIBE ...: +OK"}},
    {"resp",
     {"GET a"},
     "nonsense\r\n",
     "GET a\r\n",
     "the server sent \"nonsense\", which is not valid for -f resp",
     {}},
    {"smtp",
     {"EHLO me"},
     "220 mail\r\n250-mail\r\n250 HELP\r\n",
     "EHLO me\r\n",
     "",
     {"greeting: 220 mail", "--on-connect 1, EHLO ...: 250-mail", "250 HELP"}},
    {"smtp",
     {"NOOP"},
     "220 mail\r\n450 later\r\n",
     "NOOP\r\n",
     "the server refused --on-connect 1: 450 later",
     {"greeting: 220 mail", "--on-connect 1, NOOP: 450 later"}},
    {"line",
     {"hello", "you there"},
     "hello\n",
     "hello\nyou there\n",
     "",
     {"--on-connect 1, hello", "--on-connect 2, you ..."},
     "hello\n"},
    {"len2", {"a"}, "", std::string("\0\1a", 3), "", {"--on-connect 1, a"}},
    {"starttls smtp",
     {},
     "220-a\r\n220 b\r\n250-STARTTLS\r\n250 HELP\r\n220 go\r\n",
     "EHLO localhost\r\nSTARTTLS\r\n",
     "",
     {"STARTTLS: 220-a", "220 b", "STARTTLS: 250-STARTTLS", "250 HELP", "STARTTLS: 220 go"}},
    {"starttls imap",
     {},
     "* OK a\r\n* CAPABILITY x\r\na ok\r\n",
     "a STARTTLS\r\n",
     "",
     {"STARTTLS: * OK a", "STARTTLS: * CAPABILITY x", "STARTTLS: a ok"}},
    {"starttls pop3",
     {},
     "+OK a\r\n+OK go\r\n",
     "STLS\r\n",
     "",
     {"STARTTLS: +OK a", "STARTTLS: +OK go"}},
    {"starttls ftp",
     {},
     "120 soon\r\n220-a\r\n 530 b\r\n220 c\r\n234 go\r\n",
     "AUTH TLS\r\n",
     "",
     {"STARTTLS: 120 soon", "STARTTLS: 220-a", " 530 b", "220 c", "STARTTLS: 234 go"}},
    {"starttls smtp",
     {},
     "220 a\r\n250 b\r\n454-no\r\n454 x\r\n",
     "EHLO localhost\r\nSTARTTLS\r\n",
     "the server answered STARTTLS with: 454-no; expected 220",
     {"STARTTLS: 220 a", "STARTTLS: 250 b", "STARTTLS: 454-no", "454 x"}},
    {"starttls smtp",
     {},
     "250 a\r\n",
     "",
     "the server greeted with: 250 a; expected 220",
     {"STARTTLS: 250 a"}},
    {"starttls imap",
     {},
     "* OK\r\na NO x\r\n",
     "a STARTTLS\r\n",
     "the server answered STARTTLS with: a NO x; expected a OK",
     {"STARTTLS: * OK", "STARTTLS: a NO x"}},
    {"starttls imap",
     {},
     "* OKAY\r\n",
     "",
     "the server greeted with: * OKAY; expected * OK",
     {"STARTTLS: * OKAY"}},
    {"starttls pop3",
     {},
     "+OK\r\n-ERR\r\n",
     "STLS\r\n",
     "the server answered STLS with: -ERR; expected +OK",
     {"STARTTLS: +OK", "STARTTLS: -ERR"}},
};

const Starttls& starttls(const std::string& name) {
    for (const auto& [each, service] : starttls_services())
        if ("starttls " + each == name) return *service;
    throw std::invalid_argument(name);
}

// A dialogue, and the bytes that it has not yet consumed.
struct Opening {
    explicit Opening(const Row& row)
        : dialogue(row.opening.starts_with("starttls ")
                       ? Dialogue(starttls(row.opening), notes)
                       : Dialogue(*find_framing(row.opening), false, row.lines, notes)) {}

    void receive(const std::string& bytes) {
        input += bytes;
        std::string_view left = input;
        sent += dialogue.advance(left);
        input = std::string(left);
    }
    std::string failure() const { return dialogue.failure().text("the server"); }

    std::vector<std::string> notes;
    std::string input;
    std::string sent;
    Dialogue dialogue;
};

}  // namespace

TEST_CASE("a dialogue opens a connection, wherever the answers are cut") {
    for (const Row& row : rows) {
        CAPTURE(row.opening, row.received);
        for (std::size_t cut = 0; cut <= row.received.size(); ++cut) {
            CAPTURE(cut);
            Opening opening(row);
            opening.receive("");
            opening.receive(row.received.substr(0, cut));
            if (!opening.dialogue.done())
                opening.receive(row.received.substr(cut));
            else
                opening.input += row.received.substr(cut);
            CHECK(opening.sent == row.sent);
            CHECK(opening.notes == row.notes);
            CHECK(opening.failure() == row.end);
            CHECK(opening.dialogue.done() == row.end.empty());
            if (row.end.empty()) CHECK(opening.input == row.rest);
            const bool tls = row.opening.starts_with("starttls ");
            if (tls && !row.end.empty())
                CHECK(opening.dialogue.failure().reason == bufio::Reason::tls);
        }
    }
}

TEST_CASE("a dialogue sends a line only after the answer to the line before") {
    Opening opening(rows[8]);
    opening.receive("");
    CHECK(opening.sent.empty());
    CHECK(opening.dialogue.early_end().text("the server") ==
          "the server closed the connection before it greeted");
    opening.receive("220-a\r\n220 b\r");
    CHECK(opening.sent.empty());
    opening.receive("\n");
    CHECK(opening.sent == "EHLO localhost\r\n");
    CHECK(opening.dialogue.early_end().text("the server") ==
          "the server closed the connection before it answered EHLO localhost");
}

TEST_CASE("STARTTLS refuses plaintext after the last answer, and too much of it before") {
    for (const Row& row : rows) {
        if (!row.opening.starts_with("starttls ") || !row.end.empty()) continue;
        CAPTURE(row.opening);
        const std::size_t begin = row.received.rfind('\n', row.received.size() - 2) + 1;
        const std::string last = row.received.substr(begin);
        for (const std::string& more : {std::string("x"), last}) {
            Opening opening(row);
            opening.receive(row.received + more);
            CHECK(opening.failure().starts_with("the server sent more plaintext after it "));
        }
        for (const std::size_t size : {32U, 65U}) {
            Opening opening(row);
            opening.receive(row.received.substr(0, begin));
            std::string more(1022, '-');
            if (!row.opening.ends_with("pop3")) more += "\r\n";
            if (row.opening.ends_with("tp")) more.replace(0, 4, last.substr(0, 3) + "-");
            for (std::size_t i = 0; i < size; ++i) opening.receive(more);
            CHECK_FALSE(opening.dialogue.done());
            CHECK(opening.failure().starts_with("the server sent more than 64 KiB") ==
                  (size == 65));
        }
    }
}
