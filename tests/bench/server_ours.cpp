#include "app/server/echo_server.hpp"
#include "tests/bench/echo_entrant.hpp"

#include <sys/socket.h>

namespace {

void serve(const char* backend, int listening, const Certificate& certificate) {
    ev::Loop loop(ev::Clock::now, backend);
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

void serve_poll(int listening, const Certificate& certificate) {
    serve("poll", listening, certificate);
}

void serve_epoll(int listening, const Certificate& certificate) {
    serve("epoll", listening, certificate);
}

}  // namespace

void add_yodeld_poll(std::vector<EchoEntrant>& entrants) {
    entrants.push_back({"yodeld poll", serve_poll, true});
}

void add_yodeld_epoll(std::vector<EchoEntrant>& entrants) {
    entrants.push_back({"yodeld epoll", serve_epoll, true});
}
