#include "app/text/output.hpp"

#include "tests/support/blocked.hpp"
#include "tests/support/catch.hpp"

#include <fcntl.h>

using namespace std::chrono_literals;
using test::Ends;
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
    CHECK_FALSE(output.done());
    test::take(ends.reader);
    output.drain(20s);
    CHECK(output.done());
    CHECK(test::take(ends.reader) == "late\n");
}

TEST_CASE("reports the system's reason if writing fails") {
    std::signal(SIGPIPE, SIG_IGN);
    SECTION("nobody will ever read") {
        Ends ends = test::pipe_ends();
        ends.reader.reset();
        Output output(ends.writer.get());
        output.write("a");
        output.flush();
        CHECK(output.error() == EPIPE);
        CHECK(output.done());
    }
    SECTION("the device is full") {
        const bufio::Fd full(::open("/dev/full", O_WRONLY));
        Output output(full.get());
        output.write("a");
        CHECK(output.error() == ENOSPC);
        output.clear();
        CHECK(output.error() == 0);
        CHECK(output.pending() == 0);
    }
    SECTION("it is open for reading only") {
        const bufio::Fd file(::open("/dev/null", O_RDONLY));
        Output output(file.get());
        output.write("a");
        CHECK(output.error() == EBADF);
    }
}
