#!/usr/bin/env python3
"""Echo with length prefixes: each message is a little-endian 32-bit length and that many bytes,
at most 32 MiB; a client may send several before it reads a reply.

length_echo.py serve PORT        answers every message with itself, until it is killed
length_echo.py ask PORT          sends hello1 hello2 hello3 at once, then 32 MiB, then hello5,
                                 cut at odd places, and checks the replies
"""
import socket
import struct
import sys
import threading

MOST = 32 << 20  # bytes of a message


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
    if size > MOST:
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


def serve(port):
    with socket.create_server(("127.0.0.1", port)) as listener:
        while True:
            sock, _ = listener.accept()
            threading.Thread(target=answer, args=(sock,), daemon=True).start()


def ask(port):
    big = bytes(range(256)) * (MOST // 256)
    queries = [b"hello1", b"hello2", b"hello3", big, b"hello5"]
    stream = b"".join(map(frame, queries))
    with socket.create_connection(("127.0.0.1", port)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def send():
            at, step = 0, 1
            while at < len(stream):
                sock.sendall(stream[at : at + step])
                at, step = at + step, 1 if at < 40 else 99991
        sender = threading.Thread(target=send)
        sender.start()
        for query in queries:
            if receive_message(sock) != query:
                sys.exit("a reply differs")
        sender.join()
    print("all came back")


if __name__ == "__main__":
    {"serve": serve, "ask": ask}[sys.argv[1]](int(sys.argv[2]))
