Servers of other kinds
======================

Other kinds of connections and framings have checks of their own.

  $ checks() { yodel --examine "$@" | grep -v 'echoes\|serves\|survives'; }
  $ serve -f len2 && checks -f len2 127.0.0.1 $PORT
  1..17
  ok 6 - accepts a length in pieces
  ok 12 - answers everything after a half-close, and closes
  $ serve -f caret && checks -f caret 127.0.0.1 $PORT
  1..15
  ok 10 - answers everything after a half-close, and closes
  $ serve --self-signed && checks -k tls://127.0.0.1:$PORT
  1..16
  ok 11 - answers close_notify
  $ serve --ws && checks ws://127.0.0.1:$PORT
  1..15
  ok 4 - accepts a ping between fragments
  ok 10 - answers a close frame
  $ serve -u && yodel --examine udp://127.0.0.1:$PORT
  1..7
  ok 1 - echoes a message
  ok 2 - echoes every byte value
  ok 3 - echoes an empty message
  ok 4 - echoes a datagram of 65507 bytes
  ok 5 - serves a second client while the first is idle
  ok 6 - serves twenty clients at once
  ok 7 - still echoes a message
  $ checks
  1..16
  ok 11 - answers everything after a half-close, and closes

Right servers in other languages pass: Python's asyncio, and two servers from books.

  $ cat >asyncio_echo.py <<SERVER
  > import asyncio
  > async def serve(reader, writer):
  >     try:
  >         while data := await reader.read(4096):
  >             writer.write(data)
  >             await writer.drain()
  >     except ConnectionError:
  >         pass
  >     writer.close()
  > async def main():
  >     server = await asyncio.start_server(serve, "127.0.0.1", 0)
  >     print("127.0.0.1:%d" % server.sockets[0].getsockname()[1], flush=True)
  >     await server.serve_forever()
  > asyncio.run(main())
  > SERVER
  $ start python3 asyncio_echo.py && checks 127.0.0.1 $PORT
  1..16
  ok 11 - answers everything after a half-close, and closes
  $ start python3 "$PEERS/caret_echo.py" serve 0 && checks -f caret 127.0.0.1 $PORT
  1..15
  ok 10 - answers everything after a half-close, and closes
  $ start python3 "$PEERS/length_echo.py" serve 0 && checks -f len4le 127.0.0.1 $PORT
  1..17
  ok 6 - accepts a length in pieces
  ok 12 - answers everything after a half-close, and closes
