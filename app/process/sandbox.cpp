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
#include <filesystem>
#include <system_error>
#include <utility>

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
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    return folder.empty() ? "." : folder.string();
}

#if YODEL_HAS_LANDLOCK

namespace {

// Declares the kernel's interface, because system headers may lack it or contain an older
// version. These numbers are the same on all processors whose calls are numbered from 0.
constexpr long create_ruleset_call = 444;
constexpr long add_rule_call = 445;
constexpr long restrict_self_call = 446;
constexpr unsigned version_flag = 1;
constexpr int path_beneath = 1;
constexpr int net_port = 2;

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
// create or remove folders, devices, sockets and so on. Every ruleset refuses to move a file
// into another folder (bit 13). The versions below are Landlock ABI versions.
constexpr std::uint64_t execute = bit(0);
constexpr std::uint64_t write_file = bit(1);
constexpr std::uint64_t remove_file = bit(5);
constexpr std::uint64_t make_file = bit(8);
constexpr std::uint64_t make_or_remove = bit(13) - bit(4);
constexpr std::uint64_t truncate_file = bit(14);   // from version 3
constexpr std::uint64_t control_device = bit(15);  // from version 5
constexpr std::uint64_t bind_tcp = bit(0);         // from version 4
constexpr std::uint64_t connect_tcp = bit(1);      // from version 4

// Creates the file, because a rule covers only an existing file. Other users may not read it,
// because it will contain a conversation.
void make_if_missing(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) return;
    constexpr int flags = O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    const bufio::Fd made(::open(path.c_str(), flags, 0600));
}

// Adds rules to a ruleset of the kernel.
struct Ruleset {
    int fd;
    std::uint64_t file_rights;  // those that the system can limit
    int error = 0;              // errno of the first refusal

    // EBADFD means a pipe or a socket, which needs no rule.
    void add(int type, const void* rule) {
        if (error == 0 && ::syscall(add_rule_call, fd, type, rule, 0) != 0 && errno != EBADFD)
            error = errno;
    }
    // Ignores a folder if a file is wanted, because the rule would cover all files in it.
    void allow(int path, bool is_folder, std::uint64_t rights) {
        struct stat status {};
        if (::fstat(path, &status) != 0 || S_ISDIR(status.st_mode) != is_folder) return;
        const PathRule rule{rights & file_rights, path};
        add(path_beneath, &rule);
    }
    void allow(const std::string& path, bool is_folder, std::uint64_t rights) {
        const bufio::Fd opened(::open(path.c_str(), O_PATH | O_CLOEXEC));
        allow(opened.get(), is_folder, rights);
    }
    void allow_ports(const std::vector<std::uint16_t>& ports, std::uint64_t rights) {
        for (const std::uint16_t port : ports) {
            const PortRule rule{rights, port};
            add(net_port, &rule);
        }
    }
};

void allow_files(Ruleset& ruleset, const SandboxRules& rules) {
    constexpr std::uint64_t use_device = write_file | truncate_file | control_device;
    for (const std::string device : {"/dev/null", "/dev/tty"})
        ruleset.allow(device, false, use_device);
    // Class Output opens devices and pipes again, but not files, to write without blocking.
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
        struct stat status {};
        if (::fstat(fd, &status) == 0 && (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode)))
            ruleset.allow(fd, false, use_device);
    }
    for (const std::string& path : rules.files) {
        make_if_missing(path);
        ruleset.allow(path, false, write_file | truncate_file);
    }
    for (const std::string& path : rules.folders)
        ruleset.allow(path, true, write_file | make_file);
    for (const std::string& path : rules.removable)
        ruleset.allow(folder_of(path), true, remove_file);
}

// Returns the version of the system's Landlock and "landlock 4", or 0 and "none: ..." with the
// reason.
std::pair<int, std::string> find_landlock(int max_version) {
    const long version = ::syscall(create_ruleset_call, nullptr, std::size_t{0}, version_flag);
    const bool is_refused = version < 0 && errno != ENOSYS && errno != EOPNOTSUPP;
    if (is_refused) return {0, "none: " + std::generic_category().message(errno)};
    if (version < 1 || max_version < 1) return {0, "none: Landlock is not supported"};
    return {static_cast<int>(version), "landlock " + std::to_string(version)};
}

}  // namespace

std::string available_sandbox() { return find_landlock(newest_landlock).second; }

std::string enter_sandbox(const SandboxRules& rules, int max_version) {
    const auto [system_version, name] = find_landlock(max_version);
    const int version = std::min(system_version, max_version);
    if (version < 1) return name;
    std::uint64_t file_rights = execute | write_file | make_or_remove;
    if (version >= 3) file_rights |= truncate_file;
    if (version >= 5) file_rights |= control_device;
    const std::uint64_t limited[] = {file_rights, bind_tcp | connect_tcp};
    const std::size_t size = version >= 4 ? sizeof limited : sizeof file_rights;
    const bufio::Fd fd(static_cast<int>(::syscall(create_ruleset_call, limited, size, 0)));
    Ruleset ruleset{fd.get(), file_rights, fd ? 0 : errno};
    allow_files(ruleset, rules);
    if (version >= 4) ruleset.allow_ports(rules.connect_ports, connect_tcp);
    if (version >= 4) ruleset.allow_ports(rules.bind_ports, bind_tcp);
    int& error = ruleset.error;
    if (error == 0 && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) error = errno;
    if (error == 0 && ::syscall(restrict_self_call, fd.get(), 0) != 0) error = errno;
    return error == 0 ? name : "none: " + std::generic_category().message(error);
}

#else

std::string available_sandbox() { return "none: not supported on this system"; }

std::string enter_sandbox(const SandboxRules&, int) { return available_sandbox(); }

#endif

}  // namespace yodel
