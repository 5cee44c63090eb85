Limits, retries and signals
===========================

Nothing lasts for ever: connecting (-w), a connection without traffic, a run as a whole (-m). The status is
28. A limit of 0 is none.

  $ serve --self-signed --stall-handshake
  $ echo a | yodel --quiet --tls -k -w 100ms 127.0.0.1 $PORT
  yodel: no connection to 127.0.0.1:* within 100ms (-w): still in the TLS handshake with 127.0.0.1:* (glob)
  [28]
  $ serve --idle-timeout 0
  $ open_input
  $ yodel --quiet --idle-timeout 50ms 127.0.0.1 $PORT <input
  yodel: nothing was sent or received for 50ms (--idle-timeout)
  [28]
  $ yodel -m 50ms 127.0.0.1 $PORT <input
  yodel: the run did not finish within 50ms (--max-time)
  yodel: 0 sent, 0 echoed, 0 bad, 0 lost
  [28]
  $ echo a | yodel --quiet --idle-timeout 0 --max-time 0 127.0.0.1 $PORT
  a
  $ yodel -m 50ms --quiet --retry forever 127.0.0.1 1 </dev/null
  yodel: cannot connect to 127.0.0.1:1: Connection refused
  yodel: the run did not finish within 50ms (--max-time)
  [28]
  $ yodel-load -m 50ms --retry forever 127.0.0.1 1
  yodel-load: cannot connect to 127.0.0.1:1: Connection refused
  yodel-load: no connection within 50ms (--max-time): still waiting to retry
  yodel-load: 0 sent, 0 echoed, 0 bad, 0 lost; 1 of 1 attempts to connect failed
  [28]

The server has such a limit, too. Messages every 100 ms keep the connection for 600 ms; silence does not.

  $ serve --idle-timeout 500ms
  $ yodel --quiet -c 7 -i 100ms 127.0.0.1 $PORT >out 2>log
  $ yodel --quiet 127.0.0.1 $PORT <input
  yodel: the server closed before the end of the input
  [56]

With --retry, a connection that fails is tried again. A server that starts late then gets all.

  $ echo a | yodel --retry 2 --retry-delay 1ms 127.0.0.1 1
  yodel: cannot connect to 127.0.0.1:1: Connection refused; retry in *s (glob)
  yodel: cannot connect to 127.0.0.1:1: Connection refused; retry in *s (glob)
  yodel: cannot connect to 127.0.0.1:1: Connection refused (3 times)
  yodel: 0 sent, 0 echoed, 0 bad, 0 lost
  [7]
  $ printf 'a\nb\n' | yodel --retry forever --retry-delay 10ms unix:socket >out 2>late.log & client=$!
  $ await 'retry in' late.log
  $ start yodeld -U socket 0
  $ wait $client && cat out
  a
  b

A signal ends the program gracefully, with its summary. The signal determines the status, also in JSON.

  $ serve
  $ open_input 'a\n'
  $ yodel 127.0.0.1 $PORT <input >out1 2>log &
  $ await a out1 && stop TERM $!
  [143]
  $ cat log
  yodel: 1 sent, 1 echoed, 0 bad, 0 lost; rtt * (glob)
  yodel: ended by SIGTERM
  $ open_input 'a\n'
  $ yodel --json 127.0.0.1 $PORT <input >out2 2>log &
  $ await echoed out2 && stop HUP $!
  [129]
  $ grep -o '"reason":"[^"]*","status":[0-9]*' out2
  "reason":"ended by SIGHUP","status":129

However the client ends, its last words over TLS are a close_notify.

  $ for limit in '-m 1s' '--idle-timeout 500ms'; do
  >     serve --self-signed -v && open_input 'a\n'
  >     yodel --quiet --tls -k $limit 127.0.0.1 $PORT <input >out
  >     await ' closed' $LOG && sed -n 's/.*: \(closed.*\), [0-9]* bytes in,.*/\1/p' $LOG
  > done
  yodel: the run did not finish within 1s (--max-time)
  closed
  yodel: nothing was sent or received for 500ms (--idle-timeout)
  closed
  $ serve --self-signed -v && open_input 'a\n'
  $ yodel --quiet --tls -k 127.0.0.1 $PORT <input >out4 2>log &
  $ await a out4 && stop TERM $!
  [143]
  $ await ' closed' $LOG && sed -n 's/.*: closed/closed/p' $LOG
  closed, 2 bytes in, 2 out
