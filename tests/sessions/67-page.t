A page of results
=================

The recipe results.py makes one HTML page from the results of one or several runs.

  $ to() { "$TESTDIR/../../contrib/recipes/results.py" --to "$@"; }
  $ serve
  $ yodel-load --json --connections 2 --rate 500 -m 2.2 --require 'p50<1h' --require 'lost=1' 127.0.0.1 $PORT >run 2>log
  [1]
  $ yodel-load --json -c 20 -i 1ms 127.0.0.1 $PORT >'<b>"other"&' 2>log

It loads nothing else, and labels are only text.

  $ to html run '<b>"other"&' >page.html
  $ grep -c -i '<script\|<link\|src=\|href\|url(\|@import\|http\|<b>' page.html
  0
  [1]
  $ grep -o '<svg' page.html | wc -l
  3
  $ grep -o '<h1>.*</h1>\|<h2>[^<]*\|✗ [^<]*\|✓ [^<]*' page.html
  <h1>yodel: round trips</h1>
  ✗ required lost=1, was 0
  <h2>Requirements
  ✓ met
  ✗ not met
  <h2>Percentiles over time
  <h2>Heat map: run
  <h2>Distribution

A stall is shaded. An interval is one if its slowest round trip took five times as long as it usually does.

  $ interval() { echo '{"type":"interval","t":'$1',"histogram":[[1000,90],['$2',10]]}'; }
  $ end() { echo '{"type":"end","status":0,"reason":"","connections":{},"duration_us":5e6,"sent":1,"echoed":1,"rtt_us":{},"histogram":[[1000,1]]'"$1}"; }
  $ { interval 1 1100; interval 2 1200; interval 3 700000; interval 4 1100; interval 5 1000; end; } | to html |
  >     grep -o '<rect class="stall"[^>]*><title>[^<]*' | sed 's/.*<title>//'
  run: a stall within 2 s to 3 s

One file is enough for the other formats.

  $ to junit run run 2>&1 | tail -n 1
  results.py: error: --to junit takes one FILE
