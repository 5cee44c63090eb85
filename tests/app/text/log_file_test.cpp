#include "app/text/log_file.hpp"

#include "app/text/exit_status.hpp"
#include "tests/support/blocked.hpp"
#include "tests/support/catch.hpp"

#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <string>

using test::Ends;
using yodel::LogFile;

namespace {

std::string path_of(const bufio::Fd& fd) { return "/dev/fd/" + std::to_string(fd.get()); }

std::string refusal(const std::string& path) {
    try {
        const LogFile log(path);
    } catch (const yodel::OutputError& error) {
        return error.what();
    }
    return "opened";
}

struct NamedPipe {
    NamedPipe()
        : path(std::filesystem::temp_directory_path() /
               ("log_file_test." + std::to_string(::getpid()))) {
        ::mkfifo(path.c_str(), 0600);
    }
    ~NamedPipe() { ::unlink(path.c_str()); }
    NamedPipe(const NamedPipe&) = delete;
    NamedPipe& operator=(const NamedPipe&) = delete;
    std::string path;
};

}  // namespace

TEST_CASE("refuses a log that can't be opened with the reason, without waiting") {
    const NamedPipe pipe;
    CHECK(refusal("/") == "cannot write the log /: Is a directory");
    CHECK(refusal("/no/log") == "cannot write the log /no/log: No such file or directory");
    CHECK(refusal(pipe.path).starts_with("cannot write the log " + pipe.path +
                                         ": the pipe has no reader"));
}

TEST_CASE("writes a line for each message, also into a pipe") {
    const Ends ends = test::pipe_ends();
    LogFile log(path_of(ends.writer));
    log.add('>', "a\x1b");
    REQUIRE(log.flush());
    CHECK(test::take(ends.reader).ends_with(" > a^[\n"));
    CHECK(log.finish());
    CHECK(log.trouble().empty());
}

TEST_CASE("fails once and for all when the log is full") {
    LogFile log("/dev/full");
    log.add('>', "a");
    CHECK_FALSE(log.flush());
    CHECK(log.trouble() == "cannot write the log /dev/full: No space left on device");
    log.add('>', "b");
    CHECK_FALSE(log.flush());
    CHECK_FALSE(log.finish());
}

TEST_CASE("blocks nothing if nobody reads the log any more") {
    Ends (*const make)() = GENERATE(&test::pipe_ends, &test::stopped_terminal_ends);
    const Ends ends = make();
    test::fill(ends.writer);
    LogFile log(path_of(ends.writer));
    const std::string message(100'000, 'm');
    SECTION("a little waits for the reader until the end") {
        log.add('>', message);
        CHECK(log.flush());
        CHECK_FALSE(log.finish());
        CHECK(log.trouble().ends_with("its reader did not keep up; output is incomplete"));
    }
    SECTION("too many bytes make the log fail") {
        for (int i = 0; i < 11; ++i) log.add('>', message);
        CHECK_FALSE(log.flush());
        CHECK(log.trouble().ends_with(": its reader did not keep up"));
    }
}

TEST_CASE("reports the end of the log's reader as an error, not by a signal") {
    std::signal(SIGPIPE, SIG_IGN);
    Ends ends = test::pipe_ends();
    LogFile log(path_of(ends.writer));
    ends.reader.reset();
    log.add('>', "a");
    CHECK_FALSE(log.finish());
    CHECK(log.trouble().ends_with(": Broken pipe"));
}
