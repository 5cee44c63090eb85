#include "tests/bench/bufio_server.hpp"

#ifdef HAVE_LIBEVENT_OPENSSL
#    include <event2/buffer.h>
#    include <event2/bufferevent.h>
#    include <event2/bufferevent_ssl.h>
#    include <event2/event.h>
#    include <event2/listener.h>
#    include <netinet/in.h>
#    include <netinet/tcp.h>
#    include <openssl/ssl.h>

namespace {

struct Served {
    event_base* base;
    SSL_CTX* ctx;
};

void echo(bufferevent* connection, void*) {
    bufferevent_write_buffer(connection, bufferevent_get_input(connection));
}

void ended(bufferevent* connection, short what, void*) {
    if ((what & BEV_EVENT_CONNECTED) == 0) bufferevent_free(connection);
}

void accepted(evconnlistener*, int fd, sockaddr*, int, void* with) {
    const auto& served = *static_cast<Served*>(with);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    bufferevent* const connection =
        served.ctx
            ? bufferevent_openssl_socket_new(served.base, fd, SSL_new(served.ctx),
                                             BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE)
            : bufferevent_socket_new(served.base, fd, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(connection, echo, nullptr, ended, nullptr);
    bufferevent_enable(connection, EV_READ | EV_WRITE);
}

void serve(int listening, const Certificate& certificate) {
    Served served{nullptr, nullptr};
    event_config* const config = event_config_new();
    event_config_avoid_method(config, "epoll");
    served.base = event_base_new_with_config(config);
    if (!certificate.file.empty()) {
        served.ctx = SSL_CTX_new(TLS_server_method());
        SSL_CTX_use_certificate_chain_file(served.ctx, certificate.file.c_str());
        SSL_CTX_use_PrivateKey_file(served.ctx, certificate.key.c_str(), SSL_FILETYPE_PEM);
    }
    evconnlistener_new(served.base, accepted, &served, LEV_OPT_CLOSE_ON_FREE, 0, listening);
    event_base_dispatch(served.base);
}

}  // namespace

void add_libevent_server(std::vector<EchoEntrant>& entrants) {
    entrants.push_back({"libevent's bufferevent, poll", serve, true});
}
#else
void add_libevent_server(std::vector<EchoEntrant>&) {}
#endif
