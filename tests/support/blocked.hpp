// Pipes, terminals and sockets, also blocked ones, for code that must not wait for them.
#pragma once

#include "bufio/fd.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <utility>

namespace test {

struct Ends {
    bufio::Fd reader;
    bufio::Fd writer;
};

inline Ends pipe_ends() {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) return {};
    return {bufio::Fd(ends[0]), bufio::Fd(ends[1])};
}

inline Ends socket_ends() {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return {};
    return {bufio::Fd(ends[0]), bufio::Fd(ends[1])};
}

// Returns a pseudo-terminal: the user's side and the program's side.
inline Ends terminal_ends() {
    bufio::Fd user(::posix_openpt(O_RDWR | O_NOCTTY));
    if (!user || ::grantpt(user.get()) != 0 || ::unlockpt(user.get()) != 0) return {};
    bufio::Fd line(::open(::ptsname(user.get()), O_RDWR | O_NOCTTY));
    termios settings{};
    ::tcgetattr(line.get(), &settings);
    settings.c_oflag = 0;  // no translation of output
    ::tcsetattr(line.get(), TCSANOW, &settings);
    return {std::move(user), std::move(line)};
}

// Returns a terminal with stopped output, as after ^S.
inline Ends stopped_terminal_ends() {
    Ends ends = terminal_ends();
    ::tcflow(ends.writer.get(), TCOOFF);
    return ends;
}

// Writes until there is no space left, and returns the number of bytes.
inline std::size_t fill(const bufio::Fd& writer) {
    const int flags = ::fcntl(writer.get(), F_GETFL);
    ::fcntl(writer.get(), F_SETFL, flags | O_NONBLOCK);
    const std::string page(4096, 'x');
    std::size_t total = 0;
    for (const std::size_t size : {page.size(), std::size_t{1}})
        for (ssize_t count = 0; (count = ::write(writer.get(), page.data(), size)) > 0;)
            total += static_cast<std::size_t>(count);
    ::fcntl(writer.get(), F_SETFL, flags);
    return total;
}

// Returns the bytes that can be read without waiting.
inline std::string take(const bufio::Fd& reader) {
    ::fcntl(reader.get(), F_SETFL, O_NONBLOCK);
    std::string all;
    char bytes[65536];
    for (ssize_t count = 0; (count = ::read(reader.get(), bytes, sizeof bytes)) > 0;)
        all.append(bytes, static_cast<std::size_t>(count));
    return all;
}

// Replaces standard input and output by a pseudo-terminal during its life. If a check fails
// meanwhile, its message goes to standard error.
class OnTerminal {
public:
    explicit OnTerminal(const char* type) {
        std::cout.flush();
        ::setenv("TERM", type ? type : "", 1);
        if (!type) ::unsetenv("TERM");
        for (int fd = 0; fd < 2; ++fd) {
            before_[fd] = bufio::Fd(::dup(fd));
            ::dup2(ends_.writer.get(), fd);
        }
    }
    ~OnTerminal() {
        std::cout.flush();
        for (int fd = 0; fd < 2; ++fd) ::dup2(before_[fd].get(), fd);
        if (std::uncaught_exceptions() > 0) std::cerr << take();
    }
    OnTerminal(const OnTerminal&) = delete;
    OnTerminal& operator=(const OnTerminal&) = delete;

    // Types the bytes that the terminal accepts, and removes them from `bytes`.
    void type(std::string& bytes) const {
        const ssize_t count = ::write(ends_.reader.get(), bytes.data(), bytes.size());
        if (count > 0) bytes.erase(0, static_cast<std::size_t>(count));
    }
    std::string take() const { return test::take(ends_.reader); }
    void resize(unsigned short rows, unsigned short columns) const {
        const winsize size{rows, columns, 0, 0};
        ::ioctl(ends_.reader.get(), TIOCSWINSZ, &size);
    }

private:
    const Ends ends_ = terminal_ends();
    bufio::Fd before_[2];
};

}  // namespace test
