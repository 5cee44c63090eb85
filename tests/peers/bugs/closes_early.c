// Closes as soon as the client has closed its side, and drops what it has not read yet.
#include "server.h"

static void serve(int client) {
    char buffer[4096];
    // A large request takes time.
    if (recv(client, buffer, sizeof buffer, MSG_PEEK) == sizeof buffer) poll(NULL, 0, 200);
    for (;;) {
        struct pollfd polled = {client, POLLIN | POLLRDHUP, 0};
        poll(&polled, 1, -1);
        if (polled.revents & (POLLRDHUP | POLLHUP)) return;
        const ssize_t count = read(client, buffer, sizeof buffer);
        if (count <= 0 || !write_all(client, buffer, (size_t)count)) return;
    }
}

int main(void) { serve_in_threads(serve); }
