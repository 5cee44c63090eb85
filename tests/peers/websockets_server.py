#!/usr/bin/env python3
"""An echo server made with the library websockets (python3-websockets). It prints the parts of
each request that a client may choose, its messages, and how it closed.

websockets_server.py PORT [CERTIFICATE KEY]
"""
import asyncio
import sys

import websockets
from serving import server_context


def show(*words):
    print(*words, flush=True)


async def echo(socket, path):
    show("path", path)
    for name in ("Origin", "Authorization"):
        show(name, socket.request_headers.get(name))
    show("subprotocol", socket.subprotocol)
    async for message in socket:
        show("text" if isinstance(message, str) else "binary", len(message))
        await socket.send(message)
    show("closed", socket.close_code)


async def serve(port, files):
    options = {}
    if files:
        options["ssl"] = server_context(*files)
    async with websockets.serve(echo, "127.0.0.1", port, subprotocols=["second"],
                                max_size=None, **options) as server:
        show("listening 127.0.0.1:%d" % server.sockets[0].getsockname()[1])
        await asyncio.Future()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), sys.argv[2:]))
