// Answers the first read, and closes.
#include "server.h"

static void serve(int client) {
    char buffer[4096];
    const ssize_t count = read(client, buffer, sizeof buffer);
    if (count > 0) write_all(client, buffer, (size_t)count);
}

int main(void) { serve_in_threads(serve); }
