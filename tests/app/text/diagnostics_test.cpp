#include "app/text/diagnostics.hpp"

#include "tests/support/blocked.hpp"
#include "tests/support/catch.hpp"

#include <fcntl.h>

#include <csignal>
#include <string>

using namespace std::chrono_literals;
using test::Ends;
using yodel::Diagnostics;

namespace {

std::string last_line(const std::string& text) {
    const std::size_t before = text.rfind('\n', text.size() - 2);
    return text.substr(before + 1);
}

// Writes lines of this size until some are left out.
std::string long_line() { return std::string(1023, 'y'); }

}  // namespace

TEST_CASE("writes a remark as one printable line") {
    const Ends ends = test::pipe_ends();
    Diagnostics diagnostics(ends.writer.get(), "yodel");
    diagnostics.remark("a\x1b[2J\nb");
    CHECK(test::take(ends.reader) == "yodel: a^[[2J^Jb\n");
    diagnostics.set_form(Diagnostics::Form::json);
    diagnostics.remark("an \"a\"");
    CHECK(test::take(ends.reader) == "{\"text\":\"an \\\"a\\\"\"}\n");
}

TEST_CASE("keeps a line without space waiting, and blocks nobody") {
    Ends (*const make)() =
        GENERATE(&test::pipe_ends, &test::socket_ends, &test::stopped_terminal_ends);
    const Ends ends = make();
    const std::size_t filled = test::fill(ends.writer);
    const int flags = ::fcntl(ends.writer.get(), F_GETFL);
    Diagnostics diagnostics(ends.writer.get(), "yodel");
    diagnostics.remark("one");
    diagnostics.remark("two");
    ::tcflow(ends.writer.get(), TCOON);
    CHECK(test::take(ends.reader) == std::string(filled, 'x'));
    diagnostics.drain(1s);
    CHECK(test::take(ends.reader) == "yodel: one\nyodel: two\n");
    CHECK(::fcntl(ends.writer.get(), F_GETFL) == flags);  // other processes share it
}

TEST_CASE("counts lines without space, and writes the count in their place") {
    const Ends ends = test::pipe_ends();
    test::fill(ends.writer);
    Diagnostics diagnostics(ends.writer.get(), "yodel");
    for (int i = 0; i < 75; ++i) diagnostics.line(long_line());
    test::take(ends.reader);
    diagnostics.remark("next");  // behind the waiting lines, with just enough space
    test::take(ends.reader);
    diagnostics.remark("last");
    const std::string text = test::take(ends.reader);
    CAPTURE(text);
    CHECK(text.starts_with("yodel: 1"));
    CHECK(text.find(" lines were not written: standard error was not read\n") !=
          std::string::npos);
    CHECK(last_line(text) == "yodel: last\n");
}

TEST_CASE("dates the count of missing lines in a log, like every line") {
    const Ends ends = test::pipe_ends();
    Diagnostics diagnostics(ends.writer.get(), "yodeld");
    diagnostics.set_dated();
    const bool json = GENERATE(false, true);
    if (json) diagnostics.set_form(Diagnostics::Form::json);
    for (int i = 0; i < 400; ++i) diagnostics.line(long_line());
    std::string text;
    while (text.find("was not read") == std::string::npos) {
        text += test::take(ends.reader);
        diagnostics.drain(1s);
    }
    const std::string line = last_line(text);
    CAPTURE(line);
    CHECK(line.find(" lines were not written: standard error was not read") !=
          std::string::npos);
    CHECK(line.starts_with(json ? "{\"time\":\"20" : "20"));
}

TEST_CASE("tears no line, however the reader pauses") {
    const Ends ends = test::pipe_ends();
    Diagnostics diagnostics(ends.writer.get(), "yodel");
    std::string text;
    for (int i = 0; i < 400; ++i) {
        diagnostics.line(long_line());
        if (i % 150 == 149) text += test::take(ends.reader);
    }
    text += test::take(ends.reader);
    diagnostics.drain(1s);
    text += test::take(ends.reader);
    while (!text.empty()) {
        const std::string line = text.substr(0, text.find('\n'));
        text.erase(0, line.size() + 1);
        if (line != long_line()) CHECK(line.ends_with("standard error was not read"));
    }
}

TEST_CASE("writes waiting output from the loop, once there is space") {
    const Ends ends = test::pipe_ends();
    test::fill(ends.writer);
    ev::Loop loop;
    Diagnostics diagnostics(ends.writer.get(), "yodel");
    diagnostics.attach(loop);
    for (int i = 0; i < 100; ++i) diagnostics.line(long_line());
    std::string text = test::take(ends.reader);
    while (!text.ends_with("standard error was not read\n")) {
        REQUIRE(loop.step(20s));
        text += test::take(ends.reader);
    }
    CHECK(last_line(text).starts_with("yodel: "));
}

TEST_CASE("goes on if standard error refuses everything") {
    std::signal(SIGPIPE, SIG_IGN);
    Ends ends = test::pipe_ends();
    ends.reader.reset();
    Diagnostics diagnostics(ends.writer.get(), "yodel");
    diagnostics.remark("unread");
    diagnostics.drain(1h);  // there is nothing to wait for
    Diagnostics full(::open("/dev/full", O_WRONLY), "yodel");
    full.remark("unwritten");
    full.drain(1h);
    Diagnostics closed(-1, "yodel");
    closed.remark("nowhere");
    closed.drain(1h);
}

TEST_CASE("leaves out a passing state while lines wait") {
    const Ends ends = test::pipe_ends();
    Diagnostics diagnostics(ends.writer.get(), "yodel");
    diagnostics.show("\r1 sent");
    CHECK(test::take(ends.reader) == "\r1 sent");
    test::fill(ends.writer);
    diagnostics.remark("waits");
    diagnostics.show("\r2 sent");
    test::take(ends.reader);
    diagnostics.drain(1s);
    CHECK(test::take(ends.reader) == "yodel: waits\n");
}
