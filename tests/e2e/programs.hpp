// The programs under test and the peers they talk to.
#pragma once

#include "tests/support/process.hpp"

#include <memory>
#include <string>
#include <vector>

namespace test {

// Their paths come from the build.
inline const std::string yodel = YODEL_PROGRAM;
inline const std::string yodeld = YODELD_PROGRAM;
// The folder of the peers written from the protocols' descriptions alone.
inline const std::string peers = PEERS_FOLDER;

// So many threads of a server, or 1 where a port can't be shared.
std::string server_threads(const std::string& wanted);

// True if the system says how long the network itself takes (TCP_INFO).
bool system_measures_network();

// True if it says which address a datagram was sent to, so that an answer leaves from there.
bool system_tells_target();

// True if freed memory can be seen to go back to it: the sanitizers take memory of their own.
bool system_gets_memory_back();

// True with the libraries of Debian 13 or newer ones, which take more memory than those before:
// glibc half a MiB for a program, OpenSSL 3.5 nearly 200 KiB for a connection.
bool system_libraries_are_larger();

// True if it says how many source ports there are.
bool system_counts_source_ports();

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

// Somebody else's server; its arguments hold PORT where the port goes. Throws if it does not
// listen.
class Peer {
public:
    explicit Peer(std::vector<std::string> arguments);
    std::string port() const { return port_; }
    Process& process() { return *process_; }

private:
    std::string port_;
    std::unique_ptr<Process> process_;
};

// An authority, and certificates by it, made once per test with the openssl command: PEM files
// NAME.pem and NAME.key.
class Certificates {
public:
    Certificates();
    std::string file(const std::string& name) const { return folder_.path(name); }
    std::string authority() const { return file("ca.pem"); }
    // `names` as in "DNS:localhost,IP:127.0.0.1"; the days may be negative: expired.
    void issue(const std::string& name, const std::string& names, int days = 20);
    void self_sign(const std::string& name, const std::string& names);
    std::vector<std::string> server_options(const std::string& name) const;

private:
    Folder folder_;
};

}  // namespace test
