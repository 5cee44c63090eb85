The end of a connection
=======================

At the end of the input, the program closes its sending side, and awaits the outstanding replies and
the server's end. A service may answer only then.

  $ play echo echo close
  $ printf 'one\ntwo\n' | yodel --quiet 127.0.0.1 $PORT
  one
  two
  $ play wait 'send:sorted\n' close
  $ echo one | yodel --quiet --expect any 127.0.0.1 $PORT
  sorted

A server that stays open is left after -q, also if it goes on talking. A probe does not wait for it.

  $ play echo stay
  $ echo one | yodel -q 50ms 127.0.0.1 $PORT
  one
  yodel: the server did not close within 50ms (-q)
  yodel: 1 sent, 1 echoed, 0 bad, 0 lost; rtt * (glob)
  $ echo one | yodel -q 0 --quiet 127.0.0.1 $PORT
  one
  $ echo one | yodel-load -q 50ms 127.0.0.1 $PORT
  yodel-load: the server did not close within 50ms (-q)
  yodel-load: 1 sent, 1 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  $ yodel -z 127.0.0.1 $PORT
  yodel: connected to 127.0.0.1:*; look-up *, connect * ms (glob)
  $ play 'talk:tick\n'
  $ yodel --expect none -q 200ms 127.0.0.1 $PORT </dev/null 2>&1 | uniq
  tick
  yodel: the server did not close within 200ms (-q)
  yodel: 0 sent, 0 echoed, 0 bad, 0 lost, * unsolicited (glob)
  $ play 'talk:400000*x'
  $ echo a | yodel --quiet -f raw --expect none -W 200ms -q 200ms 127.0.0.1 $PORT | dd bs=4k status=none >flood

A server that closes before the end of the input has ended the conversation, whether or not
something is awaited. Here the input has no end.

  $ play echo close
  $ open_input 'one\n' && yodel --quiet 127.0.0.1 $PORT <input
  one
  yodel: the server closed before the end of the input
  [56]
  $ play echo shut wait
  $ open_input 'one\n' && yodel --quiet --expect any 127.0.0.1 $PORT <input
  one
  yodel: the server closed before the end of the input
  [56]

With --retry, the connection is opened again for the rest of the input.

  $ { echo one; await 'closed before' retry.log; printf two; } |
  >     yodel --retry 3 --retry-delay 10ms 127.0.0.1 $PORT 2>retry.log
  one
  two (no-eol)
  $ cat retry.log
  yodel: the server closed before the end of the input; retry in *s (glob)
  yodel: 2 sent, 2 echoed, 0 bad, 0 lost; rtt * (glob)

An end inside a message is a truncation, whatever is expected. So is a reset. Both are noticed immediately.

  $ play echo send:half close
  $ echo one | yodel 127.0.0.1 $PORT
  one
  half
  yodel: the server closed the connection inside a message, after 4 bytes
  yodel: 1 sent, 1 echoed, 0 bad, 0 lost, 1 unsolicited; rtt * (glob)
  [56]
  $ play some close
  $ echo hello | yodel 127.0.0.1 $PORT
  yodel: the server closed the connection after 0 of 1 replies
  yodel: 1 sent, 0 echoed, 0 bad, 1 lost
  [56]
  $ play some send:hel reset
  $ echo hello | yodel 127.0.0.1 $PORT
  yodel: the server reset the connection in the middle of the reply to message 1, after 3 bytes
  yodel: 1 sent, 0 echoed, 0 bad, 1 lost
  [56]
  $ serve --reset-after 1
  $ yodel -c 100000 -i 0 --quiet 127.0.0.1 $PORT 2>log
  [56]

A server that reads nothing is given up after the reply timeout.

  $ serve --no-read
  $ yes "$(printf %01000d 0)" | yodel --quiet -W 100ms -q 100ms 127.0.0.1 $PORT
  yodel: no reply to message 1 within 100ms (* times) (glob)
  yodel: the server has stopped reading; unsent: * bytes (-W) (glob)
  [28]

So is a server that no longer wants to read.

  $ spawn python3 -c "import signal, socket
  > listener = socket.create_server('socket', family=socket.AF_UNIX)
  > print('up', flush=True)
  > client = listener.accept()[0]
  > client.shutdown(socket.SHUT_RD)
  > client.sendall(b'deaf\\n')
  > signal.pause()"
  $ await up $LOG && { await deaf deaf; echo hello; } | yodel -U socket >deaf
  yodel: the server closed the connection after 0 of 1 replies
  yodel: 1 sent, 0 echoed, 0 bad, 1 lost, 1 unsolicited
  [56]

Messages are not sent while too many bytes wait for the server.

  $ play wait
  $ yodel -c 3 -i 10ms --size 20M -W 500ms 127.0.0.1 $PORT
  not sent, seq 2
  not sent, seq 3
  no reply, seq 1* (glob)
  yodel: no reply to message 1 within 500ms
  yodel: a message was not sent, because 20971521 bytes were waiting for the server (2 times)
  yodel: 1 sent, 0 echoed, 0 bad, 1 lost, 2 unsent* (glob)
  [1]
