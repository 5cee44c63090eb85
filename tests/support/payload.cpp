// A library for LD_PRELOAD that simulates a program taken over by a peer. When received bytes
// contain PAYLOAD, the program tries to execute /bin/true, to write the file PAYLOAD_FILE and
// to connect to the loopback port PAYLOAD_PORT, and prints each result to standard error. Used
// only by tests; needs no C++ library.

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

const char* outcome(bool done) { return done ? "done" : std::strerror(errno); }

bool execute() {
    char program[] = "/bin/true";
    char* const arguments[] = {program, nullptr};
    pid_t child = -1;
    errno = ::posix_spawn(&child, program, nullptr, nullptr, arguments, nullptr);
    if (errno != 0) return false;
    ::waitpid(child, nullptr, 0);
    return true;
}

bool write_file() {
    const int fd = ::open(std::getenv("PAYLOAD_FILE"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    ::close(fd);
    return true;
}

bool connect_elsewhere() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<in_port_t>(std::atoi(std::getenv("PAYLOAD_PORT"))));
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int result =
        ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    const int code = errno;
    ::close(fd);
    errno = code;
    return result == 0;
}

void run_payload() {
    ::dprintf(STDERR_FILENO, "payload executes: %s\n", outcome(execute()));
    ::dprintf(STDERR_FILENO, "payload writes: %s\n", outcome(write_file()));
    ::dprintf(STDERR_FILENO, "payload connects: %s\n", outcome(connect_elsewhere()));
}

}  // namespace

extern "C" ssize_t recv(int fd, void* to, size_t size, int flags) {
    using Recv = ssize_t (*)(int, void*, size_t, int);
    static const auto real = reinterpret_cast<Recv>(::dlsym(RTLD_NEXT, "recv"));
    const ssize_t count = real(fd, to, size, flags);
    const int code = errno;
    if (count > 0 && ::memmem(to, static_cast<size_t>(count), "PAYLOAD", 7)) run_payload();
    errno = code;
    return count;
}
