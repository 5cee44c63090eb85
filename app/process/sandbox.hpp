// The sandbox: drops the rights that the program no longer needs, so that an exploited bug
// gains little.
//
// It needs Landlock, which only Linux has. Reading stays allowed. The rules limit writing and,
// for TCP, binding and connecting; executing is forbidden. Older versions of Landlock limit
// less. Open descriptors stay usable. The rules apply to the calling thread and to threads that
// it starts later, so there must be no other thread yet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace yodel {

// The rights to grant. Reading is always allowed, and so is writing to the terminal, standard
// output and standard error.
struct SandboxRules {
    std::vector<std::string> files{};    // may be written and truncated; created if missing
    std::vector<std::string> folders{};  // files in them may be created and written
    // Paths that will be removed. Landlock has no right to remove a single file, so the right
    // is granted for its folder.
    std::vector<std::string> removable{};
    std::vector<std::uint16_t> connect_ports{};  // TCP ports to connect to
    std::vector<std::uint16_t> bind_ports{};     // TCP ports to bind; 0 stands for any free one
};

// The newest version of Landlock's interface that the sandbox uses.
constexpr int newest_landlock = 5;

// Enters the sandbox, for good. If the system has no sandbox or refuses it, the program keeps
// its rights. A path that can't be opened gets no right, so using it later fails. Returns the
// state in a few words: "landlock 4" with the version of the system's interface, or "none: ..."
// with the reason. `max_version` imitates an older system in tests.
std::string enter_sandbox(const SandboxRules& rules, int max_version = newest_landlock);

// Returns what enter_sandbox() returns unless the system refuses it. Does not enter the
// sandbox.
std::string available_sandbox();

// Returns the TCP port of the service, which is a number, or a name that the system knows.
// Returns 0 if it is neither.
std::uint16_t tcp_port(const std::string& service);

// Returns the folder that contains the file: "." for a name without a slash.
std::string folder_of(const std::string& path);

}  // namespace yodel
