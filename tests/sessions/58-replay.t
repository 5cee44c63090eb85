Recordings and their replay
===========================

What --json prints is a recording: an object for each message, with its times and its bytes.

  $ printf 'SET a one\nGET a\nDEL a\nGET a\nSET b \033[31m\377\nGET b\n' >commands
  $ store() { play line 'send:OK\n' line "send:$1\n" line 'send:OK\n' line 'send:NONE\n' line 'send:OK\n' line "send:$2\n" wait; }
  $ store one '\x1b[31m\xff' && yodel --json --expect any 127.0.0.1 $PORT <commands >r.json 2>log
  $ grep -o '"sent[64_base]*":"[^"]*".*"received[64_base]*":"[^"]*"' r.json
  "sent":"SET a one","received":"OK"
  "sent":"GET a","received":"one"
  "sent":"DEL a","received":"OK"
  "sent":"GET a","received":"NONE"
  "sent_base64":"U0VUIGIgG1szMW3/","received":"OK"
  "sent":"GET b","received_base64":"G1szMW3/"

A replay sends the same at the same times, or without pauses with -i 0, and compares the replies.

  $ echo not read | yodel --replay r.json 127.0.0.1 $PORT
  yodel: 6 replayed, 6 matched, 0 bad, 0 lost; rtt * (glob)
  $ store ONE '\x1b[31M\xff' && yodel --replay r.json -i 0 127.0.0.1 $PORT 2>log
  reply 2 differs at byte 0 (expected o, got O)
      sent      GET a
      recorded  one
      now       ONE
  reply 6 differs at byte 4 (expected m, got M)
      sent      GET b
      recorded  ^[[31m\xff
      now       ^[[31M\xff
  [1]
  $ cat log
  yodel: reply 2 differs from the recording at byte 0 (expected o, got O)
  yodel: 6 replayed, 4 matched, 2 bad, 0 lost; rtt * (glob)
  $ yodel --replay r.json -i 0 -x 127.0.0.1 $PORT 2>log | grep ONE
      00000000  4f 4e 45                                         |ONE|

A server that answers nothing, or too much, is found.

  $ play line 'send:OK\n' line line 'send:OK\n' line line 'send:OK\n' wait
  $ yodel --replay r.json -i 0 -W 200ms 127.0.0.1 $PORT 2>&1 | grep replayed
  yodel: 6 replayed, 3 matched, 0 bad, 3 lost; rtt * (glob)
  $ store one '\x1b[31m\xff\nwelcome' && yodel --replay r.json -i 0 127.0.0.1 $PORT
  an unsolicited message is not in the recording
      now       welcome
  yodel: 6 replayed, 6 matched, 0 bad, 0 lost, 1 unsolicited not recorded; rtt * (glob)
  [1]

Data that answers no message, such as a greeting, must arrive again.

  $ play 'send:hello\n' line 'send:OK\nchanged a\n' line 'send:one\n' wait
  $ { await hello t.json; echo SET a one; await 'changed a' t.json; echo GET a; } |
  >     yodel --json --expect any 127.0.0.1 $PORT >t.json 2>log
  $ yodel --replay t.json -i 0 127.0.0.1 $PORT
  yodel: 2 replayed, 2 matched, 0 bad, 0 lost, 2 unsolicited matched; rtt * (glob)
  $ store one '' && yodel --replay t.json -i 0 -W 200ms 127.0.0.1 $PORT
  a recorded unsolicited message is missing
      recorded  hello
  a recorded unsolicited message is missing
      recorded  changed a
  yodel: 2 replayed, 2 matched, 0 bad, 0 lost, 2 unsolicited missing; rtt * (glob)
  [1]

Replies of several lines arrive again, too.

  $ list='send:one\ntwo\nthree\n'
  $ play line 'send:PONG\n' line "$list" line 'send:PONG\n' line "$list" line 'send:time\n' wait
  $ printf '%s\n' PING LIST PING LIST TIME | yodel --json --expect any 127.0.0.1 $PORT >l.json 2>log
  $ yodel --replay l.json -i 0 127.0.0.1 $PORT
  yodel: 5 replayed, 5 matched, 0 bad, 0 lost, 4 unsolicited matched; rtt * (glob)

With -o FILE.json, the recording is written beside the output. An existing file is not overwritten.

  $ store one '\x1b[31m\xff'
  $ yodel --quiet --expect any -o o.json 127.0.0.1 $PORT <commands | sed -n 1,4p
  OK
  one
  OK
  NONE
  $ yodel --replay o.json -i 0 127.0.0.1 $PORT
  yodel: 6 replayed, 6 matched, 0 bad, 0 lost; rtt * (glob)
  $ yodel --json --expect any -o same.json 127.0.0.1 $PORT <commands >both.json 2>log
  $ sed -i 's/"started":"[^"]*"//' both.json same.json && cmp both.json same.json
  $ yodel --quiet --expect any -o o.json 127.0.0.1 $PORT <commands
  yodel: cannot write the recording o.json: File exists
  [23]

Datagrams are replayed in the same way.

  $ serve -u && yodel --json udp://127.0.0.1:$PORT <commands >u.json 2>log
  $ yodel --replay u.json -u 127.0.0.1 $PORT
  yodel: 6 replayed, 6 matched, 0 bad, 0 lost, 0 duplicate, 0 reordered; rtt * (glob)
  $ serve -u --corrupt 1 && yodel --replay u.json -i 0 -u 127.0.0.1 $PORT 2>log | grep -c differs
  6

With --mask, parts of the replies are ignored, such as times and numbers.

  $ play line 'send:at 12:00:01 ok\n' line 'send:id=a7 done\n' wait
  $ printf 'TIME\nJOB\n' | yodel --json --expect any 127.0.0.1 $PORT >m.json 2>log
  $ play line 'send:at 9:30:00 ok\n' line 'send:id=bcd failed\n' wait
  $ yodel --replay m.json -i 0 --mask '[0-9]+:[0-9]{2}:[0-9]{2}' 127.0.0.1 $PORT 2>log | grep differs
  reply 2 differs at byte 3 (expected a, got b)
  $ yodel --replay m.json -i 0 --mask '[0-9]+:[0-9]{2}:[0-9]{2}' --mask 'id=[a-z0-9]+' 127.0.0.1 $PORT
  reply 2 differs at byte 7 (expected d, got f)
      sent      JOB
      recorded  id=a7 done
      now       id=bcd failed
  yodel: reply 2 differs from the recording at byte 7 (expected d, got f)
  yodel: 2 replayed, 1 matched, 1 bad, 0 lost; rtt * (glob)
  [1]

A recording may come from standard input.

  $ store one '\x1b[31m\xff'
  $ cat r.json | yodel -i 0 --replay - 127.0.0.1 $PORT
  yodel: 6 replayed, 6 matched, 0 bad, 0 lost; rtt * (glob)
  $ yodel -i 0 --replay - 127.0.0.1 $PORT <r.json
  yodel: 6 replayed, 6 matched, 0 bad, 0 lost; rtt * (glob)
  $ open_input && yodel -m 200ms --replay - <input
  yodel: standard input: the recording did not end within 200ms (--max-time)
  [28]
  $ yodel -m 200ms --replay input
  yodel: input: the recording did not end within 200ms (--max-time)
  [28]
  $ open_input '{'
  $ EV_TRACE=1 yodel --replay - <input 2>trace & await ready: trace && stop INT $!
  [130]
  $ tail -n 1 trace
  yodel: ended by SIGINT

A file that is no recording, or was cut or edited, is refused in one sentence.

  $ refuse() { yodel --replay "$1" 127.0.0.1 $PORT; }
  $ sed 's/"sent":"GET a"/"sent":"GET ab"/' r.json >edited && refuse edited
  yodel: edited:4: "sent_bytes" is 5, but the payload has 6 bytes
  [2]
  $ truncate -s 4G big && refuse big
  yodel: big: the recording is larger than 256 MiB
  [26]
