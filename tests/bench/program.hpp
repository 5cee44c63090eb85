// Programs that a benchmark runs, and the figures that they print.
#pragma once

#include "tests/bench/measure.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

using Command = std::vector<std::string>;

inline bool installed(const std::string& program) {
    return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

// Returns the value, a number, of the first member with this name, after `object` if given.
inline double member(const std::string& json, const std::string& name,
                     const std::string& object = {}) {
    const std::size_t place = json.find("\"" + name + "\":", json.find(object));
    if (place == json.npos) throw std::runtime_error("no " + name + " in " + json);
    return std::stod(json.substr(place + name.size() + 3));
}

inline std::vector<char*> pointers(const Command& command) {
    std::vector<char*> list;
    for (const std::string& word : command) list.push_back(const_cast<char*>(word.c_str()));
    list.push_back(nullptr);
    return list;
}

// A program with pipes for standard input and output.
class Program {
public:
    // `processor` pins the program; see stay_on().
    explicit Program(const Command& command, std::optional<std::size_t> processor = {}) {
        int in[2], out[2];
        if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0)
            throw std::runtime_error("pipe");
        const std::vector<char*> list = pointers(command);
        pid_ = ::vfork();
        if (pid_ == 0) {
            if (processor) stay_on(*processor);
            ::dup2(in[0], 0);
            ::dup2(out[1], 1);
            ::dup2(::open("/dev/null", O_WRONLY), 2);
            ::execvp(list[0], list.data());
            ::_exit(127);
        }
        ::close(in[0]);
        ::close(out[1]);
        input_ = in[1];
        output_ = out[0];
    }
    ~Program() {
        ::close(input_);
        ::close(output_);
        if (pid_ == 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // Writes `count` bytes of a repeated text and reads their echo. False: the program ended.
    bool exchange(const std::string& text, std::size_t count) {
        ::fcntl(input_, F_SETFL, O_NONBLOCK);
        std::size_t sent = 0, got = 0;
        while (got < count) {
            pollfd polled[] = {{output_, POLLIN, 0}, {sent < count ? input_ : -1, POLLOUT, 0}};
            if (::poll(polled, 2, 20'000 /* ms */) <= 0) return false;
            if (polled[1].revents != 0) send_some(text, count, sent);
            if (polled[0].revents != 0 && !read_some(got)) return false;
        }
        return true;
    }
    // Milliseconds of processor time so far.
    double cpu_ms() const {
        clockid_t clock{};
        timespec time{};
        if (::clock_getcpuclockid(pid_, &clock) != 0) return -1;
        ::clock_gettime(clock, &time);
        return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
    }
    // Peak memory in MiB.
    double peak_mib() const {
        std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
        for (std::string word; status >> word;)
            if (word == "VmHWM:" && status >> word) return std::stod(word) / 1024;
        return -1;
    }
    // Returns the next line of its output with the newline; empty at the end.
    std::string read_line() {
        std::string line;
        for (char byte = 0; byte != '\n' && ::read(output_, &byte, 1) == 1;) line += byte;
        return line;
    }
    std::string last_line() {
        std::string last;
        for (std::string line = read_line(); !line.empty(); line = read_line()) last = line;
        return last;
    }
    // Waits for its end. Returns its processor time in seconds.
    double await_end() {
        rusage used{};
        ::wait4(pid_, nullptr, 0, &used);
        pid_ = 0;
        const auto seconds = [](const timeval& time) {
            return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
        };
        return seconds(used.ru_utime) + seconds(used.ru_stime);
    }

private:
    void send_some(const std::string& text, std::size_t count, std::size_t& sent) {
        const std::size_t at = sent % text.size();
        const ssize_t part =
            ::write(input_, text.data() + at, std::min(text.size() - at, count - sent));
        if (part > 0) sent += static_cast<std::size_t>(part);
    }
    bool read_some(std::size_t& got) {
        static char room[256 * 1024];
        const ssize_t part = ::read(output_, room, sizeof room);
        if (part > 0) got += static_cast<std::size_t>(part);
        return part > 0;
    }

    int input_;
    int output_;
    pid_t pid_;
};

}  // namespace bench
