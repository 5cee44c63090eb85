// The picture in README: three sessions of the programs, drawn by a terminal emulator.
//
// It must show what the programs draw: the same letters in the same styles. Times and other
// figures come from the run that made it. SCREENS_UPDATE=1 in the environment (make picture)
// rewrites it if it shows something else. The sessions then take longer, so that there is more
// to see.

#include "tests/support/catch.hpp"
#include "tests/support/picture.hpp"
#include "tests/support/text.hpp"
#include "tests/support/tty.hpp"

using namespace std::chrono_literals;
using test::Picture;
using test::Tty;

namespace {

const std::string file = std::string(SCREENS) + "/yodel.svg";

bool updating() { return std::getenv("SCREENS_UPDATE") != nullptr; }

std::string without_chance(const Picture& picture) {
    return test::without_chance(test::to_svg({picture})).front();
}

// Returns the picture in the file without random parts.
std::string expected(std::size_t place) {
    return test::without_chance(test::contents(file)).at(place);
}

// yodeld on the first free port from 7000 on, so that ports have the same number of digits in
// each run.
class PictureServer {
public:
    explicit PictureServer(std::vector<std::string> options) {
        options.insert(options.begin(), BUILD "/yodeld");
        options.emplace_back();
        for (int port = 7000; !tty_ && port < 7100; ++port) {
            options.back() = port_ = std::to_string(port);
            tty_ = std::make_unique<Tty>(Tty::Options{.arguments = options});
            if (!tty_->wait_for("listening")) tty_.reset();
        }
        REQUIRE(tty_);
    }

    // Returns a command as a user types it.
    std::string command(const std::string& client) const {
        return client + " localhost " + port_;
    }
    void kill(int signal) { tty_->kill(signal); }

private:
    std::unique_ptr<Tty> tty_;
    std::string port_;
};

Tty on_terminal(const std::string& command, Tty::Size size) {
    return Tty(
        {.arguments = {"sh", "-c", "PATH=" BUILD ":$PATH exec " + command}, .size = size});
}

void wait(Tty& tty, std::chrono::milliseconds time) {
    tty.wait_for([] { return false; }, time);
}

// Waits until the screen equals the picture in the file, unless the file is rewritten.
Picture taken(Tty& tty, const std::string& command, std::size_t place) {
    const auto now = [&] { return test::picture_of(tty, "$ " + command); };
    if (updating()) {
        wait(tty, 300ms);  // all is drawn
        return now();
    }
    const std::string wanted = expected(place);
    tty.wait_for([&] { return without_chance(now()) == wanted; });
    CHECK(without_chance(now()) == wanted);
    return now();
}

// Draws a server that flips a bit now and then, with letters of all kinds and control bytes.
Picture conversation() {
    PictureServer server({"-f", "line", "--corrupt", "10%", "--seed", "1122"});
    const std::string command = server.command("yodel");
    Tty tty = on_terminal(command, {16, 104});
    REQUIRE(tty.wait_for("connected to"));
    const auto say = [&](const std::string& keys, const std::string& echo) {
        if (updating()) wait(tty, 1200ms);
        tty.send(keys + "\r");
        REQUIRE(tty.wait_for("‹ " + echo));
    };
    say("hello", "hello ✓");
    say("你好, café", "你好, café ✓");
    say("\x1b[200~a paste may hold \x1b[31mred\x1b[0m, \a or \xff\x1b[201~", "a paste");
    say("SET temperature 21.5", "SET");
    say("GET temperature", "GET");
    tty.send("a line that is not sent y");
    REQUIRE(tty.wait_for("not sent y"));
    return taken(tty, command, 0);
}

// Draws a server with a varying delay, and its round trips.
Picture statistics() {
    PictureServer server(
        {"-f", "line", "--delay", "3ms~2.9ms", "--corrupt", "1%", "--seed", "6"});
    const std::string command = server.command("yodel");
    Tty tty = on_terminal(command, {28, 54});
    REQUIRE(tty.wait_for("connected to"));
    for (int i = 1; i <= 50; ++i) {
        tty.send("\x1b[200~one\ntwo\nthree\nfour\nfive\x1b[201~\r");
        REQUIRE(tty.wait_for(" " + std::to_string(5 * i) + "↑"));
        REQUIRE(tty.wait_for(" 0… "));
        if (updating()) wait(tty, 500ms);
    }
    tty.send("\x1bs");
    REQUIRE(tty.wait_for("Distribution"));
    return taken(tty, command, 1);
}

// Draws many connections to a server that is stopped for a while.
Picture load() {
    PictureServer server({"-f", "line", "--delay", "2ms~1.5ms"});
    const std::string command = server.command("yodel-load --connections 40 --rate 2k -m 14s");
    Tty tty = on_terminal(command, {28, 80});
    REQUIRE(tty.wait_for("column: "));
    wait(tty, updating() ? 5s : 300ms);
    server.kill(SIGSTOP);
    wait(tty, updating() ? 1400ms : 200ms);
    server.kill(SIGCONT);
    if (updating()) REQUIRE(tty.wait_for("running 0:13"));
    return taken(tty, command, 2);
}

}  // namespace

TEST_CASE("the picture in README shows what the programs draw") {
    const std::vector<Picture> drawn{conversation(), statistics(), load()};
    bool stale = false;
    for (std::size_t i = 0; i < drawn.size(); ++i)
        stale = stale || without_chance(drawn[i]) != expected(i);
    if (updating() && stale) std::ofstream(file) << test::to_svg(drawn);
    CHECK(test::contents(README).find("(tests/screens/yodel.svg)") != std::string::npos);
}

TEST_CASE("the picture in README is an XML file of less than 40 kB") {
    const std::string svg = test::contents(file);
    CHECK(svg.size() < 40'000);
    const std::string parse = "python3 -c 'import xml.dom.minidom as d; d.parse(\"";
    CHECK(std::system((parse + file + "\")'").c_str()) == 0);
}
