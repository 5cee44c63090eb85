Results read by other programs
==============================

  $ need java /usr/share/java/hdrhistogram.jar /usr/lib/python3/dist-packages/prometheus_client
  $ to() { "$TESTDIR/../../contrib/recipes/results.py" --to "$@"; }
  $ lines() { printf 'one\ntwo\nthree\n'; }
  $ lines | yodel --json >recording 2>log

HdrHistogram's reader finds each round trip of an interval log of results.py, and computes the same percentiles. The end of the
maximum's bucket may exceed the maximum.

  $ lines | yodel-load --json -m 2.2 --rate 300 --connections 4 >run1 2>log &
  $ yodel-load --json -m 1.2 --rate 4k --connections 4 --threads 2 >run2 2>log; wait $!
  $ lines | yodel --json >run3 2>log
  $ yodel --json -u -c 30 -i 1ms >run4 2>log
  $ lines | yodel-load --json --tls -f len4 --connections 2 >run5 2>log
  $ yodel --json --replay recording -i 0 >run6 2>log
  $ "$TESTDIR/../../contrib/recipes/results.py" --merge run1 run2 --to json >run7 2>log
  $ yodel-load --json -c 1 127.0.0.1 1 >run8 2>log
  [7]
  $ for i in 1 2 3 4 5 6 7 8; do to hlog run$i >log$i; done
  $ java -cp /usr/share/java/hdrhistogram.jar "$PEERS/ReadIntervalLog.java" log[1-8] | awk '/^began/ { i++ } { print >"read" i }'
  $ percentiles() { awk -v max=$max '/^p/ { print $1, ($2 + 0 >= max ? "max" : $2) }'; }
  $ for i in 1 2 3 4 5 6 7; do
  >     tail -n 1 run$i >end && max=$(sed 's/.*"rtt_us":{[^}]*"max":\([0-9.]*\).*/\1/' end)
  >     sed -n 's/.*"echoed":\([0-9]*\).*"histogram":\([^]]*\(\],\[[^]]*\)*\]\]\).*/count \1\nbuckets \2/p' end >expected
  >     grep '^count\|^buckets' read$i | cmp - expected
  >     sed 's/.*"rtt_us":{\([^}]*\).*/\1/' end | tr , '\n' | sed 's/"\(p[0-9.]*\)":/\1 /' | percentiles >expected
  >     percentiles <read$i | cmp - expected && wc -l <expected
  > done | uniq
  6
  $ grep '^count\|^buckets' read8
  count 0
  buckets []
  $ sed -n 's/^\([0-9].000,[0-9]\.[0-9]\).*/\1/p' log1
  0.000,1.0
  1.000,1.0
  2.000,0.* (glob)

A parser of OpenMetrics finds the figures.

  $ metrics() { to openmetrics "$@" | /usr/bin/python3 "$PEERS/check_metrics.py" >metrics; sed -n 's/ - [^ ]* / /; /exit_status\|^yodel_sent/p' metrics; grep -c 'rtt_p99_seconds gauge seconds' metrics; }
  $ metrics run4
  yodel_exit_status gauge 0.0
  yodel_sent gauge 30.0
  1
  $ metrics run8
  yodel_exit_status gauge 7.0
  yodel_sent gauge 0.0
  0
  [1]
  $ yodel-load --json -c 5 --require "sent>5" 2>log | metrics
  yodel_exit_status gauge 1.0
  yodel_sent gauge 5.0
  1
