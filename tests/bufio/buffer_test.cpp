#include "bufio/buffer.hpp"

#include "bufio/system.hpp"
#include "tests/support/catch.hpp"

using bufio::Buffer;

TEST_CASE("returns bytes in order, including NUL") {
    Buffer buffer;
    CHECK(buffer.append(""));
    CHECK(buffer.empty());
    CHECK(buffer.capacity() == 0);
    REQUIRE(buffer.append(std::string_view("on\0e\n", 5)));
    char* const room = buffer.reserve(100);
    REQUIRE(room);
    std::copy_n("two\n", 4, room);
    CHECK(buffer.size() == 5);
    buffer.commit(4);
    CHECK(buffer.view() == std::string_view("on\0e\ntwo\n", 9));
    buffer.consume(5);
    CHECK(buffer.view() == "two\n");
    buffer.consume(4);
    CHECK(buffer.empty());
}

TEST_CASE("an append beyond the limit of a buffer is refused as a whole") {
    Buffer buffer(10);
    CHECK(buffer.append("1234567"));
    CHECK_FALSE(buffer.append("8901"));
    CHECK(buffer.view() == "1234567");
    CHECK(buffer.append("890"));
    CHECK_FALSE(buffer.append("x"));
    CHECK(buffer.reserve(1) == nullptr);
    buffer.consume(4);
    CHECK(buffer.append("1234"));
    CHECK(buffer.view() == "5678901234");
    CHECK(buffer.capacity() <= 10);
}

TEST_CASE("a growing buffer copies at most half of its limit") {
    const std::string piece(64, 'x');
    const std::size_t limit = GENERATE(64u * 64, 65u * 64, 100u * 64, 127u * 64);
    Buffer buffer(limit);
    std::size_t copied = 0;
    while (buffer.size() < limit) {
        const std::size_t before = buffer.capacity();
        REQUIRE(buffer.append(piece));
        if (buffer.capacity() != before) copied = buffer.size() - piece.size();
    }
    CHECK(copied <= limit / 2);
    CHECK(buffer.capacity() == limit);
}

// Only Linux reports the peak and can reset it.
TEST_CASE("a large buffer grows without a second copy in memory", "[buffer][memory]") {
#if EV_ON_LINUX && defined(__GLIBC__) && !defined(YODEL_INSTRUMENTED)
    const auto kilobytes = [](const std::string& name) {
        std::ifstream status("/proc/self/status");
        std::string word;
        while (status >> word && word != name) {
        }
        long count = 0;
        status >> count;
        return count;
    };
    const std::string piece(64 * 1024, 'x');
    std::ofstream forget("/proc/self/clear_refs");
    if (!(forget << "5" << std::flush)) return;
    const long before = kilobytes("VmRSS:");
    Buffer buffer;
    for (int i = 0; i <= 512; ++i) buffer.append(piece);
    CHECK(kilobytes("VmHWM:") - before < 40 * 1024);
#endif
}

TEST_CASE("a buffer frees its memory only when empty") {
    Buffer buffer;
    buffer.append("abc");
    buffer.release();
    CHECK(buffer.view() == "abc");
    buffer.consume(3);
    buffer.release();
    CHECK(buffer.capacity() == 0);
    CHECK(buffer.append("again"));
    CHECK(buffer.view() == "again");
}

TEST_CASE("a buffer in steady use keeps its size") {
    Buffer buffer;
    for (int i = 0; i < 100000; ++i) {
        buffer.append("0123456789");
        if (i >= 100) buffer.consume(10);
    }
    CHECK(buffer.size() == 1000);
    CHECK(buffer.capacity() <= 4096);
}

TEST_CASE("a buffer that is never empty frees the memory of its peak") {
    Buffer buffer;
    buffer.append(std::string(32 * 1024 * 1024, 'x'));
    buffer.append("rest");
    buffer.consume(32 * 1024 * 1024);
    CHECK(buffer.view() == "rest");
    CHECK(buffer.capacity() <= 64 * 1024);
    buffer.append(std::string(1024 * 1024, 'y'));
    CHECK(buffer.size() == 1024 * 1024 + 4);
}

// Quadratic time would take hours here.
TEST_CASE("lines are taken one by one out of 64 MiB in linear time") {
    const std::string line = std::string(63, 'x') + "\n";
    constexpr std::size_t lines = 1024 * 1024;
    Buffer buffer;
    for (std::size_t i = 0; i < lines; ++i) buffer.append(line);
    std::size_t taken = 0;
    while (!buffer.empty()) {
        buffer.consume(buffer.view().find('\n') + 1);
        ++taken;
    }
    CHECK(taken == lines);
}
