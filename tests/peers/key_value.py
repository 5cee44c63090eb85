#!/usr/bin/env python3
"""A small key-value store with one command a line:

    SET key value    OK             GET key    the value, or NONE
    DEL key          OK, or NONE    QUIT       BYE, then closes the connection

key_value.py PORT [OPTION...]
    broken          GET returns the value in capital letters
    silent          GET returns nothing
    greeting TEXT   sends this line first
    ticks           after each SET, sends an unsolicited line "changed KEY"
    tls CERT KEY    TLS, with these files
    udp             a datagram for each command and reply; the port also accepts
                    connections, so that tests can wait for it
"""
import socket
import sys

import serving


class Store:
    def __init__(self, broken, silent, ticks):
        self.values = {}
        self.broken, self.silent, self.ticks = broken, silent, ticks

    def answers(self, line):
        command, _, rest = line.partition(b" ")
        key, _, value = rest.partition(b" ")
        if command == b"SET":
            self.values[key] = value
            return [b"OK"] + ([b"changed " + key] if self.ticks else [])
        if command == b"GET":
            found = self.values.get(key, b"NONE")
            if self.silent:
                return []
            return [found.upper() if self.broken else found]
        if command == b"DEL":
            return [b"OK" if self.values.pop(key, None) is not None else b"NONE"]
        if command == b"QUIT":
            return [b"BYE"]
        return [b"ERROR"]


def serve_connection(sock, options, store):
    if "tls" in options:
        at = options.index("tls")
        context = serving.server_context(options[at + 1], options[at + 2])
        try:
            sock = context.wrap_socket(sock, server_side=True)
        except OSError:
            return
    with sock:
        if "greeting" in options:
            sock.sendall(options[options.index("greeting") + 1].encode() + b"\n")
        try:
            for line in sock.makefile("rb"):
                answers = store.answers(line.rstrip(b"\n"))
                sock.sendall(b"".join(answer + b"\n" for answer in answers))
                if answers == [b"BYE"]:
                    break
            if "tls" in options:
                sock.unwrap()
        except OSError:
            pass


def serve(port, options):
    def make_store():
        return Store("broken" in options, "silent" in options, "ticks" in options)

    if "udp" in options:
        store = make_store()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.bind(("127.0.0.1", port))
            print("listening 127.0.0.1:%d" % sock.getsockname()[1], flush=True)
            while True:
                line, sender = sock.recvfrom(65536)
                for answer in store.answers(line):
                    sock.sendto(answer, sender)
    serving.serve(port, lambda sock: serve_connection(sock, options, make_store()))


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2:])
