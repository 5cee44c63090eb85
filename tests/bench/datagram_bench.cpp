// Compares datagrams: yodeld's server with a plain loop of recvfrom and sendto, and a run of
// one connection with plain calls.

#include "app/run/run.hpp"
#include "app/server/echo_server.hpp"
#include "tests/bench/measure.hpp"
#include "tests/bench/serving_process.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

using namespace bench;

namespace {

constexpr std::size_t message = 64;  // bytes

struct Entrant {
    const char* name;
    void (*serve)(int fd);
};

[[noreturn]] void serve_raw(int fd) {
    static char room[65536];
    for (;;) {
        sockaddr_storage peer;
        socklen_t size = sizeof peer;
        auto* const name = reinterpret_cast<sockaddr*>(&peer);
        const ssize_t count = ::recvfrom(fd, room, sizeof room, 0, name, &size);
        if (count >= 0) ::sendto(fd, room, static_cast<std::size_t>(count), 0, name, size);
    }
}

void serve_ours(int fd) {
    const bufio::Address address = bufio::Address::of_socket(fd);
    ::close(fd);
    ev::Loop loop;
    yodel::EchoServer server(loop, {}, [](auto&, auto&) {});
    server.listen_datagrams(address);
    loop.run();
}

constexpr Entrant entrants[] = {{"recvfrom and sendto", serve_raw}, {"yodeld -u", serve_ours}};

// A blocking client whose datagrams differ from each other.
class Client {
public:
    explicit Client(const sockaddr_in& server) : fd_(::socket(AF_INET, SOCK_DGRAM, 0)) {
        const auto* const address = reinterpret_cast<const sockaddr*>(&server);
        require(::connect(fd_, address, sizeof server) == 0);
    }
    ~Client() { ::close(fd_); }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    // Sends until an answer arrives, because the server may not listen yet.
    void await_server() {
        for (;;) {
            send();
            pollfd wanted{fd_, POLLIN, 0};
            if (::poll(&wanted, 1, 10) > 0 && ::recv(fd_, buffer_, sizeof buffer_, 0) >= 0)
                return;
        }
    }
    void send() {
        ++number_;
        std::memcpy(bytes_, &number_, sizeof number_);
        ::send(fd_, bytes_, sizeof bytes_, 0);
    }
    // Waits with a time limit, because a datagram may be lost.
    void wait() {
        pollfd wanted{fd_, POLLIN, 0};
        require(::poll(&wanted, 1, 5000) == 1);
    }
    void receive() { require(::recv(fd_, buffer_, sizeof buffer_, 0) == message); }

private:
    int fd_;
    std::uint64_t number_ = 0;
    char bytes_[message] = {};
    char buffer_[65536];
};

struct Running {
    Running(const Entrant& entrant, std::size_t count) : server(entrant.serve, SOCK_DGRAM) {
        while (clients.size() < count) {
            clients.push_back(std::make_unique<Client>(server.address()));
            clients.back()->await_server();
        }
    }
    // Sends from each client, and then receives all answers.
    void echo_all(int each) {
        for (const auto& client : clients)
            for (int i = 0; i < each; ++i) client->send();
        for (const auto& client : clients)
            for (int i = 0; i < each; ++i) client->receive();
    }
    // Returns the server's nanoseconds per datagram.
    double server_time(int each, int times) {
        const double before = server.cpu_ns();
        for (int i = 0; i < times; ++i) echo_all(each);
        const double count = static_cast<double>(clients.size()) * each * times;
        return (server.cpu_ns() - before) / count;
    }

    ServingProcess server;
    std::vector<std::unique_ptr<Client>> clients;
};

using Clock = std::chrono::steady_clock;

void compare_servers() {
    std::vector<std::string> names;
    for (const Entrant& entrant : entrants) names.emplace_back(entrant.name);
    Table table("Server of datagrams, 64 bytes", names);
    const struct {
        const char* name;
        std::size_t clients;
        int each;
    } loads[] = {
        {"CPU 1", 1, 1}, {"CPU 1 x 64", 1, 64}, {"CPU 50", 50, 1}, {"CPU 50 x 4", 50, 4}};
    for (const auto& load : loads) {
        std::vector<std::unique_ptr<Running>> runs;
        for (const Entrant& entrant : entrants)
            runs.push_back(std::make_unique<Running>(entrant, load.clients));
        const int datagrams = static_cast<int>(load.clients) * load.each;
        table.add(load.name, rounds(15), [&](std::size_t i) {
            return runs[i]->server_time(load.each, 4000 / datagrams);
        });
    }
    table.print();
}

// Returns the median round trip of a closed-loop run of one connection.
double run_round_trip(const std::string& port, std::uint64_t count) {
    ev::Loop loop;
    yodel::RunOptions to;
    to.session.endpoint.host = "127.0.0.1";
    to.session.endpoint.service = port;
    to.session.endpoint.udp = true;
    to.session.framing = yodel::datagram_framing();
    to.count = count;
    to.size = message;
    const yodel::Run run(loop, to, [&] { loop.stop(); });
    loop.run();
    require(run.results().echoed == count);
    return static_cast<double>(run.results().round_trips.percentile(50).count());
}

// Returns the median round trip of a client that makes three calls per datagram.
double plain_round_trip(Client& client, int times) {
    std::vector<double> each;
    for (int i = 0; i < times; ++i) {
        const auto before = Clock::now();
        client.send();
        client.wait();
        client.receive();
        each.push_back(std::chrono::duration<double, std::nano>(Clock::now() - before).count());
    }
    return median(std::move(each));
}

void compare_clients() {
    const Running running(entrants[0], 1);
    Table table("Client of datagrams, 64 bytes", {"send, poll and recv", "run of one"});
    table.add("ping p50", rounds(31), [&](std::size_t i) {
        return i == 0 ? plain_round_trip(*running.clients.front(), 1000)
                      : run_round_trip(running.server.port(), 1000);
    });
    table.print();
}

}  // namespace

int main() {
    begin("datagrams");
    compare_servers();
    compare_clients();
}
