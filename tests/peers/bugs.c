// Echo servers, each with one bug that is usual in servers written from a book. They listen on a free
// port of 127.0.0.1, and print it.
//
// usage: bugs NAME     without a name, prints all names
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_CLIENTS 1000

static char* name;
static int is(const char* bug) { return strcmp(name, bug) == 0; }

static int listen_on_loopback(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr*)&address, size) != 0 || listen(listener, 128) != 0) exit(1);
    getsockname(listener, (struct sockaddr*)&address, &size);
    printf("127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

static int write_all(int client, const char* bytes, size_t size) {
    while (size > 0) {
        const ssize_t count = write(client, bytes, size);
        if (count <= 0) return 0;
        bytes += count;
        size -= (size_t)count;
    }
    return 1;
}

// Returns the number of bytes to write of a buffer of which `count` bytes were read.
static size_t reply_size(char* buffer, size_t count, size_t* most) {
    if (is("echoes_16_bytes")) return count < 16 ? count : 16;
    if (is("uses_strlen")) {  // treats what it has read as a string
        buffer[count] = '\0';
        return strlen(buffer);
    }
    if (is("stale_buffer")) return *most = count > *most ? count : *most;  // as far as ever filled
    if (is("strips_newline") && buffer[count - 1] == '\n') return count - 1;
    return count;
}

static void serve(int client) {
    char buffer[4096 + 1];
    size_t most = 0;
    const int flags = is("fixed_size") ? MSG_WAITALL : 0;  // waits for messages of one size
    const size_t space = is("fixed_size") ? 64 : sizeof buffer - 1;
    // Closes as soon as the client has closed its side. A large request takes time.
    const int early = is("closes_early");
    if (early && recv(client, buffer, space, MSG_PEEK) == (ssize_t)space) poll(NULL, 0, 200);
    for (;;) {
        struct pollfd polled = {client, POLLIN | POLLRDHUP, 0};
        if (early && poll(&polled, 1, -1) > 0 && polled.revents & (POLLRDHUP | POLLHUP)) return;
        const ssize_t count = recv(client, buffer, space, flags);
        if (count == 0 && is("never_closes")) {
            poll(NULL, 0, 10);
            if (send(client, buffer, 0, MSG_NOSIGNAL) == 0) continue;
        }
        if (count <= 0 || (flags && count < (ssize_t)space)) return;
        const size_t size = reply_size(buffer, (size_t)count, &most);
        // dies_of_sigpipe writes on after a client has left.
        if (!write_all(client, buffer, size) && !is("dies_of_sigpipe")) return;
        if (is("echoes_once")) return;
    }
}

static void* run_thread(void* argument) {
    const int client = (int)(intptr_t)argument;
    serve(client);
    close(client);
    return NULL;
}

// Collects the lines of all clients in one buffer. Returns 0 at the end.
static int serve_by_one_buffer(int client) {
    static char buffer[1 << 16];
    static size_t size;
    const ssize_t count = read(client, buffer + size, sizeof buffer - size);
    if (count <= 0) return (int)(size = 0);
    size += (size_t)count;
    char* const end = memrchr(buffer, '\n', size);
    if (end == NULL) return 1;
    const size_t lines = (size_t)(end + 1 - buffer);
    (void)!send(client, buffer, lines, 0);
    memmove(buffer, buffer + lines, size -= lines);
    return 1;
}

// Does not block, and does not look at how much was written. Returns 0 at the end.
static int serve_without_blocking(int client) {
    char buffer[4096];
    const ssize_t count = read(client, buffer, sizeof buffer);
    if (count > 0) (void)!send(client, buffer, (size_t)count, MSG_DONTWAIT);
    return count > 0;
}

static void serve_by_poll(int (*serve_ready)(int client)) {
    static struct pollfd polled[MAX_CLIENTS];
    nfds_t count = 1;
    polled[0] = (struct pollfd){listen_on_loopback(), POLLIN, 0};
    for (;;) {
        poll(polled, count, -1);
        for (nfds_t i = 1; i < count;) {
            if (polled[i].revents == 0 || serve_ready(polled[i].fd)) {
                ++i;
                continue;
            }
            close(polled[i].fd);
            polled[i] = polled[--count];
        }
        if (polled[0].revents != 0 && count < MAX_CLIENTS)
            polled[count++] = (struct pollfd){accept(polled[0].fd, NULL, NULL), POLLIN, 0};
    }
}

int main(int argc, char* argv[]) {
    if (argc < 2)
        return puts("closes_early dies_of_sigpipe echoes_16_bytes echoes_once fixed_size ignores_short_writes "
                    "never_closes one_buffer one_client stale_buffer strips_newline uses_strlen") < 0;
    name = argv[1];
    if (!is("dies_of_sigpipe")) signal(SIGPIPE, SIG_IGN);
    if (is("one_buffer")) serve_by_poll(serve_by_one_buffer);
    if (is("ignores_short_writes")) serve_by_poll(serve_without_blocking);
    for (const int listener = listen_on_loopback();;) {
        pthread_t thread;
        void* const client = (void*)(intptr_t)accept(listener, NULL, NULL);
        pthread_create(&thread, NULL, run_thread, client);
        if (is("one_client"))
            pthread_join(thread, NULL);  // serves one client after the other
        else
            pthread_detach(thread);
    }
}
