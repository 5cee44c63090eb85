// A server of a benchmark, in its own process.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <string>

namespace bench {

class ServingProcess {
public:
    // Calls `serve` in the process, with a listening socket on the loopback.
    explicit ServingProcess(void (*serve)(int listener)) {
        const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in name{};
        name.sin_family = AF_INET;
        name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof name;
        auto* const address = reinterpret_cast<sockaddr*>(&name);
        if (::bind(listener, address, size) != 0 || ::listen(listener, 16) != 0)
            throw std::runtime_error("listen");
        ::getsockname(listener, address, &size);
        port = std::to_string(ntohs(name.sin_port));
        pid_ = ::fork();
        if (pid_ == 0) {
            serve(listener);
            ::_exit(0);
        }
        ::close(listener);
        if (pid_ < 0) throw std::runtime_error("fork");
    }
    ~ServingProcess() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    ServingProcess(const ServingProcess&) = delete;
    ServingProcess& operator=(const ServingProcess&) = delete;

    std::string port;

private:
    pid_t pid_;
};

}  // namespace bench
