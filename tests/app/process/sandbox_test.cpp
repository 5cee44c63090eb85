#include "app/process/sandbox.hpp"

#include "app/text/system.hpp"
#include "bufio/dial.hpp"
#include "bufio/listen.hpp"
#include "tests/app/process/apart.hpp"
#include "tests/support/text.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>

#include <cstddef>
#include <thread>

#if YODEL_HAS_LANDLOCK
#    include <linux/filter.h>
#    include <linux/seccomp.h>
#    include <sys/prctl.h>
#    include <sys/syscall.h>
#endif

using namespace yodel;
using test::apart;
using test::Folder;

#if YODEL_HAS_LANDLOCK

namespace {

// Returns the errno of a failure, or 0.
using Attempt = std::function<int()>;

int result(int returned) { return returned < 0 ? errno : 0; }

// Makes the attempt in a sandboxed process of its own.
int inside(const SandboxRules& rules, const Attempt& attempt, int most = newest_landlock) {
    return apart([&] {
               enter_sandbox(rules, most);
               return attempt();
           })
        .status;
}

// Returns the version of the system's Landlock, or 0 without Landlock.
int system_landlock() {
    const std::string state = available_sandbox();
    return state.starts_with("landlock ") ? std::stoi(state.substr(9)) : 0;
}

int execute() {
    const char* const arguments[] = {"true", nullptr};
    ::execv("/bin/true", const_cast<char* const*>(arguments));
    return errno;
}

Attempt opening(const std::string& path, int flags) {
    return [=] { return result(::open(path.c_str(), flags | O_NONBLOCK, 0600)); };
}

// Makes an ioctl that only terminals support. ENOTTY means that the sandbox allowed the call.
Attempt asking(const char* device) {
    return [=] {
        termios settings{};
        return result(::ioctl(::open(device, O_RDONLY), TCGETS, &settings));
    };
}

bufio::Address any_port() {
    return bufio::resolve_without_network({.host = "127.0.0.1", .service = "0"})
        .addresses.at(0);
}

// Binds or connects a TCP socket.
Attempt calling(int (*call)(int, const sockaddr*, socklen_t), const bufio::Address& address) {
    return [=] {
        const bufio::Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
        return result(call(socket.get(), address.get(), address.size));
    };
}

// An attempt in the sandbox. Landlock forbids it from version `forbidden_from` on, or never if
// that is 0.
struct Row {
    const char* name;
    SandboxRules rules;
    Attempt attempt;
    int forbidden_from = 0;
    int outside = 0;  // result of an attempt that is not forbidden
};

// Tries the row with each version of Landlock that the system supports.
void check(
    const Row& row, const std::function<void()>& restore = [] {}) {
    for (int version = 0; version <= std::min(newest_landlock, system_landlock()); ++version) {
        const bool forbidden = row.forbidden_from > 0 && version >= row.forbidden_from;
        CAPTURE(row.name, version);
        CHECK(inside(row.rules, row.attempt, version) == (forbidden ? EACCES : row.outside));
        restore();
    }
    if (system_landlock() < row.forbidden_from)
        WARN("not tested: this system has no Landlock " << row.forbidden_from);
}

// Makes the system refuse the call in this process from now on.
void refuse_call(unsigned number, unsigned error) {
    sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{std::size(steps), steps};
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) ::_exit(77);
}

}  // namespace

TEST_CASE("the sandbox allows reading, and of files what its rules name") {
    const Folder folder;
    const std::string file = folder / "file";
    const std::string fresh = folder / "new";
    const std::string pipe = folder / "pipe";
    const auto restore = [&] {
        std::filesystem::remove_all(fresh);
        std::filesystem::create_directories(folder / "other");
        test::write(file, "text");
    };
    restore();
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const bufio::Fd reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK));
    inside({.files = {pipe}}, [] { return 0; });  // does not open the pipe
    pollfd ended{reader.get(), POLLIN, 0};
    CHECK(::poll(&ended, 1, 0) == 0);
    const test::Ends ends = test::pipe_ends();
    const std::string again = "/proc/self/fd/" + std::to_string(ends.writer.get());
    const auto call = [](auto function, const std::string& path, auto... more) {
        return [=] { return result(function(path.c_str(), more...)); };
    };
    constexpr int create = O_WRONLY | O_CREAT;
    const Row rows[] = {
        {"execute", {}, execute, 1},
        {"read", {}, opening("/etc/passwd", O_RDONLY)},
        {"read a folder", {}, opening("/bin", O_RDONLY | O_DIRECTORY)},
        {"write", {}, opening(file, O_WRONLY), 1},
        {"append", {}, opening(file, O_WRONLY | O_APPEND), 1},
        {"empty", {}, call(::truncate, file, 0), 3},
        {"create", {}, opening(fresh, create), 1},
        {"make a folder", {}, call(::mkdir, fresh, 0700U), 1},
        {"make a link", {}, [&] { return result(::symlink("/", fresh.c_str())); }, 1},
        {"make a pipe", {}, call(::mkfifo, fresh, 0600U), 1},
        {"remove", {}, call(::unlink, file), 1},
        {"remove a folder", {}, call(::rmdir, folder / "other"), 1},
        {"move", {}, [&] { return result(std::rename(file.c_str(), fresh.c_str())); }, 1},
        {"write to nowhere", {}, opening("/dev/null", O_WRONLY | O_TRUNC)},
        {"ask nowhere", {}, asking("/dev/null"), 0, ENOTTY},
        {"ask a device", {}, asking("/dev/full"), 5, ENOTTY},
        {"write to a device", {}, opening("/dev/full", O_WRONLY), 1},
        {"open a pipe again", {}, opening(again, O_WRONLY)},
        {"open a pipe with a name", {}, opening(pipe, O_WRONLY), 1},
        {"write the file", {.files = {file}}, opening(file, create | O_TRUNC)},
        {"create another", {.files = {file}}, opening(fresh, create), 1},
        {"remove the file", {.files = {file}}, call(::unlink, file), 1},
        {"write below", {.files = {folder.path}}, opening(file, O_WRONLY), 1},
        {"write the pipe", {.files = {pipe}}, opening(pipe, O_WRONLY)},
        {"create in it", {.folders = {folder.path}}, opening(fresh, create | O_APPEND)},
        {"remove in it", {.folders = {folder.path}}, call(::unlink, file), 1},
        {"make a folder in it", {.folders = {folder.path}}, call(::mkdir, fresh, 0700U), 1},
        {"execute beside", {.folders = {folder.path}}, execute, 1},
        {"remove it", {.removable = {file}}, call(::unlink, file)},
        {"write what to remove", {.removable = {file}}, opening(file, O_WRONLY), 1},
        {"rules for nothing",
         {.files = {"/no/file"}, .folders = {"/no"}, .removable = {"file"}},
         execute,
         1},
    };
    for (const Row& row : rows) check(row, restore);
    // The sandbox creates the file.
    CHECK(inside({.files = {fresh}}, opening(fresh, O_WRONLY)) == 0);
    using std::filesystem::perms;
    CHECK(std::filesystem::status(fresh).permissions() ==
          (perms::owner_read | perms::owner_write));
}

TEST_CASE("the sandbox allows only the named TCP ports") {
    const bufio::ListeningSocket target(any_port(), false);
    const bufio::ListeningSocket other(any_port(), false);
    const auto number = static_cast<std::uint16_t>(target.address.port());
    const SandboxRules rules{.connect_ports = {number}};
    const Attempt connect = calling(::connect, target.address);
    const Attempt bind = calling(::bind, any_port());
    for (const Row& row : {
             Row{"connect", {}, connect, 4},
             Row{"connect to the port", rules, connect},
             Row{"connect to another port", rules, calling(::connect, other.address), 4},
             Row{"listen", rules, bind, 4},
             Row{"listen on any port", {.bind_ports = {0}}, bind},
             Row{"write", {.bind_ports = {0}}, opening("/dev/full", O_WRONLY), 1},
             Row{"only listen there", {.bind_ports = {number}}, connect, 4},
         })
        check(row);
}

TEST_CASE("the sandbox holds for threads that start later") {
    check({"write",
           {},
           [] {
               int code = 0;
               std::thread([&] { code = opening("/dev/full", O_WRONLY)(); }).join();
               return code;
           },
           1});
}

TEST_CASE("standard output can be opened again in the sandbox if it is a pipe or a device") {
    if (system_landlock() == 0) return;
    const Folder folder;
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    const bufio::Fd reader(::open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK));
    test::write(folder / "file", "");
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
        for (const auto& [path, error] : {std::pair<std::string, int>{folder / "pipe", 0},
                                          {"/dev/full", 0},
                                          {folder / "file", EACCES}}) {
            CAPTURE(path, fd);
            CHECK(apart([&, path = path] {
                      ::dup2(::open(path.c_str(), O_WRONLY), fd);
                      enter_sandbox({});
                      return opening("/proc/self/fd/" + std::to_string(fd), O_WRONLY)();
                  }).status == error);
        }
}

TEST_CASE("the version of the sandbox is reported, or why there is none, and nothing fails") {
    const std::string unsupported = "none: Landlock is not supported";
    CHECK(enter_sandbox({}, 0) == unsupported);
    if (system_landlock() > 0)
        CHECK(apart([] { return enter_sandbox({}, 1) == available_sandbox(); }).status == 1);
    const struct {
        const char* call;
        unsigned number;
        unsigned error;
        std::string state;
        std::string available;
    } rows[] = {
        {"an old system", 444, ENOSYS, unsupported, unsupported},
        {"switched off", 444, EOPNOTSUPP, unsupported, unsupported},
        {"a filter", 444, EPERM, "none: Operation not permitted",
         "none: Operation not permitted"},
        {"a filter of rules", 445, EPERM, "none: Operation not permitted", available_sandbox()},
        {"a filter of the entry", 446, EPERM, "none: Operation not permitted",
         available_sandbox()},
    };
    for (const auto& row : rows) {
        CAPTURE(row.call);
        const auto outcome = apart([&] {
            refuse_call(row.number, row.error);
            std::fputs((available_sandbox() + ", " + enter_sandbox({})).c_str(), stderr);
            return opening("/dev/full", O_WRONLY)();
        });
        if (outcome.status == 77) {
            WARN("not tested: calls cannot be filtered");
            return;
        }
        CHECK(outcome.errors == row.available + ", " + row.state);
        CHECK(outcome.status == 0);
    }
}

#else

TEST_CASE("a system without a known sandbox is reported, and nothing fails") {
    CHECK(enter_sandbox({}) == "none: not supported on this system");
}

#endif

TEST_CASE("a service is a port by its number or name") {
    CHECK(tcp_port("7000") == 7000);
    CHECK(tcp_port("65535") == 65535);
    CHECK(tcp_port("65536") == 0);
    if (::getservbyname("http", "tcp"))
        CHECK(tcp_port("http") == 80);  // bare systems know none
    CHECK(tcp_port("nonesuch") == 0);
}

TEST_CASE("a file is in the folder before its last slash, or in the current one") {
    CHECK(folder_of("/a/b/c") == "/a/b");
    CHECK(folder_of("/c") == "/");
    CHECK(folder_of("a/c") == "a");
    CHECK(folder_of("c") == ".");
}
