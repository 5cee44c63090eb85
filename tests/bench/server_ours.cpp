#include "app/server/echo_server.hpp"
#include "tests/bench/echo_entrant.hpp"

#include <sys/socket.h>

namespace {

void serve(int listening, const Certificate& certificate) {
    ev::Loop loop(ev::Clock::now, "epoll");
    yodel::EchoServer::Options options;
    options.max_connections = 1'000'000;
    if (!certificate.file.empty())
        options.tls = bufio::TlsContext::server({certificate.file, certificate.key, {}});
    yodel::EchoServer server(loop, std::move(options), [](auto&) {});
    const ev::Watch watch(loop, listening, ev::readable, [&](ev::Events) {
        bufio::Fd socket(::accept(listening, nullptr, nullptr));
        bufio::prepare_socket(socket.get(), AF_INET);
        server.accept(std::move(socket), {});
    });
    loop.run();
}

}  // namespace

void add_yodeld(std::vector<EchoEntrant>& entrants) {
    entrants.push_back({"yodeld", serve, true});
}
