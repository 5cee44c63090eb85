#!/usr/bin/env python3
"""A server of datagrams that loses, doubles and reorders its answers by a plan.

usage: udp_planned.py SEED LOSS TWICE REORDER     chances from 0 to 1

It writes the port that it listens on. At its end (SIGTERM) it writes what its answers met: how
many were lost, how many came twice, and how many were sent after the answer to a later message.
"""
import random
import signal
import socket
import sys

SECONDS_HELD = 0.2


class Plan:
    """Decides what happens to each answer, and counts what was sent in the end."""

    def __init__(self, send):
        seed, *chances = sys.argv[1:]
        self.random = random.Random(int(seed))
        self.loss, self.twice, self.reorder = map(float, chances)
        self.send = send
        self.held = []
        self.number = 0
        self.highest = 0
        self.lost = self.doubled = self.overtaken = 0

    def answer(self, datagram):
        self.number += 1
        loss, twice, reorder = (self.random.random() for _ in range(3))
        if loss < self.loss:
            self.lost += 1
        elif reorder < self.reorder:
            self.held.append((self.number, datagram, twice < self.twice))
        else:
            self.pass_on(self.number, datagram, twice < self.twice)
            self.release()

    def release(self):
        held, self.held = self.held, []
        for each in held:
            self.pass_on(*each)

    def pass_on(self, number, datagram, twice):
        self.send(*datagram)
        if twice:
            self.doubled += 1
            self.send(*datagram)
        self.overtaken += number < self.highest
        self.highest = max(self.highest, number)


def main():
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * 1024 * 1024)
    server.bind(("127.0.0.1", 0))
    plan = Plan(server.sendto)

    def leave(*_):
        print(f"{plan.lost} lost, {plan.doubled} twice, {plan.overtaken} out of order", flush=True)
        sys.exit(0)

    signal.signal(signal.SIGTERM, leave)
    server.settimeout(SECONDS_HELD)
    print(server.getsockname()[1], flush=True)
    while True:
        try:
            plan.answer(server.recvfrom(65535))
        except TimeoutError:
            plan.release()


main()
