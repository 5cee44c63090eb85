#include "app/text/exit_status.hpp"

#include "tests/support/catch.hpp"

using bufio::Reason;

TEST_CASE("returns the status of curl for each reason of an end") {
    struct Row {
        Reason reason;
        int status;
    };
    const Row row = GENERATE(
        Row{Reason::none, 0}, Row{Reason::clean, 0}, Row{Reason::unclosed, 0},
        Row{Reason::aborted, 0}, Row{Reason::lookup, 6}, Row{Reason::connect, 7},
        Row{Reason::output, 23}, Row{Reason::timeout, 28}, Row{Reason::tls, 35},
        Row{Reason::handshake_interrupted, 35}, Row{Reason::send, 55}, Row{Reason::receive, 56},
        Row{Reason::truncated, 56}, Row{Reason::limit, 56}, Row{Reason::own_certificate, 58},
        Row{Reason::certificate, 60}, Row{Reason::trust, 77}, Row{Reason::pin, 90});
    CHECK(yodel::exit_status({row.reason, "text"}) == row.status);
}

TEST_CASE("remarks on the groups after silence to a hello of more than a segment") {
    bufio::TlsFacts facts;
    const bufio::End silence{Reason::timeout, "no connection"};
    for (const std::size_t size : {0U, 517U, 1448U}) {
        facts.unanswered_hello = size;
        CHECK(yodel::explain(silence, &facts) == "no connection");
    }
    facts.unanswered_hello = 1449;
    const std::string remark =
        "; it did not answer a ClientHello of 1449 bytes, which exceeds one TCP segment and is "
        "too large for some servers and middleboxes: --groups X25519 makes it smaller";
    CHECK(yodel::explain(silence, &facts) == "no connection" + remark);
    CHECK(yodel::explain({Reason::handshake_interrupted, "closed"}, &facts) ==
          "closed" + remark);
    CHECK(yodel::explain({Reason::tls, "an alert"}, &facts) == "an alert");
    CHECK(yodel::explain(silence, nullptr) == "no connection");
    facts.groups = "X25519";
    CHECK(yodel::explain(silence, &facts) ==
          "no connection" + remark.substr(0, remark.find(": --groups")));
}

TEST_CASE("remarks that a server that refuses the offer may lack the requested groups") {
    const bufio::End refusal{Reason::tls, "the peer aborted the connection"};
    bufio::TlsFacts facts;
    facts.offer_refused = true;
    CHECK(yodel::explain(refusal, &facts) == "the peer aborted the connection");
    facts.groups = "X25519";
    CHECK(yodel::explain(refusal, &facts) ==
          "the peer aborted the connection; it may not support the groups of --groups X25519");
    facts.offer_refused = false;
    CHECK(yodel::explain(refusal, &facts) == "the peer aborted the connection");
    CHECK(yodel::explain(refusal, nullptr) == "the peer aborted the connection");
}

TEST_CASE("prints the end of a certificate as a date, with the days until or since then") {
    struct Row {
        long days;
        bool expired;
        std::string text;
    };
    const Row row =
        GENERATE(Row{-2, true, ", 2 days ago"}, Row{-1, true, ", 1 day ago"},
                 Row{0, true, ", less than a day ago"}, Row{0, false, ", in less than a day"},
                 Row{1, false, ", in 1 day"}, Row{90, false, ", in 90 days"});
    bufio::TlsFacts facts;
    facts.not_after = "2026-11-20";
    facts.days_left = row.days;
    facts.expired = row.expired;
    CHECK(yodel::certificate_end(facts) == "2026-11-20" + row.text);
}

TEST_CASE("remarks on a certificate that -k accepted, but not on a refused certificate") {
    bufio::TlsFacts facts;
    CHECK(yodel::unverified_remark({}, nullptr).empty());
    CHECK(yodel::unverified_remark({}, &facts).empty());
    facts.unverified = "is self-signed";
    CHECK(yodel::unverified_remark({Reason::clean, "closed"}, &facts) ==
          "; UNVERIFIED (-k): the certificate is self-signed");
    const Reason refusal = GENERATE(Reason::certificate, Reason::pin);
    CHECK(yodel::unverified_remark({refusal, "text"}, &facts).empty());
}
