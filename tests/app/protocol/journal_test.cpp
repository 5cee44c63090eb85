#include "app/protocol/journal.hpp"

#include "app/text/exit_status.hpp"
#include "tests/support/blocked.hpp"
#include "tests/support/catch.hpp"

#include <sys/stat.h>

#include <filesystem>

using test::Ends;
using yodel::Journal;

namespace {

std::string path_of(const bufio::Fd& fd) { return "/dev/fd/" + std::to_string(fd.get()); }

Journal journal(const std::string& path) {
    return {yodel::JournalFile(path), yodel::SessionOptions{}, 1, {}};
}

std::string refusal(const std::string& path) {
    try {
        const Journal log = journal(path);
    } catch (const yodel::OutputError& error) {
        return error.what();
    }
    return "opened";
}

yodel::Event sent(std::string_view payload) {
    return message_event(yodel::Fate::sent, {.id = 7, .payload = payload});
}

struct NamedPipe {
    NamedPipe()
        : path(std::filesystem::temp_directory_path() /
               ("journal_test." + std::to_string(::getpid()))) {
        ::mkfifo(path.c_str(), 0600);
    }
    ~NamedPipe() { ::unlink(path.c_str()); }
    NamedPipe(const NamedPipe&) = delete;
    NamedPipe& operator=(const NamedPipe&) = delete;
    std::string path;
};

}  // namespace

TEST_CASE("refuses a transcript that can't be opened with the reason, without waiting") {
    const NamedPipe pipe;
    CHECK(refusal("/") == "cannot write the transcript /: Is a directory");
    CHECK(refusal("/no/log") ==
          "cannot write the transcript /no/log: No such file or directory");
    CHECK(refusal(pipe.path).starts_with("cannot write the transcript " + pipe.path +
                                         ": the pipe has no reader"));
}

TEST_CASE("writes a line for each message, also into a pipe") {
    const Ends ends = test::pipe_ends();
    Journal log = journal(path_of(ends.writer));
    log.add_event(sent("a\x1b"));
    REQUIRE(log.flush());
    CHECK(test::take(ends.reader).ends_with(" > a^[\n"));
    CHECK(log.drain());
    CHECK(log.trouble().empty());
}

TEST_CASE("only the user may read a new transcript") {
    const std::string path = "/tmp/yodel-journal-" + std::to_string(::getpid());
    const Journal log = journal(path);
    using std::filesystem::perms;
    CHECK(std::filesystem::status(path).permissions() ==
          (perms::owner_read | perms::owner_write));
    std::filesystem::remove(path);
}

TEST_CASE("fails once and for all when the file is full") {
    Journal log = journal("/dev/full");
    log.add_event(sent("a"));
    CHECK_FALSE(log.flush());
    CHECK(log.trouble() == "cannot write the transcript /dev/full: No space left on device");
    log.add_event(sent("b"));
    CHECK_FALSE(log.flush());
    CHECK_FALSE(log.drain());
}

TEST_CASE("blocks nothing if nobody reads the transcript any more") {
    Ends (*const make)() = GENERATE(&test::pipe_ends, &test::stopped_terminal_ends);
    const Ends ends = make();
    test::fill(ends.writer);
    Journal log = journal(path_of(ends.writer));
    const std::string message(100'000, 'm');
    SECTION("a little waits for the reader until the end") {
        log.add_event(sent(message));
        CHECK(log.flush());
        CHECK_FALSE(log.drain());
        CHECK(log.trouble().ends_with("its reader did not keep up; output is incomplete"));
    }
    SECTION("too many bytes make the transcript fail") {
        for (int i = 0; i < 11; ++i) log.add_event(sent(message));
        CHECK_FALSE(log.flush());
        CHECK(log.trouble().ends_with(": its reader did not keep up"));
    }
}

TEST_CASE("reports the end of the file's reader as an error, not by a signal") {
    std::signal(SIGPIPE, SIG_IGN);
    Ends ends = test::pipe_ends();
    Journal log = journal(path_of(ends.writer));
    ends.reader.reset();
    log.add_event(sent("a"));
    CHECK_FALSE(log.drain());
    CHECK(log.trouble().ends_with(": Broken pipe"));
}

TEST_CASE("a recording contains the messages from its first one on, and its end") {
    const Ends ends = test::pipe_ends();
    yodel::JournalFile file(path_of(ends.writer));
    file.recording = true;
    Journal recording(file, yodel::SessionOptions{}, 7, {});
    const yodel::Reply reply{.payload = "b"};
    const auto add = [&](std::uint64_t id) {
        const yodel::Message message{.id = id, .payload = "a"};
        return recording.add_event(answered_event(message, reply));
    };
    CHECK_FALSE(add(6));
    CHECK(add(7));
    CHECK(recording.add_event(yodel::received_event(yodel::Fate::unsolicited, "b")));
    recording.add_event(yodel::received_event(yodel::Fate::note, "only in transcripts"));
    recording.add_event(sent("only in transcripts"));
    CHECK(recording.finish("the end"));
    const std::string all = test::take(ends.reader);
    CHECK(all.starts_with("{\"type\":\"recording\",\"version\":2,"));
    CHECK(all.find("\"seq\":6") == std::string::npos);
    CHECK(all.find("\"seq\":7") != std::string::npos);
    CHECK(all.find("\"fate\":\"unsolicited\"") != std::string::npos);
    CHECK(all.find("transcripts") == std::string::npos);
    CHECK(all.ends_with("}\nthe end\n"));
}

TEST_CASE("a transcript is written in batches") {
    const Ends ends = test::pipe_ends();
    Journal log = journal(path_of(ends.writer));
    const std::string line(1000, 'x');
    for (int i = 0; i < 15; ++i) log.add_event(sent(line));
    CHECK(test::take(ends.reader).empty());
    log.add_event(sent(std::string(2000, 'x')));
    CHECK(test::take(ends.reader).size() >= 16 * 1024);
}
