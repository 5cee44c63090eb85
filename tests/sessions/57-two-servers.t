Two servers under one keyboard
==============================

With a second target, each line goes to both servers at the same time, and their replies are compared. The replies of
the first, a, are printed.

  $ start python3 "$PEERS/key_value.py" 0 && old=127.0.0.1:$PORT
  $ start python3 "$PEERS/key_value.py" 0 && same=127.0.0.1:$PORT
  $ start python3 "$PEERS/key_value.py" 0 broken && new=127.0.0.1:$PORT
  $ printf 'SET a one\nGET a\nDEL a\nGET a\n' >commands
  $ yodel --expect any $old $same <commands 2>log
  OK
  one
  OK
  NONE
  $ cat log
  yodel: a: 4 sent, 4 answered, 0 bad, 0 lost; rtt * (glob)
  yodel: b: 4 sent, 4 answered, 0 bad, 0 lost; rtt * (glob)
  yodel: 4 pairs, 4 same, 0 different; b-a p50/p95/p99 * (glob)
  $ yodel --expect any $old $new <commands 2>log
  OK
  one
  OK
  NONE
  [1]
  $ cat log
  yodel: reply 2 differs from b's at byte 0 (expected O, got o)
  yodel: a: 4 sent, 4 answered, 0 bad, 0 lost; rtt * (glob)
  yodel: b: 4 sent, 4 answered, 0 bad, 0 lost; rtt * (glob)
  yodel: 4 pairs, 3 same, 1 different; b-a p50/p95/p99 * (glob)
  $ yodel --expect any --mask one --mask ONE $old $new <commands 2>&1 >out | tail -n 1
  yodel: --mask needs --replay (yodel -h shows the options)
  $ yodel --expect any --quiet $old $new <commands
  OK
  one
  OK
  NONE
  yodel: reply 2 differs from b's at byte 0 (expected O, got o)
  [1]

A server that does not reply makes no pair. With an echo server, a reply must also equal its message.

  $ serve -f line && good=127.0.0.1:$PORT
  $ faulty() { serve -f line "$@"; bad=127.0.0.1:$PORT; }
  $ pair() { seq -f 'line %g' 4 | yodel -W 200ms "$@" 2>&1 >replies; }
  $ faulty --drop 1 && pair $good $bad
  yodel: a: 4 sent, 4 echoed, 0 bad, 0 lost; rtt * (glob)
  yodel: b: no reply to message 1 within 200ms (4 times)
  yodel: b: 4 sent, 0 echoed, 0 bad, 4 lost
  [1]
  $ pair $bad $good | tail -n 2
  yodel: a: 4 sent, 0 echoed, 0 bad, 4 lost
  yodel: b: 4 sent, 4 echoed, 0 bad, 0 lost; rtt * (glob)
  $ pair -W 50ms $bad $bad | grep -v lost$
  yodel: a: no reply to message 1 within 50ms (4 times)
  yodel: b: no reply to message 1 within 50ms (4 times)
  $ faulty --dup 1 && pair $good $bad
  yodel: b: the server sent a duplicate reply
  yodel: a: 4 sent, 4 echoed, 0 bad, 0 lost; rtt * (glob)
  yodel: b: 4 sent, 4 echoed, 0 bad, 0 lost, 4 duplicate; rtt * (glob)
  yodel: 4 pairs, 4 same, 0 different; b-a p50/p95/p99 * (glob)
  [1]
  $ faulty --corrupt 1 && pair $good $bad | head -n 3
  yodel: reply 1 differs from b's at byte 1 (expected I, got i)
  yodel: reply 2 differs from b's at byte 1 (expected 0xe9, got i)
  yodel: reply 3 differs from b's at byte 2 (expected ., got n)
  $ faulty --corrupt 1 && pair $good $bad | grep -c "differs from b's"
  4
  $ faulty --delay 20ms && pair $good $bad | tail -n 1
  yodel: 4 pairs, 4 same, 0 different; b-a p50/p95/p99 * (glob)

If one of them refuses the connection or ends early, the run ends with its sentence and its status.

  $ pair $good 127.0.0.1:1
  yodel: a: 0 sent, 0 echoed, 0 bad, 0 lost
  yodel: b: cannot connect to 127.0.0.1:1: Connection refused
  yodel: b: 0 sent, 0 echoed, 0 bad, 0 lost
  [7]
  $ pair 127.0.0.1:1 127.0.0.1:2 | grep refused
  yodel: a: cannot connect to 127.0.0.1:1: Connection refused
  yodel: b: cannot connect to 127.0.0.1:2: Connection refused
  $ faulty --close-after 2
  $ open_input 'line 1\nline 2\nline 3\nline 4\n' && yodel $good $bad <input 2>log >replies
  [56]
  $ cat log
  yodel: a: 4 sent, 4 echoed, 0 bad, 0 lost; rtt * (glob)
  yodel: b: the server closed the connection after 2 of 4 replies
  yodel: b: 4 sent, 2 echoed, 0 bad, 2 lost; rtt * (glob)
  yodel: 2 pairs, 2 same, 0 different; b-a p50/p95/p99 * (glob)
  $ faulty --reset-after 2 && pair $bad $good
  yodel: a: receiving failed: Connection reset by peer
  yodel: a: 4 sent, 2 echoed, 0 bad, 2 lost; rtt * (glob)
  yodel: b: 4 sent, 4 echoed, 0 bad, 0 lost; rtt * (glob)
  yodel: 2 pairs, 2 same, 0 different; b-a p50/p95/p99 * (glob)
  [56]

Each side has its own kind of connection.

  $ serve --self-signed && pair -k $good tls://127.0.0.1:$PORT | tail -n 1
  yodel: 4 pairs, 4 same, 0 different; b-a p50/p95/p99 * (glob)
  $ serve -u && pair $good udp://127.0.0.1:$PORT | tail -n 1
  yodel: 4 pairs, 4 same, 0 different; b-a p50/p95/p99 * (glob)
  $ serve --ws && pair ws://127.0.0.1:$PORT $good | tail -n 1
  yodel: 4 pairs, 4 same, 0 different; b-a p50/p95/p99 * (glob)
  $ spawn yodeld -U socket && await socket $LOG && pair unix:socket $good | tail -n 1
  yodel: 4 pairs, 4 same, 0 different; b-a p50/p95/p99 * (glob)
  $ serve -f len4 && pair -f len4 127.0.0.1 $PORT 127.0.0.1 $PORT | tail -n 1
  yodel: 4 pairs, 4 same, 0 different; b-a p50/p95/p99 * (glob)

Any amount of input is read as the servers take it.

  $ seq 200000 | yodel $good $good 2>log | cksum && seq 200000 | cksum && tail -n 1 log
  3581800518 1288895
  3581800518 1288895
  yodel: 200000 pairs, 200000 same, 0 different; b-a p50/p95/p99 * (glob)

A ping asks both, and so does --json, whose objects contain the target.

  $ yodel -c 2 -i 10ms $good $good >out 2>log && sort out && tail -n 1 log
  a: 64 bytes, seq 1, * ms (glob)
  a: 64 bytes, seq 2, * ms (glob)
  b: 64 bytes, seq 1, * ms (glob)
  b: 64 bytes, seq 2, * ms (glob)
  yodel: 2 pairs, 2 same, 0 different; b-a p50/p95/p99 * (glob)
  $ echo a | yodel --json $good $good 2>log | grep -o '"type":"[a-z]*"\(.*"target":"."\)*' | sed 's/,.*,/,/' | sort
  "type":"connection","target":"a"
  "type":"connection","target":"b"
  "type":"end"
  "type":"end"
  "type":"end"
  "type":"message","target":"a"
  "type":"message","target":"b"
  $ echo a | yodel --json $good $good 2>log | grep -o '"pair":{.*"delay_us":{[^}]*}' | sed 's/-*[0-9]*\.[0-9]*/N/g'
  "pair":{"pairs":1,"same":1,"different":0,"delay_us":{"p50":N,"p95":N,"p99":N}
  $ echo a | yodel -o log.txt $good $good >out 2>&1; cut -d ' ' -f 3- log.txt | sed 's/>/sent/; s/</received/' | sort
  - a: closed
  - a: connected to 127.0.0.1:*; look-up * (glob)
  - b: closed
  - b: connected to 127.0.0.1:*; look-up * (glob)
  received a: a
  received b: a
  sent a: a
  sent b: a

A recording of two servers contains the replies of each, and a replay expects them again.

  $ yodel --json --payload --expect any $old $new <commands >r.json 2>log
  [1]
  $ yodel --replay r.json -i 0 $old $new
  yodel: reply 2 differs from b's at byte 0 (expected O, got o)
  yodel: a: 4 replayed, 4 matched, 0 bad, 0 lost; rtt * (glob)
  yodel: b: 4 replayed, 4 matched, 0 bad, 0 lost; rtt * (glob)
  yodel: 4 pairs, 3 same, 1 different; b-a p50/p95/p99 * (glob)
  [1]
  $ yodel --replay r.json -i 0 $old $same
  b: reply 2 differs at byte 0 (expected O, got o)
      sent      GET a
      recorded  ONE
      now       one
  yodel: b: reply 2 differs from the recording at byte 0 (expected O, got o)
  yodel: a: 4 replayed, 4 matched, 0 bad, 0 lost; rtt * (glob)
  yodel: b: 4 replayed, 3 matched, 1 bad, 0 lost; rtt * (glob)
  yodel: 4 pairs, 4 same, 0 different; b-a p50/p95/p99 * (glob)
  [1]
  $ yodel --replay r.json -i 0 $old 2>&1
  yodel: 4 replayed, 4 matched, 0 bad, 0 lost; rtt * (glob)
  $ yodel --replay - $old $new <r.json 2>&1 | tail -n 1
  yodel: a replay with two targets needs a regular file (yodel -h shows the options)

On the screen, equal replies are one row. A server that has gone misses messages, and F5 connects to it again.

  $ faulty --close-after 1
  $ on_terminal yodel $good $bad -- 'wait b: connected' 'type one' 'wait ‹ one ≡' 'wait b: the server closed' 'type two' \
  >     'wait ‹ two ✓' 'wait b ? two - not connected' 'keys \e[15~' 'wait b ● up' 'type three' 'wait ‹ three ≡' 'keys ^D' gone
  status 1

The screen records both, for the same replay.

  $ on_terminal yodel -o x.json $good $good -- 'wait b ● up' 'type one' 'wait ‹ one ≡' 'type two' 'wait ‹ two ≡' 'keys ^D' gone
  status 0
  $ yodel --replay x.json -i 0 $good $good 2>&1 | tail -n 1
  yodel: 2 pairs, 2 same, 0 different; b-a p50/p95/p99 * (glob)

A load follows the same schedule with both. Requirements apply to both, to one, or compare one with the other.

  $ yodel-load --rate 500 -c 50 --require 'lost=0,a.p99<10s,b.p50<a.p50+900%' $good $good
  yodel-load: a: 50 sent, 50 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  yodel-load: b: 50 sent, 50 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  $ yodel-load -c 50 --quiet --require 'b.p50<a.p50-99%' $good $good 2>&1 | tail -n 1 | sed 's/[0-9.]*ms/N/g'
  yodel-load: b: required b.p50<a.p50-99%, was N against N
  $ yodel-load -c 50 --json --connections 2 $good $good >1.json 2>log && yodel-load -c 50 --json $good $good >2.json 2>log
  $ yodel-load --merge 1.json 2.json --require b.sent=100 2>log
  2 runs, began within * (glob)
  a: 100 sent, 100 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  b: 100 sent, 100 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  $ yodel-load -c 1 --json $good >3.json 2>log && yodel-load --merge 1.json 3.json
  yodel-load: --merge: 3.json and 1.json differ in their number of targets (yodel-load -h shows the options)
  [2]
  $ yodel-load --merge 3.json --require b.sent=1
  yodel-load: --require b.sent=1 needs two targets (yodel-load -h shows the options)
  [2]
  $ yodel-load -c 1 --require 'b.p99<1s' $good
  yodel-load: --require b.p99<1s needs two targets (yodel-load -h shows the options)
  [2]
  $ yodel-load -c 1 --require 'p99<a.p99' $good $good
  yodel-load: --require: "p99<a.p99" needs b. before its name, to compare two targets (yodel-load -h shows the options)
  [2]
  $ yodel-load -c 1 --require 'b.p99<a.sent' $good $good
  yodel-load: --require: "b.p99<a.sent": "sent" cannot be compared with p99 (yodel-load -h shows the options)
  [2]

What needs one server is refused with two.

  $ for option in -z --examine '-f raw' '--connect-to h:1'; do yodel $option $good $good; done
  yodel: -z takes a single target (yodel -h shows the options)
  yodel: --examine takes a single target (yodel -h shows the options)
  yodel: -f raw takes a single target (yodel -h shows the options)
  yodel: --connect-to takes a single target (yodel -h shows the options)
  [2]
  $ yodel-load --messages - $good $good
  yodel-load: --messages - takes a single target (yodel-load -h shows the options)
  [2]
  $ yodel $good $good h:1
  yodel: unexpected argument "h:1" (yodel -h shows the options)
  [2]
  $ yodel --mask a $good
  yodel: --mask needs --replay (yodel -h shows the options)
  [2]
  $ yodel localhost 7 8
  yodel: a host is missing before "8"; for this machine write localhost 8 (yodel -h shows the options)
  [2]
