// A program on a pseudo-terminal, with a terminal emulator.
//
//     test::Tty tty({.arguments = {"build/yodel", "-f", "line"}});
//     REQUIRE(tty.wait_for("● up"));
//     tty.send("hello\r");
//     REQUIRE(tty.wait_for("‹ hello ✓"));
//     tty.send("\x04");
//     REQUIRE(tty.wait_exit() == 0);
//
// Every wait is for a condition. Its time limit only turns a hang into a failure.
#pragma once

#include "tests/support/emulator.hpp"

#include <sys/types.h>
#include <termios.h>

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace test {

class Tty : public Emulator {
public:
    struct Options {
        std::vector<std::string> arguments;  // the program first, found by PATH
        // "NAME=value" sets, "NAME" unsets. The defaults are TERM=xterm-256color and
        // LC_ALL=C.UTF-8, without LINES, COLUMNS, NO_COLOR and ESCDELAY.
        std::vector<std::string> environment = {};
        Size size = {};
    };

    static constexpr std::chrono::seconds patience{20};

    explicit Tty(const Options& options);
    ~Tty();  // kills and reaps the program if it still runs
    Tty(const Tty&) = delete;
    Tty& operator=(const Tty&) = delete;

    // Actions of the user.
    void send(std::string_view bytes);
    void resize(Size size);                        // for 0x0 the emulator keeps its size
    void hang_up();                                // closes the user's side
    void stall(bool stalls) { stalls_ = stalls; }  // if true, the emulator reads nothing
    void stop_output();                            // as ^S does; output waits in the terminal
    void kill(int signal);
    pid_t pid() const { return pid_; }

    // Reads output until `condition` holds. Returns false if the time is over or the program
    // has ended.
    bool wait_for(const std::function<bool()>& condition,
                  std::chrono::milliseconds timeout = patience);
    bool wait_for(std::string_view text, std::chrono::milliseconds timeout = patience);

    // Returns the exit status, or 128 plus the signal that ended the program, as in a shell.
    // Returns none if the program did not end in time.
    std::optional<int> wait_exit(std::chrono::milliseconds timeout = patience);

    // The active DEC private modes, such as 2004. The wheel's mode is on at first.
    std::set<int> modes() const;
    static constexpr int wheel_mode = 1007;                // the wheel sends arrow keys
    const std::string& output() const { return output_; }  // every byte that it wrote

    // The current line settings, as shown by stty, and true if they equal the original
    // settings.
    termios settings() const;
    bool settings_restored() const;

private:
    bool exchange(std::chrono::milliseconds timeout);
    void read_output();
    void write_input();
    void reap();

    int master_ = -1;
    termios original_{};  // line settings
    pid_t pid_ = -1;
    bool stalls_ = false;
    std::string input_;  // not yet taken by the program
    std::string output_;
    std::optional<int> status_;  // the exit status; none while the program runs
};

}  // namespace test
