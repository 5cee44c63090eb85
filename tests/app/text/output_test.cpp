#include "app/text/output.hpp"

#include "tests/support/blocked.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/redirected.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>

using namespace std::chrono_literals;
using test::Ends;
using yodel::Diagnostics;
using yodel::Output;

namespace {

std::string numbers(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += std::to_string(i) + "\n";
    return text;
}

}  // namespace

TEST_CASE("keeps the order of bytes that the reader accepts late") {
    Ends (*const make)() = GENERATE(&test::pipe_ends, &test::socket_ends, &test::terminal_ends);
    const Ends ends = make();
    const int flags = ::fcntl(ends.writer.get(), F_GETFL);
    ev::Loop loop;
    Output output(loop, ends.writer.get(), [] {});
    const std::string text = numbers(100'000);
    for (std::size_t at = 0; at < text.size(); at += 10'000)
        output.write(std::string_view(text).substr(at, 10'000));
    CHECK(output.pending() > 0);
    std::string taken;
    while (output.pending() > 0) {
        taken += test::take(ends.reader);
        REQUIRE(loop.step(20s));
    }
    while (taken.size() < text.size()) taken += test::take(ends.reader);
    CHECK(taken == text);
    CHECK(::fcntl(ends.writer.get(), F_GETFL) == flags);
}

TEST_CASE("waits for the reader no longer than the given time") {
    const Ends ends = test::pipe_ends();
    test::fill(ends.writer);
    Output output(ends.writer.get());
    output.write("late\n");
    output.drain(1ms);
    CHECK(output.pending() == 5);
    CHECK_FALSE(output.is_done());
    test::take(ends.reader);
    output.drain(20s);
    CHECK(output.is_done());
    CHECK(test::take(ends.reader) == "late\n");
}

TEST_CASE("reports the system's reason if writing fails") {
    std::signal(SIGPIPE, SIG_IGN);
    const std::pair<bufio::Fd, int> rows[] = {
        {test::pipe_ends().writer, EPIPE},
        {bufio::Fd(::open("/dev/full", O_WRONLY)), ENOSPC},
        {bufio::Fd(::open("/dev/null", O_RDONLY)), EBADF}};
    for (const auto& [file, error] : rows) {
        Output output(file.get());
        output.write("a");
        output.flush();
        CHECK(output.error() == error);
        CHECK(output.is_done());
        output.clear();
        CHECK(output.error() == 0);
        CHECK(output.pending() == 0);
    }
}

// --- Diagnostics

namespace {

const std::string unread = " not written, because standard error was not read";

// Takes all lines from the reader, and returns the last.
std::string last_line(const Ends& ends, Diagnostics& diagnostics) {
    std::string text = test::take(ends.reader);
    for (std::string more = text; !more.empty(); text += more) {
        diagnostics.drain();
        more = test::take(ends.reader);
    }
    return text.substr(text.rfind('\n', text.size() - 2) + 1);
}

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

TEST_CASE("a line waits while there is no space, and the caller does not") {
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
    diagnostics.drain();
    CHECK(test::take(ends.reader) == "yodel: one\nyodel: two\n");
    CHECK(::fcntl(ends.writer.get(), F_GETFL) == flags);  // other processes share the flags
}

TEST_CASE("holds 64 KiB of whole lines, and writes the count of the others in their place") {
    const Ends ends = test::pipe_ends();
    Diagnostics diagnostics(ends.writer.get(), "yodel");
    const auto fill = [&](std::size_t last_size) {
        test::fill(ends.writer);
        for (int i = 0; i < 63; ++i) diagnostics.write_line(std::string(1023, 'y'));
        diagnostics.write_line(std::string(last_size, 'z'));
    };
    fill(1023);
    CHECK(last_line(ends, diagnostics) == std::string(1023, 'z') + "\n");
    fill(1024);
    CHECK(last_line(ends, diagnostics) == "yodel: 1 line was" + unread + "\n");
    fill(1024);
    diagnostics.write_line("also without space");
    CHECK(last_line(ends, diagnostics) == "yodel: 2 lines were" + unread + "\n");
    diagnostics.enable_timestamps();
    fill(1024);
    const std::string dated = last_line(ends, diagnostics);
    CHECK(dated.starts_with("20"));
    CHECK(dated.ends_with(" yodel: 1 line was" + unread + "\n"));
    diagnostics.set_form(Diagnostics::Form::json);
    fill(1024);
    CHECK(last_line(ends, diagnostics).starts_with("{\"time\":\"20"));
}

TEST_CASE("writes waiting lines from the loop once there is space, and tears none") {
    const Ends ends = test::pipe_ends();
    test::fill(ends.writer);
    ev::Loop loop;
    Diagnostics diagnostics(ends.writer.get(), "yodel");
    diagnostics.attach(loop);
    const std::string line(1023, 'y');
    for (int i = 0; i < 100; ++i) diagnostics.write_line(line);
    test::take(ends.reader);
    std::string text;
    while (!text.ends_with(unread + "\n")) {
        REQUIRE(loop.step(20s));
        text += test::take(ends.reader);
    }
    std::string whole;
    for (int i = 0; i < 64; ++i) whole += line + "\n";
    CHECK(text == whole + "yodel: 36 lines were" + unread + "\n");
}

TEST_CASE("goes on if standard error refuses everything") {
    std::signal(SIGPIPE, SIG_IGN);
    Ends ends = test::pipe_ends();
    ends.reader.reset();
    Diagnostics diagnostics(ends.writer.get(), "yodel");
    diagnostics.remark("unread");
    diagnostics.drain();  // there is nothing to wait for
    Diagnostics full(::open("/dev/full", O_WRONLY), "yodel");
    full.remark("unwritten");
    full.drain();
    Diagnostics closed(-1, "yodel");
    closed.remark("nowhere");
    closed.drain();
}

TEST_CASE("omits a temporary text while lines wait") {
    const Ends ends = test::pipe_ends();
    Diagnostics diagnostics(ends.writer.get(), "yodel");
    diagnostics.write_temporary("\r1 sent");
    CHECK(test::take(ends.reader) == "\r1 sent");
    test::fill(ends.writer);
    diagnostics.remark("waits");
    diagnostics.write_temporary("\r2 sent");
    test::take(ends.reader);
    diagnostics.drain();
    CHECK(test::take(ends.reader) == "yodel: waits\n");
}

TEST_CASE("a temporary line fits into the terminal, and goes before the next line") {
    const Ends terminal = test::terminal_ends();
    const winsize narrow{.ws_row = 5, .ws_col = 11, .ws_xpixel = 0, .ws_ypixel = 0};
    ::ioctl(terminal.writer.get(), TIOCSWINSZ, &narrow);
    const test::Redirected errors(STDERR_FILENO);
    ::dup2(terminal.writer.get(), STDERR_FILENO);
    Diagnostics diagnostics(STDERR_FILENO, "yodel");
    diagnostics.show_temporary("2 open, 1 sent");
    diagnostics.show_temporary("2 sent");
    diagnostics.remark("lost");
    diagnostics.clear_temporary();
    const std::string clear = "\r          \r";
    CHECK(test::take(terminal.reader) ==
          "2 open, 1 " + clear + "2 sent\r      \ryodel: lost\n");
}
