#!/usr/bin/env python3
"""The protocol ^...$: a server greets every client with `*`. It ignores all bytes until a ^; from
there to the next $ it returns every byte increased by one.

caret_echo.py serve PORT         one thread per client, until it is killed
caret_echo.py ask PORT [N]       N clients together (3), each with the same session, split at
                                 every position; checks the replies
"""
import socket
import sys
import threading

from serving import serve

SESSION = [b"^abc$de^abte$f", b"xyz^123", b"25$^ab0000$abab"]
ANSWERS = [b"bcdbcuf", b"234", b"36bc1111"]


def answer(sock):
    with sock:
        sock.sendall(b"*")
        inside = False
        while True:
            data = sock.recv(1024)
            if not data:
                return
            reply = bytearray()
            for byte in data:
                if not inside:
                    inside = byte == ord("^")
                elif byte == ord("$"):
                    inside = False
                else:
                    reply.append((byte + 1) % 256)
            sock.sendall(reply)


def expect(sock, wanted):
    got = b""
    while len(got) < len(wanted):
        part = sock.recv(len(wanted) - len(got))
        if not part:
            raise EOFError(f"got {got!r} instead of {wanted!r}")
        got += part
    if got != wanted:
        raise ValueError(f"got {got!r} instead of {wanted!r}")


def talk(port, cut):
    with socket.create_connection(("127.0.0.1", port), 10) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        expect(sock, b"*")
        for message, wanted in zip(SESSION, ANSWERS):
            sock.sendall(message[:cut])
            sock.sendall(message[cut:])
            expect(sock, wanted)
        sock.shutdown(socket.SHUT_WR)
        if sock.recv(1):
            raise ValueError("more than was asked for")


def ask(port, clients):
    failures = []

    def client():
        try:
            for cut in range(max(map(len, SESSION)) + 1):
                talk(port, cut)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        sys.exit(str(failures[0]))
    print("all came back")


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2], answer)
    else:
        ask(int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 3)
