#!/usr/bin/env python3
"""Echo servers, each with one bug that is usual in servers written from a book. tests/app/examine contains
servers with others.

usage: bugs.py NAME     listens on a free port of 127.0.0.1, and prints it; without a name, prints all names
"""
import contextlib
import select
import signal
import socket
import sys
import time

from serving import serve

kept = []  # of never_closes


def echo(sock, reply=lambda data: data, size=4096, flags=0):
    while data := sock.recv(size, flags):
        sock.sendall(reply(data))


def closes_early(sock):
    """Closes as soon as the client has closed its side. A large request takes time."""
    if len(sock.recv(4096, socket.MSG_PEEK)) == 4096:
        time.sleep(0.2)
    poller = select.poll()
    poller.register(sock, select.POLLIN | select.POLLRDHUP)
    while not poller.poll()[0][1] & (select.POLLRDHUP | select.POLLHUP):
        sock.sendall(sock.recv(4096))


def dies_of_sigpipe(sock):
    """Writes on after a client has left."""
    while data := sock.recv(4096):
        with contextlib.suppress(ConnectionResetError):
            sock.sendall(data)


def ignores_short_writes(sock):
    while data := sock.recv(4096):
        with contextlib.suppress(BlockingIOError):
            sock.send(data, socket.MSG_DONTWAIT)


def never_closes(sock):
    kept.append(sock.dup())
    echo(sock)


def stale_buffer(sock):
    """Returns its buffer as far as it was ever filled."""
    buffer = b""
    while data := sock.recv(4096):
        buffer = data + buffer[len(data):]
        sock.sendall(buffer)


BUGS = {
    "closes_early": closes_early,
    "dies_of_sigpipe": dies_of_sigpipe,
    "fixed_size": lambda sock: echo(sock, lambda data: data if len(data) == 64 else b"", 64, socket.MSG_WAITALL),
    "ignores_short_writes": ignores_short_writes,
    "never_closes": never_closes,
    "one_buffer": None,
    "stale_buffer": stale_buffer,
    "uses_strlen": lambda sock: echo(sock, lambda data: data.partition(b"\0")[0]),
}


def serve_by_one_buffer():
    """Collects the lines of all clients in one buffer."""
    listener = socket.create_server(("127.0.0.1", 0))
    print("listening 127.0.0.1:%d" % listener.getsockname()[1], flush=True)
    socks = [listener]
    collected = b""
    while True:
        for sock in select.select(socks, [], [])[0]:
            if sock is listener:
                socks.append(listener.accept()[0])
                continue
            data = b""
            with contextlib.suppress(OSError):
                data = sock.recv(65536 - len(collected))
                lines, newline, collected = (collected + data).rpartition(b"\n")
                sock.sendall(lines + newline)
            if not data:
                collected = b""
                socks.remove(sock)
                sock.close()


def converse(sock):
    with sock, contextlib.suppress(OSError):
        BUGS[sys.argv[1]](sock)


if len(sys.argv) < 2:
    print(*BUGS)
elif sys.argv[1] == "one_buffer":
    serve_by_one_buffer()
else:
    if sys.argv[1] == "dies_of_sigpipe":
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    serve(0, converse)
