A script for each connection
============================

The lines of standard input are a script that each connection of a load sends, whatever the framing. Replies are
printed with -v or --json only, with the number of their connection.

  $ serve
  $ printf 'one\ntwo' | yodel-load --connections 2 127.0.0.1 $PORT
  yodel-load: 4 sent, 4 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  $ echo one | yodel-load --json --connections 2 127.0.0.1 $PORT 2>log >out
  $ grep -o '"type":"connection","connection":.\|"fate":"echoed","right":true,"connection":.' out | sort -u
  "fate":"echoed","right":true,"connection":1
  "fate":"echoed","right":true,"connection":2
  "type":"connection","connection":1
  "type":"connection","connection":2
  $ caret() { printf 'abc\nabte\nab0000\n' | yodel-load --connections 3 -f caret -v 127.0.0.1 $PORT 2>log | sort -s -n; tail -n 1 log; }
  $ serve -f caret && caret >ours
  $ play caret && caret >theirs
  $ for file in ours theirs; do xargs <$file; done
  1: bcd 1: bcuf 1: bc1111 2: bcd 2: bcuf 2: bc1111 3: bcd 3: bcuf 3: bc1111 yodel-load: 9 sent, 9 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  1: bcd 1: bcuf 1: bc1111 2: bcd 2: bcuf 2: bc1111 3: bcd 3: bcuf 3: bc1111 yodel-load: 9 sent, 9 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  $ { echo first; await '2: first' out1; await '1: first' out1; echo second; } | yodel-load --connections 2 -v >out1 2>log
  $ sort out1
  1: first
  1: second
  2: first
  2: second

A reader that does not keep up pauses the script, and gets all of it.

  $ seq 20000 | yodel-load --connections 2 -v -W 60 2>log | { sleep 0.3; wc -l; }
  40000
  $ tail -n 1 log
  yodel-load: 40000 sent, 40000 echoed, 0 bad, 0 lost, */s; rtt * (glob)
