#include "tests/support/tty.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace test {
namespace {

using Clock = std::chrono::steady_clock;

// The interval for checking conditions without a descriptor.
constexpr std::chrono::milliseconds poll_interval{10};

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

winsize window(Tty::Size size) {
    winsize window{};
    window.ws_row = static_cast<unsigned short>(size.rows);
    window.ws_col = static_cast<unsigned short>(size.columns);
    return window;
}

// Returns the emulator's size, which can't be 0.
Tty::Size shown(Tty::Size size) {
    return size.rows == 0 || size.columns == 0 ? Tty::Size{} : size;
}

void set_variable(const std::string& assignment) {
    const auto equals = assignment.find('=');
    const auto name = assignment.substr(0, equals);
    if (equals == std::string::npos)
        unsetenv(name.c_str());
    else
        setenv(name.c_str(), assignment.c_str() + equals + 1, 1);
}

void set_environment(const std::vector<std::string>& environment) {
    for (const auto* usual :
         {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "LINES", "COLUMNS", "NO_COLOR", "ESCDELAY"})
        set_variable(usual);
    for (const auto& assignment : environment) set_variable(assignment);
}

// Executes the program with the terminal as its controlling terminal.
[[noreturn]] void become(const Tty::Options& options, const char* terminal) {
    setsid();
    const int fd = open(terminal, O_RDWR);
    ioctl(fd, TIOCSCTTY, 0);
    for (int target = 0; target < 3; ++target) dup2(fd, target);
    if (fd > 2) close(fd);
    set_environment(options.environment);
    // The test program may have been started with some signals ignored, as by nohup.
    for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) std::signal(number, SIG_DFL);
    std::vector<char*> arguments;
    for (const auto& argument : options.arguments)
        arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
}

}  // namespace

Tty::Tty(const Options& options) : Emulator(shown(options.size)) {
    master_ = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master_ < 0 || grantpt(master_) != 0 || unlockpt(master_) != 0) fail("posix_openpt");
    const std::string terminal = ptsname(master_);
    const auto size = window(options.size);
    ioctl(master_, TIOCSWINSZ, &size);
    fcntl(master_, F_SETFL, O_NONBLOCK);
    original_ = settings();
    pid_ = fork();
    if (pid_ < 0) fail("fork");
    if (pid_ == 0) become(options, terminal.c_str());
}

Tty::~Tty() {
    if (!status_) {
        ::kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    hang_up();
}

void Tty::send(std::string_view bytes) {
    input_ += bytes;
    wait_for([this] { return input_.empty(); });
}

void Tty::resize(Size size) {
    if (size.rows != 0 && size.columns != 0) set_size(size);
    const auto changed = window(size);
    ioctl(master_, TIOCSWINSZ, &changed);
}

void Tty::hang_up() {
    if (master_ >= 0) close(master_);
    master_ = -1;
    input_.clear();
}

void Tty::stop_output() {
    const int fd = open(ptsname(master_), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || tcflow(fd, TCOOFF) != 0) fail("tcflow");
    close(fd);
}

void Tty::kill(int signal) {
    if (!status_) ::kill(pid_, signal);
}

bool Tty::wait_for(const std::function<bool()>& condition, std::chrono::milliseconds timeout) {
    const auto deadline = Clock::now() + timeout;
    while (!condition()) {
        if (Clock::now() >= deadline) return false;
        const bool has_ended = status_.has_value();
        if (!exchange(poll_interval) && has_ended) return condition();
    }
    return true;
}

bool Tty::wait_for(std::string_view text, std::chrono::milliseconds timeout) {
    return wait_for([&] { return shows(text); }, timeout);
}

std::optional<int> Tty::wait_exit(std::chrono::milliseconds timeout) {
    wait_for([this] { return status_.has_value(); }, timeout);
    while (status_ && exchange(std::chrono::milliseconds(0))) continue;  // its last output
    return status_;
}

// Exchanges bytes with the program once. Returns false if the program wrote nothing.
bool Tty::exchange(std::chrono::milliseconds timeout) {
    const int wanted = (stalls_ ? 0 : POLLIN) | (input_.empty() ? 0 : POLLOUT);
    pollfd side{master_, static_cast<short>(wanted), 0};
    poll(&side, 1, static_cast<int>(timeout.count()));
    const auto before = output_.size();
    if (side.revents & POLLIN) read_output();
    if (side.revents == POLLHUP) poll(nullptr, 0, static_cast<int>(timeout.count()));
    if (side.revents & POLLOUT) write_input();
    reap();
    return output_.size() > before;
}

void Tty::read_output() {
    char bytes[65536];
    const auto count = read(master_, bytes, sizeof bytes);
    if (count <= 0) return;
    const auto size = static_cast<std::size_t>(count);
    const auto answered = answers().size();
    output_.append(bytes, size);
    show({bytes, size});
    input_.append(answers(), answered);
}

void Tty::write_input() {
    const auto count = write(master_, input_.data(), input_.size());
    if (count > 0) input_.erase(0, static_cast<std::size_t>(count));
}

void Tty::reap() {
    int status = 0;
    if (status_ || waitpid(pid_, &status, WNOHANG) != pid_) return;
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::set<int> Tty::modes() const {
    static constexpr std::string_view switches = "\x1b[?";
    std::set<int> modes{wheel_mode};
    std::set<int> saved;
    for (auto at = output_.find(switches); at != std::string::npos;
         at = output_.find(switches, at + 1)) {
        const auto begin = at + switches.size();
        const auto end = output_.find_first_not_of("0123456789;", begin);
        if (end == std::string::npos) break;
        std::istringstream numbers(output_.substr(begin, end - begin));
        for (std::string text; std::getline(numbers, text, ';');) {
            const int number = std::atoi(text.c_str());
            const char action = output_[end];
            const bool was_on = (action == 'r' ? saved : modes).count(number) > 0;
            if (action == 's') saved.erase(number);
            if (action == 's' && was_on) saved.insert(number);
            if (action == 'l' || (action == 'r' && !was_on)) modes.erase(number);
            if (action == 'h' || (action == 'r' && was_on)) modes.insert(number);
        }
    }
    return modes;
}

termios Tty::settings() const {
    termios settings{};
    if (tcgetattr(master_, &settings) != 0) fail("tcgetattr");
    return settings;
}

bool Tty::settings_restored() const {
    const termios &a = original_, b = settings();
    return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_cflag == b.c_cflag &&
           a.c_lflag == b.c_lflag && std::memcmp(a.c_cc, b.c_cc, sizeof a.c_cc) == 0;
}

}  // namespace test
