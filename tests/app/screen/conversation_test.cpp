// Conversations in virtual time without a screen.

#include "app/screen/conversation.hpp"

#include "app/stats/outcome.hpp"
#include "app/text/exit_status.hpp"
#include "tests/app/session_script.hpp"
#include "tests/app/stats/results.hpp"
#include "tests/support/text.hpp"
#include "tests/ui/plain_text.hpp"

#include <unistd.h>

#include <filesystem>

using namespace std::chrono_literals;
using namespace yodel;
using test::play_each;

namespace {

// Returns a damaged recording of a right reply, a bad one and a lost message.
std::shared_ptr<const Recording> damaged_recording() {
    auto recording = std::make_shared<Recording>();
    const auto add = [&](Fate fate, std::uint64_t id, const Reply& reply = {}) {
        const std::string sent = "m" + std::to_string(id);
        const ev::Time at(id * 10ms);
        const Message message{.id = id, .payload = sent, .planned = at, .sent = at};
        recording->events.emplace_back(Event{.fate = Fate::sent, .message = message, .at = at});
        recording->events.emplace_back(
            Event{.fate = fate, .message = message, .reply = reply, .at = at + 1ms});
    };
    add(Fate::echoed, 1, {.payload = "m1", .round_trip = 1ms, .right = true});
    add(Fate::bad, 2, {.payload = "x", .round_trip = 1ms});
    add(Fate::lost, 3);
    recording->trouble.text = "r.json:4: the line is truncated";
    return recording;
}

// A script of a session. Its reports are the entries of the log, in quotes if they contain a
// semicolon. PORT stands for the port of the peer, DIR for a temporary folder, and a word in
// capitals for a frequent sentence (see collect()). Settings: escapes; log NAME, for a file in
// DIR; log to PATH; there is NAME, a file in DIR; recording; no target. More verbs:
//
//     begin                  shows the recording, and connects
//     send X                 as the user; X is refused with the report `refuses X`
//     reconnect, disconnect, quit, quit when answered, note X, toggle file, flush file
//     counts X               waits for these counts
//     queued N, recent N     the number of queued lines, of recent round trips
//     stops                  the loop stops within an hour
//     status N X             what the end reports; X is the failure of the connection, if any
//     file is open, file is closed
//     DIR is gone            removes the folder
//     file NAME has X, file NAME lacks X
class ConversationScript final : public test::SessionScript, private Conversation::Owner {
public:
    ConversationScript() {
        std::filesystem::create_directory(folder_);
        setting("escapes", [this](const std::string&) { with_.escapes = true; });
        setting("there is",
                [this](const std::string& name) { std::ofstream(path(name)) << "mine"; });
        setting("log", [this](const std::string& name) { with_.log = path(name); });
        setting("log to", [this](const std::string& name) { with_.log = JournalFile(name); });
        setting("recording",
                [this](const std::string&) { with_.recording = damaged_recording(); });
        setting("no target", [this](const std::string&) { with_.connects = false; });
        on("begin", [this](const std::string&) { it().begin(); });
        on("send", [this](const std::string& line) { it().send(test::bytes(line)); });
        on("reconnect", [this](const std::string&) { it().reconnect(); });
        on("disconnect", [this](const std::string&) { it().disconnect(); });
        on("quit", [this](const std::string&) { it().quit(); });
        on("quit when answered", [this](const std::string&) { it().quit_when_answered(); });
        on("note", [this](const std::string& text) { it().add_note(text); });
        on("toggle file", [this](const std::string&) { it().toggle_file(); });
        on("flush file", [this](const std::string&) { it().flush_file(); });
        on("counts", [this](const std::string& counts) {
            for (int i = 0; i < 500 && test::listed(it().results()) != counts; ++i)
                loop.step(0s);
            REQUIRE(test::listed(it().results()) == counts);
            REQUIRE(std::exchange(changed_, false));
        });
        on("queued", [this](const std::string& count) {
            REQUIRE(std::to_string(it().queued_lines()) == count);
        });
        on("recent", [this](const std::string& count) {
            REQUIRE(std::to_string(it().recent_round_trips().size()) == count);
            REQUIRE(it().percentile_history().percentiles(50).size() == 1);
        });
        on("stops", [this](const std::string&) {
            const ev::Time end = loop.time + 1h;
            while (loop.step(1min)) REQUIRE(loop.time < end);
        });
        on("status", [this](const std::string& status) {
            const std::size_t blank = std::min(status.find(' '), status.size());
            REQUIRE(std::to_string(it().report()) == status.substr(0, blank));
            if (blank == status.size()) return;
            REQUIRE(end_text(subject()) == status.substr(blank + 1));
        });
        on("file is open", [this](const std::string&) { REQUIRE(it().is_writing_file()); });
        on("file is closed",
           [this](const std::string&) { REQUIRE_FALSE(it().is_writing_file()); });
        on("DIR is gone", [this](const std::string&) { std::filesystem::remove_all(folder_); });
        on("file", [this](const std::string& text) {
            const std::size_t name = text.find(' ');
            const std::string contents = test::contents(path(text.substr(0, name)));
            CAPTURE(contents);
            const bool has = text.substr(name, 5) == " has ";
            const std::string part = text.substr(name + (has ? 5 : 7));
            REQUIRE(test::contains(contents, test::bytes(part)) == has);
        });
    }
    ~ConversationScript() override { std::filesystem::remove_all(folder_); }

private:
    void make(const Session::Options& target) override {
        with_.session = target;
        with_.quiet = true;
        Conversation::Owner& owner = *this;
        conversation_.emplace(loop, with_, owner);
    }
    Session& subject() override { return it().session(); }
    void collect() override {
        std::size_t drawn = 0;
        const std::size_t count = it().transcript().entries().size();
        for (const auto& row : it().transcript().rows(1 << 20, static_cast<int>(count))) {
            if (drawn++ < reported_) continue;
            std::string text = without_sign(test::plain_text(row));
            replace(text, folder_.string(), "DIR");
            replace(text, ":" + std::to_string(peer->port()), ":PORT");
            if (text.starts_with("connection from 127.0.0.1:")) text = "ACCEPTED";
            static const std::pair<const char*, const char*> names[] = {
                {"connected to 127.0.0.1:PORT", "CONNECTED"},
                {"cannot connect to 127.0.0.1:PORT: Connection refused", "REFUSED"},
                {"REFUSED; retrying; F5 retries now", "RETRYING"},
                {"disconnected", "DISCONNECTED"},
                {"not connected; will be sent once connected: ", "QUEUED "},
                {"nothing is connected; yodel -r FILE TARGET connects", "REFUSED"},
                {"if the service does not echo, use --expect any", "HINT"}};
            for (const auto& [sentence, name] : names) replace(text, sentence, name);
            ++reported_;
            report(test::contains(text, "; ") ? '"' + text + '"' : test::shown(text));
        }
    }
    void conversation_changed() override { changed_ = true; }
    void line_refused(const std::string& line) override { report("refuses " + line); }

    // Removes the time, and the sign before the first blank that follows a sign.
    static std::string without_sign(const std::string& row) {
        std::size_t begin = row.size();
        for (const std::string sign : {"- ", "> ", "< ", "? "})
            begin = std::min(begin, row.find(sign));
        return row.substr(begin + 2);
    }
    static void replace(std::string& text, const std::string& from, const std::string& to) {
        const std::size_t at = text.find(from);
        if (at != text.npos) text.replace(at, from.size(), to);
    }
    Conversation& it() { return *conversation_; }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }

    const std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                          ("conversation_test." + std::to_string(::getpid()));
    Conversation::Options with_;
    std::optional<Conversation> conversation_;
    std::size_t reported_ = 0;  // entries of the log that were reported
    bool changed_ = false;
};

}  // namespace

TEST_CASE("messages and replies are logged, counted and timed") {
    play_each<ConversationScript>({
        {"an echo", R"(send hello; peer got hello\n; peer answers hello
                       reports CONNECTED, hello, hello ok; counts 1 sent, 1 echoed; recent 1)"},
        {"many echoes, of which the last are recent",
         R"(10 times ( send a; peer echoes ); counts 10 sent, 10 echoed; recent 8
            reports ... a ok)"},
        {"a reply that is compared to nothing",
         "--expect any; send PING; peer answers +PONG; reports CONNECTED, PING, +PONG"},
        {"replies that match or not",
         R"(--expect any; --match ^[+]; send PING; peer answers +PONG; reports ... +PONG ok
            send X; peer answers -ERR; reports X, -ERR x does not match
            send Y; peer answers -{5000}; reports Y, -{4096}... 5000 bytes x does not match
            send Z; peer answers +; reports Z, + ok; counts 4 sent, 2 echoed, 2 bad)"},
        {"the first bad reply with a hint, the second without",
         R"(send ping; peer answers pong and more; +1s
            reports CONNECTED, ping, pong and more x differs at byte 1: i>o, HINT
            send ping; peer answers other words; +1s
            reports ping, other words x differs at byte 0: p>o; counts 2 sent, 2 bad)"},
        {"a late reply",
         R"(send hello; peer got hello\n; +4999ms; reports CONNECTED, hello; +1ms
            reports hello - no reply within 5s; counts 1 sent, 1 lost
            peer answers hello; reports hello ok; counts 1 sent, 1 echoed, 1 late)"},
        {"a part of a reply", R"(send hello; peer sends he; +5s
            reports ... "hello - no reply within 5s; 2 of 5 bytes received, without a newline")"},
        {"an unsolicited message",
         R"(peer answers welcome; reports CONNECTED, welcome; counts 1 unsolicited)"},
        {"stale replies, of which the first has a note",
         R"(send a; peer sends a\nb\n
            reports CONNECTED, a, a ok, b, "the server sent "b" after a right reply; it answers no message"
            send c; peer sends c\nd\n; reports c, c ok, d; counts 2 sent, 2 echoed, 2 unsolicited)"},
        {"a duplicate", R"(over datagrams; send a; peer got a\n; peer sends a; peer sends a
                           reports ... a, a ok, a - a duplicate reply
                           counts 1 sent, 1 echoed, 1 duplicates)"},
        {"a message without a reply",
         R"(--expect none; send a; peer got a\n; counts 1 sent; reports CONNECTED, a)"},
        {"a half-close, which is noted once",
         R"(--expect none; peer ends
            reports CONNECTED, "the server has shut down its sending side; you can still send"
            send x{8388608}; peer got x{8388608}\n; reports x{4096}... 8388608 bytes)"},
    });
}

TEST_CASE("clients are answered by hand, one after the other") {
    play_each<ConversationScript>({
        {"what both sides send",
         R"(listening; dialing; reports listening 127.0.0.1:PORT; peer connects; open
            peer sends hello\nand more\n; reports ACCEPTED, hello, and more
            send hi; peer got hi\n; +1s; peer sends well\n; reports hi, well
            counts 1 sent, 3 unsolicited; quit; stops; status 0
            reports DISCONNECTED)"},
        {"a client that leaves is followed by the next",
         R"(listening; --retry forever; dialing; reports listening 127.0.0.1:PORT
            send banner; reports QUEUED banner
            peer connects; peer got banner\n; reports ACCEPTED, banner; peer ends; +499ms
            reports nothing; +1ms; reports the client closed the connection; dialing
            peer connects; open; peer resets; reports ACCEPTED, receiving failed: Connection reset by peer
            dialing; peer connects; open; reports ACCEPTED; quit when answered; peer got the end
            peer ends; stops; status 0; reports closed)"},
        {"a recording of each client",
         R"(listening; --retry forever; log x.json; peer connects; open; peer sends a\n
            reports ... a; send b; peer ends; +1s; peer connects; open; peer sends c\n; reports ... c
            quit; stops; status 0; reports ... DISCONNECTED
            file x.json has "received":"a"; file x.json has "sent":"b"
            file x-2.json has "received":"c")"},
    });
}

TEST_CASE("a line is sent as it is or with its escapes replaced, or returns to the user") {
    play_each<ConversationScript>({
        {"as it is",
         R"(send a\\nb; peer got a\\nb\n; counts 1 sent; reports CONNECTED, a\\nb)"},
        {"one message for each line", R"(-f crlf; send a\nb; peer got a\r\nb\r\n; counts 2 sent
            reports CONNECTED, a, b)"},
        {"empty lines, which are no messages with this framing",
         R"(-f resp; --expect any; send a\n\nb; peer got a\r\nb\r\n; counts 2 sent
            reports CONNECTED, a, b)"},
        {"with its escapes",
         R"(escapes; send a\\nb; peer got a\nb\n; counts 2 sent; reports CONNECTED, a, b)"},
        {"a bad escape",
         R"(escapes; reports CONNECTED; send \\q
            reports refuses \q, a backslash must be followed by n, r, t, 0, a backslash, or x and two hex digits)"},
        {"too long", R"(--max-frame 8; reports CONNECTED; send 123456789
                        reports ... not sent: a message of 9 bytes exceeds the limit of 8 (--max-frame))"},
        {"empty", R"(-f raw; reports CONNECTED; send
                     reports refuses , not sent: -f raw does not allow empty messages)"},
        {"not connected", R"(unconnected; send one; send two; queued 2
            reports QUEUED one, QUEUED two
            connect; peer got one\ntwo\n; queued 0; reports CONNECTED, one, two)"},
        {"to a server that has closed the connection",
         R"(send a; peer got a\n; peer ends; closed; send b; queued 1; peer connects; peer got b\n; queued 0
            reports CONNECTED, a, a - no reply before the connection ended, the server closed the connection after 0 of 1 replies, connecting again to send: b, CONNECTED, b)"},
        {"while quitting",
         R"(send hello; quit when answered; reports CONNECTED, hello; send more; queued 0
                              reports refuses more, "not sent; yodel quits once all replies have arrived")"},
    });
}

TEST_CASE("quitting stops the loop once all is reported") {
    play_each<ConversationScript>({
        {"after the last echo",
         R"(send hello; quit when answered; finishing; peer answers hello; peer ends; stops
            counts 1 sent, 1 echoed; status 0
            reports CONNECTED, hello, hello ok, closed)"},
        {"while connecting", R"(unconnected; connect; quit; stops; reports DISCONNECTED)"},
        {"while a message is in flight",
         R"(send hello; peer got hello\n; quit; stops; counts 1 sent, 1 lost; status 1
            reports CONNECTED, hello, hello - no reply before the connection ended, DISCONNECTED)"},
        {"after the end", R"(disconnect; reports CONNECTED, DISCONNECTED; quit; stops)"},
        {"when the time is over",
         R"(--max-time 5s; stops; status 28
            reports CONNECTED, the run did not finish within 5s (--max-time))"},
        {"while waiting for a retry",
         R"(to nobody; --retry forever; waiting; send a; reports RETRYING, QUEUED a
            quit when answered; stops; reports REFUSED; status 7)"},
        {"unless the user reconnects",
         R"(quit when answered; reconnect; peer connects; send hello; peer got hello\n
            peer answers hello; reports CONNECTED, CONNECTED, hello, hello ok
            counts 1 sent, 1 echoed)"},
        {"unless the user disconnects",
         R"(quit when answered; disconnect; closed; reports CONNECTED, DISCONNECTED
            send b; queued 1; reports QUEUED b)"},
    });
}

TEST_CASE("each connection and each failure is logged once") {
    play_each<ConversationScript>({
        {"reconnecting", "reconnect; peer connects; open; reports CONNECTED, CONNECTED"},
        {"reconnecting asks first if a retry has only just connected",
         R"(--retry forever; peer resets; waiting; +1s; open
            reports CONNECTED, "receiving failed: Connection reset by peer; retrying; F5 retries now", CONNECTED
            +900ms; reconnect; reports "just connected; press F5 again to reconnect"
            open; reconnect; peer connects; open; reports CONNECTED)"},
        {"but not later",
         R"(--retry forever; peer resets; waiting; +1s; open; +2s; reports ... CONNECTED
                             reconnect; peer connects; open; reports CONNECTED)"},
        {"repeated refusals",
         R"(to nobody; --retry forever; waiting; +1min; reports RETRYING
            disconnect; reports REFUSED; status 7)"},
        {"an announced end",
         R"(--retry forever; no retry after answers; send QUIT; peer answers QUIT; peer ends
            closed; status 0
            reports ... QUIT ok, the server closed the connection)"},
        {"datagrams",
         R"(over datagrams; --retry forever
            reports "sending to udp://127.0.0.1:PORT; only a reply shows that a server is there"
            peer leaves; send a; waiting; +1s
            reports a, a - no reply before the connection ended, RETRYING)"},
    });
}

TEST_CASE("the connection decides the exit status, then the file, then the replies") {
    play_each<ConversationScript>({
        {"all well", "send a; peer answers a; reports ... a ok; status 0"},
        {"a bad reply", "send a; peer answers b; +1s; reports ... HINT; status 1"},
        {"a line that was never sent",
         "disconnect; reports CONNECTED, DISCONNECTED; send a; reports QUEUED a; status 1"},
        {"a reset",
         "peer resets; closed; status 56 receiving failed: Connection reset by peer; "
         "reports ... receiving failed: Connection reset by peer"},
        {"a server that does not close",
         "-q 1s; quit when answered; +1s; status 0 the server did not close within 1s (-q); "
         "reports ... the server did not close within 1s (-q)"},
        {"a full file, after a bad reply",
         R"(log to /dev/full; send a; peer answers b; +1s; flush file; status 23
            reports ... "could not write all of the transcript file; stopped writing")"},
        {"a reset, after a full file",
         R"(log to /dev/full; flush file; peer resets; closed; status 56
            reports ... receiving failed: Connection reset by peer)"},
    });
}

TEST_CASE("a file is written, stopped and started again") {
    play_each<ConversationScript>({
        {"a transcript", R"(log x; file is open; note a remark; toggle file; file is closed
            reports CONNECTED, a remark, stopped writing the transcript
            file x has  - a remark\n
            note no remark; toggle file; file is open
            reports no remark, writing the transcript to DIR/x
            file x lacks no remark)"},
        {"a full transcript", R"(log to /dev/full; note a remark; flush file; file is closed
            reports ... "could not write all of the transcript file; stopped writing"
            status 23)"},
        {"a recording, from the next message on",
         R"(log x.json; peer answers hi; reports CONNECTED, hi; send a; peer answers b; +1s
            toggle file
            reports ... stopped writing the recording
            file x.json has {"type":"recording","version":2,"framing":"line","first":1,"connections":1,"started"
            file x.json has "expect":"echo"}\n{"type":"connection",
            file x.json has "received":"hi"}
            file x.json has "sent":"a","received":"b"}
            file x.json has {"type":"end","reason":"1 bad","status":1,"sent":1,
            send c; peer got a\nc\n; toggle file; peer answers c
            reports c, writing the recording to DIR/x-2.json, c ok
            send d; peer answers d; reports d, d ok; file is open; toggle file
            reports stopped writing the recording
            file x-2.json has "first":3,
            file x-2.json lacks "sent":"c"
            file x-2.json has "sent":"d","received":"d"})"},
        {"recordings in files with numbers",
         R"(log x.y.json; there is x.y-2.json; toggle file; toggle file
            reports CONNECTED, stopped writing the recording, writing the recording to DIR/x.y-3.json
            2 times ( toggle file ); file is open; status 0
            reports stopped writing the recording, writing the recording to DIR/x.y-4.json)"},
        {"a recording for each connection",
         R"(log x.json; send a; peer answers a; reports ... a ok; peer resets; closed
            connect; peer connects; reports ... writing the recording to DIR/x-2.json
            send b; peer answers b; reports b, b ok; toggle file; reports ... recording
            file x.json has "sent":1,"echoed":1,"bad":0,"lost":0,"late":0
            file x-2.json has "first":2
            file x-2.json has "sent":1,"echoed":1,"bad":0,"lost":0,"late":0)"},
        {"a recording whose folder is gone",
         R"(log x.json; DIR is gone; toggle file; toggle file; status 23
            reports ... cannot write the recording DIR/x.json: No such file or directory)"},
        {"the counts of a recording",
         R"(log x.json; peer answers hi; reports CONNECTED, hi; send a; +2s; peer answers a
            send b; +3s; peer answers x; send c; send d; +5s; peer answers c; reports ... c ok
            toggle file; reports ... recording
            file x.json has "sent":4,"echoed":2,"bad":1,"lost":1,"late":1,"unsent":0,"unsolicited":1
            file x.json has "rtt_us":{"min":2000000.000,"mean":3333333.333,"p50":3003121.663)"},
        {"the counts of a recording of datagrams",
         R"(over datagrams; log x.json; send a; +2s; peer sends a; peer sends a
            +1s; toggle file; reports ... recording
            file x.json has "sent":1,"echoed":1,"bad":0,"lost":0,"late":0,"unsent":0,"unsolicited":0,"duplicates":1,"reordered":0)"},
    });
}

TEST_CASE("a file that cannot be opened at the start is an error") {
    for (const char* const script :
         {"log to /none/such; open", "there is x.json; log x.json; open"})
        CHECK_THROWS_AS(ConversationScript().play(script), FileError);
}

TEST_CASE("a recording is shown up to its damage, and then a connection begins") {
    play_each<ConversationScript>({
        {"with a target", R"(recording; unconnected; begin
            reports m1, m1 ok, m2, x x does not match, m3, m3 - no reply, r.json:4: the line is truncated
            reports CONNECTED; counts 3 sent, 1 echoed, 1 bad, 1 lost
            send a; peer echoes; reports a, a ok; counts 1 sent, 1 echoed; quit; stops
            reports DISCONNECTED; status 0)"},
        {"without a target", R"(recording; no target; unconnected; begin
            reports ... r.json:4: the line is truncated; counts 3 sent, 1 echoed, 1 bad, 1 lost
            idle; reconnect; reports REFUSED; disconnect; reports REFUSED; toggle file
            reports REFUSED; file is closed; send a; reports refuses a, REFUSED; idle
            quit; stops; status 0)"},
        {"a transcript contains only the connection",
         R"(recording; log t.log; unconnected; begin; open; send a; peer echoes; reports ... a ok
            flush file; file t.log has > a; file t.log lacks m1)"},
    });
}
