// Outputs that nobody reads block neither program.

#include "tests/e2e/programs.hpp"
#include "tests/support/blocked.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/process.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

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

// A full FIFO with a reader that reads nothing.
struct Fifo {
    explicit Fifo(const std::string& name) : path(name) {
        ::mkfifo(path.c_str(), 0600);
        holder.reset(::open(path.c_str(), O_RDWR | O_CLOEXEC));
        test::fill(holder);
    }
    std::string path;
    bufio::Fd holder;
};

}  // namespace

TEST_CASE("unread standard error blocks no client, and a signal still ends it") {
    const Kind& kind = kinds[GENERATE(0, 1, 2)];
    const int signo = GENERATE(SIGTERM, SIGINT, SIGHUP);
    CAPTURE(kind.name, signo);
    Server server(resetting);
    const Ends errors = full(kind);
    Child client(endless_client(server), nowhere(), errors.writer.get());
    REQUIRE(connected_twice(server));
    client.kill(signo);
    CHECK(client.wait_exit() == 128 + signo);
}

TEST_CASE("unread standard output delays no signal") {
    const Kind& kind = kinds[GENERATE(0, 1, 2)];
    CAPTURE(kind.name);
    Server server(resetting);
    const Ends output = full(kind);
    Child client(endless_client(server), output.writer.get(), nowhere());
    REQUIRE(connected_twice(server));
    client.kill(SIGTERM);
    CHECK(client.wait_exit() == 128 + SIGTERM);
}

TEST_CASE("a usage error ends a program with unread standard error") {
    const Kind& kind = kinds[GENERATE(0, 1, 2)];
    const std::string program = GENERATE(as<std::string>(), yodel, yodeld);
    CAPTURE(kind.name, program);
    const Ends errors = full(kind);
    Child child({program, "--nonsense"}, nowhere(), errors.writer.get());
    CHECK(child.wait_exit() == 2);
}

TEST_CASE("a log's pipe without a reader is refused at once") {
    const Folder folder;
    const std::string path = folder.path("pipe");
    ::mkfifo(path.c_str(), 0600);
    const test::Outcome outcome = run({yodel, "-o", path}, "a\n");
    CHECK(outcome.status == 23);
    CHECK(outcome.errors.find(path + ": the pipe has no reader") != std::string::npos);
}

TEST_CASE("a log's unread pipe delays nothing, and is an error at the end") {
    const Folder folder;
    const Fifo fifo(folder.path("pipe"));
    const test::Outcome outcome = run({yodel, "--json", "-o", fifo.path}, "a\n");
    CHECK(outcome.status == 23);
    CHECK(outcome.output.find("\"fate\":\"echoed\"") != std::string::npos);
    CHECK(outcome.output.find("\"status\":23") != std::string::npos);
    CHECK(outcome.errors.find("cannot write the transcript " + fifo.path) != std::string::npos);
}

TEST_CASE("a log is written to a process that reads it") {
    const Folder folder;
    const test::Outcome outcome =
        run({"bash", "-c", "echo hello | \"$0\" -o >(cat >\"$1\") && wait $!", yodel,
             folder.path("copy")});
    CHECK(outcome.status == 0);
    const std::string copy = run({"cat", folder.path("copy")}).output;
    CHECK(copy.find(" > hello\n") != std::string::npos);
    CHECK(copy.find(" < hello\n") != std::string::npos);
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

TEST_CASE("reaching a file's size limit is an error with a sentence, not a signal") {
    const Folder folder;
    const std::string path = folder.path("file");
    const auto limited = [&](const std::string& command) {
        return run({"sh", "-c", "ulimit -f 0; exec " + command, yodel, yodeld, path}, "a\n");
    };
    const test::Outcome output = limited("\"$0\" >\"$2\"");
    CHECK(output.status == 23);
    CHECK(output.errors.find("standard output: File too large") != std::string::npos);
    const test::Outcome log = limited("\"$0\" -o \"$2\"");
    CHECK(log.status == 23);
    CHECK(log.errors.find("cannot write the transcript " + path + ": File too large") !=
          std::string::npos);
    std::filesystem::remove(path);
    const test::Outcome port = limited("\"$1\" --port-file \"$2\" 0");
    CHECK(port.status == 1);
    CHECK(port.errors.find("cannot write " + path + ": File too large") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a server that can't print its address ends with a sentence") {
    const std::string output = GENERATE(as<std::string>(), ">/dev/full", ">&-");
    const test::Outcome outcome = run({"sh", "-c", "exec \"$0\" 0 " + output, yodeld});
    CHECK(outcome.status == 1);
    CHECK(outcome.errors.starts_with("yodeld: standard output: "));
}

TEST_CASE("a server that cannot start reports why, and with --json prints an object with the "
          "status") {
    struct Row {
        std::vector<std::string> arguments;
        int status;
        const char* error;
    };
    const Row rows[] = {
        {{"--json", "--nonsense"}, 2, "{\"error\":\"unknown option --nonsense "},
        {{"--json"}, 2, "{\"error\":\""},
        {{"--json", "192.0.2.1:0"}, 1, "{\"error\":\""},
        {{"--json", "--tls", "--cert", "/no", "--key", "/no", "0"}, 58, "{\"error\":\""},
        {{"--json", "--port-file", "/no/port", "0"}, 1, "{\"error\":\"--port-file: "},
    };
    for (const Row& row : rows) {
        std::vector<std::string> command{yodeld};
        command.insert(command.end(), row.arguments.begin(), row.arguments.end());
        const test::Outcome outcome = run(command);
        CAPTURE(outcome.errors);
        CHECK(outcome.status == row.status);
        CHECK(outcome.errors.starts_with(row.error));
        CHECK(outcome.errors.ends_with(",\"status\":" + std::to_string(row.status) + "}\n"));
        CHECK(outcome.errors.find('\n') == outcome.errors.size() - 1);
    }
}
