#!/usr/bin/env python3
"""Clients that send and never read.

deaf.py PORT COUNT [tls]         opens COUNT connections, sends on all of them until they block,
                                 prints "stuck", and closes them when its input ends
"""
import select
import socket
import ssl
import sys

from serving import trusting_context


def connect(port, tls):
    sock = socket.create_connection(("127.0.0.1", port))
    if tls:
        sock = trusting_context().wrap_socket(sock)
    sock.setblocking(False)
    return sock


def fill(socks):
    data = b"x" * 65536
    while writable := select.select([], socks, [], 0.5)[1]:
        for sock in writable:
            try:
                sock.send(data)
            except (BlockingIOError, ssl.SSLWantWriteError):
                pass


def main():
    port, count, tls = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] == ["tls"]
    socks = [connect(port, tls) for _ in range(count)]
    fill(socks)
    print("stuck", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
