Replies that match
==================

With --match, a reply is judged by a regular expression instead of its message.

  $ serve && printf 'OK\none\033[31m\nNONE\n' >commands
  $ yodel --match '^(OK|NONE)$' 127.0.0.1 $PORT <commands 2>log
  OK
  one\x1b[31m (esc)
  NONE
  [1]
  $ cat log
  yodel: reply 2 does not match "^(OK|NONE)$": one^[[31m
  yodel: 3 sent, 2 answered, 1 bad, 0 lost; rtt * (glob)
  $ yodel --quiet --match '^(OK|NONE|one.*)$' 127.0.0.1 $PORT <commands
  OK
  one\x1b[31m (esc)
  NONE
  $ yodel --json --match '^(OK|NONE)$' 127.0.0.1 $PORT <commands 2>log | grep -o '"fate":"bad".*\|"echoed":.*"lost":[0-9]*'
  "fate":"bad","right":false,"sent":"one\u001b[31m","received":"one\u001b[31m"}
  "echoed":2,"bad":1,"lost":0

In a load, so do own messages, at a rate, in threads, as datagrams. A requirement tolerates.

  $ yodel-load --match '^(OK|NONE)$' 127.0.0.1 $PORT <commands
  yodel-load: reply 2 does not match "^(OK|NONE)$": one^[[31m
  yodel-load: 3 sent, 2 answered, 1 bad, 0 lost, */s; rtt * (glob)
  [1]
  $ for options in '' '--rate 1k' '--threads auto'; do
  >     yodel-load --match '^(OK|NONE)$' --messages commands -c 3 $options 127.0.0.1 $PORT 2>&1 | grep -v sent
  > done | uniq -c
        3 yodel-load: reply 2 does not match "^(OK|NONE)$": one^[[31m
  $ yodel-load --match '^(OK|NONE)$' --require bad=1 127.0.0.1 $PORT <commands 2>log
  $ yodel-load --match '^(OK|NONE)$' --require 'bad<1' 127.0.0.1 $PORT <commands 2>log
  [1]
  $ serve -u
  $ yodel-load -u --match '^(OK|NONE)$' --messages commands -c 3 127.0.0.1 $PORT
  yodel-load: reply 2 does not match "^(OK|NONE)$": one^[[31m
  yodel-load: 3 sent, 2 answered, 1 bad, 0 lost, 0 duplicate, 0 reordered, */s; rtt * (glob)
  [1]

The message does not matter. Only the beginning of a long reply is examined.

  $ play line 'send:PONG\n' wait && echo PING | yodel --quiet --match '^PO' 127.0.0.1 $PORT
  PONG
  $ play line "send:$(printf %05000d 0)1\\n" wait
  $ echo x | yodel --match 1 127.0.0.1 $PORT 2>&1 >out | grep reply
  yodel: reply 1 does not match "1": 0000000000000000000000000000000000000000000000000000000000000000...; only the first 4096 bytes of a reply are examined
