// A server of a benchmark, in its own process.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

namespace bench {

inline void require(bool holds) {
    if (!holds) std::abort();
}

class ServingProcess {
public:
    // Calls `serve` in the process, with a socket bound to a free port of the loopback. A
    // stream socket listens.
    template <class Serve>
    explicit ServingProcess(Serve serve, int type = SOCK_STREAM) {
        const int fd = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
        address_.sin_family = AF_INET;
        address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address_;
        auto* const generic = reinterpret_cast<sockaddr*>(&address_);
        require(::bind(fd, generic, size) == 0);
        require(type != SOCK_STREAM || ::listen(fd, 1024) == 0);
        ::getsockname(fd, generic, &size);
        std::fflush(stdout);
        pid_ = ::fork();
        require(pid_ >= 0);
        if (pid_ == 0) {
            serve(fd);
            ::_exit(0);
        }
        ::close(fd);
    }
    ~ServingProcess() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    ServingProcess(const ServingProcess&) = delete;
    ServingProcess& operator=(const ServingProcess&) = delete;

    pid_t pid() const { return pid_; }
    const sockaddr_in& address() const { return address_; }
    std::string port() const { return std::to_string(ntohs(address_.sin_port)); }

    // Nanoseconds of processor time so far.
    double cpu_ns() const {
        clockid_t clock{};
        timespec time{};
        require(::clock_getcpuclockid(pid_, &clock) == 0);
        ::clock_gettime(clock, &time);
        return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
    }
    // Bytes of private memory.
    double own_memory() const {
        std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
        for (std::string word; status >> word;)
            if (word == "RssAnon:" && status >> word) return std::stod(word) * 1024;
        return -1;
    }

private:
    sockaddr_in address_{};
    pid_t pid_ = -1;
};

}  // namespace bench
