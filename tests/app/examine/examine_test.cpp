#include "app/examine/examine.hpp"

#include "app/websocket/transport.hpp"
#include "bufio/listen.hpp"
#include "bufio/stream.hpp"
#include "tests/app/fixture.hpp"
#include "tests/support/table.hpp"
#include "tests/support/virtual_time.hpp"

using namespace std::chrono_literals;
using bufio::Stream;

namespace {

// A server with one bug.
class Server final : private Stream::User {
public:
    Server(ev::Loop& loop, std::string bug)
        : bug_(std::move(bug)),
          loop_(loop),
          listener_(loop, test::any_loopback_port(),
                    [this](auto socket, auto&) { accept(std::move(socket)); }) {}

    std::string port() const { return std::to_string(listener_.address().port()); }

private:
    void accept(bufio::Fd socket) {
        if (bug_ == "closes at once") return;
        Stream::User& user = *this;
        auto transport = bufio::make_plain_transport(std::move(socket));
        if (bug_ == "websocket")
            transport = yodel::websocket::accept(std::move(transport), 65536);
        streams_.push_back(std::make_unique<Stream>(loop_, std::move(transport), user));
        if (bug_ == "greets") streams_.back()->write("* welcome");
    }

    void stream_changed(Stream& stream) override {
        for (const auto& each : streams_)
            if (!each->end()) answer(*each);
        if (stream.input_ended() && bug_ != "never closes") stream.finish();
    }

    void answer(Stream& stream) {
        std::string bytes(stream.received());
        if (bytes.empty()) return;
        const auto open = [](auto& each) { return !each->end(); };
        const bool first =
            std::find_if(streams_.begin(), streams_.end(), open)->get() == &stream;
        if (bug_ == "is silent" || (bug_ == "serves one client" && !first)) return;
        stream.consume(bytes.size());
        if (bug_ == "stops at a NUL") bytes.resize(std::min(bytes.find('\0'), bytes.size()));
        if (bug_ == "strips the newline") std::erase(bytes, '\n');
        if (bug_ == "answers twice") bytes += bytes;
        if (bug_ == "changes a byte") bytes.back() = '#';
        if (bug_ == "ignores empty messages" && bytes == "\n" && stream.bytes_read() == 1)
            return;
        if (bug_ == "was late once" && !std::exchange(late_, true))
            test::VirtualLoop::time += 2s;
        stream.write(bytes);
        if (bug_ == "closes after a message") stream.close();
    }

    const std::string bug_;
    ev::Loop& loop_;
    bool late_ = false;
    std::vector<std::unique_ptr<Stream>> streams_;
    bufio::Listener listener_;
};

struct Examined {
    yodel::Trouble trouble;
    std::string lines;
};

Examined examine(const std::string& bug, yodel::ExamineOptions options = {}) {
    test::VirtualLoop loop;
    Server server(loop, bug);
    Examined result;
    options.target.endpoint.host = "127.0.0.1";
    options.target.endpoint.service = server.port();
    options.target.reply_timeout = 1s;
    options.print = [&](const std::string& lines) { result.lines += lines; };
    options.check_begins = [](auto, auto) {};
    result.trouble = yodel::examine(loop, options);
    return result;
}

// Returns the status, and the lines except "ok" lines.
std::string outcome(const std::string& bug) {
    const Examined examined = examine(bug);
    CHECK(examined.trouble.text.empty());
    std::string text = std::to_string(examined.trouble.status);
    std::istringstream lines(examined.lines);
    for (std::string each; std::getline(lines, each);)
        if (!each.starts_with("ok ")) text += " | " + each;
    const std::string no_echo =
        "this is no echo server, or its messages have another framing (-f)";
    const std::size_t at = text.find(no_echo);
    return at == text.npos ? text : text.replace(at, no_echo.size(), "NO_ECHO");
}

// Examines a server without bugs. Returns for each check the numbers of connections and of
// pieces sent on them, and the first two pieces. A flood counts as one piece.
std::map<std::string, std::string> pieces_sent(const std::string& protocol) {
    yodel::ExamineOptions options;
    options.verbose = true;
    if (protocol == "websocket") options.target.websocket = {.host = "a"};
    options.target.framing =
        options.target.websocket ? yodel::websocket_framing() : yodel::find_framing(protocol);
    std::istringstream lines(examine(protocol, options).lines);
    std::map<std::string, std::string> all;
    std::set<std::string> connections;
    std::vector<std::string> pieces;
    const std::string_view others = "bcdefg";  // letters of a flood after its first ones
    for (std::string line; std::getline(lines, line);) {
        const std::size_t verb = line.find(" sent ");
        const auto floods = [&](char letter) {
            return line.find(std::string(9, letter)) != line.npos;
        };
        const bool repeated = std::any_of(others.begin(), others.end(), floods) ||
                              (floods('a') && !pieces.empty() && pieces.back() == line);
        if (line.starts_with("ok ")) {
            std::string& text = all[line.substr(line.find('-') + 2)];
            text = std::to_string(connections.size()) + " " + std::to_string(pieces.size());
            for (std::size_t i = 0; i < std::min<std::size_t>(2, pieces.size()); ++i)
                text += " | " + pieces[i].substr(pieces[i].find(" sent ") + 6, 25);
            connections.clear();
            pieces.clear();
        } else if (verb != line.npos && !repeated) {
            connections.insert(line.substr(2, verb - 2));
            pieces.push_back(line);
        }
    }
    return all;
}

}  // namespace

TEST_CASE("sends the pieces of each check") {
    const auto lines = pieces_sent("line");
    const auto lengths = pieces_sent("len2");
    const auto messages = pieces_sent("websocket");
    test::check_table(R"(
line: echoes a message => 1 1 | 13 bytes: hello, yodel^J
line: echoes every byte value => 1 1 | 256 bytes: ^@^A^B^C^D^E^F
line: echoes an empty message => 1 1 | 1 byte: ^J
line: echoes a message in two pieces => 1 2 | 7 bytes: in some | 8 bytes:  pieces^J
line: echoes a message byte by byte => 1 15 | 1 byte: i | 1 byte: n
line: echoes a thousand messages at once => 1 1 | 11893 bytes: message 1^Jm
line: echoes a short message after a long one
=> 1 3 | 3001 bytes: lllllllllllll | 6 bytes: lllll^J
line: echoes everything to a slow reader => 1 1 | 1049600 bytes: aaaaaaaaaa
line: serves a second client while the first is idle => 2 2 | 6 bytes: first^J | 7 bytes: second^J
line: serves twenty clients at once => 20 140 | 10 bytes: message 1^J | 10 bytes: message 2^J
line: answers everything after a half-close, and closes => 1 1 | 11893 bytes: message 1^Jm
line: survives a client that leaves inside a message
=> 2 2 | 5 bytes: in so | 12 bytes: hello again^J
line: serves a client while another never reads
=> 2 2 | 1049600 bytes: aaaaaaaaaa | 12 bytes: hello again^J
line: survives a reset by a client => 4 4 | 1049600 bytes: aaaaaaaaaa | 12 bytes: hello again^J
line: serves two hundred clients in turn
=> 200 200 | 12 bytes: hello again^J | 12 bytes: hello again^J
len2: accepts a length in pieces => 1 4 | 1 byte: ^@ | 15 bytes: ^Nin some piece
websocket: accepts a ping between fragments
=> 1 2 | 140 bytes: GET / HTTP/1.1 | 34 bytes: ^A\x83^@^@^@^@i
websocket: echoes a thousand messages at once => 1 1000 | 9 bytes: message 1 | 9 bytes: message 2
websocket: serves twenty clients at once => 20 80 | 9 bytes: message 1 | 9 bytes: message 2
websocket: answers a close frame => 1 1 | 7 bytes: goodbye
websocket: serves a client while another never reads
=> 2 2 | 1024 bytes: aaaaaaaaaaaaa | 11 bytes: hello again
)",
                      [&](const std::string& row) {
                          const std::size_t colon = row.find(": ");
                          const auto& all = row.starts_with("len2")   ? lengths
                                            : row.starts_with("line") ? lines
                                                                      : messages;
                          return all.at(row.substr(colon + 2));
                      });
}

TEST_CASE("names what a server does instead") {
    test::check_table(R"(
none => 0 | 1..16
was late once => 0 | 1..16
is silent
=> 1 | 1..16 | not ok 1 - echoes a message: no reply within 1s | Bail out! NO_ECHO
stops at a NUL
=> 1 | 1..16 | not ok 2 - echoes every byte value: no reply within 1s (strlen() ends at a NUL)
ignores empty messages
=> 1 | 1..16 | not ok 3 - echoes an empty message: no reply within 1s (0 bytes taken for the end)
strips the newline
=> 1 | 1..16 | not ok 1 - echoes a message: 12 of 13 bytes came within 1s, without a newline | Bail out! NO_ECHO
answers twice
=> 1 | 1..16 | not ok 1 - echoes a message: 13 bytes more came than were sent | Bail out! NO_ECHO
changes a byte
=> 1 | 1..16 | not ok 1 - echoes a message: the reply differs at byte 12 (expected 0x0a, got \#) | Bail out! NO_ECHO
greets
=> 1 | 1..16 | not ok 1 - echoes a message: the reply differs at byte 0 (expected h, got *) | Bail out! if the service does not echo, use --expect any
serves one client
=> 1 | 1..16 | not ok 9 - serves a second client while the first is idle: no reply within 1s, until the first had closed (one client after the other) | not ok 10 - serves twenty clients at once: no reply within 1s (one buffer for all clients) | not ok 13 - serves a client while another never reads: no reply within 1s (a blocking write())
closes at once
=> 1 | 1..16 | not ok 1 - echoes a message: the server has closed the connection; 0 of 13 bytes came | Bail out! NO_ECHO
never closes
=> 1 | 1..16 | not ok 11 - answers everything after a half-close, and closes: the server did not close within 1s (read() returns 0 at the end)
)",
                      outcome);
}

TEST_CASE("reports checks as JSON, with sent and received bytes") {
    yodel::ExamineOptions options;
    options.json = options.verbose = true;
    const Examined examined = examine("changes a byte", options);
    CHECK(examined.lines ==
          R"~({"type":"check","number":1,"name":"echoes a message","ok":false,)~"
          R"~("came":"the reply differs at byte 12 (expected 0x0a, got #)","cause":"",)~"
          R"~("trace":["1 sent 13 bytes: hello, yodel^J",)~"
          R"~("1 received 13 bytes: hello, yodel#"]})~"
          "\n"
          R"~({"type":"end","reason":"this is no echo server, )~"
          R"~(or its messages have another framing (-f)"})~"
          "\n");
}

TEST_CASE("reports why there is no connection, and nothing else") {
    test::VirtualLoop loop;
    yodel::ExamineOptions options;
    options.target.endpoint.host = "127.0.0.1";
    options.target.endpoint.service = "1";
    options.print = [](auto&) { FAIL("a line was printed"); };
    options.check_begins = [](auto, auto) {};
    const yodel::Trouble trouble = yodel::examine(loop, options);
    CHECK(trouble.status == yodel::connect_failed);
    CHECK(trouble.text == "cannot connect to 127.0.0.1:1: Connection refused");
}

TEST_CASE("ends the examination when its time is over") {
    yodel::ExamineOptions options;
    options.target.max_time = 50ms;
    CHECK(examine("none", options).lines ==
          "1..16\nok 1 - echoes a message\nok 2 - echoes every byte value\n"
          "ok 3 - echoes an empty message\n"
          "not ok 4 - echoes a message in two pieces: 7 of 15 bytes came in time (one read is "
          "not one message)\nBail out! the time is over (-m)\n");
}
