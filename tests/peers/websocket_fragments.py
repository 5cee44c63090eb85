"""A WebSocket echo server that does what few servers do, and all may: it begins with a ping of its own, echoes
fragments as fragments, and answers a ping only after the next message.

websocket_fragments.py PORT
"""
import socketserver
import sys

from websocket_steps import frame, mixed, proof

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128


class Echo(socketserver.StreamRequestHandler):
    def send(self, first, payload):
        self.wfile.write(frame(first, payload, False))

    def receive(self):
        first, size = self.rfile.read(2)
        size &= 0x7f
        if size >= 126:
            size = int.from_bytes(self.rfile.read(2 if size == 126 else 8), "big")
        mask = self.rfile.read(4)
        return first, mixed(self.rfile.read(size), mask)

    def handle(self):
        fields = dict(line.decode().strip().split(": ", 1) for line in iter(self.rfile.readline, b"\r\n")
                      if b": " in line)
        self.wfile.write(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          f"Sec-WebSocket-Accept: {proof(fields['Sec-WebSocket-Key'])}\r\n\r\n").encode())
        self.send(0x80 | PING, b"are you there?")
        pings = []
        while True:
            first, payload = self.receive()
            if first & 0x0f == CLOSE:
                return self.send(first, payload)
            if first & 0x0f == PING:
                pings.append(payload)
            elif first & 0x0f < CLOSE:
                self.send(first, payload)
                while pings and first & 0x80:
                    self.send(0x80 | PONG, pings.pop(0))

    def finish(self):
        try:
            super().finish()
        except OSError:
            pass


Server.handle_error = lambda *_: None
with Server(("127.0.0.1", int(sys.argv[1])), Echo) as server:
    print("127.0.0.1:%d" % server.server_address[1], flush=True)
    server.serve_forever()
