The screen under load and at rest
=================================

A flood of 64 MiB draws at most 60 times a second.

  $ need socat
  $ start socat -d -d TCP-LISTEN:0,fork,bind=127.0.0.1 \
  >     "SYSTEM:yes $(printf %063d 0) | head -n ${MEASURES_MEMORY:+10}40000; echo the last of them; cat"
  $ began=$(date +%s%N)
  $ bytes=$(on_terminal yodel --expect none 127.0.0.1 $PORT -- 'wait the last of them' written)
  $ [ $bytes -lt $(((($(date +%s%N) - began) / 16000000 + 2) * 24 * 80 * 2)) ] && echo few frames
  few frames

An idle screen draws nothing and takes no time. A connected one draws only the seconds.

  $ on_terminal yodel -- 'wait up 00:' 'keys \e[19~' 'wait closed: disconnected' rests
  $ on_terminal yodel -- 'wait up 00:' second written used second written used >figures
  $ xargs <figures | awk '{ print ($3 - $1 < 200 ? "few" : $3 - $1) " bytes, " ($4 - $2 <= 60 ? "little" : $4 - $2) " time" }'
  few bytes, little time

A message of 1 MiB is sent, echoed and opened. Of a long line from the history, only the visible part is drawn.

  $ on_terminal yodel -- 'wait up 00:' 'paste 1048576' 'wait … 1048576 bytes ✓' 'keys \e[1;3A\r' 'wait Message 1' 'wait Sent, 1048576 bytes'
  $ set --; query=; for i in 1 2 3 4 5 6 7 8 9 10; do query=${query}m; set -- "$@" 'keys m' "wait search: $query - mmm"; done
  $ on_terminal yodel -- 'wait up 00:' 'paste 4194304' 'wait … 4194304 bytes ✓' used 'keys ^R' "$@" used >figures
  $ xargs <figures | awk -v limit=${MEASURES_MEMORY:+500} '{ print ($2 - $1 < (limit ? limit : 5000) ? "soon" : $2 - $1) }'
  soon

A million messages keep its memory bounded.

  $ [ "$MEASURES_MEMORY" ] && count=1000000 || count=50000
  $ start socat -d -d TCP-LISTEN:0,fork,bind=127.0.0.1 "SYSTEM:seq $count; sleep 60"
  $ on_terminal yodel --expect none 127.0.0.1 $PORT -- "wait « $count" 'keys \e<' 'wait HELD' 'pid grep VmHWM /proc/$PID/status' |
  >     awk -v measured=$MEASURES_MEMORY '{ print (!measured || $2 < 150000 ? "bounded" : $2) }'
  bounded
