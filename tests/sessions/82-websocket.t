WebSocket
=========

With ws:// or wss://, each line is a message: text if it is UTF-8. The server is known as with tls://.

  $ printf 'hello\n\nh\303\274\n\377\376\nb\303\n' >lines && head -c 1M /dev/zero | tr '\0' x >>lines && echo >>lines
  $ play open frames
  $ yodel --quiet ws://127.0.0.1:$PORT <lines | cmp - lines; await close $LOG && cat $LOG
  text hello
  text 
  text h\xc3\xbc (esc)
  binary fffe
  binary 62c3
  text of 1048576 bytes
  close 1000
  $ need openssl
  $ certify server IP:127.0.0.1
  $ serve --ws --tls --cert server.pem --key server.key
  $ yodel --quiet --cacert ca.pem wss://127.0.0.1:$PORT <lines | cmp - lines
  $ echo a | yodel --quiet wss://127.0.0.1:$PORT 2>log
  [60]
  $ serve --ws --self-signed
  $ yodel --quiet --pinnedpubkey $(grep -o 'sha256//.*=' $LOG) wss://127.0.0.1:$PORT <lines | cmp - lines

Connections are timed, loaded, judged, recorded and replayed like others.

  $ for options in '' --self-signed; do
  >     serve --ws $options && [ -z "$options" ] && target=ws://127.0.0.1:$PORT || target="-k wss://127.0.0.1:$PORT"
  >     yodel -z $target 2>&1 | grep -o ', [A-Z][A-Za-z ]* '
  >     yodel --json $target <lines 2>log | grep -o '"handshake_us"' | uniq
  >     yodel-load -z --connections 5 $target 2>&1 | grep -o ' opened, 0 failed\|, handshake'
  >     for load in '--connections 4 --threads 2' '--rate 3k --warm-up 10ms' '--connections 2 --churn 50' '--size 0' '--size 100k'; do
  >         yodel-load -c 300 $load --require lost=0 $target 2>&1 | grep -o '300 sent, 300 echoed, 0 bad, 0 lost'
  >     done | uniq -c
  >     yodel --json $target <lines >recording 2>log
  >     yodel --replay recording $target; "$TESTDIR/../../contrib/recipes/results.py" --merge recording
  > done 2>&1 | sed 's/, UNVERIFIED[^;]*//'
  , WebSocket 
  "handshake_us"
   opened, 0 failed
  , handshake
        5 300 sent, 300 echoed, 0 bad, 0 lost
  yodel: 6 replayed, 6 matched, 0 bad, 0 lost; rtt * (glob)
  1 run: 6 sent, 6 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  , TLS and WebSocket 
  "handshake_us"
   opened, 0 failed
  , handshake
        5 300 sent, 300 echoed, 0 bad, 0 lost
  yodel: 6 replayed, 6 matched, 0 bad, 0 lost; rtt *; UNVERIFIED (-k): the certificate is self-signed (glob)
  1 run: 6 sent, 6 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  $ serve --ws
  $ printf 'abc\n\377\n' | yodel --quiet -x ws://127.0.0.1:$PORT
  00000000  61 62 63                                         |abc|
  00000000  ff                                               |.|

A server that opens no WebSocket is reported in one sentence.

  $ refused() { play "$@" && echo a | yodel --quiet -w 200ms --subprotocol other ws://127.0.0.1:$PORT; echo $?; }
  $ refused request 'send:HTTP/1.1 404 Not Found\r\nX: y\r\n\r\nno such page' wait
  yodel: the server refused the WebSocket upgrade: 404 Not Found
  7
  $ refused request 'send:HTTP/1.1 101 Yes\r\nUpgr' shut wait
  yodel: the server closed the connection during the WebSocket handshake
  7
  $ refused request reset
  yodel: the WebSocket handshake failed: Connection reset by peer
  7
  $ refused request 'send:\x15\x03\x01\0\2\2\x46' wait
  yodel: the server speaks TLS; use wss://
  35
  $ refused 'open:Sec-WebSocket-Protocol: chat' wait
  yodel: the server's WebSocket upgrade is invalid: it selects a subprotocol that was not offered
  7
  $ refused request 'send:HTTP/1.1 101 Y' wait
  yodel: no connection to 127.0.0.1:* within 200ms (-w): still in the WebSocket handshake with 127.0.0.1:* (glob)
  28

So is one that breaks the protocol, or leaves. The server learns why.

  $ after() {
  >     play open read read "$@" end
  >     printf 'a\nb\n' | yodel --quiet --max-frame 2000 ws://127.0.0.1:$PORT >out; echo $?
  >     await ended $LOG && sed '/^text [ab]$/d' $LOG | xargs
  > }
  $ after 'frame:88:\x03\xe9bye'
  yodel: the server closed the connection after 0 of 2 replies (1001 going away: bye)
  56
  close 1001 ended
  $ after 'frame:88:\x03\xf3oops'
  yodel: the server closed with 1011 internal error: oops
  56
  close 1011 ended
  $ after frame:88:
  yodel: the server closed the connection after 0 of 2 replies (no status)
  56
  close without a code ended
  $ after wrong:81:a
  yodel: the server violated the WebSocket protocol: a frame is masked
  56
  close 1002 ended
  $ after frame:01:a shut
  yodel: the server ended the connection inside a message, without a close frame
  56
  ended
  $ after frame:81:a frame:81:b read shut
  yodel: the server ended the connection without a close frame
  56
  close 1000 ended
  $ after frame:81:a frame:81:b 'frame:88:\x0f\xa1no'
  yodel: the server closed with 4001 application code: no
  56
  close * ended (glob)
  $ after frame:81:a frame:81:b 'frame:88:\x03\xe8'
  0
  close 1000 ended
  $ after frame:01:a frame:89:pp read frame:80: frame:82:b frames
  0
  pong 7070 close 1000 ended
  $ play open read read reset
  $ printf 'a\nb\n' | yodel --quiet ws://127.0.0.1:$PORT
  yodel: receiving failed: Connection reset by peer
  [56]

Messages that arrive with the upgrade answer nothing.

  $ for greeting in welcome '9000*w'; do for expect in echo any; do
  >     play open "frame:81:$greeting" frames
  >     printf 'a\nb\n' | yodel --quiet --json --expect $expect ws://127.0.0.1:$PORT | grep -o '"echoed":2\|"unsolicited":1' | xargs
  > done; done | uniq -c
        4 echoed:2 unsolicited:1
  $ play open frame:81:welcome frame:81:hello frames
  $ for i in 1 2; do echo a | yodel --quiet --json --match '^a' ws://127.0.0.1:$PORT | grep -o '"unsolicited":.'; done | xargs
  unsolicited:2 unsolicited:2

A close frame ends a run that awaits no replies, and is answered. Without one, it is a failure.

  $ open_input
  $ for code in '\x03\xe8' ''; do
  >     play open read frame:88:$code end && printf 'a\n' >input
  >     yodel --quiet --expect none ws://127.0.0.1:$PORT <input; await ended $LOG && xargs <$LOG
  > done
  yodel: the server closed before the end of the input (1000 normal closure)
  text a close 1000 ended
  yodel: the server closed before the end of the input (no status)
  text a close without a code ended
  $ play open read read shut
  $ echo a | yodel --quiet --expect none ws://127.0.0.1:$PORT
  yodel: the server ended the connection without a close frame
  [56]

With --ping, an idle connection sends pings. They do not disturb a recording or a load.

  $ play open frames:1 read frame:8a:1 read frame:8a:2 frames
  $ (echo a; await 'ping 32' $LOG; echo b) | yodel -o r.json --ping 10ms ws://127.0.0.1:$PORT 2>log
  a
  b
  $ cat log
  yodel: 2 sent, 2 echoed, 0 bad, 0 lost; rtt * (glob)
  $ serve --ws
  $ yodel --replay r.json -i 0 ws://127.0.0.1:$PORT
  yodel: 2 replayed, 2 matched, 0 bad, 0 lost; rtt * (glob)
  $ yodel-load --connections 3 -c 30 --rate 150 --ping 5ms ws://127.0.0.1:$PORT
  yodel-load: 30 sent, 30 echoed, 0 bad, 0 lost* (glob)
