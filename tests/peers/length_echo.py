#!/usr/bin/env python3
"""Echo with length prefixes: each message is a little-endian 32-bit length, at most 32 MiB, and
its bytes. A client may send several messages before it reads a reply.

length_echo.py serve PORT        echoes every message, until it is killed
length_echo.py ask PORT SIZE [tls]
                                 sends hello1 hello2 hello3, a message of SIZE bytes, and
                                 hello5, all before it reads a byte, like a client with one
                                 thread; then it checks the replies
"""
import socket
import struct
import sys

from serving import serve, trusting_context

MAX_SIZE = 32 << 20  # bytes of a message


def receive(sock, size):
    data = bytearray()
    while len(data) < size:
        part = sock.recv(min(size - len(data), 1 << 20))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


def receive_message(sock):
    (size,) = struct.unpack("<I", receive(sock, 4))
    if size > MAX_SIZE:
        raise ValueError(f"a message of {size} bytes")
    return receive(sock, size)


def frame(message):
    return struct.pack("<I", len(message)) + message


def answer(sock):
    with sock:
        try:
            while True:
                sock.sendall(frame(receive_message(sock)))
        except (EOFError, ValueError, OSError):
            pass


def connect(port, tls=""):
    sock = socket.create_connection(("127.0.0.1", port))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return trusting_context().wrap_socket(sock) if tls else sock


def ask(port, size, tls=""):
    big = (bytes(range(251)) * (int(size) // 251 + 1))[: int(size)]
    queries = [b"hello1", b"hello2", b"hello3", big, b"hello5"]
    stream = memoryview(b"".join(map(frame, queries)))
    with connect(port, tls) as sock:
        at, step = 0, 1
        while at < len(stream):
            sock.sendall(stream[at : at + step])
            at, step = at + step, 1 if at < 40 else 99991
        for query in queries:
            if receive_message(sock) != query:
                sys.exit("a reply differs")
    print("all came back")


if __name__ == "__main__":
    {"serve": lambda port: serve(port, answer), "ask": ask}[sys.argv[1]](int(sys.argv[2]), *sys.argv[3:])
