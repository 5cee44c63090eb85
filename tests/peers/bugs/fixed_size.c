// Waits for messages of a fixed size.
#include "server.h"

static void serve(int client) {
    char buffer[64];
    while (recv(client, buffer, sizeof buffer, MSG_WAITALL) == sizeof buffer)
        if (!write_all(client, buffer, sizeof buffer)) return;
}

int main(void) { serve_in_threads(serve); }
