// Compares yodeld with hand-written servers: round trips and processor time of connections,
// with and without TLS, of connections beside many idle ones, and of datagrams.
#include "tests/bench/by_hand.hpp"
#include "tests/bufio/certificates.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace bench {

namespace {

// A server with its clients. The messages of a client differ from each other.
class Running {
public:
    Running(const Command& command, int type, SSL_CTX* ctx, std::size_t count,
            std::size_t idle = 0)
        : server(command) {
        while (idle_.size() < idle)
            idle_.push_back(std::make_unique<Client>(server.port, type, ctx));
        while (clients_.size() < count)
            clients_.push_back(std::make_unique<Client>(server.port, type, ctx));
        echo_all(message, 1);
    }

    // Sends messages from each client, and then receives all echoes.
    void echo_all(std::size_t size, int each) {
        bytes_.resize(size, 'x');
        for (const auto& client : clients_)
            for (int i = 0; i < each; ++i) {
                ++number_;
                std::memcpy(bytes_.data(), &number_, sizeof number_);
                client->write(bytes_);
            }
        for (const auto& client : clients_)
            for (int i = 0; i < each; ++i) client->read(size);
    }
    // Returns the server's nanoseconds per message.
    double server_ns(std::size_t size, int each, int times) {
        const double before = server.cpu_ns();
        for (int i = 0; i < times; ++i) echo_all(size, each);
        return (server.cpu_ns() - before) /
               (static_cast<double>(clients_.size()) * each * times);
    }

    Server server;

private:
    std::vector<std::unique_ptr<Client>> idle_;  // send nothing
    std::vector<std::unique_ptr<Client>> clients_;
    std::uint64_t number_ = 0;
    std::string bytes_;
};

struct Load {
    const char* name;
    std::size_t clients;
    int each;  // messages that each client has in flight
    std::size_t size;
    int times;
    bool is_round_trip;  // real time, not the server's processor time
};

constexpr Load stream_loads[] = {{"ping p50", 1, 1, message, 500, true},
                                 {"64KiB p50", 1, 1, in_flight, 64, true},
                                 {"CPU 64KiB", 1, 1, in_flight, 64, false},
                                 {"CPU 50", 50, 1, message, 20, false},
                                 {"CPU 1000", 1000, 1, message, 3, false}};
constexpr Load datagram_loads[] = {{"CPU 1", 1, 1, message, 4000, false},
                                   {"CPU 1 x 64", 1, 64, message, 62, false},
                                   {"CPU 50", 50, 1, message, 80, false},
                                   {"CPU 50 x 4", 50, 4, message, 20, false}};

using Commands = std::vector<Command>;

template <std::size_t Count>
void compare(const char* title, const Commands& commands, int type, SSL_CTX* ctx,
             const Load (&loads)[Count]) {
    Table table(title, {"by hand", "yodeld"});
    for (const Load& load : loads) {
        std::vector<std::unique_ptr<Running>> running;
        for (const Command& command : commands)
            running.push_back(std::make_unique<Running>(command, type, ctx, load.clients));
        table.add(load.name, rounds(15), [&](std::size_t i) {
            if (!load.is_round_trip)
                return running[i]->server_ns(load.size, load.each, load.times);
            return median_ns(load.times, [&] { running[i]->echo_all(load.size, load.each); });
        });
    }
    table.print();
}

Command yodeld(const Command& options) {
    Command command{YODELD, "-m", "1000000"};
    command.insert(command.end(), options.begin(), options.end());
    return command;
}

// Runs one server at a time, because descriptors are limited.
void compare_idle(const Commands& commands) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const std::size_t idle = std::min<std::size_t>(10'000, limit.rlim_cur - 1000);
    Table table("50 clients beside " + std::to_string(idle) + " idle ones",
                {"by hand", "yodeld"});
    table.add({"CPU 50", "idle bytes"}, rounds(5), [&](std::size_t i) {
        const double before =
            Running(commands[i], SOCK_STREAM, nullptr, 50).server.memory("RssAnon:");
        Running running(commands[i], SOCK_STREAM, nullptr, 50, idle);
        const double more = running.server.memory("RssAnon:") - before;
        return std::vector{running.server_ns(message, 1, 200),
                           more / static_cast<double>(idle)};
    });
    table.print();
}

}  // namespace

void compare_servers() {
    const Commands plain{by_hand_command("serve"), yodeld({"0"})};
    compare("servers, messages of 64 bytes", plain, SOCK_STREAM, nullptr, stream_loads);
    compare_idle(plain);
    test::Certificates certificates;
    const test::Identity identity = certificates.make("localhost", {});
    SSL_CTX* const ctx = ::SSL_CTX_new(::TLS_client_method());
    compare("servers, TLS",
            {by_hand_command("serve", {identity.certificate, identity.key}),
             yodeld({"--tls", "--cert", identity.certificate, "--key", identity.key, "0"})},
            SOCK_STREAM, ctx, stream_loads);
    ::SSL_CTX_free(ctx);
    compare("servers of datagrams", {by_hand_command("datagrams"), yodeld({"-u", "0"})},
            SOCK_DGRAM, nullptr, datagram_loads);
}

}  // namespace bench
