// Shows the keys that ui::Terminal reads. Enter performs the action of the argument.
//
//     screen_probe quit|starve|exit|abort|segv|overflow|throw|attacks|copy
#include "tests/support/allocations.hpp"
#include "tests/ui/attacks.hpp"
#include "tests/ui/key_names.hpp"
#include "ui/terminal.hpp"
#include "ui/text.hpp"

#include <sys/select.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

volatile std::sig_atomic_t resized = 0;

std::string name(const ui::Key& key) {
    if (key.chord.code != ui::KeyCode::paste) return test::name(key);
    return "paste " + std::to_string(std::count(key.text.begin(), key.text.end(), '\n')) +
           " lines " + std::to_string(key.text.size()) + " bytes";
}

// Overflows the stack.
int overflow(int depth) {
    volatile char room[4096];
    room[0] = static_cast<char>(depth);
    return depth < 0 ? room[0] : overflow(depth + 1) + room[0];
}

class Probe {
public:
    explicit Probe(std::string action) : action_(std::move(action)) {}

    void run() {
        while (!done_ && !terminal_.is_gone()) {
            if (resized) terminal_.resize();
            resized = 0;
            draw();
            wait();
            while (const auto key = terminal_.read_key()) press(*key);
        }
    }

private:
    void wait() {
        sigset_t none;
        sigemptyset(&none);
        fd_set input;
        FD_ZERO(&input);
        FD_SET(STDIN_FILENO, &input);
        fd_set output;
        FD_ZERO(&output);
        if (!terminal_.flush()) FD_SET(terminal_.output_fd(), &output);
        const auto timeout = terminal_.key_timeout();
        const auto time = timeout.value_or(std::chrono::milliseconds(0)).count();
        const timespec delay{time / 1000, time % 1000 * 1'000'000};
        const int count = pselect(terminal_.output_fd() + 1, &input, &output, nullptr,
                                  timeout ? &delay : nullptr, &none);
        if (timeout && count == 0) terminal_.expire_key();
    }

    void press(const ui::Key& key) {
        if (key.chord == ui::ctrl('z')) {
            terminal_.suspend();
            terminal_.take_over();
        }
        if (key.chord == ui::plain(ui::KeyCode::enter)) act();
        keys_.push_back(name(key) + '.');
    }

    void act() {
        if (action_ == "quit") done_ = true;
        if (action_ == "starve") starve();
        if (action_ == "exit") std::exit(3);
        if (action_ == "abort") std::abort();
        if (action_ == "segv") raise(SIGSEGV);
        if (action_ == "throw") throw std::runtime_error("thrown");
        if (action_ == "attacks") attacked_ = !attacked_;
        if (action_ == "overflow") overflow(1);
        if (action_ == "copy") copy("two\nrows");
    }

    // Makes the next allocation fail, unless it happens inside a shared C++ library.
    void starve() {
        test::allocations.refused = test::allocations.count + 1;
        terminal_.restore();
        test::allocations.refused = 0;
        done_ = true;
    }

    void copy(const std::string& text) {
        const std::string trouble = terminal_.copy_to_clipboard(text);
        keys_.push_back(trouble.empty() ? "sent." : "unable: " + trouble);
    }

    void draw() {
        ui::Frame frame;
        frame.rows.resize(static_cast<std::size_t>(terminal_.size().rows));
        if (attacked_) {
            for (std::size_t i = 0; i < std::size(test::attacks) * 2; ++i) {
                // Correct and wrong use: the terminal must be safe from both.
                const auto add = i % 2 == 1 ? ui::append_escaped : ui::append;
                add(frame.rows[i % frame.rows.size()],
                    test::attacks[i % std::size(test::attacks)], ui::Style::normal);
            }
        } else {
            const auto rows = frame.rows.size();
            const auto first = keys_.size() < rows ? 0 : keys_.size() + 1 - rows;
            const auto size = terminal_.size();
            append(frame.rows[0],
                   "size " + std::to_string(size.rows) + 'x' + std::to_string(size.columns),
                   ui::Style::status_warn);
            for (auto i = first; i < keys_.size(); ++i)
                append_escaped(frame.rows[i - first + 1], keys_[i]);
        }
        frame.is_cursor_shown = attacked_ || keys_.size() % 2 == 0;
        frame.cursor_column = 5;
        terminal_.draw(frame);
    }

    ui::Terminal terminal_;
    std::string action_;
    std::vector<std::string> keys_;
    bool attacked_ = false;
    bool done_ = false;
};

}  // namespace

int main(int, char* argv[]) {
    std::setlocale(LC_ALL, "");
    struct sigaction action {};
    action.sa_handler = [](int) { resized = 1; };
    sigaction(SIGWINCH, &action, nullptr);
    sigset_t winch;
    sigemptyset(&winch);
    sigaddset(&winch, SIGWINCH);
    sigprocmask(SIG_BLOCK, &winch, nullptr);
    try {
        Probe(argv[1]).run();
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "screen_probe: %s\n", failure.what());
        return 1;
    }
    std::puts("bye");
}
