#!/usr/bin/env python3
"""An echo server as on the first page of a tutorial, with its bugs.

usage: book_echo.py PORT
"""
import contextlib
import socket
import sys

server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    client, _ = server.accept()
    with contextlib.suppress(ConnectionError):
        while data := client.recv(1024):
            client.sendall(data)
