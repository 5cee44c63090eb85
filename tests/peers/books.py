#!/usr/bin/env python3
"""Servers and clients of the protocols of two books.

books.py caret PORT              ^...$: greets every client with `*`, ignores all bytes until a ^, and
                                 from there to the next $ returns every byte increased by one
books.py ask-caret PORT COUNT    COUNT clients together, each with the same session, split at every
                                 position; checks the replies
books.py length PORT             echoes messages after a little-endian 32-bit length, at most 32 MiB
books.py ask-length PORT SIZE [tls]
                                 sends hello1 hello2 hello3, a message of SIZE bytes, and hello5, all
                                 before it reads a byte, like a client with one thread; checks the replies
"""
import concurrent.futures
import socket
import struct
import sys

from serving import serve
from steps import Peer

MAX_SIZE = 32 << 20  # bytes of a message
SESSION = [(b"^abc$de^abte$f", b"bcdbcuf"), (b"xyz^123", b"234"), (b"25$^ab0000$abab", b"36bc1111")]


def answer_caret(peer):
    peer.send(b"*")
    inside = False
    while data := peer.some():
        reply = bytearray()
        for byte in data:
            if not inside:
                inside = byte == ord("^")
            elif byte == ord("$"):
                inside = False
            else:
                reply.append((byte + 1) % 256)
        peer.send(reply)


def frame(message):
    return struct.pack("<I", len(message)) + message


def receive_message(peer):
    (size,) = struct.unpack("<I", peer.take(4))
    if size > MAX_SIZE:
        raise EOFError
    return peer.take(size)


def answer_length(peer):
    while True:
        peer.send(frame(receive_message(peer)))


def connect(port):
    sock = socket.create_connection(("127.0.0.1", int(port)), 60)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Peer(sock, False)


def require(peer, wanted):
    got = peer.take(len(wanted))
    if got != wanted:
        raise ValueError(f"got {got[:50]!r} instead of {wanted[:50]!r}")


def ask_caret(port, count):
    def talk(_):
        for cut in range(16):
            peer = connect(port)
            require(peer, b"*")
            for message, wanted in SESSION:
                peer.send(message[:cut])
                peer.send(message[cut:])
                require(peer, wanted)
            peer.sock.shutdown(socket.SHUT_WR)
            if peer.some():
                raise ValueError("more than was asked for")

    with concurrent.futures.ThreadPoolExecutor(int(count)) as pool:
        list(pool.map(talk, range(int(count))))
    print("all came back")


def ask_length(port, size, tls=""):
    big = (bytes(range(251)) * (int(size) // 251 + 1))[: int(size)]
    queries = [b"hello1", b"hello2", b"hello3", big, b"hello5"]
    stream = memoryview(b"".join(map(frame, queries)))
    peer = connect(port)
    if tls:
        peer.begin_tls("")
    for at in range(40):
        peer.sock.sendall(stream[at:at + 1])
    for at in range(40, len(stream), 99991):
        peer.sock.sendall(stream[at:at + 99991])
    for query in queries:
        if receive_message(peer) != query:
            sys.exit("a reply differs")
    print("all came back")


def served(answer):
    def converse(sock):
        peer = Peer(sock, True)
        try:
            answer(peer)
        except (EOFError, OSError):
            pass
        peer.sock.close()

    return lambda port: serve(port, converse)


if __name__ == "__main__":
    {"caret": served(answer_caret), "ask-caret": ask_caret, "length": served(answer_length),
     "ask-length": ask_length}[sys.argv[1]](*sys.argv[2:])
