What is said first
==================

With --on-connect, each connection begins with lines of its own, for example a password. They are not counted.

  $ need redis-server
  $ spawn redis-server --port 0 --unixsocket redis --save '' --requirepass secret
  $ await 'ready to accept' $LOG
  $ printf 'SET a 1\nGET a\n' | yodel --quiet -f resp --on-connect 'AUTH secret' --on-connect 'SELECT 2' unix:redis
  +OK
  $1\r (esc)
  1

A file keeps the password out of the list of processes, and -v shows no arguments.

  $ printf 'AUTH secret\nSELECT 2\n' > words
  $ echo 'GET a' | yodel -v -f resp --on-connect @words unix:redis 2>&1 >&- | grep on-connect
  yodel: --on-connect 1, AUTH ...: OK
  yodel: --on-connect 2, SELECT ...: OK
  $ echo 'GET a' > messages
  $ yodel-load -f resp --on-connect @words --connections 5 -c 50 --rate 500 --messages messages unix:redis 2>&1 | grep -o '50 sent, 50 answered'
  50 sent, 50 answered
  $ echo 'GET a' | yodel --json -f resp --on-connect @words unix:redis 2>log | grep -c '"seq":1,.*GET a'
  1

A refusal ends the attempt.

  $ echo 'GET a' | yodel --quiet -f resp --on-connect 'AUTH wrong' unix:redis
  yodel: the server refused --on-connect 1: -WRONGPASS invalid username-password pair or user is disabled.
  [7]
  $ echo 'GET a' | yodel --on-connect @none -f resp unix:redis
  yodel: --on-connect: cannot read "none": No such file or directory (yodel -h shows the options)
  [2]

With -f smtp, the greeting is awaited first.

  $ start python3 "$PEERS/mail.py" 0
  $ printf 'NOOP\nQUIT\n' | yodel -v -f smtp --on-connect 'EHLO me' 127.0.0.1 $PORT 2>&1 | grep -v 'sandbox\|connected'
  yodel: greeting: 220-mail.test
  yodel: 220 ready
  yodel: --on-connect 1, EHLO ...: 250-mail.test
  yodel: 250-SIZE 1000
  yodel: 250 HELP
  250 OK
  221 bye
  yodel: 2 sent, 2 answered, 0 bad, 0 lost; * (glob)

With -q forever, the end of the input ends nothing: what arrives is printed until the server closes.

  $ echo 'SUBSCRIBE news' | yodel --quiet -f resp -q forever --on-connect @words unix:redis > feed 2>&1 &
  $ subscriber=$!
  $ await subscribe feed
  $ echo 'PUBLISH news hello' | yodel --quiet -f resp --on-connect @words unix:redis
  :1
  $ await hello feed
  $ echo 'SHUTDOWN NOSAVE' | yodel --quiet -f resp --expect none --on-connect @words unix:redis
  $ wait $subscriber
  $ tail -n 2 feed
  $5\r (esc)
  hello
