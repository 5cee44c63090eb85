Probes: connections without messages
====================================

With -z, the program connects, reports it, and leaves. It reads no input and sends nothing.

  $ serve
  $ echo unread | yodel -z 127.0.0.1 $PORT
  yodel: connected to 127.0.0.1:*; look-up *, connect * ms (glob)
  $ yodel -z --json 127.0.0.1 $PORT 2>log | grep -o '"probe":true.*"sent":[0-9]*\|"attempts":1,"opened":1'
  "probe":true,"sent":0
  "attempts":1,"opened":1

With -c or -i, it connects again and again, and prints a line for each attempt.

  $ yodel -z -c 3 -i 5ms 127.0.0.1 $PORT
  seq 1: connected to 127.0.0.1:*, look-up *, connect * ms (glob)
  seq 2: connected to 127.0.0.1:*, look-up *, connect * ms (glob)
  seq 3: connected to 127.0.0.1:*, look-up *, connect * ms (glob)
  yodel: 3 connections opened, 0 failed; connect p50/p99/max * ms (glob)
  $ yodel -z -i 5ms -m 100ms 127.0.0.1 $PORT 2>log | sed 's/[0-9][0-9.]*/N/g' | uniq
  seq N: connected to N:N, look-up N, connect N ms
  $ yodel -z -c 3 -i 50ms --json 127.0.0.1 $PORT 2>log >attempts
  $ grep -o '"type":"[a-z]*"\(,"connection":[0-9]*\)*' attempts
  "type":"connection","connection":1
  "type":"connection","connection":2
  "type":"connection","connection":3
  "type":"end"
  $ sed -n 's/.*"duration_us":\([0-9]*\).*/\1/p' attempts | awk '{ print ($1 >= 100000 ? "in time" : "early: " $1) }'
  in time
  $ yodel -z -c 2 -i 0 --quiet 127.0.0.1 1
  yodel: cannot connect to 127.0.0.1:1: Connection refused (2 times)
  yodel: 0 connections opened, 2 failed
  [7]
  $ yodel -z -c 2 -i 0 -k tls://127.0.0.1:$PORT 2>log
  seq 1: the server does not speak TLS
  seq 2: the server does not speak TLS
  [35]
  $ mkfifo lines
  $ yodel -z -i 20ms unix:later >lines 2>log & client=$!
  $ exec 7<lines
  $ read -r line <&7 && echo "$line"
  seq 1: cannot connect to later: No such file or directory
  $ spawn yodeld -U later 0 && sed -u '/: connected/q; d' <&7
  seq *: connected to later, look-up 0.00, connect * ms (glob)
  $ exec 7<&- && stop TERM $client
  [143]

yodel-load opens many, and closes each as soon as it is open. With -m, they stay open; with --churn, they are
replaced.

  $ echo unread | yodel-load -z --connections 20 127.0.0.1 $PORT
  yodel-load: 20 connections opened, 0 failed, */s; *connect p50/p99/max * ms* (glob)
  $ yodel-load -z --connections 20 -v 127.0.0.1 $PORT 2>&1 | grep -c 'connection [0-9]*: closed'
  20
  $ yodel-load -z --connections 5 -m 200ms --require opened=5,failed=0 127.0.0.1 $PORT
  yodel-load: 5 connections opened, 0 failed, */s; *connect p50/p99/max * ms* (glob)
  $ yodel-load -z --connections 5 -m 200ms --churn 20ms --require 'opened>5,failed=0' --quiet 127.0.0.1 $PORT
  yodel-load: * connections opened, 0 failed, */s; *connect p50/p99/max * ms* (glob)
  $ yodel-load -z --connections 2 --require handshakes_full=0 127.0.0.1 $PORT
  yodel-load: 2 connections opened, 0 failed, */s; *connect p50/p99/max * ms* (glob)
  yodel-load: required handshakes_full=0, but there was no TLS handshake
  [1]

Over TLS, full and resumed handshakes are counted apart. A connection that replaces another one resumes.

  $ need openssl
  $ certify good IP:127.0.0.1
  $ handshakes() {
  >     yodel-load -z -m 200ms --churn 10ms --cacert ca.pem --json "$@" tls://127.0.0.1:$PORT 2>log |
  >     grep -o '"handshakes_[a-z]*":[0-9]*' | sed 's/[2-9]$\|[0-9][0-9]*[0-9]$/many/' | xargs
  > }
  $ serve --tls --cert good.pem --key good.key
  $ handshakes --tls-max 1.2
  handshakes_full:1 handshakes_resumed:many
  $ handshakes --tls-max 1.3
  handshakes_full:1 handshakes_resumed:many
  $ handshakes --tls-max 1.3 --no-sessionid
  handshakes_full:many handshakes_resumed:0
  $ start openssl s_server -rev -accept 127.0.0.1:0 -cert good.pem -key good.key
  $ handshakes --tls-max 1.2
  handshakes_full:1 handshakes_resumed:many
  $ handshakes --tls-max 1.3
  handshakes_full:1 handshakes_resumed:many
  $ start openssl s_server -rev -accept 127.0.0.1:0 -cert good.pem -key good.key -num_tickets 0 -no_ticket -no_cache
  $ handshakes --tls-max 1.3
  handshakes_full:many handshakes_resumed:0
  $ serve --self-signed
  $ yodel-load -z --connections 8 --threads 2 -k -m 300ms --churn 10ms --require 'handshakes_full=8,handshakes_resumed>0%,failed<1%,rate>1,connect_p99<1m,handshake_p99<1m' tls://127.0.0.1:$PORT
  yodel-load: * connections opened, 0 failed, */s; UNVERIFIED (-k): the certificate is self-signed; connect * ms, handshake * ms, 8 full, * resumed (glob)
  $ yodel-load -z --json --connections 2 -m 1200ms --churn 10ms -k tls://127.0.0.1:$PORT >interval 2>log
  $ sed -n 's/[0-9][0-9.]*/N/g; s/,"handshake_histogram.*//; /"interval"/p' interval
  {"type":"interval","t":N,"open":N,"attempts":N,"opened":N,"failed":N,"handshakes_full":N,"handshakes_resumed":N,"handshake_us":{"pN":N,"pN":N}

Probes can be added up, and judged.

  $ yodel-load -z --json --connections 3 -k tls://127.0.0.1:$PORT >a 2>log
  $ yodel-load -z --json --connections 3 -k tls://127.0.0.1:$PORT >b 2>log
  $ results() { "$TESTDIR/../../contrib/recipes/results.py" "$@"; }
  $ results --merge a b --require 'handshakes_full=100%,opened=6,handshake_p99<1m' 2>log
  2 runs, began within * ms, together for 0 % of the time: 6 connections opened, 0 failed, */s; connect * ms, handshake * ms, 6 full, 0 resumed (glob)
  $ results --merge a b --require 'handshakes_resumed>50%,handshake_p99<1us,sent>0,p99<1s' 2>&1 | grep required
  results.py: required handshakes_resumed>50%, was 0%
  results.py: required handshake_p99<1us, was *s (glob)
  results.py: required sent>0, was 0
  results.py: required p99<1s, but no reply was timed

The first failure determines the status.

  $ yodel-load -z --connections 3 127.0.0.1 1
  yodel-load: cannot connect to 127.0.0.1:1: Connection refused (3 times)
  yodel-load: 0 connections opened, 3 failed
  [7]
  $ serve
  $ yodel-load -z --connections 3 --tls -k 127.0.0.1 $PORT 2>log
  [35]
  $ serve --idle-timeout 50ms
  $ yodel-load -z --connections 3 -m 1m 127.0.0.1 $PORT
  yodel-load: the server closed before the end of the run (3 times)
  yodel-load: 3 connections opened, 0 failed, */s; *connect p50/p99/max * ms* (glob)
  [56]

Connections that begin just before the end may still open.

  $ serve --self-signed
  $ yodel-load -z --quiet --connections 2000 --connect-rate 100 -m 200ms -q 30s -k --require failed=0 tls://127.0.0.1:$PORT
  yodel-load: * connections opened, 0 failed, */s; *connect p50/p99/max * ms* (glob)

With --retry, a probe waits until the service is there.

  $ yodel -z --retry forever --retry-delay 10ms unix:socket 2>one.log & one=$!
  $ yodel-load -z -v --connections 2 --retry forever --retry-delay 10ms unix:socket 2>two.log & two=$!
  $ await 'retry in' one.log && await 'retry in' two.log && start yodeld -U socket 0
  $ wait $one && wait $two && grep -o 'connected to .*;\|: connected to .*' one.log two.log
  one.log:: connected to socket; look-up *, connect * ms (glob)
  two.log:: connected to socket; look-up *, connect * ms (glob)
  two.log:: connected to socket; look-up *, connect * ms (glob)
