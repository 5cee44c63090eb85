Verdicts
========

With --require, a run is judged. Each clause that fails is a sentence, and the status is 1.

  $ judge() { seq 3 | yodel-load --require 'lost=0,p99<1us,sent>0,bad>=1%' "$@"; }
  $ judge
  yodel-load: 3 sent, 3 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  yodel-load: required p99<1us, was *us (glob)
  yodel-load: required bad>=1%, was 0%
  [1]
  $ judge --json 2>log | grep -o '"reason":[^{]*"sent":\|"required":[^]]*]'
  "reason":"required p99<1us, was *us","status":1,"sent": (glob)
  "required":[{"clause":"lost=0","was":"0","holds":true},{"clause":"p99<1us","was":"*us","holds":false},{"clause":"sent>0","was":"3","holds":true},{"clause":"bad>=1%","was":"0%","holds":false}] (glob)
  $ yodel-load -c 20 --rate 1k --require 'unsent=0,unsolicited=0,duplicates=0,connect_p99<1m,opened=1,late=0,handshake_p50<1s'
  yodel-load: 20 sent, 20 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  yodel-load: required handshake_p50<1s, but there was no handshake
  [1]

Any percentile is a figure.

  $ yodel-load -c 20 --require 'p97<1m,p99.95<1us,connect_p12.5<1m'
  yodel-load: 20 sent, 20 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  yodel-load: required p99.95<1us, was *us (glob)
  [1]

A connection that fails keeps its status.

  $ yodel-load -c 1 --require 'p99<5ms' 127.0.0.1 1
  yodel-load: cannot connect to 127.0.0.1:1: Connection refused
  yodel-load: 0 sent, 0 echoed, 0 bad, 0 lost; 1 of 1 attempts to connect failed
  yodel-load: required p99<5ms, but no reply was timed
  [7]

A requirement about losses replaces the rule that none are allowed.

  $ serve -f line --drop 0.2
  $ for clause in 'sent>0' 'lost<60%' 'lost<60%,bad=0' 'lost<1%'; do
  >     yodel-load --rate 10k -c 100 -W 200ms --connections 3 --require "$clause" 127.0.0.1 $PORT 2>log
  >     echo $? $clause
  > done
  1 sent>0
  0 lost<60%
  0 lost<60%,bad=0
  1 lost<1%

If the rate climbs, each second is judged. The summary says up to which rate each clause held. From 100 to 300 per
second, the first second contains 150 messages and the next one 250.

  $ yodel-load --rate 100..300 -m 2s --require 'sent<=150,p99<1m,opened=1,sent>150' --json >judged
  yodel-load: 400 sent, 400 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  yodel-load: p99<1m held up to 300/s
  yodel-load: sent<=150 held up to 200/s, then was 250
  yodel-load: required sent>150, was 150 in the first step of the climb
  [1]
  $ tail -n 1 judged | grep -o '"status":.\|"planned_rate":[0-9.]*\|"held":[^}]*}'
  "status":1
  "planned_rate":200.000
  "held":{"sent<=150":200.000,"p99<1m":300.000,"sent>150":0.000}
