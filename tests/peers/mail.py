#!/usr/bin/env python3
"""A mail server, and a file server, that stores nothing. Its replies have three digits.

mail.py PORT [OPTION...]
    tls CERT KEY    TLS, with these files
    mute            never greets

It refuses a client that sends a command before the greeting, or before the reply to the last
command. A test that sends too early therefore fails, most of the time.
"""
import select
import ssl
import sys

import serving

REPLIES = {
    b"EHLO": b"250-mail.test\r\n250-SIZE 1000\r\n250 HELP\r\n",
    b"MAIL": b"250 OK\r\n",
    b"RCPT": b"250 OK\r\n",
    b"NOOP": b"250 OK\r\n",
    b"DATA": b"354 end with a dot\r\n",
    b"USER": b"331 password, please\r\n",
    b"PASS": b"230-Welcome.\r\n230-\r\n  100 files\r\n230 Logged in.\r\n",
    b"FEAT": b"211-Features:\r\n SIZE\r\n MDTM\r\n211 End\r\n",
    b"QUIT": b"221 bye\r\n",
}


def line(sock):
    """Reads a line in single bytes, so that the next one stays in the socket."""
    read = b""
    while not read.endswith(b"\r\n"):
        byte = sock.recv(1)
        if not byte:
            return None
        read += byte
    return read[:-2]


def early(sock, seconds):
    pending = isinstance(sock, ssl.SSLSocket) and sock.pending() > 0
    return pending or bool(select.select([sock], [], [], seconds)[0])


def converse(sock):
    if early(sock, 0.1):
        return sock.sendall(b"554 a command before the greeting\r\n")
    sock.sendall(b"220-mail.test\r\n220 ready\r\n")
    while (command := line(sock)) is not None:
        name = command[:4].upper()
        if name == b"DATA":
            sock.sendall(REPLIES[name])
            while line(sock) != b".":
                pass
            sock.sendall(b"250 accepted\r\n")
        elif early(sock, 0):
            return sock.sendall(b"500 a command before the reply\r\n")
        else:
            sock.sendall(REPLIES.get(name, b"500 unknown\r\n"))
        if name == b"QUIT":
            return None


def serve(sock, options):
    try:
        if "tls" in options:
            at = options.index("tls")
            context = serving.server_context(options[at + 1], options[at + 2])
            sock = context.wrap_socket(sock, server_side=True)
        with sock:
            if "mute" in options:
                line(sock)
            else:
                converse(sock)
            if "tls" in options:
                sock.unwrap()
    except OSError:
        pass


serving.serve(sys.argv[1], lambda sock: serve(sock, sys.argv[2:]))
