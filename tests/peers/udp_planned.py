#!/usr/bin/env python3
"""A datagram server that loses, duplicates, reorders and damages its answers by a plan.

usage: udp_planned.py SEED LOSS TWICE REORDER DAMAGE     chances from 0 to 1

It prints its port. At the end (SIGTERM) it prints the number of answers that were damaged, lost,
duplicated, and sent after the answer to a later message of the same client. Damage replaces a byte
after the message's number with a wrong digit.
"""
import collections
import random
import signal
import socket
import sys

SECONDS_HELD = 0.2
NUMBER = 8  # bytes at the beginning of a message that damage leaves alone


class Plan:
    """Decides the fate of each answer, and counts the outcomes."""

    def __init__(self, send):
        seed, *chances = sys.argv[1:]
        self.random = random.Random(int(seed))
        self.loss, self.duplication, self.reorder, self.damage = map(float, chances)
        self.send = send
        self.held = []
        self.numbers = collections.Counter()  # by client
        self.highest = collections.Counter()
        self.bad = self.lost = self.duplicates = self.reordered = 0

    def answer(self, text, client):
        self.numbers[client] += 1
        loss, duplication, reorder, damage, place = (self.random.random() for _ in range(5))
        if loss < self.loss:
            self.lost += 1
            return
        if damage < self.damage:
            self.bad += 1
            at = NUMBER + int(place * (len(text) - NUMBER))
            text = text[:at] + (b"1" if text[at:at + 1] != b"1" else b"2") + text[at + 1:]
        self.held.append((self.numbers[client], text, client, duplication < self.duplication))
        if reorder >= self.reorder:
            self.release()

    def release(self):
        """Sends the held answers, the last one first."""
        while self.held:
            number, text, client, is_duplicated = self.held.pop()
            self.send(text, client)
            if is_duplicated:
                self.duplicates += 1
                self.send(text, client)
            self.reordered += number < self.highest[client]
            self.highest[client] = max(self.highest[client], number)


def main():
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * 1024 * 1024)
    server.bind(("127.0.0.1", 0))
    plan = Plan(server.sendto)

    def leave(*_):
        print(f"{plan.bad} bad, {plan.lost} lost, {plan.duplicates} duplicate, "
              f"{plan.reordered} reordered", flush=True)
        sys.exit(0)

    signal.signal(signal.SIGTERM, leave)
    server.settimeout(SECONDS_HELD)
    print("listening 127.0.0.1:%d" % server.getsockname()[1], flush=True)
    while True:
        try:
            plan.answer(*server.recvfrom(65535))
        except TimeoutError:
            plan.release()


main()
