#include "app/screen/status_line.hpp"

#include "tests/app/fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/support/virtual_time.hpp"

#include <string>

using namespace yodel;
using State = Session::State;
using test::contains;

namespace {

std::string appended(ui::Row row, const char* hints, int width) {
    append_hints(row, hints, width);
    return ui::plain_text(row);
}

}  // namespace

TEST_CASE("hints that do not fit are dropped whole, from the end") {
    const char* const hints = "F1 keys; ^D quits; M-r connects now";
    const auto [width, shown] = GENERATE(table<int, std::string>({
        {80, "F1 keys; ^D quits; M-r connects now"},
        {35, "F1 keys; ^D quits; M-r connects now"},
        {34, "F1 keys; ^D quits"},
        {17, "F1 keys; ^D quits"},
        {16, "F1 keys"},
        {7, "F1 keys"},
    }));
    CHECK(appended({}, hints, width) == shown);
}

TEST_CASE("the first hint alone is truncated, but after a label it is omitted") {
    const ui::Row label{{"find: "}};
    CHECK(appended({}, "F1 keys; ^D quits", 3) == "F1 ");
    CHECK(appended({}, "^C again to quit", 3) == "^C ");
    CHECK(appended({}, "", 3).empty());
    CHECK(appended(label, "F1 keys; ^D quits", 13) == "find: F1 keys");
    CHECK(appended(label, "F1 keys; ^D quits", 12) == "find: ");
    CHECK(appended(label, "F1 keys; ^D quits", 3) == "fin");
}

TEST_CASE("each state of the connection has its hints") {
    test::VirtualLoop loop;
    test::NoUser user;
    test::ManualServer server(loop);
    Session session(loop, test::with_port({}, server.port()), user);
    CHECK(contains(connection_hints(session, false), "^C cancels"));
    session.connect();
    loop.until([&] { return session.state() == State::open && server.stream; });
    CHECK(contains(connection_hints(session, false), "Enter sends a line"));
    CHECK(connection_hints(session, true).empty());
    session.send("hello");
    session.finish();
    CHECK(contains(connection_hints(session, true), "^D quits now"));
    session.disconnect();
    CHECK(contains(connection_hints(session, true), "M-r reconnects"));
}

TEST_CASE("between two tries the hint suggests to connect now") {
    test::VirtualLoop loop;
    test::NoUser user;
    Session::Options options;
    options.retries = Session::forever;
    Session session(loop, test::with_port(options, test::unused_port(loop)), user);
    session.connect();
    loop.until([&] { return session.state() == State::waiting; });
    CHECK(contains(connection_hints(session, false), "M-r retries now"));
}

TEST_CASE("after a refused certificate the hint names the page that explains it") {
    test::VirtualLoop loop;
    test::NoUser user;
    test::SilentTlsServer server(loop);
    Session::Options options;
    options.tls = bufio::TlsContext::client({});
    Session session(loop, test::with_port(options, server.port()), user);
    session.connect();
    loop.until([&] { return session.state() == State::closed; });
    CHECK(contains(connection_hints(session, false), "M-i shows why"));
}
