A load on several threads
=========================

With --threads, a load uses several processors, and counts the same as the server, whichever way the messages go.

  $ for options in '' '--rate 20k' '--churn 50'; do
  >     serve
  >     yodel-load --connections 8 --threads 2 -c 10000 $options 127.0.0.1 $PORT 2>&1 | grep -o '10000 .* lost'
  >     counters | sed 's/^20[0-9]/8/'
  > done | xargs -n 21 | uniq -c
        3 10000 sent, 10000 echoed, 0 bad, 0 lost 8 accepted, 0 turned away, 0 failed, 650000 bytes in, 650000 bytes out
  $ serve -u
  $ yodel-load -u --connections 8 --threads 2 -c 10000 127.0.0.1 $PORT
  yodel-load: 10000 sent, 10000 echoed, 0 bad, 0 lost, 0 duplicate, 0 reordered, */s; rtt * (glob)
  $ counters
  0 accepted, 0 turned away, 0 failed, 0 bytes in, 0 bytes out, 10000 datagrams in, 10000 datagrams out, 0 datagrams unanswered, 0 datagrams dropped, 640000 datagram bytes in, 640000 datagram bytes out
  $ for options in --tls -u '--tls --churn 5' '--threads auto'; do
  >     yodel-load --connections 4 --threads 2 -c 200 $options 2>&1 | grep -o '200 .* 0 lost'
  > done | uniq -c
        4 200 sent, 200 echoed, 0 bad, 0 lost

--threads auto starts no more threads than the run can use.

  $ yodel-load --threads auto -c 5
  yodel-load: 5 sent, 5 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  $ echo a | yodel-load --connections 3 --threads auto -v 2>log | sort
  1: a
  2: a
  3: a

A signal ends all threads gracefully, with the sum of all connections.

  $ serve
  $ yodel-load --connections 4 --threads 2 -m 1m --json 127.0.0.1 $PORT >out 2>log & client=$!
  $ await '"interval"' out && stop INT $client
  [130]
  $ cat log
  yodel-load: * sent, * echoed, 0 bad, 0 lost, */s; rtt * (glob)
  yodel-load: ended by SIGINT
  $ tail -n 1 out | sed 's/.*"sent":\([0-9]*\),"echoed":\([0-9]*\),.*/\1 \2/' | awk '{ print ($1 - $2 <= 4) }'
  1

Processes that start at the same time of day, on one host or several, add up to one run.

  $ serve
  $ at=$(date -u -d '+2 sec' +%Y-%m-%dT%H:%M:%SZ)
  $ for i in 1 2 3 4 5 6 7 8; do
  >     yodel-load --connections 5 --rate 50 -m 1s --start-at $at --json 127.0.0.1 $PORT >$i.json 2>$i.log & all="$all $!"
  > done; wait $all
  $ [ $(date +%s) -ge $(date -d $at +%s) ] && "$TESTDIR/../../contrib/recipes/results.py" --merge [1-8].json --require 'lost=0,sent=400,opened=40,failed=0'
  8 runs, began within * ms, together for * % of the time: 400 sent, 400 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  $ counters
  40 accepted, 0 turned away, 0 failed, 26000 bytes in, 26000 bytes out
  $ yodel-load --connections 3 --connect-rate 5 --rate 100 -c 3 --start-at +50ms --json 127.0.0.1 $PORT 2>&1 >out | grep -o '; began .* after --start-at'
  ; began * ms after --start-at (glob)
  $ grep -o '"late_start_us":' out
  "late_start_us":
