// Does not block, and does not look at how much was written.
#include "server.h"

static int serve(int client) {
    char buffer[4096];
    const ssize_t count = read(client, buffer, sizeof buffer);
    if (count > 0) (void)!send(client, buffer, (size_t)count, MSG_DONTWAIT);
    if (count <= 0) close(client);
    return count > 0;
}

int main(void) { serve_by_poll(serve); }
