Replies
=======

A reply must equal its message. If it does not, the first difference is shown, and the status is 1.

  $ play line 'send:he11o\n' wait
  $ echo hello | yodel 127.0.0.1 $PORT
  he11o
  yodel: reply 1 differs from its message at byte 2 (expected l, got 1)
  yodel: 1 sent, 0 echoed, 1 bad, 0 lost; rtt * (glob)
  [1]
  $ play line 'send:HTTP/1.1 400 Bad Request\r\n' close
  $ echo 'GET / HTTP/1.0' | yodel 127.0.0.1 $PORT
  HTTP/1.1 400 Bad Request\r (esc)
  yodel: reply 1 differs from its message at byte 0 (expected G, got H); if the service does not echo, use --expect any; if lines end with CRLF, use -C
  yodel: 1 sent, 0 echoed, 1 bad, 0 lost; rtt * (glob)
  [1]
  $ play line 'send:hello\r\n' wait
  $ echo hello | yodel 127.0.0.1 $PORT
  hello\r (esc)
  yodel: reply 1 differs from its message at byte 5 (expected end, got 0x0d); if lines end with CRLF, use -C
  yodel: 1 sent, 0 echoed, 1 bad, 0 lost; rtt * (glob)
  [1]

With --expect any, the next message is the reply, whatever it contains. With --expect none, no
reply is awaited.

  $ play line 'send:PONG\n' wait
  $ echo PING | yodel --expect any 127.0.0.1 $PORT
  PONG
  yodel: 1 sent, 1 answered, 0 bad, 0 lost; rtt * (glob)
  $ play line 'send:longer than that' close
  $ echo x | yodel --json -f raw --expect any 127.0.0.1 $PORT 2>log | grep -o '"sent_bytes":2,"received_bytes":16'
  "sent_bytes":2,"received_bytes":16
  $ play line wait
  $ echo hello | yodel --expect none 127.0.0.1 $PORT
  yodel: 1 sent, 0 echoed, 0 bad, 0 lost

A greeting is no reply. Data that answers no message is counted as unsolicited.
Behind a right reply it is a fault, unless a requirement allows it.

  $ serve --banner 'welcome\n'
  $ echo hello | yodel 127.0.0.1 $PORT
  welcome
  hello
  yodel: 1 sent, 1 echoed, 0 bad, 0 lost, 1 unsolicited; rtt * (glob)
  $ play some 'send:hi\nhello\n' wait
  $ echo hello | yodel 127.0.0.1 $PORT
  hi
  hello
  yodel: 1 sent, 1 echoed, 0 bad, 0 lost, 1 unsolicited; rtt * (glob)
  $ play some 'send:hello\nhello\n' wait
  $ echo hello | yodel 127.0.0.1 $PORT
  hello
  hello
  yodel: the server sent a duplicate reply
  yodel: 1 sent, 1 echoed, 0 bad, 0 lost, 1 duplicate; rtt * (glob)
  [1]
  $ play some 'send:hello\nworld\n' wait
  $ echo hello | yodel 127.0.0.1 $PORT
  hello
  world
  yodel: after a right reply, the server sent "world", which answers no message
  yodel: 1 sent, 1 echoed, 0 bad, 0 lost, 1 unsolicited; rtt * (glob)
  [1]
  $ echo hello | yodel-load --require lost=0 127.0.0.1 $PORT
  yodel-load: after a right reply, the server sent "world", which answers no message
  yodel-load: 1 sent, 1 echoed, 0 bad, 0 lost, 1 unsolicited, */s; rtt * (glob)
  [1]
  $ echo hello | yodel-load --require 'unsolicited<2' 127.0.0.1 $PORT
  yodel-load: after a right reply, the server sent "world", which answers no message
  yodel-load: 1 sent, 1 echoed, 0 bad, 0 lost, 1 unsolicited, */s; rtt * (glob)

A reply that does not come within the reply timeout (-W) is lost. It costs one timeout, not one for
each message behind it.

  $ play wait
  $ echo hello | yodel -W 50ms -f len4 127.0.0.1 $PORT
  yodel: no reply to message 1 within 50ms
  yodel: 1 sent, 0 echoed, 0 bad, 1 lost
  [1]
  $ yodel --quiet -c 3000 -i 0 -W 50ms -m 1m 127.0.0.1 $PORT
  yodel: no reply to message 1 within 50ms (3000 times)
  yodel: 3000 sent, 0 echoed, 0 bad, 3000 lost
  [1]

A part of a reply is shown with its size, and with a cause if there is a likely one: another framing
or another byte order.

  $ play some send:hello wait
  $ echo hello | yodel --quiet -W 200ms 127.0.0.1 $PORT
  hello
  yodel: no reply to message 1 within 200ms; 5 of 5 bytes received, without a newline
  yodel: the server closed the connection inside a message, after 5 bytes
  [56]
  $ play some send:+PO wait
  $ echo hello | yodel --quiet -W 200ms -f raw 127.0.0.1 $PORT
  +POyodel: no reply to message 1 within 200ms; the incomplete reply differs at byte 0; 3 of 6 bytes received; if the service does not echo, use --expect any
  [1]
  $ play some send:hello wait
  $ echo hello | yodel --quiet -f len4 127.0.0.1 $PORT
  yodel: the length prefix is the text "hell"
  [56]
  $ play some 'send:\0\0\0\x05hello' wait
  $ echo hello | yodel --quiet -f len4le 127.0.0.1 $PORT
  yodel: the length prefix reads 83886080; as big-endian it reads 5: use -f len4
  [56]

A length that looks like the beginning of a TLS alert (15 03 00 00) is a length.

  $ head -c 789 /dev/zero | tr '\0' x >long
  $ serve -f len4le && yodel --quiet -f len4le 127.0.0.1 $PORT <long | cmp - long
  $ play some "send:\\x15\\x03\\0\\0$(cat long)" wait
  $ printf a | yodel --quiet -f len4le --expect any 127.0.0.1 $PORT | cmp - long
