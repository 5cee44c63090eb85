"""A server for one connection at a time that performs the steps of its arguments in order.

usage: scripted.py PORT STEP...   or: scripted.py PORT @FILE, which contains the steps, one a line, and may change

    send:TEXT   sends TEXT (\\n and \\xNN as in Python)   talk:TEXT   sends it every 20 ms, for ever
    line        reads a line                             echo        reads a line and returns it
    flood:TEXT  sends it 10,000 times every 50 ms, for ever
    some        reads the available bytes, at least one
    wait        reads until the client closes            stay        never closes
    shut        closes its sending side                  close       closes the connection
    reset       resets the connection                    rest        echoes until the client closes
"""
import socket
import struct
import sys
import time


def perform(client, stream, step):
    name, _, text = step.partition(":")
    data = text.encode().decode("unicode_escape").encode("latin-1")
    if name == "send":
        client.sendall(data)
    elif name == "talk":
        while True:
            client.sendall(data)
            time.sleep(0.02)
    elif name == "flood":
        while True:
            client.sendall(data * 10_000)
            time.sleep(0.05)
    elif name == "line":
        stream.readline()
    elif name == "echo":
        client.sendall(stream.readline())
    elif name == "some":
        stream.read1()
    elif name == "wait":
        while stream.read1():
            pass
    elif name == "stay":
        kept.append(client.dup())
    elif name == "shut":
        client.shutdown(socket.SHUT_WR)
    elif name == "reset":
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    elif name == "rest":
        for line in stream:
            client.sendall(line)


def steps():
    if sys.argv[2].startswith("@"):
        with open(sys.argv[2][1:]) as lines:
            return lines.read().splitlines()
    return sys.argv[2:]


kept = []
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listening 127.0.0.1:%d" % listener.getsockname()[1], flush=True)
while True:
    client, _ = listener.accept()
    with client, client.makefile("rb") as stream:
        try:
            for step in steps():
                if step == "close":
                    break
                perform(client, stream, step)
        except OSError:
            pass
