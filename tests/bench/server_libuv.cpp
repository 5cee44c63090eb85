#include "tests/bench/echo_entrant.hpp"

#ifdef HAVE_LIBUV
#    include <uv.h>

#    include <cstdlib>

namespace {

// One read buffer suffices, because bytes that are not written at once are copied.
char buffer[64 * 1024];

void give_room(uv_handle_t*, std::size_t, uv_buf_t* to) {
    *to = uv_buf_init(buffer, sizeof buffer);
}

void closed(uv_handle_t* handle) { delete reinterpret_cast<uv_tcp_t*>(handle); }

struct Rest {
    uv_write_t request;
    std::string bytes;
};

void written(uv_write_t* request, int) { delete static_cast<Rest*>(request->data); }

void echo(uv_stream_t* stream, ssize_t count, const uv_buf_t*) {
    if (count < 0) return uv_close(reinterpret_cast<uv_handle_t*>(stream), closed);
    if (count == 0) return;
    uv_buf_t all = uv_buf_init(buffer, static_cast<unsigned>(count));
    const int done = uv_try_write(stream, &all, 1);
    if (done == count) return;
    auto* const rest =
        new Rest{{}, std::string(buffer + (done > 0 ? done : 0), buffer + count)};
    rest->request.data = rest;
    uv_buf_t left = uv_buf_init(rest->bytes.data(), static_cast<unsigned>(rest->bytes.size()));
    uv_write(&rest->request, stream, &left, 1, written);
}

void accepted(uv_stream_t* listening, int) {
    auto* const socket = new uv_tcp_t;
    uv_tcp_init(listening->loop, socket);
    uv_accept(listening, reinterpret_cast<uv_stream_t*>(socket));
    uv_tcp_nodelay(socket, 1);
    uv_read_start(reinterpret_cast<uv_stream_t*>(socket), give_room, echo);
}

void serve(int listening, const Certificate&) {
    uv_loop_t loop;
    uv_loop_init(&loop);
    uv_tcp_t socket;
    uv_tcp_init(&loop, &socket);
    uv_tcp_open(&socket, listening);
    uv_listen(reinterpret_cast<uv_stream_t*>(&socket), 1024, accepted);
    uv_run(&loop, UV_RUN_DEFAULT);
}

}  // namespace

void add_libuv_server(std::vector<EchoEntrant>& entrants) {
    entrants.push_back({"libuv's streams, epoll", serve, false});
}
#else
void add_libuv_server(std::vector<EchoEntrant>&) {}
#endif
