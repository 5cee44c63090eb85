Ping: messages that the program makes
=====================================

With -c or -i, the program sends messages of its own, of --size bytes, one a second or as -i gives.

  $ serve
  $ yodel -c 3 -i 5ms --size 100 127.0.0.1 $PORT
  100 bytes, seq 1, * ms* (glob)
  100 bytes, seq 2, * ms* (glob)
  100 bytes, seq 3, * ms* (glob)
  yodel: 3 sent, 3 echoed, 0 bad, 0 lost; rtt * (glob)
  $ yodel -c 1 --max-frame 10
  10 bytes, seq 1, * ms* (glob)
  yodel: 1 sent, 1 echoed, 0 bad, 0 lost; rtt * (glob)
  $ for framing in line crlf nul len1 len2 len4 len2le len4le caret raw; do
  >     yodel --quiet -c 1000 -i 0 -f $framing 2>log || echo $framing
  > done

Each message has its planned time, exact to the nanosecond, and none is sent earlier. How late the program
itself was is reported. Without an interval (-i 0) there is no plan.

  $ yodel --json -c 20 -i 1234.567us 127.0.0.1 $PORT >times 2>log
  $ sed -n 's/.*"planned_us":\([0-9.]*\),"sent_us":\([0-9.]*\).*/\1 \2/p' times >planned
  $ awk 'NR > 1 { printf "%.0f ns\n", ($1 - last) * 1000 } $2 < $1 { print "early" } { last = $1 }' planned | uniq -c
       19 1234567 ns
  $ grep -o '"lateness_us":{"[a-z]*' times
  "lateness_us":{"min
  $ yodel --json -c 20 -i 0 2>&1 | grep lateness
  [1]

The plan does not wait for replies. A reply after -W is late; a message without a reply is lost.

  $ serve --delay 400ms
  $ yodel -c 3 -i 1ms -W 100ms 127.0.0.1 $PORT
  no reply, seq 1* (glob)
  no reply, seq 2* (glob)
  no reply, seq 3* (glob)
  64 bytes, seq 1, * ms, late (glob)
  64 bytes, seq 2, * ms, late (glob)
  64 bytes, seq 3, * ms, late (glob)
  yodel: 3 sent, 3 echoed, 0 bad, 0 lost, 3 late; rtt * (glob)
  $ serve -f line --drop 1
  $ yodel -c 2 -i 1ms -W 20ms 127.0.0.1 $PORT
  no reply, seq 1* (glob)
  no reply, seq 2* (glob)
  yodel: no reply to message 1 within 20ms (2 times)
  yodel: 2 sent, 0 echoed, 0 bad, 2 lost* (glob)
  [1]

Messages without a plan wait while too many bytes are in flight.

  $ serve -f len4le
  $ yodel --quiet -f len4le -c 4 -i 0 --size 12M 127.0.0.1 $PORT && echo all
  yodel: 4 sent, 4 echoed, 0 bad, 0 lost; rtt * (glob)
  all

A run continues after a reset. A message that was due meanwhile is unsent, and keeps its number.

  $ serve -f line --reset-after 3
  $ yodel -c 10 -i 5ms --retry forever --retry-delay 50ms 127.0.0.1 $PORT 2>log | sed 's/.*\(seq [0-9]*\).*/\1/' | sort -k 2 -n | xargs
  seq 1 seq 2 seq 3 seq 4 seq 5 seq 6 seq 7 seq 8 seq 9 seq 10
  $ grep -o 'retry in' log | uniq
  retry in
  $ yodel --json -c 10 -i 5ms --retry forever --retry-delay 50ms 127.0.0.1 $PORT 2>log | grep -o '"seq":[0-9]*' | sort -u | wc -l
  10

With -m, a run has a length. Its replies are awaited, at most -W.

  $ for interval in 10ms 299ms 300ms; do yodel -i $interval -m 300ms 2>&1 >out | grep -o '.* sent'; done
  yodel: 30 sent
  yodel: 2 sent
  yodel: 1 sent
  $ yodel --quiet -i 0 -m 100ms && echo all
  yodel: * sent, * echoed, 0 bad, 0 lost; rtt * (glob)
  all
  $ serve --delay 400ms -f line
  $ yodel --quiet -i 10ms -m 100ms 127.0.0.1 $PORT && yodel --quiet -i 0 -m 100ms 127.0.0.1 $PORT && echo all
  yodel: 10 sent, 10 echoed, 0 bad, 0 lost; rtt * (glob)
  yodel: * sent, * echoed, 0 bad, 0 lost; rtt * (glob)
  all

Input that the program does not read is reported.

  $ serve && echo PING >lines
  $ yodel -c 1 127.0.0.1 $PORT <lines
  64 bytes, seq 1, * ms* (glob)
  yodel: 1 sent, 1 echoed, 0 bad, 0 lost; rtt * (glob)
  yodel: standard input was not read; yodel-load --messages - sends its lines instead of generated messages
  $ yodel-load -c 1 127.0.0.1 $PORT <lines
  yodel-load: 1 sent, 1 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  yodel-load: standard input was not read; yodel-load --messages - sends its lines instead of generated messages
  $ yodel --quiet -c 1 127.0.0.1 $PORT <lines
  yodel: 1 sent, 1 echoed, 0 bad, 0 lost; rtt * (glob)
