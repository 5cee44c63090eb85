#include "app/process/sandbox.hpp"

#include "app/text/system.hpp"
#include "app/text/units.hpp"
#include "bufio/fd.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <system_error>

#if YODEL_HAS_LANDLOCK
#    include <sys/prctl.h>
#    include <sys/syscall.h>
#endif

namespace yodel {

std::uint16_t tcp_port(const std::string& service) {
    if (const auto number = parse_number(service, 0, 65535))
        return static_cast<std::uint16_t>(*number);
    const servent* const entry = ::getservbyname(service.c_str(), "tcp");
    return entry ? ntohs(static_cast<std::uint16_t>(entry->s_port)) : std::uint16_t{0};
}

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == path.npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

#if YODEL_HAS_LANDLOCK

namespace {

std::string no_sandbox_text(int code) {
    return "none: " + std::generic_category().message(code);
}

// The kernel's interface, because system headers may lack it or contain an older version. These
// numbers are the same on all processors whose calls are numbered from 0.
constexpr long create_ruleset_call = 444;
constexpr long add_rule_call = 445;
constexpr long restrict_self_call = 446;
constexpr unsigned version_flag = 1;
constexpr int path_beneath = 1;
constexpr int net_port = 2;

struct RulesetAttributes {
    std::uint64_t file_rights;
    std::uint64_t network_rights;
};

struct [[gnu::packed]] PathRule {
    std::uint64_t allowed;
    std::int32_t fd;
};

struct PortRule {
    std::uint64_t allowed;
    std::uint64_t port;
};

constexpr std::uint64_t bit(int number) { return std::uint64_t{1} << number; }

// Bits 2 and 3 are the rights to read, which are not limited. Bits 4 to 12 are the rights to
// create or remove folders, devices, sockets and so on.
constexpr std::uint64_t execute = bit(0);
constexpr std::uint64_t write_file = bit(1);
constexpr std::uint64_t remove_file = bit(5);
constexpr std::uint64_t make_file = bit(8);
constexpr std::uint64_t make_or_remove = bit(13) - bit(4);
constexpr std::uint64_t move_elsewhere = bit(13);  // from version 2
constexpr std::uint64_t truncate_file = bit(14);   // from version 3
constexpr std::uint64_t control_device = bit(15);  // from version 5
constexpr std::uint64_t bind_tcp = bit(0);         // from version 4
constexpr std::uint64_t connect_tcp = bit(1);      // from version 4

std::uint64_t supported_file_rights(int version) {
    std::uint64_t rights = execute | write_file | make_or_remove;
    if (version >= 2) rights |= move_elsewhere;
    if (version >= 3) rights |= truncate_file;
    if (version >= 5) rights |= control_device;
    return rights;
}

// Creates the file, because a rule covers only an existing file. It will contain a
// conversation.
void make_if_missing(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) return;
    constexpr int flags = O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    const bufio::Fd made(::open(path.c_str(), flags, 0600));
}

class Ruleset {
public:
    explicit Ruleset(int version)
        : attributes_{supported_file_rights(version),
                      version >= 4 ? bind_tcp | connect_tcp : 0} {
        const std::size_t size =
            version >= 4 ? sizeof attributes_ : sizeof attributes_.file_rights;
        fd_.reset(static_cast<int>(::syscall(create_ruleset_call, &attributes_, size, 0)));
        if (!fd_) error_ = errno;
    }

    // Ignores a folder, because a rule for a folder would cover all files in it.
    void allow_file(int fd, std::uint64_t rights) {
        struct stat status {};
        if (::fstat(fd, &status) == 0 && !S_ISDIR(status.st_mode)) allow(fd, rights);
    }
    void allow_file(const std::string& path, std::uint64_t rights) {
        const bufio::Fd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
        if (fd) allow_file(fd.get(), rights);
    }
    void allow_folder(const std::string& path, std::uint64_t rights) {
        const bufio::Fd fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (fd) allow(fd.get(), rights);
    }
    void allow_port(std::uint16_t port, std::uint64_t rights) {
        if (attributes_.network_rights == 0) return;
        const PortRule rule{rights, port};
        add(net_port, &rule);
    }

    // Returns errno; 0: the rules apply from now on.
    int enter() {
        if (error_ == 0 && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) error_ = errno;
        if (error_ == 0 && ::syscall(restrict_self_call, fd_.get(), 0) != 0) error_ = errno;
        return error_;
    }

private:
    void allow(int fd, std::uint64_t rights) {
        const PathRule rule{rights & attributes_.file_rights, fd};
        add(path_beneath, &rule);
    }

    // EBADFD means a pipe or a socket, which needs no rule.
    void add(int type, const void* rule) {
        if (error_ != 0) return;
        if (::syscall(add_rule_call, fd_.get(), type, rule, 0) == 0) return;
        if (errno != EBADFD) error_ = errno;
    }

    RulesetAttributes attributes_;
    bufio::Fd fd_;
    int error_ = 0;
};

void allow(Ruleset& ruleset, const SandboxRules& rules) {
    for (const char* const device : {"/dev/null", "/dev/tty"})
        ruleset.allow_file(device, write_file | truncate_file | control_device);
    // Class Output opens devices and pipes again, but not files, to write without blocking.
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
        struct stat status {};
        if (::fstat(fd, &status) == 0 && (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode)))
            ruleset.allow_file(fd, write_file | truncate_file | control_device);
    }
    for (const std::string& path : rules.files) {
        make_if_missing(path);
        ruleset.allow_file(path, write_file | truncate_file);
    }
    for (const std::string& path : rules.folders)
        ruleset.allow_folder(path, write_file | make_file);
    for (const std::string& path : rules.removable)
        ruleset.allow_folder(folder_of(path), remove_file);
    for (const std::uint16_t port : rules.connect_ports) ruleset.allow_port(port, connect_tcp);
    for (const std::uint16_t port : rules.bind_ports) ruleset.allow_port(port, bind_tcp);
}

// The system's Landlock, or the reason why there is none.
struct Landlock {
    int version = 0;
    std::string text;  // the version, or why there is no Landlock; for users
};

Landlock find_landlock(int max_version) {
    const long version = ::syscall(create_ruleset_call, nullptr, std::size_t{0}, version_flag);
    const bool refused = version < 0 && errno != ENOSYS && errno != EOPNOTSUPP;
    if (refused) return {.text = no_sandbox_text(errno)};
    if (version < 1 || max_version < 1) return {.text = "none: Landlock is not supported"};
    return {static_cast<int>(version), "landlock " + std::to_string(version)};
}

}  // namespace

std::string available_sandbox() { return find_landlock(newest_landlock).text; }

std::string enter_sandbox(const SandboxRules& rules, int max_version) {
    const Landlock found = find_landlock(max_version);
    if (found.version < 1) return found.text;
    Ruleset ruleset(std::min(found.version, max_version));
    allow(ruleset, rules);
    const int error = ruleset.enter();
    return error == 0 ? found.text : no_sandbox_text(error);
}

#else

std::string available_sandbox() { return "none: not supported on this system"; }

std::string enter_sandbox(const SandboxRules&, int) { return available_sandbox(); }

#endif

}  // namespace yodel
