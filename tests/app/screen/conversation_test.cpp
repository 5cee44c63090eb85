// What the log shows and files contain, on a screen that is wide enough for each sentence.

#include "tests/app/screen/screen_script.hpp"

#include <filesystem>

using test::play_each;
using yodel::FileError;

namespace {

// A script whose reports are the rows of the log without times and signs, in quotes if they
// contain a semicolon. PORT stands for the port of the peer, DIR for a temporary folder, and a
// word in capitals for a frequent sentence (see collect()). Settings: log NAME, for a file in
// DIR; there is NAME, a file in DIR; recording, a damaged one; no target. More verbs:
//
//     send X           pastes a line, and sends it
//     quit             ends the client as a signal does
//     DIR is gone      removes the folder
//     file NAME has X, file NAME lacks X
class LogScript final : public test::ScreenScript {
public:
    LogScript() : ScreenScript("C", "60x300") {
        std::filesystem::create_directory(folder_);
        setting("log", [this](const std::string& name) { with_.log = path(name); });
        setting("there is",
                [this](const std::string& name) { std::ofstream(path(name)) << "mine"; });
        setting("recording",
                [this](const std::string&) { with_.recording = damaged_recording(); });
        setting("no target", [this](const std::string&) { with_.has_target = false; });
        on("send", [this](const std::string& line) {
            type("\x1b[200~" + test::bytes(line) + "\x1b[201~\r");
        });
        on("quit", [this](const std::string&) { client_->quit(SIGTERM); });
        on("DIR is gone", [this](const std::string&) { std::filesystem::remove_all(folder_); });
        on("file", [this](const std::string& text) {
            const std::size_t name = text.find(' ');
            const std::string contents = test::contents(path(text.substr(0, name)));
            CAPTURE(contents);
            const bool has = text.substr(name, 5) == " has ";
            REQUIRE(test::contains(contents, test::bytes(text.substr(name + (has ? 5 : 7)))) ==
                    has);
        });
    }
    ~LogScript() override { std::filesystem::remove_all(folder_); }

private:
    // Returns a recording of a right reply, a bad one and a lost message, without its end.
    static std::shared_ptr<const yodel::Recording> damaged_recording() {
        constexpr const char* text =
            R"({"type":"recording","version":2,"framing":"line","first":1,"connections":1}
{"type":"message","seq":1,"planned_us":10,"rtt_us":9,"fate":"echoed","right":true,)"
            R"("sent":"m1","received":"m1"}
{"type":"message","seq":2,"planned_us":20,"rtt_us":9,"fate":"bad","sent":"m2","received":"x"}
{"type":"message","seq":3,"planned_us":30,"fate":"lost","sent":"m3"})";
        yodel::Recording recording{.name = "r.json"};
        yodel::parse_recording(recording, text, {});
        return std::make_shared<const yodel::Recording>(std::move(recording));
    }
    void collect() override {
        turn();
        int rows = 0;
        for (std::string text; !(text = emulator_.row(rows)).empty(); ++rows) {
            if (rows < reported_) continue;
            ++reported_;
            text = without_sign(text);
            replace(text, folder_.string(), "DIR");
            replace(text, ":" + std::to_string(peer->port()), ":PORT");
            if (text.starts_with("connection from 127.0.0.1:")) text = "ACCEPTED";
            static const std::pair<const char*, const char*> names[] = {
                {"connected to 127.0.0.1:PORT", "CONNECTED"},
                {"cannot connect to 127.0.0.1:PORT: Connection refused", "REFUSED"},
                {"REFUSED; retrying; F5 retries now", "RETRYING"},
                {"disconnected", "DISCONNECTED"},
                {"not connected; will be sent once connected: ", "QUEUED "},
                {"there is no target; to connect to one, run yodel -r FILE TARGET", "REFUSED"},
                {"if the service does not echo, use --expect any", "HINT"}};
            for (const auto& [sentence, name] : names) replace(text, sentence, name);
            report(test::contains(text, "; ") ? '"' + text + '"' : text);
        }
    }
    // Removes the time, and the sign before the first blank that follows a sign.
    static std::string without_sign(const std::string& row) {
        std::size_t begin = row.size();
        for (const std::string sign : {"- ", "> ", "< ", "? "})
            begin = std::min(begin, row.find(sign));
        return row.substr(std::min(begin + 2, row.size()));
    }
    static void replace(std::string& text, const std::string& from, const std::string& to) {
        const std::size_t at = text.find(from);
        if (at != text.npos) text.replace(at, from.size(), to);
    }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }

    const std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                          ("conversation_test." + std::to_string(::getpid()));
    int reported_ = 0;  // rows of the log that were reported
};

}  // namespace

TEST_CASE("messages and replies are logged, counted and timed") {
    play_each<LogScript>({
        {"a reply that is compared to nothing",
         "--expect any; send PING; peer answers +PONG; reports CONNECTED, PING, +PONG"},
        {"replies that match or not",
         R"(--expect any; --match ^[+]; send PING; peer answers +PONG; reports ... +PONG ok
            send X; peer answers -ERR; reports X, -ERR x does not match; shows 2^ 1v 0~ 1x 0?)"},
        {"the first bad reply with a hint, the second without",
         R"(send ping; peer answers pong and more; +1s
            reports CONNECTED, ping, pong and more x differs at byte 1: i>o, HINT
            send ping; peer answers other words; +1s
            reports ping, other words x differs at byte 0: p>o)"},
        {"a late reply",
         R"(send hello; peer got hello\n; +4800ms; reports CONNECTED, hello; +200ms
            reports hello - no reply within 5s; shows 1^ 0v 0~ 0x 1?; peer answers hello
            reports hello ok; shows 1^ 1v 0~ 0x 0?; keys F2; shows late                1)"},
        {"a part of a reply", R"(send hello; peer sends he; +5s
            reports ... "hello - no reply within 5s; 2 of 5 bytes received, without a newline")"},
        {"stale replies, of which the first has a note",
         R"(send a; peer sends a\nb\n
            reports CONNECTED, a, a ok, b, after a right reply, the server sent "b", which answers no message
            send c; peer sends c\nd\n; reports c, c ok, d; shows 2^ 2v 0~ 0x 0? 2<<)"},
        {"a duplicate", R"(over datagrams; send a; peer got a\n; peer sends a; peer sends a
                           reports ... a, a ok, a - a duplicate reply; shows 1 duplicate)"},
        {"a reply out of order",
         R"(over datagrams; send a; send b; peer got a\nb\n; peer sends b
                                    peer sends a; shows 1 reordered; reports ... a ok)"},
        {"a half-close, which is noted once",
         R"(--expect none; peer ends
            reports CONNECTED, "the server has shut down its sending side; you can still send"
            send x; peer got x\n; reports x)"},
    });
}

TEST_CASE("clients are answered by hand, one after the other") {
    play_each<LogScript>({
        {"what both sides send",
         R"(listening; reports listening 127.0.0.1:PORT; peer connects; shows * up
            peer sends hello\nand more\n; reports ACCEPTED, hello, and more
            send hi; peer got hi\n; +1s; peer sends well\n; reports hi, well; shows 1^ 3v
            keys F2; shows received            3; keys Esc
            quit; stops; reports DISCONNECTED; status 0)"},
        {"a client that leaves is followed by the next",
         R"(listening; --retry forever; reports listening 127.0.0.1:PORT
            send banner; reports QUEUED banner
            peer connects; peer got banner\n; reports ACCEPTED, banner; peer ends; +400ms
            reports nothing; +100ms; reports the client closed the connection; hides * up
            peer connects; shows * up; peer resets; reports ACCEPTED, receiving failed: Connection reset by peer
            hides * up; peer connects; shows * up; reports ACCEPTED; keys ^D; peer got the end
            peer ends; stops; reports closed; status 0)"},
        {"a recording of each client",
         R"(listening; --retry forever; log x.json; peer connects; peer sends a\n
            reports ... a; send b; peer ends; +1s; peer connects; peer sends c\n; reports ... c
            quit; stops; reports ... DISCONNECTED; status 0
            file x.json has "received":"a"; file x.json has "sent":"b"
            file x-2.json has "received":"c")"},
    });
}

TEST_CASE("a line is sent as it is, or returns to the user") {
    play_each<LogScript>({
        {"as it is", R"(send a\\nb; peer got a\\nb\n; reports CONNECTED, a\nb)"},
        {"empty lines, which are no messages with this framing",
         R"(-f resp; --expect any; send a\n\nb; peer got a\r\nb\r\n; reports CONNECTED, a, b)"},
        {"a bad escape", R"(escapes; send \\q; last \q
            reports ... a backslash must be followed by n, r, t, 0, a backslash, or x and two hex digits
            keys ^U F8; send a\\q; last a\q; hides queued
            reports DISCONNECTED, a backslash must be followed by n, r, t, 0, a backslash, or x and two hex digits)"},
        {"too long, before it is queued",
         R"(--max-frame 8; keys F8; send 123456789; last 123456789; hides queued
            reports ... not sent: a message of 9 bytes exceeds the limit of 8 (--max-frame))"},
        {"empty",
         "-f raw; keys Enter; reports ... not sent: -f raw does not allow empty messages"},
        {"not connected", R"(keys F8; send one; reports CONNECTED, DISCONNECTED, QUEUED one
            send two\nthree; shows 3 queued
            keys F5; peer got one\ntwo\nthree\n; hides queued
            reports ... CONNECTED, one, two, three)"},
        {"to a server that has closed the connection",
         R"(send a; peer got a\n; peer ends; shows closed:; send b; peer got b\n; hides queued
            reports CONNECTED, a, a - no reply before the connection ended, the server closed the connection after 0 of 1 replies, connecting again to send: b, CONNECTED, b)"},
    });
}

TEST_CASE("quitting stops the loop once all is reported") {
    play_each<LogScript>({
        {"while connecting", "--tls; shows handshake; quit; stops; reports DISCONNECTED"},
        {"while a message is in flight",
         R"(send hello; peer got hello\n; quit; stops
            reports CONNECTED, hello, DISCONNECTED; status 0)"},
        {"after the end", "keys F8; reports CONNECTED, DISCONNECTED; quit; stops"},
        {"when the time is over",
         R"(--max-time 5s; stops
            reports CONNECTED, the run did not finish within 5s (--max-time); status 28)"},
        {"while waiting for a retry",
         R"(to nobody; --retry forever; send a; reports RETRYING, QUEUED a; keys ^D; stops
            reports REFUSED; status 7)"},
        {"unless the user reconnects",
         R"(keys ^D F5; send hello; peer got hello\n; peer answers hello
            reports CONNECTED, CONNECTED, hello, hello ok)"},
        {"unless the user disconnects",
         R"(keys ^D F8; reports CONNECTED, DISCONNECTED; send b; reports QUEUED b)"},
    });
}

TEST_CASE("each connection and each failure is logged once") {
    play_each<LogScript>({
        {"reconnecting", "keys F5; reports CONNECTED, CONNECTED"},
        {"reconnecting asks first if a retry has only just connected",
         R"(--retry forever; peer resets; shows retry; +1s
            reports CONNECTED, "receiving failed: Connection reset by peer; retrying; F5 retries now", CONNECTED
            +900ms; keys F5; reports "just connected; press F5 again to reconnect"
            keys F5; reports CONNECTED)"},
        {"but not later",
         R"(--retry forever; peer resets; shows retry; +1s; +2s; reports ... CONNECTED
            keys F5; reports CONNECTED)"},
        {"repeated refusals", "to nobody; --retry forever; +1min; reports RETRYING; keys F8; "
                              "reports REFUSED; status 7"},
        {"an announced end",
         R"(--retry forever; no retry after answers; send QUIT; peer answers QUIT; peer ends
            reports ... QUIT ok, the server closed the connection; status 0)"},
        {"datagrams",
         R"(over datagrams; --retry forever
            reports "sending to udp://127.0.0.1:PORT; only a reply shows that a server is there"
            peer leaves; send a; reports a, a - no reply before the connection ended, RETRYING)"},
    });
}

TEST_CASE("the connection decides the exit status, then the file, then the replies") {
    play_each<LogScript>({
        {"a bad reply", "send a; peer answers b; +1s; reports ... HINT; status 1"},
        {"a line that was never sent", "keys F8; send a; reports ... QUEUED a; status 1"},
        {"a server that does not close",
         R"(-q 1s; keys ^D; +1s; reports ... the server did not close within 1s (-q); status 0)"},
        {"a full file, after a bad reply",
         R"(log to /dev/full; send a; peer answers b; +1s; reports ... HINT; status 23)"},
        {"a reset, after a full file",
         R"(log to /dev/full; peer resets
            reports ... receiving failed: Connection reset by peer; status 56)"},
    });
}

TEST_CASE("a file is written, stopped and started again") {
    play_each<LogScript>({
        {"a transcript", R"(log x; shows FILE; keys F9; hides FILE
            reports CONNECTED, stopped writing the transcript; file x has  - connected to
            peer answers hi; shows << hi; keys F9; reports ... writing the transcript to DIR/x
            file x lacks hi)"},
        {"a recording, from the next message on",
         R"(log x.json; peer answers hi; reports CONNECTED, hi; send a; peer answers b; +1s
            keys F9; reports ... stopped writing the recording
            file x.json has {"type":"recording","version":2,"framing":"line","first":1,"connections":1,"started"
            file x.json has "expect":"echo"}\n{"type":"connection",
            file x.json has "received":"hi"}
            file x.json has "sent":"a","received":"b"}
            file x.json has {"type":"end","reason":"1 bad","status":1,"sent":1,
            send c; peer got a\nc\n; keys F9; peer answers c
            reports c, writing the recording to DIR/x-2.json, c ok
            send d; peer answers d; reports d, d ok; keys F9
            reports stopped writing the recording
            file x-2.json has "first":3,
            file x-2.json lacks "sent":"c"
            file x-2.json has "sent":"d","received":"d"})"},
        {"recordings in files with numbers",
         R"(log x.y.json; there is x.y-2.json; keys F9 F9
            reports CONNECTED, stopped writing the recording, writing the recording to DIR/x.y-3.json
            keys F9 F9
            reports stopped writing the recording, writing the recording to DIR/x.y-4.json; status 0)"},
        {"a recording for each connection",
         R"(log x.json; send a; peer answers a; reports ... a ok; peer resets; shows closed:
            keys F5; reports ... writing the recording to DIR/x-2.json
            send b; peer answers b; reports b, b ok; keys F9; reports ... recording
            file x.json has "sent":1,"echoed":1,"bad":0,"lost":0,"late":0
            file x-2.json has "first":2
            file x-2.json has "sent":1,"echoed":1,"bad":0,"lost":0,"late":0)"},
        {"a recording whose folder is gone",
         R"(log x.json; DIR is gone; keys F9 F9
            reports ... cannot write the recording DIR/x.json: No such file or directory; status 23)"},
        {"the counts of a recording",
         R"(log x.json; peer answers hi; reports CONNECTED, hi; send a; +2s; peer answers a
            send b; +3s; peer answers x; send c; send d; +5s; peer answers c; reports ... c ok
            keys F9; reports ... recording
            file x.json has "sent":4,"echoed":2,"bad":1,"lost":1,"late":1,"unsent":0,"unsolicited":1
            file x.json has "rtt_us":{"min":2)"},
        {"the counts of a recording of datagrams",
         R"(over datagrams; log x.json; send a; +2s; peer sends a; peer sends a
            +1s; keys F9; reports ... recording
            file x.json has "sent":1,"echoed":1,"bad":0,"lost":0,"late":0,"unsent":0,"unsolicited":0,"duplicates":1,"reordered":0)"},
    });
}

TEST_CASE("a file that cannot be opened at the start is an error") {
    for (const char* const script :
         {"log to /none/such; turn", "there is x.json; log x.json; turn"})
        CHECK_THROWS_AS(LogScript().play(script), FileError);
}

TEST_CASE("a recording is shown up to its damage, and then a connection begins") {
    play_each<LogScript>({
        {"with a target", R"(recording; shows 3^ 1v 0~ 1x 1?; hides p50
            reports m1, m1 ok, m2, x x does not match, m3, m3 - no reply, r.json:4: the recording is truncated: the end object is missing, CONNECTED
            send a; peer echoes; reports a, a ok; shows 1^ 1v 0~ 0x 0?; quit; stops
            reports DISCONNECTED; status 0)"},
        {"without a target", R"(recording; no target; shows 3^ 1v 0~ 1x 1?; shows p50
            reports ... r.json:4: the recording is truncated: the end object is missing
            keys F5 F8 F9; reports REFUSED, REFUSED, REFUSED; send a; last a
            reports REFUSED; quit; stops; status 0)"},
        {"a transcript contains only the connection",
         R"(recording; log t.log; send a; peer echoes; reports ... a ok; file t.log has > a
            file t.log lacks m1)"},
    });
}
