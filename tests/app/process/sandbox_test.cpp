#include "app/process/sandbox.hpp"

#include "app/text/system.hpp"
#include "bufio/fd.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <utility>

using yodel::enter_sandbox;
using yodel::newest_landlock;
using yodel::SandboxRules;
using yodel::tcp_port;

#if YODEL_HAS_LANDLOCK

namespace {

struct Folder {
    Folder() : path("/tmp/sandbox_test." + std::to_string(::getpid())) {
        std::filesystem::create_directories(path + "/other");
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string operator/(const std::string& name) const { return path + "/" + name; }
    const std::string path;
};

// Makes the attempt in a sandboxed process of its own. Returns its errno, or 0.
int inside(const SandboxRules& rules, const std::function<int()>& attempt,
           int most = newest_landlock) {
    const pid_t child = ::fork();
    if (child == 0) {
        enter_sandbox(rules, most);
        ::_exit(attempt());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Returns the version of the system's Landlock; 0: none.
int system_landlock() {
    const pid_t child = ::fork();
    if (child == 0) {
        const std::string state = enter_sandbox({});
        ::_exit(state.starts_with("landlock ") ? std::stoi(state.substr(9)) : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

bool lacks_landlock(int least) {
    const bool lacks = system_landlock() < least;
    if (lacks) WARN("not tested: this system has no Landlock " << least);
    return lacks;
}

int result(int returned) { return returned < 0 ? errno : 0; }

int execute() {
    const char* const arguments[] = {"true", nullptr};
    ::execv("/bin/true", const_cast<char* const*>(arguments));
    return errno;
}

int open_file(const std::string& path, int flags) {
    return result(bufio::Fd(::open(path.c_str(), flags | O_CLOEXEC, 0600)).get());
}

// A loopback port that listens, or is only bound.
class Port {
public:
    Port() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address = of(0);
        socklen_t size = sizeof address;
        REQUIRE(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
        REQUIRE(::listen(socket_.get(), 8) == 0);
        ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size);
        number_ = ntohs(address.sin_port);
    }
    std::uint16_t number() const { return number_; }
    int connect() const { return attempt(::connect, number_); }
    static int bind_any() { return attempt(::bind, 0); }

private:
    static sockaddr_in of(std::uint16_t number) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(number);
        return address;
    }
    static int attempt(int (*call)(int, const sockaddr*, socklen_t), std::uint16_t number) {
        const bufio::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const sockaddr_in address = of(number);
        return result(
            call(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
    }

    bufio::Fd socket_;
    std::uint16_t number_ = 0;
};

}  // namespace

TEST_CASE("forbids executing in the sandbox, and allows reading") {
    if (lacks_landlock(1)) return;
    CHECK(inside({}, execute) == EACCES);
    CHECK(inside({}, [] { return open_file("/etc/passwd", O_RDONLY); }) == 0);
    CHECK(inside({}, [] { return open_file("/bin", O_RDONLY | O_DIRECTORY); }) == 0);
    CHECK(inside({}, execute, 0) == 0);  // like a system without a sandbox
}

TEST_CASE("forbids writing, creating, moving and removing files in the sandbox") {
    if (lacks_landlock(1)) return;
    const Folder folder;
    const std::string file = folder / "file";
    REQUIRE(open_file(file, O_WRONLY | O_CREAT) == 0);
    const std::pair<const char*, std::function<int()>> attempts[] = {
        {"write", [&] { return open_file(file, O_WRONLY); }},
        {"append", [&] { return open_file(file, O_WRONLY | O_APPEND); }},
        {"make", [&] { return open_file(folder / "new", O_WRONLY | O_CREAT); }},
        {"make a folder", [&] { return result(::mkdir((folder / "new").c_str(), 0700)); }},
        {"make a link", [&] { return result(::symlink("/", (folder / "new").c_str())); }},
        {"make a pipe", [&] { return result(::mkfifo((folder / "new").c_str(), 0600)); }},
        {"remove", [&] { return result(::unlink(file.c_str())); }},
        {"remove a folder", [&] { return result(::rmdir((folder / "other").c_str())); }},
        {"move", [&] { return result(std::rename(file.c_str(), (folder / "new").c_str())); }},
        {"execute", execute},
    };
    const int most = GENERATE(1, 2, 3, 4, newest_landlock);
    for (const auto& [name, attempt] : attempts) {
        CAPTURE(name, most);
        CHECK(inside({}, attempt, most) == EACCES);
    }
    if (most >= 3 && system_landlock() >= 3) {
        const auto truncate = [&] { return result(::truncate(file.c_str(), 0)); };
        CHECK(inside({}, truncate, most) == EACCES);
    }
    for (const auto& [name, attempt] : attempts) {
        CAPTURE(name);
        CHECK(inside({}, attempt, 0) == 0);
        std::filesystem::remove_all(folder / "new");
        std::filesystem::create_directories(folder / "other");
        REQUIRE(open_file(file, O_WRONLY | O_CREAT) == 0);
    }
}

TEST_CASE("allows writing and emptying a named file in the sandbox, and creates it") {
    if (lacks_landlock(1)) return;
    const Folder folder;
    const std::string file = folder / "report";
    const SandboxRules rules{.files = {file}};
    CHECK(inside(rules, [&] { return open_file(file, O_WRONLY | O_CREAT | O_TRUNC); }) == 0);
    CHECK(inside(rules, [&] { return open_file(folder / "b", O_WRONLY | O_CREAT); }) == EACCES);
    CHECK(inside(rules, [&] { return result(::unlink(file.c_str())); }) == EACCES);
}

TEST_CASE("allows no writing below a named path that is a folder") {
    if (lacks_landlock(1)) return;
    const Folder folder;
    const std::string below = folder / "file";
    REQUIRE(open_file(below, O_WRONLY | O_CREAT) == 0);
    CHECK(inside({.files = {folder.path}}, [&] { return open_file(below, O_WRONLY); }) ==
          EACCES);
}

TEST_CASE("does not open a pipe in place of a named file when the sandbox begins") {
    if (lacks_landlock(1)) return;
    const Folder folder;
    const std::string pipe = folder / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const bufio::Fd reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    const SandboxRules rules{.files = {pipe}};
    CHECK(inside(rules, [&] { return open_file(pipe, O_WRONLY | O_NONBLOCK); }) == 0);
}

TEST_CASE("allows creating and writing files in a named folder of the sandbox, not removing") {
    if (lacks_landlock(1)) return;
    const Folder folder;
    const std::string file = folder / "file";
    const SandboxRules rules{.folders = {folder.path}};
    constexpr int append = O_WRONLY | O_CREAT | O_APPEND;
    CHECK(inside(rules, [&] { return open_file(file, append); }) == 0);
    CHECK(inside(rules, [&] { return result(::unlink(file.c_str())); }) == EACCES);
    CHECK(inside(rules, execute) == EACCES);
}

TEST_CASE("allows removing a named path in the sandbox, not writing it") {
    if (lacks_landlock(1)) return;
    const Folder folder;
    const std::string file = folder / "port";
    REQUIRE(open_file(file, O_WRONLY | O_CREAT) == 0);
    const SandboxRules rules{.removed = {file}};
    CHECK(inside(rules, [&] { return open_file(file, O_WRONLY); }) == EACCES);
    CHECK(inside(rules, [&] { return result(::unlink(file.c_str())); }) == 0);
    CHECK(inside({.removed = {"file"}}, [] { return 0; }) == 0);  // in the current folder
}

TEST_CASE("allows connecting only to the named TCP ports in the sandbox") {
    if (lacks_landlock(4)) return;
    const Port target;
    const Port other;
    const SandboxRules rules{.connects = {target.number()}};
    CHECK(inside(rules, [&] { return target.connect(); }) == 0);
    CHECK(inside(rules, [&] { return other.connect(); }) == EACCES);
    CHECK(inside({}, [&] { return target.connect(); }) == EACCES);
    CHECK(inside(
              {}, [&] { return target.connect(); }, 3) ==
          0);  // this version does not limit ports
    CHECK(inside(rules, [] { return Port::bind_any(); }) == EACCES);
    CHECK(inside({.binds = {0}}, [] { return Port::bind_any(); }) == 0);
}

TEST_CASE("sandboxes threads that start later") {
    if (lacks_landlock(1)) return;
    CHECK(inside({}, [] {
              int code = 0;
              std::thread([&] {
                  code = open_file("/tmp/sandbox_test", O_WRONLY | O_CREAT);
              }).join();
              return code;
          }) == EACCES);
}

TEST_CASE("allows opening standard output again in the sandbox if it is a named pipe") {
    if (lacks_landlock(1)) return;
    const Folder folder;
    const std::string pipe = folder / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const bufio::Fd reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(::open(pipe.c_str(), O_WRONLY), STDOUT_FILENO);
        enter_sandbox({});
        ::_exit(open_file("/proc/self/fd/1", O_WRONLY | O_NONBLOCK));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
    int pair[2];
    REQUIRE(::pipe(pair) == 0);  // also a pipe without a name
    const std::string again = "/proc/self/fd/" + std::to_string(pair[1]);
    CHECK(inside({}, [&] { return open_file(again, O_WRONLY | O_NONBLOCK); }) == 0);
    ::close(pair[0]);
    ::close(pair[1]);
}

TEST_CASE("reports that the system has no sandbox, and fails nothing") {
    CHECK(enter_sandbox({}, 0) == "none: Landlock is not supported");
}

#else

TEST_CASE("reports that no sandbox is known, and fails nothing") {
    CHECK(enter_sandbox({}) == "none: not supported on this system");
}

#endif

TEST_CASE("returns the port of a service") {
    CHECK(tcp_port("7000") == 7000);
    if (::getservbyname("http", "tcp"))
        CHECK(tcp_port("http") == 80);  // bare systems know none
    CHECK(tcp_port("nonesuch") == 0);
}
