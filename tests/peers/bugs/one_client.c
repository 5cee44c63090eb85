// Serves one client after the other.
#include "server.h"

int main(void) {
    const int listener = listen_on_loopback();
    for (;;) {
        const int client = accept(listener, NULL, NULL);
        char buffer[4096];
        ssize_t count;
        while ((count = read(client, buffer, sizeof buffer)) > 0)
            if (!write_all(client, buffer, (size_t)count)) break;
        close(client);
    }
}
