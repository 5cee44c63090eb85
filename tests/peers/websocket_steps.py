#!/usr/bin/env python3
"""A WebSocket client that may break every rule. It follows its steps, and prints a line for
each response and frame that it reads. Steps that send in a row are sent together.

websocket_steps.py PORT|PATH [tls] STEP...
    open             sends the request for an upgrade and reads the response
    request:FIELD    sends the request with FIELD in the place of the field of the same name
    response         reads a response
    send:BYTES       sends bytes; all BYTES may contain \\n \\r \\xNN, and n*BYTES repeats them
    frame:XX:BYTES   sends a masked frame; XX is its first byte in hexadecimal
    bare:XX:BYTES    the same without a mask
    flood:XX:BYTES   sends such frames until the server accepts none for half a second, or 64 MiB
    read:N           reads N frames
    receive:N        waits for N bytes, which are read later
    end              reads until the server ends the connection, and prints how
    input            waits until standard input ends
    leave, reset     closes the connection, or resets it
"""
import base64
import codecs
import hashlib
import re
import socket
import ssl
import struct
import sys

from serving import trusting_context

FIELDS = ["Host: test", "Upgrade: websocket", "Connection: Upgrade",
          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"]
NAMES = {0: "continuation", 1: "text", 2: "binary", 8: "close", 9: "ping", 10: "pong"}
MASK = b"\x11\x82\xf3\x64"


def payload(text):
    count, repeated, rest = re.match(r"(?s)(?:(\d+)(\*))?(.*)", text).groups()
    data = codecs.decode(rest, "unicode_escape").encode("latin-1")
    return data * int(count) if repeated else data


def frame(first, data, masked):
    size = len(data)
    mark = 0x80 if masked else 0
    if size < 126:
        head = struct.pack("!BB", first, mark | size)
    elif size < 65536:
        head = struct.pack("!BBH", first, mark | 126, size)
    else:
        head = struct.pack("!BBQ", first, mark | 127, size)
    if not masked:
        return head + data
    return head + MASK + mixed(data, MASK)


def mixed(data, mask):
    key = (mask * (len(data) // 4 + 1))[:len(data)]
    return (int.from_bytes(data, "big") ^ int.from_bytes(key, "big")).to_bytes(len(data), "big")


def proof(key):
    """Returns the value of Sec-WebSocket-Accept."""
    guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    return base64.b64encode(hashlib.sha1((key + guid).encode()).digest()).decode()


class Connection:
    """What client and server do alike."""

    def __init__(self, sock, masks):
        self.sock = sock
        self.masks = masks  # the other side masks its frames
        self.data = b""

    def receive(self, size):
        while len(self.data) < size:
            part = self.sock.recv(65536)
            if not part:
                raise EOFError
            self.data += part

    def take(self, size):
        self.receive(size)
        taken, self.data = self.data[:size], self.data[size:]
        return taken

    def read_head(self):
        text = b""
        while not text.endswith(b"\r\n\r\n"):
            text += self.take(1)
        return text.decode().split("\r\n")

    def read_frame(self):
        first, size = self.take(2)
        assert first & 0x80 or self.masks, "fragmented"
        assert bool(size & 0x80) == self.masks, "wrongly masked"
        size &= 0x7F
        if size == 126:
            (size,) = struct.unpack("!H", self.take(2))
        elif size == 127:
            (size,) = struct.unpack("!Q", self.take(8))
        mask = self.take(4) if self.masks else bytes(4)
        data = mixed(self.take(size), mask)
        name = NAMES[first & 0x7F]
        if name == "close":
            text = str(struct.unpack("!H", data[:2])[0]) if data else "without a code"
        else:
            text = data.decode() if name == "text" else data.hex()  # throws if it is not UTF-8
        print(name, text if len(text) <= 100 else f"of {size} bytes", flush=True)
        return first, data

    def reset(self, on=1):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", on, 0))
        self.sock.close()


class Client(Connection):
    def __init__(self, address, tls):
        if address.isdigit():
            sock = socket.create_connection(("127.0.0.1", int(address)))
        else:
            sock = socket.socket(socket.AF_UNIX)
            sock.connect(address)
        if tls:
            sock = trusting_context().wrap_socket(sock)
        super().__init__(sock, False)
        self.unsent = b""

    def read_response(self):
        lines = self.read_head()
        size = [int(line.split(":")[1]) for line in lines if line.startswith("Content-Length:")]
        body = self.take(size[0]).decode() if size else "\n"
        print(lines[0] + ": " + body if size else lines[0] + "\n", end="", flush=True)

    def request(self, field=""):
        name = field.split(":")[0] + ":"
        lines = [field if line.startswith(name) else line for line in FIELDS]
        self.send("\r\n".join(["GET / HTTP/1.1", *lines, "", ""]).encode())
        self.read_response()

    def send(self, data=b""):
        data, self.unsent = self.unsent + data, b""
        self.sock.sendall(data)

    def flood(self, data):
        data *= 65536 // len(data) + 1
        self.sock.settimeout(0.5)
        try:
            for _ in range((64 << 20) // len(data)):
                self.sock.sendall(data)
        except (socket.timeout, ssl.SSLWantWriteError):
            pass
        self.sock.settimeout(None)
        print("flooded", flush=True)

    def end(self):
        try:
            while True:
                self.read_frame()
        except EOFError:
            print("ended inside a frame, after " + self.data[-4:].hex() if self.data else "ended")
        except ConnectionResetError:
            print("reset")

    def follow(self, step):
        word, _, rest = step.partition(":")
        first, _, text = rest.partition(":")
        if word in ("frame", "bare"):
            self.unsent += frame(int(first, 16), payload(text), word == "frame")
            return
        if word == "send":
            self.unsent += payload(rest)
            return
        self.send()
        if word == "flood":
            self.flood(frame(int(first, 16), payload(text), True))
        elif word == "open":
            self.request()
        elif word == "request":
            self.request(rest)
        elif word == "response":
            self.read_response()
        elif word == "read":
            for _ in range(int(rest)):
                self.read_frame()
        elif word == "receive":
            self.receive(int(rest))
            print("received", flush=True)
        elif word == "end":
            self.end()
        elif word == "input":
            sys.stdin.read()
        else:
            self.reset(1 if word == "reset" else 0)


def main():
    tls = sys.argv[2] == "tls"
    client = Client(sys.argv[1], tls)
    for step in sys.argv[3 if tls else 2:]:
        client.follow(step)
    if client.unsent:
        client.send()


if __name__ == "__main__":
    main()
