// Compares yodeld's server with a hand-written one: round trips and processor time, with and
// without TLS, and beside many idle clients.

#include "app/server/echo_server.hpp"
#include "tests/bench/by_hand.hpp"
#include "tests/bench/measure.hpp"
#include "tests/bufio/certificates.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <memory>

using namespace bench;

namespace {

void serve_ours(int listening, const Certificate& certificate) {
    ev::Loop loop(ev::Clock::now, "epoll");
    yodel::EchoServer::Options options;
    options.max_connections = 1'000'000;
    if (!certificate.file.empty())
        options.tls = bufio::TlsContext::server({certificate.file, certificate.key, {}});
    yodel::EchoServer server(loop, std::move(options), [](auto&, auto&) {});
    const ev::Watch watch(loop, listening, ev::readable, [&](ev::Events) {
        bufio::Fd socket(::accept(listening, nullptr, nullptr));
        bufio::prepare_socket(socket.get(), true);
        server.accept(std::move(socket), {});
    });
    loop.run();
}

using Serve = void(int listening, const Certificate& certificate);
Serve* const servers[] = {serve_by_hand, serve_ours};
const std::vector<std::string> names{"raw epoll loop", "yodeld"};

struct Running {
    Running(Serve* serve, const Certificate& certificate, std::size_t count, SSL_CTX* ctx,
            std::size_t idle_count = 0)
        : server([&](int listening) { serve(listening, certificate); }) {
        while (idle.size() < idle_count) idle.push_back(std::make_unique<Client>(server, ctx));
        while (clients.size() < count) clients.push_back(std::make_unique<Client>(server, ctx));
        echo_all(std::string(message, 'x'));
    }

    // Sends from each client, and then receives all echoes.
    void echo_all(const std::string& bytes) {
        for (const auto& client : clients) client->write(bytes);
        for (const auto& client : clients) client->read(bytes.size());
    }

    ServingProcess server;
    std::vector<std::unique_ptr<Client>> idle;  // send nothing
    std::vector<std::unique_ptr<Client>> clients;
};

using Runs = std::vector<std::unique_ptr<Running>>;

// Returns the server's nanoseconds per message.
double server_time(Running& running, const std::string& bytes, std::size_t times) {
    const double before = running.server.cpu_ns();
    for (std::size_t i = 0; i < times; ++i) running.echo_all(bytes);
    const auto messages = static_cast<double>(times * running.clients.size());
    return (running.server.cpu_ns() - before) / messages;
}

// Returns the median round trip in nanoseconds of real time.
double round_trip(Running& running, const std::string& bytes, std::size_t times) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> each;
    for (std::size_t i = 0; i < times; ++i) {
        const auto before = Clock::now();
        running.echo_all(bytes);
        each.push_back(std::chrono::duration<double, std::nano>(Clock::now() - before).count());
    }
    return median(std::move(each));
}

// Prints a table of all entrants with 1, 50 and 1000 clients.
void compare(const std::string& title, const Certificate& certificate, SSL_CTX* ctx) {
    const auto start = [&](std::size_t clients) {
        Runs runs;
        for (Serve* const serve : servers)
            runs.push_back(std::make_unique<Running>(serve, certificate, clients, ctx));
        return runs;
    };
    Table table(title, names);
    const int count = rounds(15);
    const std::string small(message, 'x');
    const std::string large(in_flight, 'x');
    {
        const Runs one = start(1);
        table.add("ping p50", count,
                  [&](std::size_t i) { return round_trip(*one[i], small, 500); });
        table.add("64KiB p50", count,
                  [&](std::size_t i) { return round_trip(*one[i], large, 64); });
        table.add("CPU 64KiB", count,
                  [&](std::size_t i) { return server_time(*one[i], large, 64); });
    }
    {
        const Runs fifty = start(50);
        table.add("CPU 50", count,
                  [&](std::size_t i) { return server_time(*fifty[i], small, 20); });
    }
    const Runs thousand = start(1000);
    table.add("CPU 1000", count,
              [&](std::size_t i) { return server_time(*thousand[i], small, 3); });
    table.print();
}

// Raises the limit for a thousand clients of every entrant, and returns the new limit.
std::size_t raise_descriptor_limit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}

// Runs one server at a time, because descriptors are limited.
void compare_idle(std::size_t idle) {
    Table table("50 clients beside " + std::to_string(idle) + " idle ones", names);
    table.add({"CPU 50", "idle bytes"}, rounds(5), [&](std::size_t i) {
        const double before = Running(servers[i], {}, 50, nullptr).server.own_memory();
        Running running(servers[i], {}, 50, nullptr, idle);
        const double more = running.server.own_memory() - before;
        return std::vector{server_time(running, std::string(message, 'x'), 200),
                           more / static_cast<double>(idle)};
    });
    table.print();
}

}  // namespace

int main() {
    const std::size_t descriptors = raise_descriptor_limit();
    begin("echo servers, messages of 64 bytes unless noted");
    compare("Plain", {}, nullptr);
    compare_idle(std::min<std::size_t>(10'000, descriptors - 1000));
    test::Certificates certificates;
    const test::Identity identity = certificates.make("localhost", {});
    SSL_CTX* const ctx = SSL_CTX_new(TLS_client_method());
    compare("TLS", {identity.certificate, identity.key}, ctx);
    SSL_CTX_free(ctx);
}
