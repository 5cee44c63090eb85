// Treats what it has read as a string.
#include "server.h"

static void serve(int client) {
    char buffer[4096];
    ssize_t count;
    while ((count = read(client, buffer, sizeof buffer - 1)) > 0) {
        buffer[count] = '\0';
        if (!write_all(client, buffer, strlen(buffer))) return;
    }
}

int main(void) { serve_in_threads(serve); }
