#include "app/run/rate_client.hpp"

#include "tests/app/run/echo_server.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <csignal>
#include <memory>
#include <vector>

using namespace std::chrono_literals;
using namespace yodel;
using test::contains;
using test::EchoServer;

namespace {

struct Fixture {
    ev::Loop loop;
    EchoServer server{loop};

    RateClient::Options options(const std::string& clause) const {
        RateClient::Options to{.run = {}, .required = Requirement(clause)};
        to.run.session.endpoint.host = "127.0.0.1";
        to.run.session.endpoint.service = std::to_string(server.port());
        to.run.session.reply_timeout = 20ms;
        to.run.connections = 2;
        to.report.quiet = true;
        to.min_time = 20ms;
        to.min_messages = 0;
        return to;
    }

    // Returns the sentence about the result, and the exit status.
    std::pair<std::string, int> search(const RateClient::Options& options) {
        RateClient client(loop, options);
        loop.run();
        return {client.result_text(), client.report()};
    }
};

}  // namespace

// In 20 ms fewer than 150 messages are planned at less than 7500 a second.
TEST_CASE_METHOD(Fixture, "a search finds the highest rate at which the clause holds") {
    const auto [found, status] = search(options("sent<150"));
    CHECK(contains(found, "highest rate with sent<150: 7.34k/s; at 7.66k/s required sent<150, "
                          "was 154"));
    CHECK(status == 0);
}

TEST_CASE_METHOD(Fixture, "a search reports that it reached its upper limit") {
    RateClient::Options options = this->options("sent>0");
    options.search = {.first = 500, .min = 500, .max = 1000};
    const auto [found, status] = search(options);
    CHECK(found == "highest rate with sent>0: 1k/s, the maximum");
    CHECK(status == 0);
}

TEST_CASE_METHOD(Fixture, "no rate holds without replies") {
    server.answers = false;
    RateClient::Options options = this->options("bad<1");
    options.search = {.first = 500, .min = 250, .max = 1000};
    const auto [found, status] = search(options);
    CHECK(contains(found, "no rate with bad<1: 5 sent, 0 echoed, 0 bad, 5 lost"));
    CHECK(status == 1);
}

TEST_CASE_METHOD(Fixture, "a clause that holds at no rate ends the search briefly") {
    RateClient::Options options = this->options("max<0.001us");
    options.min_messages = 1000;  // 100 s at the lowest rate
    options.brief_messages = 3;
    options.search = {.first = 50'000, .min = 10, .max = 100'000};
    const auto [found, status] = search(options);
    CHECK(contains(found, "no rate with max<0.001us: required max<0.001us, was "));
    CHECK(status == 1);
}

TEST_CASE_METHOD(Fixture, "a search that is ended before its first failure reports no rate") {
    RateClient client(loop, options("p99<1s"));
    client.quit(SIGINT);
    loop.run();
    CHECK(client.result_text() == "no rate with p99<1s so far");
    CHECK(client.report() == 128 + SIGINT);
}

TEST_CASE_METHOD(Fixture, "a service that can't be reached ends the search with its status") {
    RateClient::Options options = this->options("p99<1ms");
    {
        EchoServer gone(loop);
        options.run.session.endpoint.service = std::to_string(gone.port());
    }
    const auto [found, status] = search(options);
    CHECK(contains(found, "no rate with p99<1ms: cannot connect to 127.0.0.1:"));
    CHECK(status == 7);
}
