// The sandbox: drops the rights that the program no longer needs, so that an exploited bug
// gains little.
//
// Linux: by Landlock, as far as the system supports it. Reading stays allowed. Writing and, for
// TCP, binding and connecting are limited by the rules, and executing is forbidden. Open
// descriptors stay usable. The rules apply to the calling thread and to threads that it starts
// later, so there must be no other thread yet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace yodel {

// The rights besides reading, the terminal, and the files of standard output and standard
// error.
struct SandboxRules {
    std::vector<std::string> files{};    // may be written and truncated; created now if missing
    std::vector<std::string> folders{};  // files in them may be created and written
    // Paths that will be removed. Landlock has no right to remove a single file, so the right
    // is given for its folder.
    std::vector<std::string> removed{};
    std::vector<std::uint16_t> connects{};  // TCP ports to connect to
    std::vector<std::uint16_t> binds{};     // TCP ports to bind; 0: any free one
};

// The newest version of Landlock's interface that the sandbox uses.
constexpr int newest_landlock = 5;

// Enters the sandbox, for good. If the system has none, or refuses it, nothing changes. A
// path that can't be opened gets no right; using it later fails by itself. Returns the state in
// a few words: "landlock 4" with the version of the system's interface, or "none: ..."
// with the reason. `max_version` imitates an older system in tests.
std::string enter_sandbox(const SandboxRules& rules, int max_version = newest_landlock);

// The sandbox that this system has, in the words of enter_sandbox(), without entering it.
std::string available_sandbox();

// Returns the TCP port of the service, which is a number, or a name that the system knows; 0
// if it is neither.
std::uint16_t tcp_port(const std::string& service);

// Returns the folder that contains the file: "." for a name without a slash.
std::string folder_of(const std::string& path);

}  // namespace yodel
