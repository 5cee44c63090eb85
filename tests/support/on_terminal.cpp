// Runs a program on an emulated terminal for transcripts, and performs steps there.
//
//     on_terminal [ROWSxCOLUMNS] [NAME=VALUE]... COMMAND... -- STEP...
//     on_terminal attacks          prints a line for each attack on a terminal
//
// - `wait TEXT`, `last TEXT`: waits until the screen, or its last row above the key bar, shows
//   TEXT
// - `row N TEXT`: waits until row N, counted from 1, begins with TEXT
// - `hides TEXT`: the screen does not show TEXT
// - `type LINE`, `keys BYTES`: types a line, or bytes, in which ^C is a control character, and
//   others are written as in escapes.hpp; `keys-up` types Alt and Up, `paste N` pastes N
//   letters, and Enter
// - `resize-ROWSxCOLUMNS`, `kill SIGNAL`, `hang up`, `stop output`
// - `stall`, `continue`: stops or continues to read what the program writes; `sleep` 30 ms
// - `unsent BYTES`: the program has not written BYTES
// - `untouched`: no attack has reached the terminal
// - `alternate screen`, `no screen`: waits for the alternate screen, or its end
// - `raw`: waits until the program has changed the settings
// - `second`: waits until the time in the status line has grown
// - `rests`: waits until the program writes nothing and needs no time
// - `left STATUS...`: waits for the end with one of these statuses
// - `gone`: waits for the end, and prints the status and unrestored settings
// - `golden NAME`: waits until the screen equals tests/screens/NAME.txt, with zeros for times;
//   SCREENS_UPDATE=1 in the environment rewrites the file
// - `screen`: prints the rows that are not empty
// - `cells PROPERTY`: counts the cells that are `colored` or `reverse`
// - `used`, `written`: prints the milliseconds of processor time, or the bytes written
// - `pid COMMAND`: runs a command of the shell with the process as $PID
//
// The first step that fails prints the screen.
#include "tests/support/escapes.hpp"
#include "tests/support/text.hpp"
#include "tests/support/tty.hpp"
#include "tests/ui/attacks.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>

namespace {

using test::Tty;

Tty::Size size_from(const std::string& text) {
    Tty::Size size;
    std::sscanf(text.c_str(), "%dx%d", &size.rows, &size.columns);
    return size;
}

// Also reads ^C and other control characters.
std::string bytes_of(const std::string& text) {
    std::string keys;
    for (const char byte : test::bytes(text)) {
        if (!keys.empty() && keys.back() == '^' && byte >= '@') {
            keys.back() = static_cast<char>(byte & 0x1f);
        } else {
            keys += byte;
        }
    }
    return keys;
}

// Runs a command of the shell with the process as $PID.
bool shell(const Tty& tty, const std::string& command) {
    return std::system(("PID=" + std::to_string(tty.pid()) + "; " + command).c_str()) == 0;
}

bool gone(Tty& tty) {
    const auto status = tty.wait_exit();
    if (!status) return false;
    std::string kept;
    if (!tty.settings_restored()) kept += ", settings";
    if (tty.alternate_screen()) kept += ", alternate screen";
    if (!tty.cursor_shown()) kept += ", hidden cursor";
    for (const int mode : {2004, 1000, 1006, 2026})
        if (tty.modes().count(mode) > 0) kept += ", mode " + std::to_string(mode);
    if (tty.modes().count(Tty::wheel_mode) == 0) kept += ", wheel";
    std::cout << "status " << *status << kept << std::endl;
    return true;
}

std::string without_chance(std::string screen) {
    static const std::pair<std::regex, const char*> rules[] = {
        {std::regex("[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}"), "00:00:00.000"},
        {std::regex(" *\\ba [0-9.]+ b [0-9.]+ms ‹"), "  a N.NN b N.NNms ‹"},
        {std::regex(" *\\b([ab]) [0-9.]+ms ‹"), "         $1 N.NNms ‹"},
        {std::regex(" *[0-9.]+ms (‹|<)"), "      0.00ms $1"},
        {std::regex("\n[0-9.]+ ms +(?=[A-Z])"), "\n0.00 ms     "},
        {std::regex(" {3,}[-+]?[0-9.]+ ms"), "    0.00 ms"},
        {std::regex("[0-9.]+ ms"), "0.00 ms"},
        {std::regex("0\\? (?:│|\\|) (?!b ).*?( │ b|\n|$)"), "0?$1"},
        {std::regex("up 00:[0-9]{2}"), "up 00:00"},
        {std::regex(" +\n"), "\n"},
    };
    for (const auto& [pattern, text] : rules)
        screen = std::regex_replace(screen, pattern, text);
    return screen;
}

bool equals_file(Tty& tty, const std::string& name) {
    const std::string file = std::string(SCREENS) + "/" + name + ".txt";
    if (std::getenv("SCREENS_UPDATE")) {
        tty.wait_for([] { return false; }, std::chrono::milliseconds(300));  // all is drawn
        std::ofstream(file) << without_chance(tty.screen());
    }
    const std::string expected = test::contents(file);
    return tty.wait_for([&] { return without_chance(tty.screen()) == expected; },
                        std::chrono::seconds(5));
}

void print_rows(const Tty& tty) {
    for (int row = 0; row < tty.size().rows; ++row)
        if (!tty.row(row).empty()) std::cout << tty.row(row) << std::endl;
}

std::size_t count_cells(const Tty& tty, const std::string& property) {
    std::size_t count = 0;
    for (int row = 0; row < tty.size().rows; ++row)
        for (int column = 0; column < tty.size().columns; ++column)
            count += property == "colored" ? tty.cell(row, column).colored
                                           : tty.cell(row, column).reverse;
    return count;
}

// Does not sleep, because the time until the program draws is short.
bool changes_settings(const Tty& tty) {
    const auto deadline = std::chrono::steady_clock::now() + Tty::patience;
    while (tty.settings_restored())
        if (std::chrono::steady_clock::now() > deadline) return false;
    return true;
}

// Returns the processor time used so far, in milliseconds.
long used_ms(const Tty& tty) {
    const std::string stat = test::contents("/proc/" + std::to_string(tty.pid()) + "/stat");
    std::istringstream fields(stat.substr(stat.rfind(')') + 2));
    const std::vector<std::string> list{std::istream_iterator<std::string>(fields), {}};
    const long ticks = std::stol(list[11]) + std::stol(list[12]);  // utime and stime
    return 1000 * ticks / ::sysconf(_SC_CLK_TCK);
}

bool rests(Tty& tty) {
    return tty.wait_for([&] {
        const long before = used_ms(tty);
        const std::size_t written = tty.output().size();
        tty.wait_for([] { return false; }, std::chrono::milliseconds(300));
        return tty.output().size() == written && used_ms(tty) - before <= 10;
    });
}

bool seconds_pass(Tty& tty) {
    const auto seconds = [&] {
        const std::string screen = tty.screen();
        return std::atoi(screen.c_str() + screen.find("up 00:") + 6);
    };
    const int first = seconds();
    return tty.wait_for([&] { return seconds() > first; });
}

bool untouched(Tty& tty) {
    bool touched = !tty.answers().empty();
    for (const char* const text : {"\x1b]52", "\x1b]8"})
        touched = touched || tty.output().find(text) != std::string::npos;
    for (const int mode : {1000, 1002, 1003, 1006})
        touched = touched || tty.modes().count(mode) > 0;
    return !touched && tty.title().find("OWNED") == std::string::npos &&
           tty.wait_for([&] { return tty.cursor_shown(); });
}

// Returns false if the step fails.
bool perform(Tty& tty, const std::string& step) {
    const std::size_t blank = std::min(step.find(' '), step.size());
    const std::string verb = step.substr(0, blank);
    const std::string rest = blank < step.size() ? step.substr(blank + 1) : "";
    const auto last = [&] {
        const int row = tty.size().rows - 1;
        return tty.row(tty.row(row).starts_with("F1 Keys") ? row - 1 : row) == rest;
    };
    if (verb == "wait") return tty.wait_for(rest);
    if (verb == "last") return tty.wait_for(last);
    if (verb == "row") {
        const std::size_t text = rest.find(' ') + 1;
        return tty.wait_for(
            [&] { return tty.row(std::stoi(rest) - 1).starts_with(rest.substr(text)); });
    }
    if (verb == "hides") return !tty.shows(rest);
    if (verb == "unsent") return tty.output().find(bytes_of(rest)) == std::string::npos;
    if (step == "alternate screen") return tty.wait_for([&] { return tty.alternate_screen(); });
    if (step == "no screen") return tty.wait_for([&] { return !tty.alternate_screen(); });
    if (verb == "gone") return gone(tty);
    if (verb == "golden") return equals_file(tty, rest);
    if (verb == "rests") return rests(tty);
    if (verb == "second") return seconds_pass(tty);
    if (verb == "untouched") return untouched(tty);
    if (verb == "raw") return changes_settings(tty);
    if (verb == "left") {
        const int status = tty.wait_exit().value_or(-1);
        return (" " + rest + " ").find(" " + std::to_string(status) + " ") != rest.npos;
    }
    if (verb == "pid") return shell(tty, rest);
    if (verb == "kill") return shell(tty, "kill -" + rest + " $PID");
    if (verb.starts_with("resize-")) {
        tty.resize(size_from(verb.substr(7)));
        return true;
    }
    const std::map<std::string, std::function<void()>> actions{
        {"type", [&] { tty.send(bytes_of(rest) + "\r"); }},
        {"keys", [&] { tty.send(bytes_of(rest)); }},
        {"keys-up", [&] { tty.send("\x1b[1;3A"); }},
        {"paste",
         [&] { tty.send("\x1b[200~" + std::string(std::stoul(rest), 'm') + "\x1b[201~\r"); }},
        {"hang", [&] { tty.hang_up(); }},
        {"stop", [&] { tty.stop_output(); }},
        {"stall", [&] { tty.stall(true); }},
        {"continue", [&] { tty.stall(false); }},
        {"sleep", [&] { tty.wait_for([] { return false; }, std::chrono::milliseconds(30)); }},
        {"screen", [&] { print_rows(tty); }},
        {"cells", [&] { std::cout << count_cells(tty, rest) << std::endl; }},
        {"used", [&] { std::cout << used_ms(tty) << std::endl; }},
        {"written", [&] { std::cout << tty.output().size() << std::endl; }}};
    const auto action = actions.find(verb);
    if (action != actions.end()) action->second();
    return action != actions.end();
}

}  // namespace

int main(int argc, char* argv[]) {
    if (argc == 2 && std::string(argv[1]) == "attacks") {
        for (const std::string_view attack : test::attacks) std::cout << attack << '\n';
        return 0;
    }
    Tty::Options options;
    int at = 1;
    for (; at < argc && options.arguments.empty(); ++at) {
        const std::string word = argv[at];
        if (word.find('=') != word.npos)
            options.environment.push_back(word);
        else if (word.find_first_not_of("0123456789x") == word.npos)
            options.size = size_from(word);
        else
            options.arguments.push_back(word);
    }
    for (; at < argc && std::string(argv[at]) != "--"; ++at)
        options.arguments.emplace_back(argv[at]);
    Tty tty(options);
    for (++at; at < argc; ++at)
        if (!perform(tty, argv[at])) {
            std::cout << "failed: " << argv[at] << std::endl << tty.screen();
            return 1;
        }
    return 0;
}
