#!/usr/bin/env python3
"""A client made with the library websockets (python3-websockets). It checks that a WebSocket
echo server returns messages of all kinds and sizes, and prints what else it learned.

websockets_client.py URL [CODE]      closes with CODE (1000)
"""
import asyncio
import sys

import websockets
from serving import trusting_context

MESSAGES = ["hello", "", b"", b"\xff\0", "\u00fc\u20ac" * 1000, "x" * 65536, b"y" * (1 << 20)]


async def talk(url, code):
    options = {"ssl": trusting_context()} if url.startswith("wss:") else {}
    async with websockets.connect(url, subprotocols=["first", "second"], max_size=None,
                                  **options) as socket:
        print("subprotocol", socket.subprotocol)
        for message in MESSAGES:
            await socket.send(message)
        for message in MESSAGES:
            assert await socket.recv() == message, f"a reply to {message[:10]} is wrong"
        await socket.send(["a", "", "b" * 100000])  # in fragments
        assert await socket.recv() == "a" + "b" * 100000, "the reply to fragments is wrong"
        await (await socket.ping("are you there?"))
        await socket.close(code, "bye")
        print("closed", socket.close_code)


if __name__ == "__main__":
    asyncio.run(talk(sys.argv[1], int((sys.argv + ["1000"])[2])))
