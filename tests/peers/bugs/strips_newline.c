// Removes the newline, and does not send it again.
#include "server.h"

static void serve(int client) {
    char* line = NULL;
    size_t space = 0;
    FILE* const in = fdopen(client, "r");
    while (getline(&line, &space, in) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (!write_all(client, line, strlen(line))) return;
    }
}

int main(void) { serve_in_threads(serve); }
