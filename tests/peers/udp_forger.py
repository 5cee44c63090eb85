#!/usr/bin/env python3
"""Sends datagrams with forged senders to yodeld -u, and prints a line about each outcome.

usage: udp_forger.py YODELD     in a separate network namespace (unshare -rn) with a loopback
"""
import re
import signal
import socket
import struct
import subprocess
import sys
import time

HOST = "127.0.0.1"


class Server:
    def __init__(self, *options):
        self.process = subprocess.Popen([*sys.argv[1:], "-u", *options], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.logged = []
        ports = [self.next_port() for option in options if option.endswith(":0")]
        self.port, self.last_port = ports[0], ports[-1]

    def next_port(self):
        line = ""
        while "udp" not in line:
            line = self.process.stdout.readline()
        return int(line.rpartition(":")[2])

    def counters(self):
        self.process.send_signal(signal.SIGUSR1)
        while True:
            line = self.process.stderr.readline()
            if "datagrams in" in line:
                return {name: int(count) for count, name in re.findall(r"(\d+) ([a-z ]+)", line)}
            self.logged.append(line)

    def wait_for(self, received):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            counters = self.counters()
            if counters["datagrams in"] >= received:
                return counters
        raise SystemExit("no datagram came")

    def end(self):
        self.process.kill()
        self.process.communicate()


def forge(source, source_port, target, target_port, payload):
    """Sends a datagram with forged headers, whose checksum the system computes."""
    udp = struct.pack("!HHHH", source_port, target_port, 8 + len(payload), 0) + payload
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, socket.IPPROTO_UDP,
                         0, socket.inet_aton(source), socket.inet_aton(target))
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
        raw.sendto(header + udp, (target, 0))


def ask(port, source=(HOST, 0), target=HOST, broadcast=False):
    """Sends from the source, and returns the host that answers; None if none does."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, broadcast)
        client.bind(source)
        client.sendto(b"hello", (target, port))
        client.settimeout(0.3)
        try:
            return client.recvfrom(100)[1][0]
        except TimeoutError:
            return None


def unanswered(name, options, act, received=1):
    server = Server(*options)
    act(server)
    counters = server.wait_for(received)
    print(f"{name}: {counters['datagrams in']} in, {counters['datagrams out']} out, "
          f"{counters['datagrams unanswered']} unanswered")
    server.end()


def loop():
    """Makes two servers talk to each other. Returns the traffic received by the first one."""
    one, other = Server(f"{HOST}:0"), Server(f"{HOST}:0")
    forge(HOST, other.port, HOST, one.port, b"forever")
    one.wait_for(64)
    time.sleep(0.2)
    count = one.counters()["datagrams in"]
    reports = len([line for line in one.logged if "may be a loop" in line])
    other.counters()
    reports += len([line for line in other.logged if "may be a loop" in line])
    one.end()
    other.end()
    return count, reports


def main():
    any_port = [f"{HOST}:0"]
    unanswered("an ordinary sender", any_port, lambda server: ask(server.port))
    unanswered("a privileged port", any_port, lambda server: ask(server.port, (HOST, 19)))
    unanswered("itself", any_port,
               lambda server: forge(HOST, server.port, HOST, server.port, b"me"))
    unanswered("itself, by its other port", any_port * 2,
               lambda server: forge(HOST, server.last_port, HOST, server.port, b"me"))
    unanswered("a broadcast sender", ["0.0.0.0:0"],
               lambda server: forge("127.255.255.255", 5000, HOST, server.port, b"all"))
    unanswered("a broadcast target", ["0.0.0.0:0"],
               lambda server: ask(server.port, target="127.255.255.255", broadcast=True))
    server = Server("0.0.0.0:0")
    print("asked at 127.0.0.9, answered by", ask(server.port, target="127.0.0.9"))
    server.end()
    count, reports = loop()
    print("two servers:", "stopped" if count < 200 else f"{count} datagrams",
          f"and reported {'once' if reports == 1 else reports}")


main()
