#include "app/examine/examine.hpp"

#include "app/websocket/transport.hpp"
#include "bufio/listen.hpp"
#include "bufio/stream.hpp"
#include "tests/app/fixture.hpp"
#include "tests/support/table.hpp"
#include "tests/support/text.hpp"
#include "tests/support/virtual_time.hpp"

#include <set>

using namespace std::chrono_literals;
using bufio::Stream;

namespace {

// A server with one bug.
class Server final : private Stream::Owner {
public:
    Server(ev::Loop& loop, std::string bug)
        : bug_(std::move(bug)),
          loop_(loop),
          listener_(std::in_place, loop, test::any_loopback_port(),
                    [this](auto socket, auto&) { accept(std::move(socket)); }) {}

    std::string port() const { return std::to_string(listener_->address().port()); }

private:
    void accept(bufio::Fd socket) {
        if (bug_ == "closes at once") return;
        const int space = 65536;  // so that a flood is short
        for (const int option : {SO_SNDBUF, SO_RCVBUF})
            ::setsockopt(socket.get(), SOL_SOCKET, option, &space, sizeof space);
        Stream::Owner& owner = *this;
        auto transport = bufio::make_plain_transport(std::move(socket));
        if (bug_.starts_with("websocket"))
            transport = yodel::websocket::accept(std::move(transport), 70'000);
        streams_.push_back(std::make_unique<Stream>(loop_, std::move(transport), owner));
        if (bug_ == "greets") streams_.back()->write("* welcome");
    }

    void stream_changed(Stream& stream) override {
        for (const auto& each : streams_)
            if (!each->end()) answer(*each);
        if (stream.input_ended()) stream.finish();
    }

    void answer(Stream& stream) {
        std::string bytes(stream.received());
        if (bytes.empty() || stream.pending() > 0) return;
        const auto open = [](auto& each) { return !each->end(); };
        const bool first =
            std::find_if(streams_.begin(), streams_.end(), open)->get() == &stream;
        const bool serves_one = bug_ == "serves one client" || bug_ == "closes after a message";
        if (bug_.starts_with("is silent") || (serves_one && !first)) return;
        stream.consume(bytes.size());
        if (bug_ == "strips the newline") std::erase(bytes, '\n');
        if (bug_ == "leaves" && bytes.size() == 256) {
            listener_.reset();
            return stream.abort();
        }
        if (bug_ == "decodes and strips" && bytes.ends_with("\r\n"))
            bytes = bytes.substr(bytes.find_first_not_of("\r\t "));
        if (bug_ == "decodes and strips" && bytes == "\n" && stream.bytes_read() == 1) return;
        if (bug_ == "decodes and strips" && bytes.find('\x80') != bytes.npos)
            bytes.replace(bytes.find('\x80'), 1, "\xef\xbf\xbd");
        // A newline within a message is not suspected.
        if (bug_ == "decodes and strips" && bytes == "a\nb\n") bytes = "a\n";
        if (bug_ == "websocket, cut" && bytes.ends_with("\t\r")) {
            --bytes[4];  // the length, after the type
            bytes.pop_back();
        }
        if (bug_ == "ends at CR") std::replace(bytes.begin(), bytes.end(), '\r', '\n');
        if (bug_ == "answers twice") bytes += bytes;
        if (bug_ == "has a small buffer") {
            const std::uint64_t before = stream.bytes_read() - bytes.size();
            bytes.resize(std::min<std::size_t>(bytes.size(),
                                               4096 - std::min<std::uint64_t>(before, 4096)));
        }
        if (bug_ == "closes after a message")
            bytes.resize(std::min<std::size_t>(bytes.size(), 1000));
        if (bug_ == "changes a byte") bytes.back() = '#';
        if (bug_ == "was late once" && !std::exchange(late_, true))
            test::VirtualLoop::time += 2s;
        stream.write(bytes);
        if (bug_ == "closes after a message") stream.finish();
    }

    const std::string bug_;
    ev::Loop& loop_;
    bool late_ = false;
    std::vector<std::unique_ptr<Stream>> streams_;
    std::optional<bufio::Listener> listener_;
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
    options.target.endpoint.service = bug == "refuses" ? "1" : server.port();
    options.target.reply_timeout = 1s;
    if (test::contains(bug, "in 50ms")) options.target.max_time = 50ms;
    if (test::contains(bug, "websocket")) {
        options.target.websocket = {.host = "a"};
        options.target.framing = yodel::websocket_framing();
    }
    options.print = [&](const std::string& lines) { result.lines += lines; };
    options.check_begins = [](auto, auto) {};
    result.trouble = yodel::examine(loop, options);
    return result;
}

// Returns the status, why there is no connection, and the lines except "ok" lines.
std::string outcome(const std::string& bug) {
    const Examined examined = examine(bug);
    std::string text = std::to_string(examined.trouble.status);
    if (!examined.trouble.text.empty()) text += " " + examined.trouble.text;
    std::istringstream lines(examined.lines);
    for (std::string each; std::getline(lines, each);)
        if (!each.starts_with("ok ")) text += " | " + each;
    if (examined.trouble.status == 0) CHECK(test::contains(examined.lines, "\nok 19 - "));
    const std::string no_echo =
        "examinations are for echo servers, and the first message was not echoed; "
        "see -f, -W and yodel-examine(7)";
    const std::size_t at = text.find(no_echo);
    return at == text.npos ? text : text.replace(at, no_echo.size(), "NO_ECHO");
}

// Examines a server without bugs. Returns for each check the numbers of connections and of
// pieces sent on them, and the first two pieces. A flood counts as one piece.
std::map<std::string, std::string> pieces_sent(const std::string& protocol) {
    yodel::ExamineOptions options;
    options.verbose = true;
    if (protocol != "websocket") options.target.framing = yodel::find_framing(protocol);
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
line: echoes a second message on the connection
=> 1 2 | 16 bytes: a first message | 16 bytes: another message
line: echoes every byte value => 1 1 | 256 bytes: ^@^A^B^C^D^E^F
line: echoes an empty message => 1 1 | 1 byte: ^J
line: keeps blanks, tabs and CR at both ends => 1 1 | 13 bytes: ^M^I blanks ^I^
line: echoes a message in two pieces => 1 2 | 8 bytes: in some  | 7 bytes: pieces^J
line: echoes a message byte by byte => 1 15 | 1 byte: i | 1 byte: n
line: echoes a thousand messages together => 1 1 | 11893 bytes: message 1^Jm
line: echoes a short message after a long one
=> 1 3 | 3001 bytes: ZZZZZZZZZZZZZ | 6 bytes: short^J
line: echoes a message of 70000 bytes => 1 1 | 70001 bytes: xxxxxxxxxxxx
line: echoes everything to a slow reader => 1 1 | 51250 bytes: aaaaaaaaaaaa
line: serves a second client while the first is idle => 1 1 | 7 bytes: second^J
line: serves twenty clients together => 20 60 | 10 bytes: AAAAAAAAA^J | 10 bytes: BBBBBBBBB^J
line: answers everything after a half-close, and closes => 1 1 | 11893 bytes: message 1^Jm
line: survives a client that leaves inside a message
=> 2 2 | 5 bytes: in so | 12 bytes: hello again^J
line: serves a client while another never reads
=> 5 5 | 51250 bytes: aaaaaaaaaaaa | 7 bytes: second^J
line: survives a reset by a client => 4 4 | 51250 bytes: aaaaaaaaaaaa | 12 bytes: hello again^J
line: serves many clients in turn
=> 200 200 | 12 bytes: hello again^J | 12 bytes: hello again^J
len2: accepts a length in pieces => 1 4 | 1 byte: ^@ | 15 bytes: ^Nin some piece
websocket: accepts a ping between fragments
=> 1 2 | 140 bytes: GET / HTTP/1.1 | 34 bytes: ^A\x83^@^@^@^@i
websocket: echoes a thousand messages together => 1 1000 | 9 bytes: message 1 | 9 bytes: message 2
websocket: serves twenty clients together => 20 40 | 9 bytes: AAAAAAAAA | 9 bytes: BBBBBBBBB
websocket: answers a close frame => 1 1 | 7 bytes: goodbye
websocket: serves a client while another never reads
=> 5 5 | 1024 bytes: aaaaaaaaaaaaa | 6 bytes: second
)",
                      [&](const std::string& row) {
                          const std::size_t colon = row.find(": ");
                          const auto& all = row.starts_with("len2")   ? lengths
                                            : row.starts_with("line") ? lines
                                                                      : messages;
                          return all.at(row.substr(colon + 2));
                      });
}

TEST_CASE("names what a server does instead, and a proven cause") {
    test::check_table(R"(
was late once => 0 | 1..19
leaves
=> 1 | 1..19 | not ok 3 - echoes every byte value: no reply within 1s | Bail out! the server has not answered since check 3
is silent
=> 1 | 1..19 | not ok 1 - echoes a message: no reply within 1s | Bail out! NO_ECHO
ends at CR
=> 1 | 1..19 | not ok 3 - echoes every byte value: the reply differs at byte 12 (expected 0x0d, got 0x0a) (0d ends its messages) | not ok 5 - keeps blanks, tabs and CR at both ends: the reply differs at byte 0 (expected 0x0d, got 0x0a) (see 3)
decodes and strips
=> 1 | 1..19 | not ok 3 - echoes every byte value: the reply differs at byte 127 (expected 0x80, got 0xef) (decoded as UTF-8) | not ok 4 - echoes an empty message: no reply within 1s | not ok 5 - keeps blanks, tabs and CR at both ends: the reply differs at byte 0 (expected 0x0d, got b) (bytes at the start are removed)
websocket, cut
=> 1 | 1..18 | not ok 5 - keeps blanks, tabs and CR at both ends: 11 of 12 bytes arrived (bytes at the end are removed)
strips the newline
=> 1 | 1..19 | not ok 1 - echoes a message: 12 of 13 bytes arrived within 1s, without a newline | Bail out! NO_ECHO
answers twice
=> 1 | 1..19 | not ok 1 - echoes a message: 13 bytes more arrived than were sent | Bail out! NO_ECHO
changes a byte
=> 1 | 1..19 | not ok 1 - echoes a message: the reply differs at byte 12 (expected 0x0a, got \#) | Bail out! NO_ECHO
greets
=> 1 | 1..19 | not ok 1 - echoes a message: the reply differs at byte 0 (expected h, got *) | Bail out! examinations are for echo servers, and the first message was not echoed; if the service does not echo, use --expect any
closes after a message
=> 1 | 1..19 | not ok 2 - echoes a second message on the connection: the server closed the connection; 0 of 16 bytes arrived (it closes after one message) | not ok 6 - echoes a short message after a long one: the server closed the connection; 1000 of 3001 bytes arrived (see 2) | not ok 7 - echoes a message in two pieces: the server closed the connection; 8 of 15 bytes arrived (see 2) | not ok 8 - echoes a message byte by byte: the server closed the connection; 1 of 15 bytes arrived (see 2) | not ok 9 - echoes a thousand messages together: the server closed the connection; 1000 of 11893 bytes arrived (see 2) | not ok 10 - echoes a message of 70000 bytes: the server closed the connection; 1000 of 70001 bytes arrived (a buffer of 1000 bytes) | not ok 11 - echoes everything to a slow reader: the server closed the connection; 1000 of 16400000 bytes arrived (see 2) | not ok 12 - serves a second client while the first is idle: no reply within 1s; it arrived once the first client had closed (it serves one client after the other) | not ok 13 - serves twenty clients together: no reply within 1s (see 12) | not ok 14 - answers everything after a half-close, and closes: the server closed the connection; 1000 of 11893 bytes arrived (see 2) | not ok 17 - serves a client while another never reads: no reply within 1s; it arrived once the first client had closed (see 10)
has a small buffer
=> 1 | 1..19 | not ok 9 - echoes a thousand messages together: 4096 of 11893 bytes arrived within 1s (a buffer of 4096 bytes) | not ok 10 - echoes a message of 70000 bytes: 4096 of 70001 bytes arrived within 1s (see 9) | not ok 11 - echoes everything to a slow reader: 4096 of 16400000 bytes arrived within 1s (see 9) | not ok 14 - answers everything after a half-close, and closes: the server closed the connection; 4096 of 11893 bytes arrived (see 9)
serves one client
=> 1 | 1..19 | not ok 12 - serves a second client while the first is idle: no reply within 1s; it arrived once the first client had closed (it serves one client after the other) | not ok 13 - serves twenty clients together: no reply within 1s (see 12) | not ok 17 - serves a client while another never reads: no reply within 1s; it arrived once the first client had closed (see 12)
refuses => 7 cannot connect to 127.0.0.1:1: Connection refused
answers, in 50ms => 28 | 1..19 | Bail out! the time limit has passed (-m)
is silent, so that no websocket opens in 50ms => 28 | Bail out! the time limit has passed (-m)
closes at once
=> 1 | 1..19 | not ok 1 - echoes a message: the server has closed the connection; 0 of 13 bytes arrived | Bail out! NO_ECHO
)",
                      outcome);
}

TEST_CASE("reports checks, causes and consequences as JSON, and the bytes") {
    yodel::ExamineOptions options;
    options.json = true;
    const std::string lines = examine("ends at CR", options).lines;
    CHECK(lines.find(R"~("cause":"0d ends its messages"})~") != lines.npos);
    CHECK(lines.find(R"~("see":3})~") != lines.npos);
    options.verbose = true;
    const Examined examined = examine("changes a byte", options);
    CHECK(examined.lines ==
          R"~({"type":"check","number":1,"name":"echoes a message","ok":false,)~"
          R"~("came":"the reply differs at byte 12 (expected 0x0a, got #)",)~"
          R"~("trace":["1 sent 13 bytes: hello, yodel^J",)~"
          R"~("1 received 13 bytes: hello, yodel#"]})~"
          "\n"
          R"~({"type":"end","reason":"examinations are for echo servers, and the )~"
          R"~(first message was not echoed; see -f, -W and yodel-examine(7)"})~"
          "\n");
}
