#include "tests/e2e/programs.hpp"

#include <ctime>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace test {

namespace {

std::vector<std::string> server_command(std::vector<std::string> options) {
    std::vector<std::string> command{yodeld};
    for (std::string& option : options) command.push_back(std::move(option));
    command.push_back("0");
    return command;
}

std::vector<std::string> with_port(std::vector<std::string> arguments,
                                   const std::string& port) {
    for (std::string& argument : arguments)
        if (const auto at = argument.find("PORT"); at != std::string::npos)
            argument.replace(at, 4, port);
    return arguments;
}

void openssl(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "openssl");
    const Outcome outcome = run(arguments);
    if (outcome.status != 0) throw std::runtime_error("openssl: " + outcome.errors);
}

// Returns the time in the format of `openssl ca`.
std::string date(std::time_t time) {
    char text[32];
    std::tm parts{};
    ::gmtime_r(&time, &parts);
    std::strftime(text, sizeof text, "%Y%m%d%H%M%SZ", &parts);
    return text;
}

const std::vector<std::string> new_key{"-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                                       "-nodes"};

std::vector<std::string> operator+(std::vector<std::string> a,
                                   const std::vector<std::string>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

}  // namespace

Server::Server(std::vector<std::string> options)
    : process_(server_command(std::move(options))) {
    if (!process_.wait_for_output("\n"))
        throw std::runtime_error("yodeld: " + process_.errors());
    const std::string& line = process_.output();
    const std::size_t begin = line.rfind(':') + 1;  // in the last of several lines
    port_ = line.substr(begin, line.find('\n', begin) - begin);
}

Peer::Peer(std::vector<std::string> arguments)
    : port_(std::to_string(free_port())),
      process_(std::make_unique<Process>(with_port(std::move(arguments), port_))) {
    if (!wait_for_listener(std::stoi(port_))) throw std::runtime_error(process_->errors());
}

Certificates::Certificates() {
    openssl(std::vector<std::string>{"req", "-x509", "-keyout", file("ca.key"), "-out",
                                     authority(), "-days", "30", "-subj",
                                     "/CN=Test Authority"} +
            new_key);
    std::ofstream(file("ca.cnf"))
        << "[ca]\ndefault_ca=d\n[d]\nnew_certs_dir=" << file("")
        << "\ndatabase=" << file("index")
        << "\nrand_serial=yes\ndefault_md=sha256\npolicy=p\ncopy_extensions=copy\n"
        << "unique_subject=no\n[p]\ncommonName=supplied\n";
    std::ofstream(file("index"));
}

void Certificates::issue(const std::string& name, const std::string& names, int days) {
    openssl(std::vector<std::string>{"req", "-keyout", file(name + ".key"), "-out",
                                     file(name + ".csr"), "-subj", "/CN=" + name, "-addext",
                                     "subjectAltName=" + names} +
            new_key);
    const std::time_t now = std::time(nullptr);
    const std::time_t day = 24 * 60 * 60;
    const std::time_t end = now + days * day;
    openssl({"ca", "-batch", "-notext", "-config", file("ca.cnf"), "-cert", authority(),
             "-keyfile", file("ca.key"), "-in", file(name + ".csr"), "-out",
             file(name + ".pem"), "-startdate", date(std::min(now, end) - day), "-enddate",
             date(end)});
}

std::vector<std::string> Certificates::server_options(const std::string& name) const {
    return {"--tls", "--cert", file(name + ".pem"), "--key", file(name + ".key")};
}

}  // namespace test
