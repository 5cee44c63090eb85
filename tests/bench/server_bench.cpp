// yodeld's server against others: with one client, with many, and with many that are idle.

#include "tests/bench/echo_load.hpp"
#include "tests/bench/measure.hpp"
#include "tests/bench/server_entrants.hpp"
#include "tests/bufio/certificates.hpp"

#include <sys/resource.h>

#include <algorithm>

using namespace bench;

namespace {

std::vector<std::string> names(const std::vector<EchoEntrant>& entrants) {
    std::vector<std::string> list;
    for (const EchoEntrant& entrant : entrants) list.push_back(entrant.name);
    return list;
}

// Clients at a time, of a server of each kind.
Runs start(const std::vector<EchoEntrant>& entrants, const Certificate& certificate,
           SSL_CTX* ctx, std::size_t clients, std::size_t idle = 0) {
    Runs runs;
    for (const EchoEntrant& entrant : entrants)
        runs.push_back(std::make_unique<Running>(entrant, certificate, clients, ctx, idle));
    return runs;
}

void compare(const std::string& title, const std::vector<EchoEntrant>& entrants,
             const Certificate& certificate, SSL_CTX* ctx) {
    Table table(title, names(entrants));
    const int count = rounds(15);
    const std::string small(message, 'x');
    const std::string large(in_flight, 'x');
    {
        const Runs one = start(entrants, certificate, ctx, 1);
        table.add("ping p50", count, [&](std::size_t i) { return round_trip(*one[i], 500); });
        table.add("CPU 64KiB", count,
                  [&](std::size_t i) { return server_time(*one[i], large, 64); });
    }
    {
        const Runs fifty = start(entrants, certificate, ctx, 50);
        table.add("CPU 50", count,
                  [&](std::size_t i) { return server_time(*fifty[i], small, 20); });
    }
    const Runs thousand = start(entrants, certificate, ctx, 1000);
    table.add("CPU 1000", count,
              [&](std::size_t i) { return server_time(*thousand[i], small, 3); });
    table.print();
}

// One server at a time: there are no descriptors for more. Those that wait in poll are left
// out: every message costs them a look at all the idle.
void compare_idle(std::size_t idle) {
    std::vector<EchoEntrant> entrants;
    add_raw_epoll_server(entrants);
    add_yodeld_epoll(entrants);
    add_libuv_server(entrants);
    Table table("50 clients beside " + std::to_string(idle) + " idle ones", names(entrants));
    table.add("CPU 50", rounds(5), [&](std::size_t i) {
        Running running(entrants[i], {}, 50, nullptr, idle);
        return server_time(running, std::string(message, 'x'), 200);
    });
    table.print();
}

std::size_t raise_descriptor_limit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}

}  // namespace

int main() {
    const std::size_t descriptors = raise_descriptor_limit();
    begin("yodeld, messages of 64 bytes unless said otherwise");
    std::vector<EchoEntrant> entrants;
    add_raw_server(entrants);
    add_raw_epoll_server(entrants);
    add_yodeld(entrants);
    add_yodeld_epoll(entrants);
    add_libevent_server(entrants);
    add_libuv_server(entrants);
    compare("Plain", entrants, {}, nullptr);
    compare_idle(std::min<std::size_t>(10'000, descriptors - 1000));
    test::Certificates certificates;
    const test::Identity identity = certificates.make("localhost", {});
    SSL_CTX* const ctx = SSL_CTX_new(TLS_client_method());
    std::erase_if(entrants, [](const EchoEntrant& entrant) { return !entrant.tls; });
    compare("TLS", entrants, {identity.certificate, identity.key}, ctx);
    SSL_CTX_free(ctx);
}
