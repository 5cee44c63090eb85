#!/usr/bin/env python3
"""A service that continues with TLS when it is asked to, and then echoes lines.

starttls.py PORT CERTIFICATE KEY smtp|imap|pop3|ftp [FAULT]
    bytewise    sends its answers in single bytes
    refuse      refuses TLS
    strange     greets like another service
    inject      sends a line in clear behind its last answer
    close       closes the connection instead of its last answer
    silent      sends no last answer
"""
import socket
import sys

import serving

# The greeting, then each command with its answer.
SERVICES = {
    "smtp": [
        ("", "220-mail.test\r\n220 ready\r\n"),
        ("EHLO localhost", "250-mail.test\r\n250 STARTTLS\r\n"),
        ("STARTTLS", "220 go ahead\r\n"),
    ],
    "imap": [
        ("", "* OK ready\r\n"),
        ("a STARTTLS", "* CAPABILITY IMAP4rev1\r\na OK go ahead\r\n"),
    ],
    "pop3": [("", "+OK ready\r\n"), ("STLS", "+OK go ahead\r\n")],
    "ftp": [("", "220-Files\r\n 221 is inside\r\n220 ready\r\n"), ("AUTH TLS", "234 go ahead\r\n")],
}
REFUSALS = {"smtp": "454 no TLS\r\n", "imap": "a BAD no TLS\r\n", "pop3": "-ERR no TLS\r\n", "ftp": "530 no TLS\r\n"}


def send(client, text, fault):
    for piece in text if fault == "bytewise" else [text]:
        client.sendall(piece.encode())


def ask(client, service, fault):
    """Returns true if TLS begins."""
    lines = client.makefile("rb", buffering=0)
    steps = SERVICES[service]
    for number, (command, answer) in enumerate(steps):
        if command and lines.readline().decode() != command + "\r\n":
            return False
        last = number == len(steps) - 1
        if last and fault == "silent":
            lines.readline()
        if last and fault in ("close", "silent"):
            return False
        if last and fault == "refuse":
            answer = REFUSALS[service]
        if last and fault == "inject":
            answer += "250 injected\r\n"
        if not last and fault == "strange":
            answer = "SSH-2.0-test\r\n"
        send(client, answer, fault)
    return fault != "refuse"


def converse(context, client, service, fault):
    try:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not ask(client, service, fault):
            return client.close()
        with context.wrap_socket(client, server_side=True) as secure:
            with secure.makefile("rb") as lines:
                for line in lines:
                    secure.sendall(line)
            secure.unwrap()
    except OSError:
        client.close()


port, certificate, key, *rest = sys.argv[1:]
context = serving.server_context(certificate, key)
fault = rest[1] if len(rest) > 1 else ""
serving.serve(port, lambda client: converse(context, client, rest[0], fault))
