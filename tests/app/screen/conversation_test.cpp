// Conversations in virtual time without a screen; the test answers as the server.

#include "app/screen/conversation.hpp"

#include "app/stats/summary.hpp"
#include "app/text/escapes.hpp"
#include "app/text/exit_status.hpp"
#include "tests/app/fixture.hpp"
#include "tests/support/blocked.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/support/virtual_time.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace yodel;
using State = Session::State;
using test::contains;

namespace {

struct Talk final : Conversation::User {
    explicit Talk(Conversation::Options options = {})
        : conversation(loop, with_server(std::move(options)), *this) {}

    Conversation::Options with_server(Conversation::Options options) const {
        options.session = test::with_port(std::move(options.session), server.port());
        return options;
    }
    void conversation_changed() override { changed = true; }
    void line_refused(const std::string& line) override { refused.push_back(line); }

    void connect() {
        conversation.session().connect();
        loop.until(
            [&] { return conversation.session().state() == State::open && server.stream; });
    }
    void until(State state) {
        loop.until([&] { return conversation.session().state() == state; });
        loop.settle();
    }
    // The user sends the line, and the server sends the reply.
    void exchange(const std::string& line, const std::string& reply) {
        conversation.send(line);
        loop.settle();
        server.stream->write(reply + "\n");
        loop.settle();
    }
    // Returns true if the loop stops within an hour.
    bool loop_stops() {
        for (const ev::Time end = loop.time + 1h; loop.time < end;)
            if (!loop.step(1min)) return true;
        return false;
    }

    // The bodies of the log's entries, with their suffixes.
    std::vector<std::string> log() const {
        std::vector<std::string> all;
        const ui::Transcript& transcript = conversation.log().transcript();
        for (std::size_t i = 0; i < transcript.size(); ++i) {
            const auto* const entry = transcript.find(transcript.oldest() + i);
            all.push_back(entry->body + ui::plain_text(entry->suffix));
        }
        return all;
    }
    std::string last_entry() const { return log().empty() ? "" : log().back(); }
    std::ptrdiff_t entries_with(const std::string& part) const {
        const auto all = log();
        return std::count_if(all.begin(), all.end(),
                             [&](const std::string& entry) { return contains(entry, part); });
    }
    std::string connected() const {
        return "connected to 127.0.0.1:" + std::to_string(server.port());
    }

    test::VirtualLoop loop;
    test::ManualServer server{loop};
    bool changed = false;
    std::vector<std::string> refused;
    Conversation conversation;
};

// A temporary folder, removed with the object.
struct Folder {
    Folder() { std::filesystem::create_directory(path); }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                       ("conversation_test." + std::to_string(::getpid()));
};

Conversation::Options with(Session::Options session) {
    Conversation::Options options;
    options.session = std::move(session);
    return options;
}

}  // namespace

TEST_CASE("a reply that does not match the pattern is bad, and gets no hint about echoes") {
    Session::Options options;
    options.expect = Expect::any;
    options.pattern.emplace("^[+]");
    Talk talk(with(options));
    talk.connect();
    talk.exchange("PING", "+PONG");
    talk.exchange("X", "-ERR");
    CHECK(talk.log() == std::vector<std::string>{talk.connected(), "PING", "+PONG ok", "X",
                                                 "-ERR x does not match"});
    CHECK(talk.conversation.results().bad == 1);
    talk.exchange("Y", std::string(5000, '-'));
    talk.exchange("Z", "+");
    CHECK(talk.last_entry() == "+ ok");
}

TEST_CASE("a reply to which nothing is compared gets no sign") {
    Session::Options options;
    options.expect = Expect::any;
    Talk talk(with(options));
    talk.connect();
    talk.exchange("PING", "+PONG");
    CHECK(talk.last_entry() == "+PONG");
}

TEST_CASE("a line and its echo are logged, counted and timed") {
    Talk talk;
    talk.connect();
    talk.changed = false;
    talk.exchange("hello", "hello");
    CHECK(talk.server.got == "hello\n");
    CHECK(talk.log() == std::vector<std::string>{talk.connected(), "hello", "hello ok"});
    CHECK(counts_text(talk.conversation.results()) == "1 sent, 1 echoed, 0 bad, 0 lost");
    CHECK(talk.conversation.recent().size() == 1);
    CHECK(talk.conversation.percentile_history().percentiles().p50.size() == 1);
    CHECK(talk.changed);
}

TEST_CASE("only the last round trips are recent") {
    Talk talk;
    talk.connect();
    for (int i = 0; i < 10; ++i) talk.exchange(std::to_string(i), std::to_string(i));
    CHECK(talk.conversation.results().echoed == 10);
    CHECK(talk.conversation.recent().size() == 8);
}

TEST_CASE("a line is sent as it is, or with its escapes replaced") {
    const auto [escapes, sent, messages] =
        GENERATE(table<bool, std::string, int>({{false, "a\\nb\n", 1}, {true, "a\nb\n", 2}}));
    Conversation::Options options;
    options.escapes = escapes;
    Talk talk(std::move(options));
    talk.connect();
    talk.conversation.send("a\\nb");
    talk.loop.settle();
    CHECK(talk.server.got == sent);
    CHECK(talk.conversation.results().sent == static_cast<std::uint64_t>(messages));
    CHECK(talk.log().size() == static_cast<std::size_t>(1 + messages));
}

TEST_CASE("a line that cannot be sent returns to the user, and the log contains the reason") {
    const auto [framing, line, reason] = GENERATE(table<const char*, std::string, std::string>({
        {"line", "\\q", escapes_expected},
        {"line", "123456789", "too long for line"},
        {"raw", "", "-f raw does not allow empty messages"},
    }));
    Conversation::Options options;
    options.escapes = true;
    options.session.framing = find_framing(framing);
    options.session.max_frame = 8;
    Talk talk(std::move(options));
    talk.connect();
    talk.conversation.send(line);
    CHECK(talk.refused == std::vector<std::string>{line});
    CHECK(talk.last_entry() == reason);
    CHECK(talk.conversation.results().sent == 0);
}

TEST_CASE("lines wait for a connection, and are then sent in order") {
    Talk talk;
    talk.conversation.send("one");
    talk.conversation.send("two");
    CHECK(talk.conversation.queued_lines() == 2);
    CHECK(talk.last_entry() == "not connected; will be sent once connected: two");
    talk.connect();
    talk.loop.settle();
    CHECK(talk.server.got == "one\ntwo\n");
    CHECK(talk.conversation.queued_lines() == 0);
}

TEST_CASE("quit_when_answered() stops the loop after the last echo and the end") {
    Talk talk;
    talk.connect();
    talk.conversation.send("hello");
    talk.loop.settle();
    talk.conversation.quit_when_answered();
    talk.loop.settle();
    CHECK(talk.conversation.session().state() == State::finishing);
    talk.server.stream->write("hello\n");
    talk.server.stream->finish();
    CHECK(talk.loop_stops());
    CHECK(talk.conversation.results().echoed == 1);
}

TEST_CASE("a line that could never be sent is refused while quitting") {
    Talk talk;
    talk.connect();
    talk.conversation.send("hello");
    talk.conversation.quit_when_answered();
    talk.loop.settle();
    talk.conversation.send("more");
    CHECK(talk.conversation.queued_lines() == 0);
    CHECK(talk.refused == std::vector<std::string>{"more"});
    CHECK(talk.last_entry() == "not sent; yodel quits once all replies are in");
}

TEST_CASE("reconnecting cancels quitting") {
    Talk talk;
    talk.connect();
    talk.conversation.quit_when_answered();
    talk.server.stream.reset();
    talk.conversation.reconnect();
    talk.loop.until([&] {
        return talk.conversation.session().state() == State::open && talk.server.stream;
    });
    talk.loop.settle();
    CHECK(talk.entries_with(talk.connected()) == 2);
    CHECK(talk.entries_with("disconnected") == 0);
    talk.exchange("hello", "hello");
    CHECK(talk.conversation.results().echoed == 1);
}

TEST_CASE("reconnecting asks first if a retry has only just connected") {
    Session::Options session;
    session.retries = Session::forever;
    Talk talk(with(std::move(session)));
    talk.connect();
    talk.server.stream.reset();
    talk.until(State::waiting);
    talk.until(State::open);
    REQUIRE(talk.entries_with(talk.connected()) == 2);
    SECTION("and one more press reconnects") {
        talk.conversation.reconnect();
        talk.loop.settle();
        CHECK(talk.last_entry() == "connected just now; press M-r again to reconnect");
        CHECK(talk.conversation.session().state() == State::open);
        talk.conversation.reconnect();
    }
    SECTION("but not later") {
        talk.loop.pass(2s);
        talk.conversation.reconnect();
    }
    CHECK(talk.conversation.session().state() != State::open);
    talk.until(State::open);
    CHECK(talk.entries_with(talk.connected()) == 3);
}

TEST_CASE("quitting stops the loop in any state, and unanswered messages are lost") {
    Talk talk;
    SECTION("while connecting") { talk.conversation.session().connect(); }
    SECTION("while a message is in flight") {
        talk.connect();
        talk.conversation.send("hello");
        talk.loop.settle();
    }
    SECTION("after the end") {
        talk.connect();
        talk.conversation.disconnect();
        talk.until(State::closed);
    }
    const std::uint64_t sent = talk.conversation.results().sent;
    talk.conversation.quit();
    CHECK(talk.loop_stops());
    CHECK(talk.conversation.results().lost == sent);
    if (sent > 0) CHECK(talk.entries_with("no reply before the connection ended") == 1);
}

TEST_CASE("repeated refusals for one reason are logged once") {
    Session::Options session;
    session.retries = Session::forever;
    Talk talk(with(std::move(session)));
    talk.connect();
    const int port = talk.server.port();
    CHECK(port > 0);
    talk.server.reset();
    talk.until(State::waiting);
    CHECK(talk.entries_with("; retrying, M-r retries now") == 1);
    CHECK(talk.entries_with("not connected") == 0);
}

TEST_CASE("a late reply is lost first, and counted as late when it comes") {
    Talk talk;
    talk.connect();
    talk.conversation.send("hello");
    talk.loop.pass(5s);
    CHECK(talk.last_entry() == "hello - no reply after 5s");
    CHECK(talk.conversation.results().lost == 1);
    talk.server.stream->write("hello\n");
    talk.loop.settle();
    CHECK(talk.last_entry() == "hello ok");
    CHECK(talk.conversation.results().lost == 0);
    CHECK(talk.conversation.results().late == 1);
}

TEST_CASE("the first wrong reply comes with a hint, the others without") {
    Talk talk;
    talk.connect();
    talk.exchange("ping", "pong and more");
    talk.loop.pass(1s);
    talk.exchange("ping", "other words");
    talk.loop.pass(1s);
    CHECK(talk.conversation.results().bad == 2);
    CHECK(talk.entries_with("--expect any") == 1);
}

TEST_CASE("unsolicited messages are logged and counted separately") {
    Talk talk;
    talk.connect();
    talk.server.stream->write("welcome\n");
    talk.loop.settle();
    CHECK(talk.last_entry() == "welcome");
    CHECK(talk.conversation.results().unsolicited == 1);
    CHECK(talk.conversation.results().echoed == 0);
}

TEST_CASE("a half-close by the server is noted once, if sending can continue") {
    Session::Options session;
    session.expect = Expect::none;
    Talk talk(with(std::move(session)));
    talk.connect();
    talk.server.stream->finish();
    talk.loop.settle();
    CHECK(talk.last_entry() == "the server has shut down its sending side; you can still send");
    // The line is long enough for the session to report again when there is space.
    const std::string line(8 << 20, 'x');
    talk.conversation.send(line);
    talk.loop.until([&] { return talk.server.got.size() > line.size(); });
    talk.loop.settle();
    CHECK(talk.entries_with("shut down its sending side") == 1);
}

TEST_CASE("the transcript file starts and stops, with notes in the log") {
    const test::Ends file = test::pipe_ends();
    Conversation::Options options;
    options.log = "/dev/fd/" + std::to_string(file.writer.get());
    const std::string name = options.log.path;
    Talk talk(std::move(options));
    CHECK(talk.conversation.file_open());
    talk.conversation.add_note("a remark");
    talk.conversation.toggle_file();
    CHECK(talk.last_entry() == "stopped writing the transcript");
    CHECK(contains(test::take(file.reader), " - a remark\n"));
    talk.conversation.toggle_file();
    CHECK(talk.last_entry() == "writing the transcript to " + name);
    CHECK(talk.conversation.file_open());
}

TEST_CASE("a file whose name ends in .json becomes a recording, from the next message on") {
    const std::string name = std::filesystem::temp_directory_path() /
                             ("conversation_test." + std::to_string(::getpid()) + ".json");
    const auto contents = [&] {
        std::ostringstream text;
        text << std::ifstream(name).rdbuf();
        return text.str();
    };
    Conversation::Options options;
    options.log = name;
    Talk talk(std::move(options));
    talk.connect();
    talk.server.stream->write("hi\n");
    talk.loop.settle();
    talk.exchange("a", "b");
    talk.loop.pass(1s);
    talk.conversation.toggle_file();
    CHECK(talk.last_entry() == "stopped writing the recording");
    const std::string whole = contents();
    std::filesystem::remove(name);
    CAPTURE(whole);
    CHECK(whole.starts_with(
        R"({"type":"recording","version":2,"framing":"line","first":1,"connections":1})"
        "\n{\"type\":\"connection\","));
    CHECK(contains(whole, R"("received":"hi"})"));
    CHECK(contains(whole, R"("sent":"a","received":"b"})"));
    CHECK(contains(whole, "{\"type\":\"end\",\"reason\":\"stopped\",\"status\":1,\"sent\":1,"));

    talk.conversation.send("c");
    talk.loop.settle();
    talk.conversation.toggle_file();
    talk.server.stream->write("c\n");
    talk.loop.settle();
    talk.exchange("d", "d");
    CHECK(talk.conversation.file_open());
    talk.conversation.toggle_file();
    const std::string later = contents();
    std::filesystem::remove(name);
    CAPTURE(later);
    CHECK(contains(later, R"("first":3,)"));
    CHECK_FALSE(contains(later, R"("sent":"c")"));
    CHECK(contains(later, R"("sent":"d","received":"d"})"));
}

TEST_CASE("a recording that is started again gets a file with the next number") {
    const Folder folder;
    Conversation::Options options;
    options.log = (folder.path / "x.y.json").string();
    Talk talk(std::move(options));
    std::ofstream(folder.path / "x.y-2.json") << "somebody's\n";
    for (int i = 0; i < 4; ++i) talk.conversation.toggle_file();
    CHECK(talk.entries_with("stopped writing the recording") == 2);
    CHECK(talk.entries_with("writing the recording to " +
                            (folder.path / "x.y-3.json").string()) == 1);
    CHECK(talk.last_entry() ==
          "writing the recording to " + (folder.path / "x.y-4.json").string());
    CHECK(talk.conversation.file_open());
    CHECK(talk.conversation.report() == success);
}

TEST_CASE("the recording of another connection gets another file") {
    const Folder folder;
    Conversation::Options options;
    options.log = (folder.path / "x.json").string();
    Talk talk(std::move(options));
    talk.connect();
    talk.exchange("a", "a");
    talk.server.reset();
    talk.until(State::closed);
    talk.connect();
    CHECK(talk.entries_with("writing the recording to " +
                            (folder.path / "x-2.json").string()) == 1);
    talk.exchange("b", "b");
    talk.conversation.toggle_file();
    const auto lines_with = [&](const char* name, const std::string& part) {
        std::ifstream file(folder.path / name);
        int count = 0;
        for (std::string line; std::getline(file, line);) count += contains(line, part) ? 1 : 0;
        return count;
    };
    const char* const name = GENERATE("x.json", "x-2.json");
    CHECK(lines_with(name, "\"type\":\"connection\"") == 1);
    CHECK(lines_with(name, "\"type\":\"message\"") == 1);
    CHECK(lines_with(name, "\"sent\":1,\"echoed\":1,") == 1);
    CHECK(lines_with("x-2.json", "\"first\":2,") == 1);
}

TEST_CASE("a recording that can't be started again is reported at the end") {
    std::optional<Folder> folder(std::in_place);
    Conversation::Options options;
    options.log = (folder->path / "x.json").string();
    options.quiet = true;
    Talk talk(std::move(options));
    folder.reset();
    talk.conversation.toggle_file();
    talk.conversation.toggle_file();
    CHECK(talk.last_entry().starts_with("cannot write the recording "));
    CHECK(talk.conversation.report() == output_failed);
}

TEST_CASE("a recording is not appended to an existing file") {
    const std::string name = std::filesystem::temp_directory_path() /
                             ("conversation_test." + std::to_string(::getpid()) + ".json");
    std::ofstream(name) << "before\n";
    Conversation::Options options;
    options.log = name;
    CHECK_THROWS_AS(Talk(std::move(options)), std::system_error);
    std::filesystem::remove(name);
}

TEST_CASE("a transcript file that can't be written is given up, with a note in the log") {
    Conversation::Options options;
    options.log = JournalFile("/dev/full");
    options.quiet = true;
    Talk talk(std::move(options));
    talk.conversation.add_note("a remark");
    talk.conversation.flush_file();
    CHECK_FALSE(talk.conversation.file_open());
    CHECK(talk.last_entry() == "could not write all of the transcript file; stopped writing");
    CHECK(talk.conversation.report() == output_failed);
}

TEST_CASE("a transcript file that can't be opened is an error at the start, and later a note") {
    Conversation::Options options;
    options.log = JournalFile("/none/such");
    CHECK_THROWS_AS(Talk(options), std::system_error);
}

TEST_CASE("the connection decides the exit status, then the file, then the replies") {
    Conversation::Options options;
    options.quiet = true;
    Talk talk(std::move(options));
    talk.connect();
    SECTION("all well") {
        talk.exchange("hello", "hello");
        CHECK(talk.conversation.report() == success);
    }
    SECTION("a wrong reply") {
        talk.exchange("hello", "hexxo");
        talk.loop.pass(1s);
        CHECK(talk.conversation.report() == reply_wrong_or_lost);
    }
    SECTION("a line that was never sent") {
        talk.conversation.disconnect();
        talk.until(State::closed);
        talk.conversation.send("hello");
        CHECK(talk.conversation.report() == reply_wrong_or_lost);
    }
    SECTION("a reset") {
        talk.server.reset();
        talk.until(State::closed);
        CHECK(talk.conversation.report() == receive_failed);
    }
}
