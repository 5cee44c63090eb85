Results in the formats of other programs
========================================

The recipe results.py makes them from --json.

  $ need xmllint
  $ to() { "$TESTDIR/../../contrib/recipes/results.py" --to "$@"; }
  $ lines() { printf 'one\ntwo\nthree\n'; }
  $ printf 'a\n<&\001\377\n' | yodel --json >recording 2>log
  $ sed 's/"received":"a/"received":"b/' recording >changed

A distribution contains each level up to its maximum, in milliseconds.

  $ echo '{"type":"end","connections":{},"rtt_us":{"mean":3000,"max":8000},"histogram":[[1003.519,1],[2007.039,2],[8028.159,1]]}' | to hgrm | sed '4,13d'
         Value     Percentile TotalCount 1/(1-Percentile)
  
         1.004 0.000000000000          1           1.00
         8.000 0.775000000000          4           4.44
         8.000 1.000000000000          4
  #[Mean    =        3.000, StdDeviation   =        2.795]
  #[Max     =        8.000, Total count    =            4]
  #[Buckets =           57, SubBuckets     =          128]

Test cases follow the schema of JUnit, and agree with the status.

  $ report() { to junit >report.xml && xmllint --noout --schema "$PEERS/junit.xsd" report.xml 2>log && grep -o ' tests="[0-9]*"\| failures="[0-9]*"' report.xml | xargs; }
  $ lines | yodel --json 2>log | report
  tests=1 failures=0
  $ yodel -z --json 2>log | report
  tests=1 failures=0
  $ yodel-load --json -u -c 20 --require 'p99<9s,lost=0' 2>log | report
  tests=3 failures=0
  $ yodel-load --json --connections 3 -c 30 --threads 2 --require 'p99<1us,sent=30' 2>log | report
  tests=3 failures=1
  $ yodel --json --replay recording -i 0 2>log | report
  tests=1 failures=0
  $ yodel --json --replay changed -i 0 2>log | report
  tests=2 failures=2
  $ "$TESTDIR/../../contrib/recipes/results.py" --merge recording --to json --require 'sent>5' 2>log | report
  tests=2 failures=1
  $ for clause in failed=1 sent=0 'p99<1s'; do yodel-load --json -c 1 --require "$clause" 127.0.0.1 1 2>log | report; done
  tests=2 failures=0
  tests=2 failures=1
  tests=2 failures=2
  $ grep -c timestamp report.xml
  0
  [1]
  $ echo '{"type":"end","status":1,"reason":"","errors":[],"sent":9,"echoed":7,"bad":2,"lost":0,"duration_us":1,"required":[{"clause":"max<2s","was":"1s","holds":true},{"clause":"min<1s","was":"3s","holds":false}],"held":{"max<2s":300,"min<1s":200}}' | report
  tests=3 failures=2
  $ grep -o 'message="[^"]*"\|<system-out>.*' report.xml
  message="2 bad"
  <system-out>max&lt;2s held up to 300/s</system-out></testcase>
  message="min&lt;1s held up to 200/s, then was 3s"

The recipe names a line that no program wrote, and a missing end.

  $ printf '{"type":"connection"}\n3 sent\n' | to junit
  results.py: standard input: line 2 is not an object of yodel --json
  [2]
  $ to junit </dev/null
  results.py: standard input: no end object found (expected --json output)
  [2]

Odd input gives a sentence, XML that parses, and metrics with one line each.

  $ printf '{"type":"end\377"}\n' | to junit
  results.py: standard input: the text is not UTF-8
  [2]
  $ python3 -c 'print("[" * 100000)' | to junit
  results.py: the input is nested too deeply
  [2]
  $ for format in hlog junit html; do echo '{"type":"end","connections":5,"status":1}' | to $format; done
  results.py: a member of the input is missing or odd: * (glob)
  results.py: a member of the input is missing or odd: * (glob)
  results.py: a member of the input is missing or odd: * (glob)
  [2]
  $ echo '{"type":"end","status":2,"reason":"a\u0001\ud800b","errors":[],"sent":1,"echoed":0,"bad":0,"lost":0,"duration_us":1}' | report
  tests=1 failures=1
  $ printf '%s\n' '{"type":"end","a.b":1,"a_b":2,"x\ny 5":3}' | to openmetrics
  # TYPE yodel_a_b gauge
  # HELP yodel_a_b The member a.b of the end object of yodel --json.
  yodel_a_b 1
  # TYPE yodel_x_y_5 gauge
  # HELP yodel_x_y_5 The member x\ny 5 of the end object of yodel --json.
  yodel_x_y_5 3
  # EOF

A collector reads the metrics of each second while the load runs.

  $ { echo '{"type":"interval","t":1,"sent":5}'; until [ -e live.prom ]; do sleep 0.02; done; cp live.prom first.prom; \
  >   echo '{"type":"end","status":0,"sent":9}'; } | to openmetrics --output live.prom
  $ grep '^y' first.prom live.prom
  first.prom:yodel_duration_seconds 1
  first.prom:yodel_sent 5
  live.prom:yodel_exit_status 0
  live.prom:yodel_sent 9
  $ to html --output live.prom
  results.py: --output needs --to openmetrics (results.py -h shows the options)
  [2]
  $ to openmetrics --output none/live.prom first.prom
  results.py: first.prom: line 1 is not an object of yodel --json
  [2]
  $ echo '{"type":"end","status":0}' | to openmetrics --output none/live.prom
  results.py: none/live.prom: No such file or directory
  [23]
