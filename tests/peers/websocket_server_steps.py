#!/usr/bin/env python3
"""A WebSocket server that may break every rule. It serves one connection at a time, follows its
steps for each, and prints a line for each frame that it reads.

websocket_server_steps.py PORT STEP...   (it prints the port that 0 chooses)
    tls:CERTIFICATE:KEY  begins TLS
    request          reads a request
    open             reads a request and accepts it
    open:FIELD       the same with FIELD in the place of the field of the same name, or added
    open with XX:BYTES[,BYTES...]  the same, with frames in the packet of the response
    accept           accepts a request that was read
    send:BYTES       sends bytes; all BYTES may contain \\n \\r \\xNN, and n*BYTES repeats them
    frame:XX:BYTES   sends a frame; XX is its first byte in hexadecimal
    masked:XX:BYTES  the same with a mask
    read             reads a frame
    echo:N           returns N frames
    rest             returns frames until the client closes, and a close frame
    end              reads until the client ends the connection, and prints how
    shut             closes its sending side
    reset            resets the connection
"""
import socket
import sys

import websocket_steps
from serving import server_context
from websocket_steps import frame, payload, proof

FIELDS = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: "]


class Connection(websocket_steps.Connection):
    def __init__(self, sock):
        super().__init__(sock, True)
        self.key = ""

    def read_request(self):
        self.key = [line.split()[1] for line in self.read_head() if line.startswith("Sec-WebSocket-Key:")][0]

    def accept(self, field, more=b""):
        name = field.partition(":")[0] + ":"
        lines = [line for line in FIELDS[:2] + [FIELDS[2] + proof(self.key)] if not line.startswith(name)]
        lines += [field] if field else []
        self.sock.sendall("\r\n".join(["HTTP/1.1 101 Yes", *lines, "", ""]).encode() + more)

    def echo(self):
        first, data = self.read_frame()
        self.sock.sendall(frame(first, data, False))
        return first

    def end(self):
        try:
            while True:
                self.read_frame()
        except EOFError:
            print("ended", flush=True)

    def follow(self, step):
        word, _, rest = step.partition(":")
        first, _, text = rest.partition(":")
        if word == "tls":
            self.sock = server_context(first, text).wrap_socket(self.sock, server_side=True)
        elif word in ("request", "open"):
            self.read_request()
            if word == "open":
                self.accept(rest)
        elif word == "accept":
            self.accept("")
        elif word.startswith("open with "):
            self.read_request()
            opcode = int(word.split()[2], 16)
            self.accept("", b"".join(frame(opcode, payload(each), False) for each in rest.split(",")))
        elif word == "send":
            self.sock.sendall(payload(rest))
        elif word in ("frame", "masked"):
            self.sock.sendall(frame(int(first, 16), payload(text), word == "masked"))
        elif word == "read":
            self.read_frame()
        elif word == "echo":
            for _ in range(int(rest)):
                self.echo()
        elif word == "rest":
            while self.echo() != 0x88:
                pass
        elif word == "end":
            self.end()
        elif word == "shut":
            self.sock.shutdown(socket.SHUT_WR)
        elif word == "reset":
            self.reset()


def main():
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    if sys.argv[1] == "0":
        print("127.0.0.1:%d" % listener.getsockname()[1], flush=True)
    while True:
        client, _ = listener.accept()
        connection = Connection(client)
        try:
            for step in sys.argv[2:]:
                connection.follow(step)
        except (EOFError, OSError):
            pass  # it was the test of the port, or a client that has had enough
        connection.sock.close()


if __name__ == "__main__":
    main()
