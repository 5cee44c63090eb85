// Compares the main screens with the files in tests/screens, which a reader can browse.
//
// Times, ports and the like are replaced by zeros.  SCREENS_UPDATE=1 in the environment
// rewrites the files instead of comparing.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"
#include "tests/support/tty.hpp"

#include <filesystem>
#include <regex>

using test::contents;
using test::Tty;
using test::yodel;

namespace {

std::string without_chance(std::string screen) {
    static const std::pair<std::regex, const char*> rules[] = {
        {std::regex("[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}"), "00:00:00.000"},
        {std::regex(" *[0-9.]+ms ‹"), "      0.00ms ‹"},
        {std::regex("[0-9.]+ ms"), "0.00 ms"},
        {std::regex("0\\? │ .*"), "0?"},
        {std::regex("up 00:[0-9]{2}"), "up 00:00"},
    };
    for (const auto& [pattern, text] : rules)
        screen = std::regex_replace(screen, pattern, text);
    return std::regex_replace(screen, std::regex(" +\n"), "\n");
}

// Waits until the screen equals the file.
void check_screen(Tty& tty, const std::string& name, const std::string& sign) {
    REQUIRE(tty.wait_for(sign));
    const std::string file = std::string(SCREENS) + "/" + name + ".txt";
    if (std::getenv("SCREENS_UPDATE")) {
        tty.wait_for([] { return false; }, std::chrono::milliseconds(300));  // all is drawn
        std::ofstream(file) << without_chance(tty.screen());
        return;
    }
    const std::string expected = contents(file);
    const bool same = tty.wait_for([&] { return without_chance(tty.screen()) == expected; });
    CAPTURE(name, expected);
    if (!same) CHECK(without_chance(tty.screen()) == expected);
    CHECK(same);
}

struct Shape {
    const char* name;
    Tty::Size size;
};

// Runs the client with a socket of a fixed name, without the sandbox, which differs between
// systems.
std::vector<std::string> at_socket(const test::Folder& folder) {
    return {"sh", "-c",
            "cd " + folder.path("") + " && exec " + yodel + " --no-sandbox unix:echo"};
}

void wait_for_socket(const std::string& path) {
    const auto deadline = std::chrono::steady_clock::now() + test::Process::patience;
    while (!std::filesystem::exists(path)) REQUIRE(std::chrono::steady_clock::now() < deadline);
}

}  // namespace

TEST_CASE("the screens of a server that answers by hand equal their files in tests/screens") {
    test::Folder folder;
    Tty tty({.arguments = {"sh", "-c",
                           "cd " + folder.path("") + " && exec " + yodel +
                               " --no-sandbox -l unix:here"}});
    check_screen(tty, "listening-80x24", "listening here");
    test::Process client({"socat", "UNIX:" + folder.path("here"),
                          "SYSTEM:echo hello; read line; echo how are you?; read line"});
    REQUIRE(tty.wait_for("‹ hello"));
    tty.send("hi there\r");
    check_screen(tty, "answering-80x24", "ms ‹ how are you?");
    tty.send("fine\r");
    check_screen(tty, "left-80x24", "the client closed the connection");
}

TEST_CASE("the main screens equal their files in tests/screens") {
    const Shape shape = GENERATE(Shape{"80x24", {24, 80}}, Shape{"40x10", {10, 40}});
    const std::string of = std::string("-") + shape.name;
    test::Folder folder;
    test::Process server({"socat", "UNIX-LISTEN:" + folder.path("echo") + ",fork", "PIPE"});
    wait_for_socket(folder.path("echo"));
    Tty tty({.arguments = at_socket(folder), .size = shape.size});
    REQUIRE(tty.wait_for("up 00:"));
    check_screen(tty, "start" + of, "connected to");
    tty.send("hello\r");
    REQUIRE(tty.wait_for("‹ hello ✓"));
    tty.send("你好, café\r");
    REQUIRE(tty.wait_for("‹ 你好, café ✓"));
    tty.send("\x1b[200~\x01 and \x1b[31m\x1b[201~\r");
    check_screen(tty, "talk" + of, "‹ ^A and ^[[31m ✓");
    tty.send("half a line");
    check_screen(tty, "typing" + of, "half a line");
    tty.send("\x15\x1bh");
    check_screen(tty, "hex" + of, "00000000 ");
    tty.send("\x1bh\x1bOP");
    check_screen(tty, "keys" + of, "Quit");
    tty.send("\r\x1b[1;3A\x1b[1;3A\r");
    check_screen(tty, "message" + of, "Sent, ");
    tty.send("e\x15[{\"id\":7,\"tags\":[\"a\",\"b\"]}]\r");
    REQUIRE(tty.wait_for("‹ [{"));
    tty.send("\x1b[1;3A\r");
    check_screen(tty, "json" + of, "Sent, ");
    tty.send("\r\x1bi");
    check_screen(tty, "connection" + of, "Connection");
    tty.send("\r\x1b>\x03");
    check_screen(tty, "quit" + of, "^C again to quit");
}

TEST_CASE("the screen of a corrupting server equals its file in tests/screens") {
    test::Folder folder;
    test::Process server(
        {"socat", "UNIX-LISTEN:" + folder.path("echo") + ",fork", "EXEC:stdbuf -o0 tr l 1"});
    wait_for_socket(folder.path("echo"));
    Tty tty({.arguments = at_socket(folder)});
    REQUIRE(tty.wait_for("up 00:"));
    tty.send("hello\r");
    check_screen(tty, "bad-80x24", "differs at byte 2");
    tty.send("\x1b[1;3A\r");
    check_screen(tty, "difference-80x24", "Received, 5 bytes");
}

TEST_CASE("the screen of a recording equals its file in tests/screens") {
    const Shape shape = GENERATE(Shape{"80x24", {24, 80}}, Shape{"40x10", {10, 40}});
    const std::string of = std::string("-") + shape.name;
    test::Folder folder;
    std::ofstream(folder.path("r.json"))
        << R"({"type":"recording","version":2,"framing":"line","first":1,"connections":1,)"
        << R"("started":"2026-11-23T18:00:00Z","expect":"echo"}
{"type":"connection","address":"127.0.0.1:7000"}
{"type":"message","seq":1,"sent_us":1000,"rtt_us":210,"fate":"echoed","right":true,"sent":"hello","received":"hello"}
{"type":"message","seq":2,"sent_us":2000,"rtt_us":340,"fate":"bad","difference":2,"sent":"hello","received":"he1lo"}
{"type":"message","fate":"unsolicited","received_us":3000,"received":"news"}
{"type":"message","seq":3,"sent_us":4000,"fate":"lost","sent":"gone"}
{"type":"mess)";
    Tty tty({.arguments = {"sh", "-c",
                           "cd " + folder.path("") + " && TZ=UTC exec " + yodel + " -r r.json"},
             .size = shape.size});
    check_screen(tty, "recording" + of, "truncated");
    tty.send("\x1bi");
    check_screen(tty, "recorded" + of, "damage");
    tty.send("\r\x1b[15~");
    REQUIRE(tty.wait_for("nothing is connected"));
    tty.send("\x04");
    CHECK(tty.wait_exit() == 0);
}
