A WebSocket server
==================

With --ws, yodeld returns messages as they are, whole and after pings, and answers the close frame.

  $ log() { stop TERM $SERVER; sed -n 's/^20.* yodeld: \(127[^ ]* \)*//p' $LOG; }
  $ all() {
  >     ask "$@" open frame:89:pp read:1 'frame:01:\xc3' frame:89: read:1 'frame:80:\xbc' frame:81:hello 'frame:82:\xff\0' \
  >         frame:81: frame:82: 'frame:81:200*\xc3\xbc' 'frame:88:\x03\xe9' end
  > }
  $ serve --ws && all >plain && log; cat plain
  HTTP/1.1 101 Switching Protocols
  pong 7070
  pong 
  text \xc3\xbc (esc)
  text hello
  binary ff00
  text 
  binary 
  text of 400 bytes
  close 1001
  ended
  $ serve --ws --self-signed && all tls | tail -n 1 && log
  ended
  $ for options in '--delay 1ms' '--chunk 1'; do serve --ws $options && all | cmp - plain && log; done

A request that opens no WebSocket is refused with a reason.

  $ serve --ws
  $ ask 'request:Sec-WebSocket-Version: 8' end; ask 'send:GET / HTTP/1.0\r\nHost: x\r\n\r\n' response end; log
  HTTP/1.1 426 Upgrade Required: the WebSocket version is not 13
  ended
  HTTP/1.1 400 Bad Request: the request is not a valid HTTP/1.1 GET request
  ended
  refused: the WebSocket version is not 13
  refused: the request is not a valid HTTP/1.1 GET request

A client that breaks the protocol gets earlier replies and a code, also while it is still sending. Its end is logged.

  $ serve --ws --max-frame 2000
  $ for step in wrong:81:b frame:82:2001*x 'frame:88:\x0f\xa0bye'; do ask open frame:81:a $step end | sed 1d | xargs; done
  text a close 1002 ended
  text a close 1009 ended
  text a close 4000 ended
  $ ask open frame:81:a frame:82:8000000*x frame:82:x end | tail -n 2
  close 1009
  ended
  $ ask open close && ask open frame:01:a close && ask 'send:GET / HT' close
  HTTP/1.1 101 Switching Protocols
  HTTP/1.1 101 Switching Protocols
  $ ask 'send:\x16\x03\x01\0\5hello' response close
  HTTP/1.1 400 Bad Request: the client speaks TLS, but this port does not
  $ await TLS $LOG && log
  the client violated the WebSocket protocol: a frame is not masked
  a message of 2001 bytes or more exceeds the limit of 2000 (--max-frame)
  the client closed with 4000 application code: bye
  a message of 8000000 bytes or more exceeds the limit of 2000 (--max-frame)
  the client ended the connection without a close frame
  the client ended the connection inside a message, without a close frame
  the client closed the connection during the WebSocket handshake
  refused: the client speaks TLS, but this port does not
  $ serve --ws --idle-timeout 50ms
  $ ask open end; log
  HTTP/1.1 101 Switching Protocols
  close 1000
  ended
  idle for 50ms

Faults act on messages.

  $ for options in '--drop 1' '--dup 1' '--delay 20ms' '--close-after 1' --half-close '--banner h\xc3\xbc' '--banner \xff'; do
  >     serve --ws $options
  >     ask open frame:81:a 'frame:82:\xff' 'frame:88:\x03\xe8' end | sed 1d | xargs; log
  > done
  close 1000 ended
  text a text a binary ff binary ff close 1000 ended
  text a binary ff close 1000 ended
  text a close 1000 ended
  close 1000 ended
  text h\xc3\xbc text a binary ff close 1000 ended (esc)
  binary ff text a binary ff close 1000 ended
  $ serve --ws --corrupt 1
  $ ask open $(yes 'frame:81:a\xc3\xbcb\xe2\x82\xac' | sed 50q) 'frame:88:\x03\xe8' end >out; grep -c '^text \|^binary ' out; grep 'aüb€' out; cut -d ' ' -f 1 out | sort -u
  50
  HTTP/1.1
  binary
  close
  ended
  text
  $ serve --ws -v --stall-handshake
  $ ask 'send:GET / HTTP/1.1\r\n' close; await closed $LOG && log
  connected
  read 16 bytes
  closed, 16 bytes in, 0 out
  $ serve --ws -v --no-read
  $ open_input
  $ (exec 9>&-; ask open flood:81:100*x input) <input >out4 2>&1 & client=$!
  $ await flooded out4 && log >log4; grep closed log4; exec 9>&-; wait $client
  closed, 0 bytes in, 0 out

On TERM each client gets its replies and a close frame. A message in fragments may end within the grace. After a second
TERM, no close frame follows a part of a message.

  $ for tls in '' tls; do
  >     serve --ws -v --delay 20ms ${tls:+--self-signed}
  >     ask $tls open frame:81:a read:1 frame:81:bb end >out 2>&1 & client=$!
  >     await 'read 7 bytes' $LOG && stop TERM $SERVER; wait $client; xargs <out
  > done
  HTTP/1.1 101 Switching Protocols text a text bb close 1000 ended
  HTTP/1.1 101 Switching Protocols text a text bb close 1000 ended
  $ serve --ws && open_input && server=$SERVER
  $ (exec 9>&-; ask open frame:81:a frame:01:b read:1 input frame:80:c end) <input >out1 & client=$!
  $ await 'text a' out1 && kill $SERVER; while ask open close >out 2>&1; do :; done
  $ exec 9>&-; wait $client; stop TERM $server; xargs <out1
  HTTP/1.1 101 Switching Protocols text a text bc close 1000 ended
  $ serve --ws -v --chunk 1
  $ ask open frame:82:1000000*x receive:100 end >out2 & client=$!
  $ await received out2 && kill $SERVER; while ask open close >out 2>&1; do :; done
  $ stop TERM $SERVER; wait $client; cat out2
  HTTP/1.1 101 Switching Protocols
  received
  ended inside a frame, after 78787878

Messages are logged and counted with 5 bytes each.

  $ serve --ws -v -m 1 && open_input
  $ (exec 9>&-; ask open frame:81:hi read:1 input 'frame:88:\x03\xe8' end) <input >out3 & client=$!
  $ await 'text hi' out3 && ask end && counters
  ended
  2 accepted, 1 turned away, 0 failed, 7 bytes in, 7 bytes out
  $ exec 9>&-; wait $client; log
  connected
  read 7 bytes
  refused: more than 1 connection (--max-conns)
  1 connections, 2 accepted, 1 turned away, 0 failed, 7 bytes in, 7 bytes out
  closed, 7 bytes in, 7 out
