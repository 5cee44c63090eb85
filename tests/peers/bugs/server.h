// What the servers of this folder share. Each of them has one bug that is usual in servers written
// from a book. They listen on a free port of 127.0.0.1, and print it.
#pragma once

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
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

static inline int listen_on_loopback(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    signal(SIGPIPE, SIG_IGN);
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr*)&address, size) != 0 || listen(listener, 128) != 0) exit(1);
    getsockname(listener, (struct sockaddr*)&address, &size);
    printf("127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

static inline int write_all(int client, const char* bytes, size_t size) {
    while (size > 0) {
        const ssize_t count = write(client, bytes, size);
        if (count <= 0) return 0;
        bytes += count;
        size -= (size_t)count;
    }
    return 1;
}

static void (*serve_client)(int client);

static inline void* run_thread(void* argument) {
    const int client = (int)(intptr_t)argument;
    serve_client(client);
    close(client);
    return NULL;
}

// Starts a thread for each client. The connection is closed when `serve` returns.
static inline void serve_in_threads(void (*serve)(int client)) {
    const int listener = listen_on_loopback();
    serve_client = serve;
    for (;;) {
        pthread_t thread;
        const int client = accept(listener, NULL, NULL);
        pthread_create(&thread, NULL, run_thread, (void*)(intptr_t)client);
        pthread_detach(thread);
    }
}

// Calls `serve` for each client that sends something, until it returns 0.
static inline void serve_by_poll(int (*serve)(int client)) {
    static struct pollfd polled[MAX_CLIENTS];
    nfds_t count = 1;
    polled[0] = (struct pollfd){listen_on_loopback(), POLLIN, 0};
    for (;;) {
        poll(polled, count, -1);
        for (nfds_t i = 1; i < count;) {
            if (polled[i].revents == 0 || serve(polled[i].fd))
                ++i;
            else
                polled[i] = polled[--count];
        }
        if (polled[0].revents != 0 && count < MAX_CLIENTS)
            polled[count++] = (struct pollfd){accept(polled[0].fd, NULL, NULL), POLLIN, 0};
    }
}
