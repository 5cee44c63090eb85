#!/usr/bin/env python3
"""A datagram server that delays, damages, doubles and loses one in 40 of 400 messages each, and prints its port.

Damage replaces a byte after the message's number with a wrong digit. A delayed answer follows the answer to
a later message of the same client, which must not wait for the replies to a dozen others (--window).
"""
import itertools
import socket

NUMBER = 8  # bytes at the beginning of a message that damage leaves alone

server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * 1024 * 1024)
server.bind(("127.0.0.1", 0))
print("listening 127.0.0.1:%d" % server.getsockname()[1], flush=True)
delayed = {}  # by client
for number in itertools.count():
    text, client = server.recvfrom(65535)
    fate = number % 40
    if fate == 35:
        continue
    if fate == 15:
        text = text[:NUMBER] + (b"1" if text[NUMBER:NUMBER + 1] != b"1" else b"2") + text[NUMBER + 1:]
    if fate == 5 and number < 300:  # so that its client sends another one
        delayed[client] = text
        continue
    for answer in [text, *[text] * (fate == 25), *filter(None, [delayed.pop(client, None)])]:
        server.sendto(answer, client)
