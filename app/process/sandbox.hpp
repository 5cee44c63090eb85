// The sandbox: the rights that a program keeps for the rest of its life, so that a peer that
// finds a hole in it gains little.
//
// Linux: by Landlock, as far as the system knows it. Reading stays free. Writing and, for TCP,
// binding and connecting are limited to what the rules name, and executing is over. What is
// open already stays usable. The rules hold for the calling thread and those that it starts
// later, so there must be no other thread yet.
// OpenBSD: by pledge(2), which knows kinds of files and sockets, but neither paths nor ports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace yodel {

// What stays allowed besides reading, the terminal, and what standard output and standard
// error stand for.
struct SandboxRules {
    std::vector<std::string> files{};    // may be written and emptied; made now if missing
    std::vector<std::string> folders{};  // files in them may be made and written
    // Paths that will be removed. Landlock knows no right to remove one file: it is given for
    // the folder of each.
    std::vector<std::string> removed{};
    std::vector<std::uint16_t> connects{};  // TCP ports to connect to
    std::vector<std::uint16_t> binds{};     // TCP ports to bind; 0: any free one
};

// The newest version of Landlock's interface whose rights are asked for.
constexpr int newest_landlock = 5;

// Enters the sandbox, for good. If the system has none, or refuses it, nothing changes. A
// path that can't be opened gets no right; using it later fails by itself. Returns the state in
// a few words: "landlock 4" with the version of the system's interface, "pledge", or
// "none: ..." with the reason. `max_version` imitates an older system in tests.
std::string enter_sandbox(const SandboxRules& rules, int max_version = newest_landlock);

// The sandbox that this system has, in the words of enter_sandbox(), without entering it.
std::string available_sandbox();

// Returns the TCP port that the service means: a number, or a name that the system knows; 0 if
// it is neither.
std::uint16_t tcp_port(const std::string& service);

}  // namespace yodel
