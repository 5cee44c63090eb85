Recordings to look at
=====================

Without a terminal, -r prints a recording as the transcript that -o would have written, with the recorded times.

  $ show() { yodel -r "$@" | sed 's/[0-9-]* [0-9:.]*/TIME/; s/:[0-9]*$/:PORT/'; }
  $ printf 'SET a one\nGET a\nGET b\n\033[31m\n' | yodel --quiet -o r.json >out
  $ show r.json
  TIME - connected to 127.0.0.1:PORT
  TIME > SET a one
  TIME > GET a
  TIME > GET b
  TIME > ^[[31m
  TIME < SET a one
  TIME < GET a
  TIME < GET b
  TIME < ^[[31m
  TIME - closed
  $ begin=$(sed -n 's/.*"started":"\([^"]*\)".*/\1/p' r.json)
  $ yodel -r r.json | head -n 1 | cut -c 1-22 | sed "s/^$(date -d "$begin" +'%F %T')/STARTED/"
  STARTED.?? (glob)

Messages and replies are in the order in which they were sent and received, whatever the order of the file.

  $ cat >o.json <<EOF
  > {"type":"recording","version":2,"framing":"line","first":1,"connections":1,"started":"2026-11-23T18:00:00Z"}
  > {"type":"message","seq":2,"sent_us":2000,"rtt_us":1000,"fate":"echoed","right":true,"sent":"b","received":"b"}
  > {"type":"message","fate":"unsolicited","received_us":3500,"received":"news"}
  > {"type":"message","seq":1,"sent_us":1000,"rtt_us":4000,"fate":"bad","difference":0,"sent":"a","received":"x"}
  > {"type":"message","seq":3,"sent_us":2500,"fate":"lost","sent":"c"}
  > {"type":"message","seq":3,"sent_us":2500,"rtt_us":9000,"fate":"late","right":true,"sent":"c","received":"c"}
  > {"type":"end","reason":"closed"}
  > EOF
  $ TZ=UTC yodel -r o.json
  2026-11-23 18:00:00.001000 > a
  2026-11-23 18:00:00.002000 > b
  2026-11-23 18:00:00.002500 > c
  2026-11-23 18:00:00.003000 < b
  2026-11-23 18:00:00.003500 < news
  2026-11-23 18:00:00.005000 < x
  2026-11-23 18:00:00.005000 - reply 1 differs at byte 0 (expected a, got x)
  2026-11-23 18:00:00.005000 - no reply to message 3
  2026-11-23 18:00:00.011500 < c
  2026-11-23 18:00:00.011500 - closed

Conversations with several connections, which cannot be replayed, can be shown. A pipe can be read, too.

  $ { sed '$d' r.json; sed 1d o.json; } | show - | grep -c 'connected\|closed'
  2

So can conversations over UDP, and with other framings.

  $ serve -u && echo hi | yodel --json udp://127.0.0.1:$PORT >u.json 2>log && show u.json
  TIME - connected to 127.0.0.1:PORT
  TIME > hi
  TIME < hi
  TIME - * (glob)
  $ serve -f caret && printf 'abc' | yodel --json -f caret 127.0.0.1 $PORT >c.json 2>log && show c.json
  TIME - connected to 127.0.0.1:PORT
  TIME > abc
  TIME < bcd
  TIME - * (glob)

A damaged recording is shown up to the damage, which is named.

  $ head -n 4 r.json >cut.json && printf '{"type":"mess' >>cut.json
  $ show cut.json 2>log
  TIME - connected to 127.0.0.1:PORT
  TIME > SET a one
  TIME > GET a
  TIME < SET a one
  TIME < GET a
  $ cat log && yodel -r cut.json >out 2>&1
  yodel: cut.json:5: the line is truncated
  [26]
  $ yodel -r none
  yodel: none: No such file or directory
  [26]

The result of a load contains its slowest and its bad messages, from all threads. They can be shown in the same way.

  $ serve -f line --corrupt 0.1 --seed 5
  $ yodel-load --json --threads 2 --connections 2 -c 400 --size 3000 127.0.0.1 $PORT >load.json 2>log
  [1]
  $ tail -n 1 load.json | grep -o '"samples":{"started":"[^"]*","slowest":\[{"type":"message"' | wc -l
  1
  $ yodel -r load.json >out && grep -c ' > ' out | sed 's/^[5-9][0-9]$/many/'
  many
  $ grep -m 1 -o '[-] reply [0-9]* differs' out
  - reply * differs (glob)
