// Does not ignore SIGPIPE, so a client that has left ends the server.
#include "server.h"

static void serve(int client) {
    char buffer[4096];
    ssize_t count;
    signal(SIGPIPE, SIG_DFL);
    while ((count = read(client, buffer, sizeof buffer)) > 0) write_all(client, buffer, (size_t)count);
}

int main(void) { serve_in_threads(serve); }
