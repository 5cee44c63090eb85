A server with faults
====================

yodeld is a test peer. Its faults apply to messages as -f cuts them, or to the bytes of each read. Here they
are, and what a client reports.

  $ seq -f 'line %g' 10 >lines
  $ faulty() { serve -f line "$@"; yodel -W 20 127.0.0.1 $PORT <lines; }
  $ faulty --delay 30ms~10ms --chunk 1 >out 2>log && cmp out lines
  $ yodel-load --quiet --require 'min>20ms' 127.0.0.1 $PORT <lines 2>log
  $ faulty --corrupt 100% >out
  yodel: reply 1 differs from its message at byte 1 (expected i, got I)
  yodel: 10 sent, 0 echoed, 10 bad, 0 lost; rtt * (glob)
  [1]
  $ faulty --close-after 3
  line 1
  line 2
  line 3
  yodel: the server closed the connection after 3 of 10 replies
  yodel: 10 sent, 3 echoed, 0 bad, 7 lost; rtt * (glob)
  [56]
  $ faulty --reset-after 3
  line 1
  line 2
  line 3
  yodel: receiving failed: Connection reset by peer
  yodel: 10 sent, 3 echoed, 0 bad, 7 lost; rtt * (glob)
  [56]
  $ faulty --dup 1 >out
  yodel: the server sent a duplicate reply
  yodel: 10 sent, 10 echoed, 0 bad, 0 lost, 10 duplicate; rtt * (glob)
  [1]
  $ serve --half-close
  $ echo a | yodel 127.0.0.1 $PORT
  yodel: the server closed * (glob)
  yodel: ? sent, 0 echoed, 0 bad, ? lost (glob)
  [56]
  $ serve -f line --banner '220 hello\x21\n'
  $ { await hello banner; echo a; } | yodel 127.0.0.1 $PORT >banner; cat banner
  yodel: 1 sent, 1 echoed, 0 bad, 0 lost, 1 unsolicited; rtt * (glob)
  220 hello!
  a
  $ serve --no-read
  $ yodel --quiet -f raw --idle-timeout 200ms 127.0.0.1 $PORT </dev/zero
  yodel: nothing was sent or received for 200ms (--idle-timeout)
  [28]

The same seed causes the same faults.

  $ random() { serve -f line --corrupt 0.3 --dup 0.3 --seed $1; yodel -q 0 127.0.0.1 $PORT <lines >$2 2>log; }
  $ random 7 one; random 7 two; random 8 three
  [1]
  $ cmp one two && cmp -s one three
  [1]

A message larger than a faulty server's buffer ends its connection.

  $ serve -f line --dup 1
  $ head -c 1100000 /dev/zero | tr '\0' x | yodel --quiet 127.0.0.1 $PORT >out 2>log
  [56]
  $ sed -n 's/.*exceeds/exceeds/p' $LOG
  exceeds the limit of 1048576

Silence after a large hello is reported with the option that makes it smaller.

  $ serve --self-signed --stall-handshake
  $ yodel -z -w 200ms --tls-max 1.2 tls://127.0.0.1:$PORT
  yodel: no connection to 127.0.0.1:* within 200ms (-w): still in the TLS handshake with 127.0.0.1:* (glob)
  [28]
  $ yodel -z -w 200ms --alpn "a$(printf ',%040d' $(seq 40))" tls://127.0.0.1:$PORT
  yodel: no connection to 127.0.0.1:* within 200ms (-w): still in the TLS handshake with 127.0.0.1:*; the server did not answer a ClientHello of 1940 bytes, which exceeds a usual TCP segment and is too large for some servers and middleboxes; --groups X25519 makes it smaller (glob)
  [28]
