#!/usr/bin/env python3
"""A server or a client that performs the steps of its arguments in order, and may break every rule.

steps.py serve PORT STEP...      serves each connection in a thread of its own, and prints its address
steps.py serve PORT @FILE        the same; the steps are the lines of the file, which may change
steps.py ask PORT [COUNT] STEP...     opens a connection, or several at the same time

    send:BYTES     sends bytes: \\n, \\r and \\xNN are bytes, and N*BYTES repeats them
    talk:BYTES     sends them every 20 ms, for ever
    flood:BYTES    sends them until the other side takes nothing for half a second, or 64 MiB, and prints that
    line[:TEXT]    reads a line; any but TEXT ends the steps
    some           reads the available bytes
    receive:N      waits for N bytes, which are read later
    wait, show[:N]     reads until the other side ends, or N bytes; show prints what arrived
    echo, rest     returns a line, or all that arrives until the other side ends
    caret          greets with *, and returns each byte between ^ and $ increased by one
    shut, close, reset     closes the sending side, or the connection without TLS's close_notify, or resets it
    stay, input    never ends, or waits until standard input ends
    tls[:CERTIFICATE:KEY[:NAME=VALUE]...]     begins TLS; the names are newest (1.2), group, and clients, a file of
                   the authorities for the required certificates of clients

WebSocket; a line is printed for each frame that is read:

    request[:FIELD]    a server reads a request; a client sends one and reads the response. FIELD is sent in the
                       place of the field of the same name
    open[:FIELD]       the same, but a server also accepts
    response           reads a response
    frame:XX:BYTES     sends a frame; XX is its first byte in hexadecimal
    wrong:XX:BYTES     the same with a mask as the other side sends it
    read[:N]           reads frames
    frames[:N]         returns N frames, or all until a close frame, which it returns
    fragments          does what all may and few do: echoes fragments as fragments, and answers a ping only after the
                       next message
    end                reads frames until the other side ends, and prints how

Steps that send in a row are sent together.
"""
import base64
import codecs
import hashlib
import pathlib
import re
import socket
import ssl
import struct
import sys
import threading
import time

from serving import serve, trusting_context

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
NAMES = {0: "continuation", TEXT: "text", 2: "binary", CLOSE: "close", PING: "ping", PONG: "pong"}
MASK = b"\x11\x82\xf3\x64"
UPGRADE = ["Upgrade: websocket", "Connection: Upgrade"]
REQUEST = ["Host: test", *UPGRADE, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"]
VERSIONS = {"1.0": ssl.TLSVersion.TLSv1, "1.1": ssl.TLSVersion.TLSv1_1, "1.2": ssl.TLSVersion.TLSv1_2}


def show(*words):
    sys.stdout.write(" ".join(words) + "\n")  # in one piece
    sys.stdout.flush()


def bytes_of(text):
    count, repeated, rest = re.match(r"(?s)(?:(\d+)(\*))?(.*)", text).groups()
    data = codecs.decode(rest, "unicode_escape").encode("latin-1")
    return data * int(count) if repeated else data


def mixed(data, mask):
    key = (mask * (len(data) // 4 + 1))[:len(data)]
    return (int.from_bytes(data, "big") ^ int.from_bytes(key, "big")).to_bytes(len(data), "big")


def frame(first, data, masked):
    mark = 0x80 if masked else 0
    size = len(data)
    if size < 126:
        head = struct.pack("!BB", first, mark | size)
    elif size < 65536:
        head = struct.pack("!BBH", first, mark | 126, size)
    else:
        head = struct.pack("!BBQ", first, mark | 127, size)
    return head + MASK + mixed(data, MASK) if masked else head + data


def tls_context(certificate, key, *options):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers("ALL:@SECLEVEL=0")  # the client judges the certificates
    context.load_cert_chain(certificate, key)
    context.minimum_version = ssl.TLSVersion.TLSv1
    for name, value in (option.split("=") for option in options):
        if name == "newest":
            context.maximum_version = VERSIONS[value]
        elif name == "group":
            context.set_ecdh_curve(value)
        elif name == "clients":
            context.load_verify_locations(value)
            context.verify_mode = ssl.CERT_REQUIRED
    return context


class Peer:
    def __init__(self, sock, serves):
        self.sock = sock
        self.serves = serves
        self.data = bytearray()  # received, and not yet read
        self.unsent = b""

    def flush(self):
        data, self.unsent = self.unsent, b""
        if data:
            self.sock.sendall(data)

    def send(self, data):
        self.unsent += data
        self.flush()

    def receive(self, size):
        while len(self.data) < size:
            part = self.sock.recv(65536)
            if not part:
                raise EOFError
            self.data += part

    def take(self, size):
        self.receive(size)
        taken = bytes(self.data[:size])
        del self.data[:size]
        return taken

    def line(self):
        while b"\n" not in self.data:
            self.receive(len(self.data) + 1)
        return self.take(self.data.index(b"\n") + 1)

    def some(self):
        """Returns the available bytes, or none at the end."""
        if not self.data:
            return self.sock.recv(65536)
        return self.take(len(self.data))

    # --- WebSocket

    def send_frame(self, first, data, wrong=False):
        self.unsent += frame(first, data, self.serves == wrong)

    def read_frame(self):
        first, size = self.take(2)
        assert bool(size & 0x80) == self.serves, "wrongly masked"
        size &= 0x7F
        if size >= 126:
            size = int.from_bytes(self.take(2 if size == 126 else 8), "big")
        mask = self.take(4) if self.serves else bytes(4)
        return first, mixed(self.take(size), mask)

    def print_frame(self):
        first, data = self.read_frame()
        assert first & 0x80 or self.serves, "fragmented"
        name = NAMES[first & 0x7F]
        if name == "close":
            text = str(struct.unpack("!H", data[:2])[0]) if data else "without a code"
        else:
            text = data.decode() if name == "text" else data.hex()  # throws if it is not UTF-8
        show(name, text if len(text) <= 100 else f"of {len(data)} bytes")
        return first, data

    def read_head(self):
        return list(iter(lambda: self.line().decode().rstrip("\r\n"), ""))

    def upgrade(self, word, field):
        start = "GET / HTTP/1.1"
        fields = REQUEST
        if self.serves:
            key = [line.split()[1] for line in self.read_head() if line.startswith("Sec-WebSocket-Key:")][0]
            if word == "request":
                return
            start = "HTTP/1.1 101 Yes"
            proof = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
            fields = [*UPGRADE, "Sec-WebSocket-Accept: " + base64.b64encode(proof).decode()]
        name = field.partition(":")[0] + ":"
        fields = [line for line in fields if not line.startswith(name)] + [field] * bool(field)
        self.unsent += "\r\n".join([start, *fields, "", ""]).encode()
        if not self.serves:
            self.flush()
            self.response()

    def response(self):
        lines = self.read_head()
        size = [int(line.split(":")[1]) for line in lines if line.startswith("Content-Length:")]
        show(lines[0] + (": " + self.take(size[0]).decode().rstrip("\n") if size else ""))

    def frames(self, count):
        first, data = 0, b""
        while count != 0 and first & 0x0F != CLOSE:
            first, data = self.print_frame()
            self.send_frame(first, data)
            self.flush()
            count -= 1

    def fragments(self):
        first, pings = 0, []
        while first & 0x0F != CLOSE:
            first, data = self.read_frame()
            if first & 0x0F == PING:
                pings.append(data)
            elif first & 0x0F != PONG:
                self.send_frame(first, data)
            while pings and first & 0x80 and first & 0x0F < CLOSE:
                self.send_frame(0x80 | PONG, pings.pop(0))
            self.flush()

    def end(self):
        try:
            while True:
                self.print_frame()
        except EOFError:
            show("ended inside a frame, after " + self.data[-4:].hex() if self.data else "ended")
        except ConnectionResetError:
            show("reset")

    # --- All steps

    def flood(self, data):
        data *= 65536 // len(data) + 1
        self.sock.settimeout(0.5)
        try:
            for _ in range((64 << 20) // len(data)):
                self.sock.sendall(data)
        except (socket.timeout, ssl.SSLWantWriteError):
            pass
        self.sock.settimeout(None)
        show("flooded")

    def talk(self, data):
        while True:
            self.sock.sendall(data)
            time.sleep(0.02)

    def expect(self, text):
        line = self.line().rstrip(b"\r\n")
        if text and line != text.encode():
            raise EOFError

    def wait(self):
        while self.some():
            pass

    def rest(self):
        while data := self.some():
            self.sock.sendall(data)

    def answer_caret(self):
        self.send(b"*")
        inside = False
        while data := self.some():
            reply = bytearray()
            for byte in data:
                if byte == ord("$" if inside else "^"):
                    inside = not inside
                elif inside:
                    reply.append((byte + 1) % 256)
            self.send(reply)

    def begin_tls(self, rest):
        if not rest:
            self.sock = trusting_context().wrap_socket(self.sock)
        else:
            self.sock = tls_context(*rest.split(":")).wrap_socket(self.sock, server_side=True)

    def follow(self, step):
        """Performs a step. Returns false if it closes the connection."""
        word, _, rest = step.partition(":")
        first, _, text = rest.partition(":")
        if word == "send":
            self.unsent += bytes_of(rest)
            return True
        if word in ("frame", "wrong"):
            self.send_frame(int(first, 16), bytes_of(text), word == "wrong")
            return True
        self.flush()
        if word == "reset":
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if word in ("close", "reset"):
            self.sock.close()
            return False
        {"talk": lambda: self.talk(bytes_of(rest)),
         "flood": lambda: self.flood(frame(int(first, 16), bytes_of(text), not self.serves) if text else bytes_of(rest)),
         "line": lambda: self.expect(rest),
         "some": self.some,
         "receive": lambda: self.receive(int(rest)) or show("received"),
         "wait": self.wait,
         "show": lambda: [sys.stdout.buffer.write(part) for part in ([self.take(int(rest))] if rest else iter(self.some, b""))],
         "echo": lambda: self.send(self.line()),
         "rest": self.rest,
         "caret": self.answer_caret,
         "shut": lambda: self.sock.shutdown(socket.SHUT_WR),
         "stay": threading.Event().wait,
         "input": sys.stdin.read,
         "tls": lambda: self.begin_tls(rest),
         "request": lambda: self.upgrade("request", rest),
         "open": lambda: self.upgrade("open", rest),
         "response": self.response,
         "read": lambda: [self.print_frame() for _ in range(int(rest or 1))],
         "frames": lambda: self.frames(int(rest or -1)),
         "fragments": self.fragments,
         "end": self.end}[word]()
        return True

    def perform(self, steps):
        try:
            for step in steps:
                if not self.follow(step):
                    return
            self.flush()
            if isinstance(self.sock, ssl.SSLSocket):
                self.sock = self.sock.unwrap()
        except (EOFError, OSError):
            pass  # the other side has had enough
        finally:
            self.sock.close()


def main():
    action, port, *steps = sys.argv[1:]
    count = int(steps.pop(0)) if steps[0].isdigit() else 1

    def converse(sock):
        listed = pathlib.Path(steps[0][1:]).read_text().splitlines() if steps[0].startswith("@") else steps
        Peer(sock, action == "serve").perform(listed)

    if action == "serve":
        serve(port, converse)
    socks = [socket.create_connection(("127.0.0.1", int(port))) for _ in range(count)]
    for sock in socks:
        threading.Thread(target=converse, args=(sock,)).start()


if __name__ == "__main__":
    main()
