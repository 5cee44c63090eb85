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

// yodeld on a free port.
class Server {
public:
    explicit Server(std::vector<std::string> options = {});

    std::string port() const { return port_; }
    Process& process() { return process_; }

private:
    Process process_;
    std::string port_;
};

// Another server. PORT in its arguments stands for the port. Throws if it does not listen.
class Peer {
public:
    explicit Peer(std::vector<std::string> arguments);
    std::string port() const { return port_; }
    Process& process() { return *process_; }

private:
    std::string port_;
    std::unique_ptr<Process> process_;
};

// An authority and its certificates, made once per test with the openssl command: PEM files
// NAME.pem and NAME.key.
class Certificates {
public:
    Certificates();
    std::string file(const std::string& name) const { return folder_.path(name); }
    std::string authority() const { return file("ca.pem"); }
    // `names`: such as "DNS:localhost,IP:127.0.0.1". `days`: validity; negative: expired.
    void issue(const std::string& name, const std::string& names, int days = 20);
    std::vector<std::string> server_options(const std::string& name) const;

private:
    Folder folder_;
};

}  // namespace test
