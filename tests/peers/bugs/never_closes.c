// Does not notice that a client has closed its side.
#include "server.h"

static void serve(int client) {
    char buffer[4096];
    for (;;) {
        const ssize_t count = read(client, buffer, sizeof buffer);
        if (count < 0 || !write_all(client, buffer, (size_t)count)) return;
        if (count == 0) poll(NULL, 0, 10);
    }
}

int main(void) { serve_in_threads(serve); }
