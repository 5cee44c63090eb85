A page of results
=================

The recipe results.py makes one HTML page from the results of one or several runs.

  $ to() { "$TESTDIR/../../contrib/recipes/results.py" --to "$@"; }
  $ serve
  $ yodel-load --json --connections 2 --rate 500 -m 2.2 --require 'p50<1h' --require 'lost=1' 127.0.0.1 $PORT >run 2>log
  [1]
  $ yodel-load --json -c 20 --rate 1k 127.0.0.1 $PORT >'<b>"other"&' 2>log

It loads nothing else, and labels are only text.

  $ to html run '<b>"other"&' >page.html
  $ grep -c -i '<script\|<link\|src=\|href\|url(\|@import\|http\|<b>' page.html
  0
  [1]
  $ grep -o '<svg\|class="series [abcd]' page.html | tr -d '"' | xargs
  <svg class=series a class=series a <svg class=series a class=series b
  $ python3 -c "import re, xml.dom.minidom as x; [x.parseString(each) for each in re.findall(r'(?s)<svg.*?</svg>', open('page.html').read())]"
  $ grep -o '<h1>.*</h1>\|<h2>[^<]*\|✗ [^<]*\|✓ [^<]*' page.html
  <h1>yodel: round trips</h1>
  ✗ required lost=1, was 0
  <h2>Requirements
  ✓ met
  ✗ not met
  <h2>Percentiles over time
  <h2>Distribution

One file is enough for the other formats.

  $ to junit run run
  results.py: --to junit takes one FILE (results.py -h shows the options)
  [2]
