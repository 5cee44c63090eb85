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
ALL = "127.255.255.255"


class Server:
    def __init__(self, *addresses):
        self.process = subprocess.Popen([*sys.argv[1:], "-u", *addresses], text=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.ports = [int(self.process.stdout.readline().rpartition(":")[2]) for _ in 2 * addresses][1::2]
        self.reports = 0

    def counters(self, received=0):
        """Waits until it has received so many datagrams."""
        counters = {"datagrams in": -1}
        while counters["datagrams in"] < received:
            self.process.send_signal(signal.SIGUSR1)
            while "datagrams in" not in (line := self.process.stderr.readline()):
                self.reports += "may be a loop" in line
            counters = {name: int(count) for count, name in re.findall(r"(\d+) ([a-z ]+)", line)}
        return counters


def forge(source, source_port, target_port, payload=b"forged"):
    """Sends a datagram with forged headers, whose checksum the system computes."""
    udp = struct.pack("!HHHH", source_port, target_port, 8 + len(payload), 0) + payload
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, socket.IPPROTO_UDP,
                         0, socket.inet_aton(source), socket.inet_aton(HOST))
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
        raw.sendto(header + udp, (HOST, 0))


def ask(port, source_port=0, target=HOST):
    """Returns the host that answers; None if none does."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, True)
        client.bind((HOST, source_port))
        client.sendto(b"hello", (target, port))
        client.settimeout(0.3)
        try:
            return client.recvfrom(100)[1][0]
        except TimeoutError:
            return None


servers = []
for name, addresses, act in [
        ("an ordinary sender", [HOST], lambda port, last: ask(port)),
        ("a privileged port", [HOST], lambda port, last: ask(port, 19)),
        ("itself", [HOST], lambda port, last: forge(HOST, port, port)),
        ("itself, by its other port", [HOST, HOST], lambda port, last: forge(HOST, last, port)),
        ("a broadcast sender", ["0.0.0.0"], lambda port, last: forge(ALL, 5000, port)),
        ("a broadcast target", ["0.0.0.0"], lambda port, last: ask(port, target=ALL))]:
    servers.append(Server(*(address + ":0" for address in addresses)))
    act(servers[-1].ports[0], servers[-1].ports[-1])
    count = servers[-1].counters(1)
    print(f"{name}: {count['datagrams in']} in, {count['datagrams out']} out, "
          f"{count['datagrams unanswered']} unanswered")
print("asked at 127.0.0.9, answered by", ask(servers[-1].ports[0], target="127.0.0.9"))
one, other = Server(f"{HOST}:0"), Server(f"{HOST}:0")
forge(HOST, other.ports[0], one.ports[0])
one.counters(64)
time.sleep(0.2)
count = one.counters()["datagrams in"]
other.counters()
print("two servers:", "stopped" if count < 200 else f"{count} datagrams", "and reported", one.reports + other.reports)
for server in [*servers, one, other]:
    server.process.kill()
