// Collects lines in one buffer for all clients.
#include "server.h"

static int serve(int client) {
    static char buffer[1 << 16];
    static size_t size;
    const ssize_t count = read(client, buffer + size, sizeof buffer - size);
    if (count <= 0) {
        size = 0;
        close(client);
        return 0;
    }
    size += (size_t)count;
    char* const end = memrchr(buffer, '\n', size);
    if (end == NULL) return 1;
    const size_t lines = (size_t)(end + 1 - buffer);
    (void)!send(client, buffer, lines, 0);
    memmove(buffer, buffer + lines, size -= lines);
    return 1;
}

int main(void) { serve_by_poll(serve); }
