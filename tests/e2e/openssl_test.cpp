// OpenSSL is loaded by those who speak TLS, and by nobody else.

#include "tests/e2e/programs.hpp"
#include "tests/support/catch.hpp"

#include <openssl/opensslv.h>

#include <filesystem>
#include <fstream>

using test::Folder;
using test::Outcome;
using test::Process;
using test::Server;
using test::yodel;
using test::yodeld;

namespace {

// The file of a library that the process has loaded; empty: it has not.
std::string loaded(const Process& process, const std::string& library) {
    std::ifstream maps("/proc/" + std::to_string(process.pid()) + "/maps");
    for (std::string line; std::getline(maps, line);)
        if (line.find("/" + library + ".so") != line.npos) return line.substr(line.find('/'));
    return {};
}

// A client and its server that have talked.
class Pair {
public:
    explicit Pair(bool tls)
        : server(tls ? std::vector<std::string>{"--self-signed"} : std::vector<std::string>{}),
          client(tls ? std::vector<std::string>{yodel, "--insecure", "--tls", "localhost",
                                                server.port()}
                     : std::vector<std::string>{yodel, "localhost", server.port()}) {
        client.write("hello\n");
        REQUIRE(client.wait_for_output("hello\n"));
    }

    Server server;
    Process client;
};

// Where a program that looks there first finds another file by the name of libssl.
class Misled {
public:
    Misled() : file_(folder_.path("libssl.so." + std::to_string(OPENSSL_SHLIB_VERSION))) {}
    const std::string& file() const { return file_; }
    Outcome run(std::vector<std::string> command) const {
        command.insert(command.begin(), {"env", "LD_LIBRARY_PATH=" + folder_.path("")});
        return test::run(command);
    }

private:
    Folder folder_;
    std::string file_;
};

}  // namespace

TEST_CASE("only who speaks TLS loads OpenSSL") {
    const bool tls = GENERATE(false, true);
    CAPTURE(tls);
    Pair pair(tls);
    for (const Process* process : {&pair.client, &pair.server.process()}) {
        CHECK(loaded(*process, "libssl").empty() == !tls);
        CHECK(loaded(*process, "libcrypto").empty() == !tls);
    }
}

TEST_CASE("without a usable OpenSSL one sentence says so, and nothing plain suffers") {
    const std::vector<std::string> command =
        GENERATE(std::vector<std::string>{yodel, "--tls"},
                 std::vector<std::string>{yodeld, "--self-signed", "0"});
    const Misled misled;
    std::string missing = std::filesystem::path(misled.file()).filename();
    SECTION("an empty file") { std::ofstream(misled.file()); }
    SECTION("another library") {
        Pair pair(true);
        std::filesystem::create_symlink(loaded(pair.client, "libcrypto"), misled.file());
        missing = "SSL_";
    }
    const Outcome outcome = misled.run(command);
    CAPTURE(outcome.errors);
    CHECK(outcome.status == 35);
    CHECK(outcome.errors.find(": TLS needs OpenSSL: ") != std::string::npos);
    CHECK(outcome.errors.find(missing) != std::string::npos);
    CHECK(outcome.errors.find('\n') == outcome.errors.size() - 1);
    CHECK(misled.run({yodel, "--no-tui"}).status == 0);
}
