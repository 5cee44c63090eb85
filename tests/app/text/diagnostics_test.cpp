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

// Lines of so many bytes each, until some are left out.
std::string long_line() { return std::string(1023, 'y'); }

}  // namespace

TEST_CASE("a remark is one printable line") {
    const Ends ends = test::pipe_ends();
    Diagnostics diagnostics(ends.writer.get(), "yodel");
    diagnostics.remark("a\x1b[2J\nb");
    CHECK(test::take(ends.reader) == "yodel: a^[[2J^Jb\n");
    diagnostics.set_form(Diagnostics::Form::json);
    diagnostics.remark("say \"a\"");
    CHECK(test::take(ends.reader) == "{\"text\":\"say \\\"a\\\"\"}\n");
}

TEST_CASE("a line for which there is no room waits, and nobody is blocked") {
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
    CHECK(::fcntl(ends.writer.get(), F_GETFL) == flags);  // which others share
}

TEST_CASE("lines without room are counted, and the count stands in their place") {
    const Ends ends = test::pipe_ends();
    test::fill(ends.writer);
    Diagnostics diagnostics(ends.writer.get(), "yodel");
    for (int i = 0; i < 75; ++i) diagnostics.line(long_line());
    test::take(ends.reader);
    diagnostics.remark("next");  // behind what waited, for which there is just room
    test::take(ends.reader);
    diagnostics.remark("last");
    const std::string text = test::take(ends.reader);
    CAPTURE(text);
    CHECK(text.starts_with("yodel: 1"));
    CHECK(text.find(" lines were not written: standard error was not read\n") !=
          std::string::npos);
    CHECK(last_line(text) == "yodel: last\n");
}

TEST_CASE("in a log the count of lines left out has the time, like every line") {
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

TEST_CASE("no line is torn, wherever the reader pauses") {
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

TEST_CASE("waiting output is written from the loop, once there is room") {
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

TEST_CASE("standard error that refuses everything is no reason to stop") {
    std::signal(SIGPIPE, SIG_IGN);
    Ends ends = test::pipe_ends();
    ends.reader.reset();
    Diagnostics diagnostics(ends.writer.get(), "yodel");
    diagnostics.remark("unread");
    diagnostics.drain(20s);  // there is nothing to wait for
    Diagnostics full(::open("/dev/full", O_WRONLY), "yodel");
    full.remark("unwritten");
    full.drain(20s);
    Diagnostics closed(-1, "yodel");
    closed.remark("nowhere");
    closed.drain(20s);
}

TEST_CASE("a passing state is left out while lines wait") {
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
