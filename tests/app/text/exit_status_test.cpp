#include "app/text/exit_status.hpp"

#include "tests/support/catch.hpp"

using bufio::Reason;

TEST_CASE("returns the status of curl for each reason of an end") {
    const std::pair<Reason, int> rows[] = {
        {Reason::none, 0},          {Reason::clean, 0},    {Reason::unclosed, 0},
        {Reason::aborted, 0},       {Reason::lookup, 6},   {Reason::connect, 7},
        {Reason::refused, 7},       {Reason::reset, 56},   {Reason::output, 23},
        {Reason::timeout, 28},      {Reason::tls, 35},     {Reason::handshake_interrupted, 35},
        {Reason::send, 55},         {Reason::receive, 56}, {Reason::truncated, 56},
        {Reason::closed_early, 56}, {Reason::limit, 56},   {Reason::own_certificate, 58},
        {Reason::certificate, 60},  {Reason::trust, 77},   {Reason::pin, 90}};
    for (const auto& [reason, status] : rows) CHECK(yodel::exit_status({reason}) == status);
}

TEST_CASE("names the signal that ended the program") {
    const std::pair<int, const char*> rows[] = {{SIGINT, "ended by SIGINT"},
                                                {SIGHUP, "ended by SIGHUP"},
                                                {SIGTERM, "ended by SIGTERM"},
                                                {99, "ended by signal 99"}};
    for (const auto& [signo, text] : rows) CHECK(yodel::signal_text(signo) == text);
}

TEST_CASE("prints the end of a certificate as a date, with the days until or since then") {
    struct Row {
        long days;
        bool expired;
        const char* text;
    };
    const Row rows[] = {{-2, true, "2 days ago"},         {-1, true, "1 day ago"},
                        {0, true, "less than a day ago"}, {0, false, "in less than a day"},
                        {1, false, "in 1 day"},           {90, false, "in 90 days"}};
    bufio::TlsFacts facts;
    facts.not_after = "2026-11-20";
    for (const Row& row : rows) {
        facts.days_left = row.days;
        facts.is_expired = row.expired;
        CHECK(yodel::certificate_end_text(facts) == "2026-11-20, " + std::string(row.text));
    }
}

TEST_CASE("mentions a certificate that -k accepted, but not a refused one") {
    bufio::TlsFacts facts;
    CHECK(yodel::unverified_remark({}, nullptr) == "");
    CHECK(yodel::unverified_remark({}, &facts) == "");
    CHECK(yodel::certificate_faults_text(facts) == "");
    facts.faults_text = "is self-signed";
    CHECK(yodel::unverified_remark({Reason::clean}, &facts) ==
          "; UNVERIFIED (-k): the certificate is self-signed");
    for (const Reason refusal : {Reason::certificate, Reason::pin})
        CHECK(yodel::unverified_remark({refusal}, &facts) == "");
}
