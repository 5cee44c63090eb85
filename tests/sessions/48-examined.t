Servers of other kinds
======================

Other kinds of connections and framings have checks of their own. Examinations mostly wait, so these run at the
same time.

  $ examine() { name=$1 && shift && yodel --examine -m 2m "$@" >$name & all="$all $!"; }
  $ others() { echo "= $1" && grep -v 'echoes\|keeps\|serves\|survives' $1; }
  $ serve -f len2 && examine len2 -f len2 127.0.0.1 $PORT
  $ serve -f caret && examine caret -f caret 127.0.0.1 $PORT
  $ serve --self-signed && examine tls -k tls://127.0.0.1:$PORT
  $ serve --ws && examine websocket ws://127.0.0.1:$PORT
  $ serve -u && examine datagrams udp://127.0.0.1:$PORT
  $ examine own
  $ start python3 "$PEERS/steps.py" serve 0 caret && examine caret_book -f caret 127.0.0.1 $PORT
  $ play open frame:89:there fragments && examine fragments ws://127.0.0.1:$PORT
  $ start python3 "$PEERS/steps.py" serve 0 rest && examine any 127.0.0.1 $PORT
  $ examine length_book -f len4le 127.0.0.1 $PORT
  $ wait $all; for each in len2 caret tls websocket own; do others $each; done
  = len2
  1..19
  ok 9 - accepts a length in pieces
  ok 14 - answers everything after a half-close, and closes
  = caret
  1..18
  ok 13 - answers everything after a half-close, and closes
  = tls
  1..19
  ok 14 - answers close_notify
  = websocket
  1..18
  ok 7 - accepts a ping between fragments
  ok 13 - answers a close frame
  = own
  1..19
  ok 14 - answers everything after a half-close, and closes
  $ cat datagrams
  1..8
  ok 1 - echoes a message
  ok 2 - echoes every byte value
  ok 3 - echoes an empty message
  ok 4 - keeps blanks, tabs and CR at both ends
  ok 5 - echoes a datagram of 65507 bytes
  ok 6 - serves a second client while the first is idle
  ok 7 - serves twenty clients together
  ok 8 - still echoes a message

Right servers in Python pass: any echo, two servers from books, and a WebSocket server that answers in fragments.

  $ for each in any caret_book length_book fragments; do grep -v '^ok' $each; done | xargs
  1..19 1..18 1..20 1..18
