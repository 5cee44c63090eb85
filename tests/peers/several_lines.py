"""A server whose replies contain one or several lines.

usage: several_lines.py PORT
"""
import socketserver
import sys

REPLIES = {b"PING\n": b"PONG\n", b"LIST\n": b"one\ntwo\nthree\n"}


class Conversation(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(REPLIES.get(line, b"time\n"))


socketserver.ThreadingTCPServer.allow_reuse_address = True
with socketserver.ThreadingTCPServer(("127.0.0.1", int(sys.argv[1])), Conversation) as server:
    print("listening 127.0.0.1:%d" % server.server_address[1], flush=True)
    server.serve_forever()
