// Outputs that nobody reads block neither program.

#include "tests/e2e/programs.hpp"
#include "tests/support/blocked.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/process.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>

using test::Ends;
using test::Folder;
using test::run;
using test::Server;
using test::yodel;
using test::yodeld;

namespace {

std::vector<char*> pointers(const std::vector<std::string>& arguments) {
    std::vector<char*> list;
    for (const std::string& argument : arguments)
        list.push_back(const_cast<char*>(argument.c_str()));
    list.push_back(nullptr);
    return list;
}

// Runs a program with given descriptors as standard output and error; its input is empty.
class Child {
public:
    Child(const std::vector<std::string>& arguments, int output, int errors) {
        const std::vector<char*> list = pointers(arguments);
        pid_ = ::fork();
        if (pid_ != 0) return;
        ::dup2(::open("/dev/null", O_RDWR), STDIN_FILENO);
        ::dup2(output, STDOUT_FILENO);
        ::dup2(errors, STDERR_FILENO);
        ::execvp(list[0], list.data());
        ::_exit(127);
    }
    ~Child() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    void kill(int signo) const { ::kill(pid_, signo); }
    // See Process::wait_exit().
    int wait_exit() {
        for (int waited = 0; waited < 20'000 /* ms */; ++waited) {
            int status = 0;
            if (::waitpid(pid_, &status, WNOHANG) == pid_) {
                pid_ = -1;
                return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
            }
            ::poll(nullptr, 0, 1);
        }
        return -1;
    }

private:
    pid_t pid_;
};

struct Kind {
    const char* name;
    Ends (*make)();
};

const Kind kinds[] = {{"pipe", test::pipe_ends},
                      {"socket", test::socket_ends},
                      {"stopped terminal", test::stopped_terminal_ends}};

Ends full(const Kind& kind) {
    Ends ends = kind.make();
    test::fill(ends.writer);
    return ends;
}

int nowhere() {
    static const bufio::Fd fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
    return fd.get();
}

// A second connection proves that the client continued after the first message and its reset.
const std::vector<std::string> resetting{"-v", "--reset-after", "1"};

bool connected_twice(Server& server) {
    return server.process().wait_for_errors(": connected\n") &&
           server.process().wait_for_errors("in, 65 out\n") &&
           server.process().wait_for_errors("65 out\n20");
}

std::vector<std::string> endless_client(const Server& server) {
    return {yodel,       "-v",         "-c",      "1000000",       "-i",
            "1ms",       "--retry",    "forever", "--retry-delay", "1ms",
            "127.0.0.1", server.port()};
}

}  // namespace

TEST_CASE("unread output blocks no client, and a signal still ends it") {
    const bool errors = GENERATE(true, false);
    const int number = GENERATE(0, 1, 2);
    const Kind& kind = kinds[number];
    CAPTURE(kind.name, errors);
    Server server(resetting);
    const Ends unread = full(kind);
    const int fd = unread.writer.get();
    Child client(endless_client(server), errors ? nowhere() : fd, errors ? fd : nowhere());
    REQUIRE(connected_twice(server));
    const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    client.kill(signals[number]);
    CHECK(client.wait_exit() == 128 + signals[number]);
}

TEST_CASE("a usage error ends a program with unread standard error") {
    const Kind& kind = kinds[GENERATE(0, 1, 2)];
    CAPTURE(kind.name);
    const Ends errors = full(kind);
    Child child({yodel, "--nonsense"}, nowhere(), errors.writer.get());
    CHECK(child.wait_exit() == 2);
}

TEST_CASE("unread outputs of the server block no client, and a signal still ends it") {
    const Kind& kind = kinds[GENERATE(0, 1, 2)];
    CAPTURE(kind.name);
    const Folder folder;
    const std::string path = folder.path("socket");
    const Ends taken = full(kind);
    Child server({yodeld, "-v", "-U", path, "0"}, taken.writer.get(), taken.writer.get());
    for (int i = 0; i < 3; ++i) {
        const test::Outcome outcome =
            run({yodel, "--retry", "forever", "--retry-delay", "1ms", "-m", "20", "-U", path},
                "a\n");
        CHECK(outcome.output == "a\n");
    }
    server.kill(SIGTERM);
    CHECK(server.wait_exit() == 0);
}
