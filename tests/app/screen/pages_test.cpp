// Checks pages as plain text of a given width.

#include "app/screen/pages.hpp"

#include "app/text/units.hpp"
#include "tests/app/fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/support/virtual_time.hpp"

#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace yodel;
using test::contains;

namespace {

using Texts = std::vector<std::string>;

Texts texts(const Rows& rows) {
    Texts all;
    for (const ui::Row& row : rows) all.push_back(ui::plain_text(row));
    return all;
}

// The rows joined, with a newline after each.
std::string text(const Rows& rows) {
    std::string all;
    for (const std::string& row : texts(rows)) all += row + "\n";
    return all;
}

// Returns the bytes marked as wrong.
Texts wrong_bytes(const Rows& rows) {
    Texts wrong;
    for (const ui::Row& row : rows)
        for (const ui::Span& span : row)
            if (span.style == ui::Style::wrong) wrong.push_back(span.text);
    return wrong;
}

// Returns the rows with a bad fact.
Texts bad_rows(const Rows& rows) {
    Texts bad;
    for (const ui::Row& row : rows)
        for (const ui::Span& span : row)
            if (span.style == ui::Style::bad) bad.push_back(ui::plain_text(row));
    return bad;
}

Exchange answered(const std::string& payload, const std::string& reply,
                  std::size_t difference) {
    Exchange exchange;
    exchange.id = 7;
    exchange.payload = payload;
    exchange.reply = reply;
    exchange.answered_at = MessageLog::WallTime();
    exchange.right = payload == reply;
    if (!exchange.right) exchange.difference = difference;
    return exchange;
}

}  // namespace

TEST_CASE("a fact wraps between words, in its own columns") {
    const auto [width, value, expected] = GENERATE(table<int, std::string, Texts>({
        {80, "one two three", {"name        one two three"}},
        {20, "one two three", {"name        one two ", "            three"}},
        {19, "one two three", {"name        one two", "            three"}},
        {15, "one two", {"name        one", "            two"}},
        {16, "abcdefgh", {"name        abcd", "            efgh"}},
        {12, "ab", {"name        a", "            b"}},
        {80, "", {"name        "}},
        {80, "\x1b[2J", {"name        ^[[2J"}},
    }));
    PageRows page(width);
    page.add_fact("name", value);
    CHECK(texts(page.rows) == expected);
}

TEST_CASE("a title has an empty row before it unless it is the first") {
    PageRows page(80);
    page.add_title("One");
    page.add_title("Two");
    CHECK(texts(page.rows) == Texts{"One", "", "Two"});
}

TEST_CASE("the page of statistics contains counts, and times once there are any") {
    Results tally;
    tally.sent = 4;
    tally.bad = 1;
    tally.unsolicited = 2;
    CHECK(text(statistics_page(tally, {}, 80)) ==
          "Messages\nsent                4\nechoed              0\nbad                 1\n"
          "lost                0\nlate                0\nunsolicited         2\n");
    CHECK(bad_rows(statistics_page(tally, {}, 80)) == Texts{"bad                 1"});
    tally.round_trips.record(1ms);
    CHECK(contains(text(statistics_page(tally, {}, 80)), "\nRound trips"));
}

TEST_CASE("the histogram has a row for each doubling, and bars in proportion to the longest") {
    Results tally;
    for (int i = 0; i < 4; ++i) tally.round_trips.record(100us);
    tally.round_trips.record(450us);
    const std::string page = text(statistics_page(tally, {}, 44));
    CHECK(contains(page, "\nDistribution\n"
                         "< 0.13 ms   #################### 4\n"
                         "< 0.26 ms   0\n"
                         "< 0.51 ms   ##### 1\n"));
    CHECK(contains(page, "\nmin           0.10 ms\n"));
    CHECK(contains(page, "\nmax           0.45 ms\n"));
}

TEST_CASE("a right echo is shown once") {
    CHECK(text(message_page(answered("hello", "hello", 0), 80)) ==
          "Message 7\nreceived    " + clock_text({}) +
              "\n\nSent, 5 bytes\n00000000  68 65 6c 6c 6f" + std::string(33, ' ') +
              "  |hello|\n\nReceived: identical\n");
}

TEST_CASE("a wrong reply is shown beside its message, the first wrong byte marked") {
    const std::string payload(40, 'a');
    std::string reply = payload;
    reply[20] = 'b';
    const Rows rows = message_page(answered(payload, reply, 20), 80);
    const std::string page = text(rows);
    CHECK(contains(page, "\nSent, 40 bytes\n"));
    CHECK(contains(page, "\nReceived, 40 bytes\n"));
    CHECK(bad_rows(rows) == Texts{"reply       differs at byte 20"});
    CHECK(contains(page, "\n00000010  61 61 61 61 62 61 "));
    CHECK(wrong_bytes(rows) == Texts{"61", "a", "62", "b"});
}

TEST_CASE("a reply that does not match is shown whole, without a difference") {
    Exchange exchange = answered("PING", "-ERR", 0);
    exchange.difference.reset();
    const Rows rows = message_page(exchange, 80);
    CHECK(bad_rows(rows) == Texts{"reply       does not match"});
    CHECK(contains(text(rows), "\nReceived, 4 bytes\n"));
}

TEST_CASE("a message without a reply, and a message from the server alone") {
    Exchange exchange;
    exchange.id = 7;
    exchange.payload = "hello";
    exchange.sent_at = MessageLog::WallTime(1'800'000'000s);
    const std::string unanswered = text(message_page(exchange, 80));
    CHECK(contains(unanswered, "\nsent        " + clock_text(*exchange.sent_at) + "\n"));
    CHECK(contains(unanswered, "\nreply       none yet\n"));
    CHECK_FALSE(contains(unanswered, "Received"));
    Exchange news;
    news.reply = "news";
    news.answered_at = MessageLog::WallTime();
    const std::string unsolicited = text(message_page(news, 80));
    CHECK(unsolicited.starts_with("Unsolicited\n"));
    CHECK(contains(unsolicited, "\nReceived, 4 bytes\n"));
    CHECK_FALSE(contains(unsolicited, "Sent"));
    CHECK(bad_rows(message_page(news, 80)).empty());
}

TEST_CASE("the page of a long message shows the part around the difference") {
    const std::string payload(100'000, 'a');
    std::string reply = payload;
    SECTION("that is near the front") {
        reply[20] = 'b';
        const std::string page = text(message_page(answered(payload, reply, 20), 80));
        CHECK(contains(page, "\n83616 bytes more\n"));
        CHECK_FALSE(contains(page, " before\n"));
    }
    SECTION("that is far in") {
        reply[50'000] = 'b';
        const Rows rows = message_page(answered(payload, reply, 50'000), 80);
        CHECK(contains(text(rows), "\n49872 bytes before\n0000c2d0"));
        CHECK(contains(text(rows), "\n33744 bytes more\n"));
        CHECK(wrong_bytes(rows) == Texts{"61", "a", "62", "b"});
    }
}

TEST_CASE("the page of the connection lists the options, the result, and the secrets") {
    test::VirtualLoop loop;
    test::NoUser user;
    const std::string port = std::to_string(test::unused_port(loop));
    Session session(loop, test::with_port({}, std::stoi(port)), user);
    CHECK(text(connection_page(session, {}, "", "", 80)) ==
          "Connection\ntarget      tcp://127.0.0.1:" + port +
              "\nframing     line\ntimeouts    connect 10s, reply 5s\n");
    session.connect();
    loop.until([&] { return session.state() == Session::State::closed; });
    const Rows rows = connection_page(session, {}, "/tmp/keys", "landlock 7", 120);
    REQUIRE(bad_rows(rows).size() == 1);
    CHECK(contains(bad_rows(rows)[0], "ended       "));
    CHECK(contains(bad_rows(rows)[0], "refused"));
    CHECK(contains(text(rows), "\nsecrets     written to /tmp/keys (SSLKEYLOGFILE)\n"));
    CHECK(contains(text(rows), "\nsandbox     landlock 7\n"));
}

TEST_CASE("the page of an open connection contains its address and its phases") {
    test::VirtualLoop loop;
    test::NoUser user;
    test::ManualServer server(loop);
    Session session(loop, test::with_port({}, server.port()), user);
    session.connect();
    loop.until([&] { return session.state() == Session::State::open; });
    const std::string page = text(connection_page(session, {}, "", "", 80));
    CHECK(contains(page, "\naddress     127.0.0.1:" + std::to_string(server.port()) + "\n"));
    CHECK(contains(page, "\ntook        look-up "));
    CHECK_FALSE(contains(page, ", TLS "));
    CHECK_FALSE(contains(page, "secrets"));
}
