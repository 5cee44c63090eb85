Runs that are added up or compared
==================================

  $ results() { "$TESTDIR/../../contrib/recipes/results.py" "$@"; }

The recipe results.py adds up runs from their --json output.

  $ for run in a b; do yodel-load --json -c 50 >$run 2>log; done
  $ yodel --json -c 50 -i 0 >c 2>log
  $ results --merge a b c
  3 runs, began within * ms, together for 0 % of the time: 150 sent, 150 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  results.py: a began 0ms after the first run and ended *s before the last (glob)
  $ results --merge a b c --to json 2>log | grep -o '"reason":.*"echoed":[0-9]*\|"connections":{[^{]*'
  "reason":"3 runs merged","status":0,"sent":150,"echoed":150
  "connections":{"attempts":3,"opened":3,"failed":0,"connect_us":
  $ results --merge a --require 'sent>50' >out
  results.py: required sent>50, was 50
  [1]
  $ yodel-load --json -c 1 127.0.0.1 1 >failed 2>log
  [7]
  $ results --merge a failed --require 'sent>50' >out
  results.py: failed contains a run that sent nothing
  results.py: cannot connect to 127.0.0.1:1: Connection refused
  results.py: required sent>50, was 50
  [7]

Counts and histograms add up exactly. The rate is taken over the time from the first message of all runs to the last reply.

  $ end() { echo '{"type":"end","reason":"closed","status":0,"sent":'$1',"echoed":'$1',"bad":0,"lost":0,"late":0,"unsent":0,"unsolicited":0,"duplicates":0,"rate":1,"began":"2026-11-23T18:00:0'$2'Z","ended":"'$3'","duration_us":'$4',"rtt_us":{"min":'$5',"max":'$6',"mean":1000,"sum":'$7'},"histogram":['$8'],"connections":{"attempts":1,"opened":1,"failed":0},"errors":[]}'; }
  $ end 3 0.000000 2026-11-23T18:00:08.000000Z 8000000.000 100 3000.5 3200.5 '[100.351,2],[3014.655,1]' >one
  $ end 1 1.000000 2026-11-23T18:00:10.000000Z 9000000.000 50 50 50 '[50.175,1]' >two
  $ results --merge one two
  2 runs, began within 1000 ms, together for 70 % of the time: 4 sent, 4 echoed, 0 bad, 0 lost, 0.4/s; rtt min/p50/p95/p99/max 0.05/0.10/3.0/3.0/3.0 ms
  results.py: one began 0ms after the first run and ended 2s before the last
  $ results --merge one two --to json 2>log | grep -o '"rate.*]]'
  "rate":0.4,"overlap":0.7,"rtt_us":{"min":50.0,"mean":812.625,"p50":100.351,"p90":3000.5,"p95":3000.5,"p99":3000.5,"p99.9":3000.5,"p99.99":3000.5,"max":3000.5,"sum":3250.5},"histogram":[[50.175,1],[100.351,2],[3014.655,1]]

The sum of one run is that run, and sums can be added up and made into other formats.

  $ measured() { results --to openmetrics "$1" | grep '^yodel_\(rtt\|duration\|connections\)' | sort; }
  $ results --merge a --to json >sum && measured a >times_of_a && measured sum | cmp - times_of_a
  $ results --merge sum b --to json 2>log >left; results --merge b a --to json 2>log >right
  $ measured left >times_of_both && measured right | cmp - times_of_both
  $ results --merge a b --to hlog 2>log | head -n 1
  #[Times in nanoseconds, made from yodel --json]

A requirement decides the status and the reason, as in a run. A signal is not the status of a sum.

  $ sum() { results --merge "$@" --to json 2>log | grep -o '"reason":.*"sent"'; }
  $ sum a --require sent=5
  "reason":"required sent=5, was 50","status":1,"sent"
  $ yodel-load --json -c 4 --require sent=5 >judged 2>log
  [1]
  $ sum judged --require sent=4
  "reason":"1 run merged","status":1,"sent"
  $ sed 's/"status":1/"status":143/' judged >stopped && sum stopped
  "reason":"1 run merged","status":1,"sent"

A comparison prints both runs and the change of each figure. A requirement such as p99<+10% allows a change since the old run.

  $ sed 's/"max":3000.5/"max":6000.5/; s/3014.655/6029.311/; s/"sum":3200.5/"sum":6200.5/; s/"late":0/"late":1/' one >slow
  $ results --compare one slow --require 'max<+10%,p50<=+0%,sent>=-5%,late<+5%,max<5ms' >changes
  results.py: required max<+10%, was +100% (6ms after 3ms)
  results.py: required late<+5%, was 1 after 0
  results.py: required max<5ms, was 6ms
  [1]
  $ grep -v '^p9\|^attempts\|^opened\|^echoed' changes
  old: 3 sent, 3 echoed, 0 bad, 0 lost, 1/s; rtt min/p50/p95/p99/max 0.10/0.10/3.0/3.0/3.0 ms
  new: 3 sent, 3 echoed, 0 bad, 0 lost, 1 late, 1/s; rtt min/p50/p95/p99/max 0.10/0.10/6.0/6.0/6.0 ms
  rate                      1/s        1/s     +0.0 %
  sent                        3          3     +0.0 %
  late                        0          1      was 0
  min                     100us      100us     +0.0 %
  mean                      1ms        1ms     +0.0 %
  p50                     100us      100us     +0.0 %
  max                       3ms        6ms   +100.0 %
  $ results --compare one one --require 'p99<+10%' | tail -n 1
  max                       3ms        3ms     +0.0 %

A file that is named twice, or contains no whole run, is refused, as is a wrong command line.

  $ results --merge a ./a
  results.py: --merge: a and ./a are the same file (results.py -h shows the options)
  [2]
  $ head -c 200 c >cut && results --merge cut
  results.py: cut: line 2 is not an object of yodel --json
  [2]
  $ head -n 1 c >none && results --merge none
  results.py: none: no end object found (expected --json output)
  [2]
  $ sed 's/"sent":3,//' one >odd && results --merge odd
  results.py: a member of the input is missing or odd: 'sent'
  [2]
  $ for bad in 'p99' 'foo<3' 'p99<5' 'lost<' 'rate>-1'; do results --merge a --require "$bad" 2>&1 | cut -c 1-80; done
  results.py: --require: "p99" is not a requirement such as p99<5ms, lost<0.1% or 
  results.py: --require: "foo<3": unknown figure "foo"; the figures are min, mean,
  results.py: --require: "p99<5": p99 needs a duration with its unit (us, ms, s, m
  results.py: --require: "lost<": lost needs a number, or a percentage such as 0.1
  results.py: --require: "rate>-1": rate needs a number per second, such as 10k (r
  $ results --merge a --compare a b
  results.py: give one of --merge FILE... [--to FORMAT], --compare OLD NEW and --to FORMAT [FILE...]; --require needs one of the first two (results.py -h shows the options)
  [2]
