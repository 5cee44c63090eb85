A load
======

yodel-load sends its count of messages over its connections: as replies allow, or as planned.

  $ serve
  $ yodel-load --connections 20 -c 200 --rate 2k --churn 7 127.0.0.1 $PORT
  yodel-load: 200 sent, 200 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  $ counters
  * accepted, 0 turned away, 0 failed, 13000 bytes in, 13000 bytes out (glob)
  $ yodel-load --connections 1100 -c 1100 --json 2>log | grep -o '"connections":.*"connect_us"'
  "connections":{"attempts":1100,"opened":1100,"failed":0,"connect_us"
  $ serve
  $ yodel-load --connections 2 --rate 100 -c 5 --warm-up 200ms 127.0.0.1 $PORT
  yodel-load: 5 sent, 5 echoed, 0 bad, 0 lost, */s; rtt *; warm-up: 20 sent, 20 echoed, 0 bad, 0 lost (glob)
  $ counters
  2 accepted, 0 turned away, 0 failed, 1625 bytes in, 1625 bytes out

Replies that a server drops, doubles and damages are counted exactly. It sent all that were not lost.

  $ exact() {
  >     serve -f line --drop 0.05 --dup 0.05 --corrupt 0.05 --seed 3
  >     yodel-load --json -c 400 -W 300ms "$@" 127.0.0.1 $PORT >out 2>log; echo status $?
  >     figure() { tail -n 1 out | grep -o "\"$1\":[0-9]*" | head -n 1 | cut -d : -f 2; }
  >     [ $(figure bad) -gt 0 ] && [ $(figure lost) -gt 0 ] && echo bad and lost
  >     echo $(figure sent) sent, $(($(figure echoed) + $(figure bad) + $(figure lost))) known
  >     extra=$(($(figure duplicates) + $(figure unsolicited)))
  >     counters | grep -o " 26000 bytes in, $((65 * (400 - $(figure lost) + extra))) bytes out" | wc -l
  > }
  $ for options in '--connections 20' '--connections 20 --rate 2k' '--connections 6 --threads 3'; do
  >     exact $options | xargs
  > done | uniq -c
        3 status 1 bad and lost 400 sent, 400 known 1

Connections that fail are counted by their sentences. Messages go over those that are left.

  $ serve -f line --reset-after 5
  $ yodel-load --connections 10 -m 10s --json 127.0.0.1 $PORT >out 2>log
  [56]
  $ grep -o '^yodel-load: [a-z ]*: Connection reset by peer (.*' log | sed 's/: [a-z ]*:/:/' | uniq
  yodel-load: Connection reset by peer (* times) (glob)
  $ grep -o '"connections":{[^{]*"failed":0,' out; grep -o '"status":56,"count":[0-9]*' out | awk -F : '{ n += $3 } END { print n }'
  "connections":{"attempts":10,"opened":10,"failed":0,
  10
  $ serve --max-conns 5
  $ yodel-load --connections 8 -c 400 --rate 1k --require 'sent=400,lost<100' 127.0.0.1 $PORT 2>log
  [56]
  $ grep -v 'got no reply' log
  yodel-load: the server closed before the end of the run (3 times)
  yodel-load: 400 sent, * echoed, 0 bad, * lost, */s; rtt * (glob)
  $ yodel-load --connections 7 --rate 10 -c 7 127.0.0.1 1
  yodel-load: cannot connect to 127.0.0.1:1: Connection refused (7 times)
  yodel-load: 0 sent, 0 echoed, 0 bad, 0 lost*; 7 of 7 attempts to connect failed (glob)
  [7]
  $ serve --stall-handshake --self-signed
  $ yodel-load --connections 3 -m 200ms --tls -k --rate 100 127.0.0.1 $PORT 2>&1 | sed -n 's/127.*(/(/p'
  yodel-load: no connection within 200ms (--max-time): still in the TLS handshake with (3 times)

An open loop measures the whole time that a server is stopped: each message that was due meanwhile waits for the
rest of it.

  $ serve -v
  $ yodel-load --connections 4 --rate 200 -m 1.5s -W 20s --require 'sent=300,max>0.68s,p99>0.65s,p50<0.6s' 127.0.0.1 $PORT 2>log & client=$!
  $ await 'read 65 bytes' $LOG && kill -STOP $SERVER && sleep 0.7 && kill -CONT $SERVER
  $ wait $client && cat log
  yodel-load: 300 sent, 300 echoed, 0 bad, 0 lost, */s; rtt * (glob)

Connections that replace others are timed too. With -v, connections are reported, but not for ever.

  $ serve --self-signed --tls
  $ yodel-load --connections 3 --churn 5 -c 60 --tls -k -v --require 'opened>11,failed=0,handshakes_full=3,handshakes_resumed>8' 127.0.0.1 $PORT 2>log
  $ tail -n 1 log
  yodel-load: 60 sent, 60 echoed, 0 bad, 0 lost, */s; rtt *; connect p50/p99/max */*/* ms, handshake */*/* ms, 3 full, * resumed (glob)
  $ grep -o 'connection 3: connected to 127.*TLSv1.3' log | head -n 1
  connection 3: connected to 127.0.0.1:*; look-up *, connect *, TLS * ms; TLSv1.3 (glob)
  $ serve -f line --close-after 1
  $ yodel-load --connections 600 -c 1200 --churn 2 -v 127.0.0.1 $PORT 2>log
  [56]
  $ grep -c '^yodel-load: connection ' log; grep -o 'only the first .*\|: the server closed the connection' log | sort -u
  1000
  : the server closed the connection
  only the first 1000 lines about connections are printed

A run needs few descriptors besides its connections, and raises the soft limit. It does not start if the limit
is too low.

  $ serve
  $ (ulimit -n 24; yodel -c 1 >out && yodel-load -c 1 127.0.0.1 $PORT)
  yodel: 1 sent, 1 echoed, 0 bad, 0 lost; rtt * (glob)
  yodel-load: 1 sent, 1 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  $ (ulimit -S -n 64; yodel-load --connections 90 -c 900)
  yodel-load: 900 sent, 900 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  $ (ulimit -n 100; yodel-load --connections 98 -c 1 127.0.0.1 $PORT)
  yodel-load: these connections need 1* descriptors, but the limit is 100 (ulimit -n) (glob)
  [1]
