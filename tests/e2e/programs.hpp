// The programs under test and the peers they talk to.
#pragma once

#include "tests/support/process.hpp"

#include <memory>
#include <string>
#include <vector>

namespace test {

// Paths of the programs, from the build.
inline const std::string yodel = YODEL_PROGRAM;
inline const std::string yodel_load = YODEL_LOAD_PROGRAM;
inline const std::string yodeld = YODELD_PROGRAM;
// The folder of the peers, which were written only from the protocols' descriptions.
inline const std::string peers = PEERS_FOLDER;

// A server. PORT in its arguments stands for the port. Throws if it does not listen.
class Peer {
public:
    explicit Peer(std::vector<std::string> arguments);
    std::string port() const { return port_; }
    Process& process() { return *process_; }

private:
    std::string port_;
    std::unique_ptr<Process> process_;
};

}  // namespace test
