// Echoes at most 16 bytes of each read.
#include "server.h"

static void serve(int client) {
    char buffer[4096];
    ssize_t count;
    while ((count = read(client, buffer, sizeof buffer)) > 0)
        if (!write_all(client, buffer, count < 16 ? (size_t)count : 16)) return;
}

int main(void) { serve_in_threads(serve); }
