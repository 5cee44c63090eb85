#include "app/server/echo_server.hpp"
#include "tests/bench/server_entrants.hpp"

#include <sys/socket.h>

namespace {

void serve(const char* backend, int listening, const Certificate& certificate,
           bool busy = false) {
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
    while (loop.step()) loop.set_busy(busy && server.connections() > 0);
}

void serve_poll(int listening, const Certificate& certificate) {
    serve("poll", listening, certificate);
}

void serve_busy(int listening, const Certificate& certificate) {
    serve("auto", listening, certificate, true);
}

void serve_epoll(int listening, const Certificate& certificate) {
    serve("epoll", listening, certificate);
}

}  // namespace

void add_yodeld(std::vector<EchoEntrant>& entrants) {
    entrants.push_back({"yodeld poll", serve_poll, true});
}

void add_busy_yodeld(std::vector<EchoEntrant>& entrants) {
    entrants.push_back({"yodeld --busy", serve_busy, true});
}

void add_yodeld_epoll(std::vector<EchoEntrant>& entrants) {
    entrants.push_back({"yodeld epoll", serve_epoll, true});
}
