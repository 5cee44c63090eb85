// Compares datagrams: yodeld's server with a plain loop of recvfrom and sendto; a client's
// session, and a run of one connection, with plain calls.

#include "app/protocol/session.hpp"
#include "app/run/run.hpp"
#include "app/server/datagram_server.hpp"
#include "tests/bench/measure.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

using namespace bench;

namespace {

constexpr std::size_t message = 64;  // bytes

void require(bool holds) {
    if (!holds) std::abort();
}

bufio::Address loopback(int port) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(static_cast<std::uint16_t>(port));
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return {reinterpret_cast<const sockaddr*>(&name), sizeof name};
}

struct Entrant {
    const char* name;
    void (*serve)(int port);
};

[[noreturn]] void serve_raw(int port) {
    const bufio::Address address = loopback(port);
    const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
    require(::bind(fd, address.get(), address.size) == 0);
    static char room[65536];
    for (;;) {
        sockaddr_storage peer;
        socklen_t size = sizeof peer;
        auto* const name = reinterpret_cast<sockaddr*>(&peer);
        const ssize_t count = ::recvfrom(fd, room, sizeof room, 0, name, &size);
        if (count >= 0) ::sendto(fd, room, static_cast<std::size_t>(count), 0, name, size);
    }
}

void serve_ours(int port) {
    ev::Loop loop;
    yodel::DatagramServer server(loop, {}, [](auto&) {});
    server.listen(loopback(port));
    loop.run();
}

constexpr Entrant entrants[] = {{"recvfrom and sendto", serve_raw}, {"yodeld -u", serve_ours}};

// A server in its own process.
class Server {
public:
    Server(const Entrant& entrant, int port) : port_(port), pid_(::fork()) {
        if (pid_ != 0) return;
        entrant.serve(port);
        ::_exit(0);
    }
    ~Server() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    int port() const { return port_; }
    double cpu_ns() const {
        clockid_t clock{};
        timespec time{};
        require(::clock_getcpuclockid(pid_, &clock) == 0);
        ::clock_gettime(clock, &time);
        return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
    }

private:
    int port_;
    pid_t pid_;
};

// A blocking client whose datagrams differ from each other.
class Client {
public:
    explicit Client(int port) : fd_(::socket(AF_INET, SOCK_DGRAM, 0)) {
        const bufio::Address address = loopback(port);
        require(::connect(fd_, address.get(), address.size) == 0);
    }
    ~Client() { ::close(fd_); }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    // The server may not listen yet.
    void await_server() {
        for (;;) {
            send();
            pollfd wanted{fd_, POLLIN, 0};
            if (::poll(&wanted, 1, 10) > 0 && ::recv(fd_, room_, sizeof room_, 0) >= 0) return;
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
    void receive() { require(::recv(fd_, room_, sizeof room_, 0) == message); }

private:
    int fd_;
    std::uint64_t number_ = 0;
    char bytes_[message] = {};
    char room_[65536];
};

struct Running {
    Running(const Entrant& entrant, int port, std::size_t count) : server(entrant, port) {
        while (clients.size() < count) {
            clients.push_back(std::make_unique<Client>(port));
            clients.back()->await_server();
        }
    }
    // Each client sends, then each receives its answers.
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

    Server server;
    std::vector<std::unique_ptr<Client>> clients;
};

int free_port() {
    const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
    const bufio::Address any = loopback(0);
    require(::bind(fd, any.get(), any.size) == 0);
    const int port = bufio::Address::of_socket(fd).port();
    ::close(fd);
    return port;
}

using Clock = std::chrono::steady_clock;

template <class Ping>
double round_trip(Ping ping, int times) {
    std::vector<double> each;
    for (int i = 0; i < times; ++i) {
        const auto before = Clock::now();
        ping();
        each.push_back(std::chrono::duration<double, std::nano>(Clock::now() - before).count());
    }
    return median(std::move(each));
}

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
            runs.push_back(std::make_unique<Running>(entrant, free_port(), load.clients));
        const int datagrams = static_cast<int>(load.clients) * load.each;
        table.add(load.name, rounds(15), [&](std::size_t i) {
            return runs[i]->server_time(load.each, 4000 / datagrams);
        });
    }
    table.print();
}

yodel::Session::Options options(int port) {
    yodel::Session::Options to;
    to.endpoint.host = "127.0.0.1";
    to.endpoint.service = std::to_string(port);
    to.endpoint.datagrams = true;
    to.framing = yodel::datagram_framing();
    return to;
}

// A session that sends its next message after the last reply.
class Pinger final : yodel::Session::User {
public:
    Pinger(ev::Loop& loop, int port)
        : loop_(loop), session_(new yodel::Session(loop, options(port), *this)) {
        session_->connect();
        while (session_->state() != yodel::Session::State::open) loop.step();
    }
    void ping() {
        answered_ = false;
        ++number_;
        std::memcpy(text_, &number_, sizeof number_);
        session_->send({text_, sizeof text_});
        session_->flush();
        while (!answered_) loop_.step();
    }

private:
    void session_changed() override {}
    void session_answered(const yodel::Message&, const yodel::Reply& reply) override {
        answered_ = reply.right;
    }
    void session_lost(const yodel::Message&) override {}
    void session_unsolicited(std::string_view) override {}

    ev::Loop& loop_;
    std::unique_ptr<yodel::Session> session_;
    std::uint64_t number_ = 0;
    char text_[message] = {};
    bool answered_ = false;
};

// Returns the median round trip of a closed-loop run of one connection.
double run_round_trip(int port, std::uint64_t count) {
    ev::Loop loop;
    yodel::RunOptions to;
    to.session = options(port);
    to.count = count;
    to.size = message;
    const yodel::Run run(loop, to, [&] { loop.stop(); });
    loop.run();
    require(run.results().echoed == count);
    return static_cast<double>(run.results().round_trips.percentile(50).count());
}

void compare_clients() {
    const Running running(entrants[0], free_port(), 1);
    ev::Loop loop;
    Pinger pinger(loop, running.server.port());
    Client& plain = *running.clients.front();
    Table table("Client of datagrams, 64 bytes",
                {"send, poll and recv", "session", "run of one"});
    table.add("ping p50", rounds(31), [&](std::size_t i) {
        if (i == 1) return round_trip([&] { pinger.ping(); }, 1000);
        if (i == 2) return run_round_trip(running.server.port(), 1000);
        return round_trip(
            [&] {
                plain.send();
                plain.wait();
                plain.receive();
            },
            1000);
    });
    table.print();
}

}  // namespace

int main() {
    begin("datagrams");
    compare_servers();
    compare_clients();
}
