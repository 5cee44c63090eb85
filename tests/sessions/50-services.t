Services that do not echo
=========================

With -f resp, a message is a command of Redis and a reply is any one of its types.

  $ need redis-server
  $ spawn redis-server --port 0 --unixsocket redis --save ''
  $ await 'ready to accept' $LOG
  $ printf 'PING\nECHO hello\nECHO "a\\r\\nb"\nGET none\nNONSENSE\nRPUSH list one two\nLRANGE list 0 -1\n' | yodel --quiet -f resp unix:redis
  +PONG
  $5\r (esc)
  hello
  $4\r (esc)
  a\r (esc)
  b
  $-1
  -ERR unknown command *NONSENSE* (glob)
  :2
  *2\r (esc)
  $3\r (esc)
  one\r (esc)
  $3\r (esc)
  two
  $ printf 'EVAL "return {1,{2,{'"'x'"'},{}}}" 0\nLRANGE none 0 -1\n' | yodel --quiet -f resp unix:redis
  *2\r (esc)
  :1\r (esc)
  *3\r (esc)
  :2\r (esc)
  *1\r (esc)
  $1\r (esc)
  x\r (esc)
  *0
  *0

So are the types of RESP3. A push answers nothing. The reply of HELLO ends with an empty array here.

  $ printf '%s\n' 'HELLO 3' 'HSET h a 1' 'HGETALL h' 'GET none' 'ZADD z 1.5 m' 'ZSCORE z m' 'SADD s x' 'SMEMBERS s' \
  >     'CLIENT TRACKING ON' 'GET key' 'SET key 1' PING | yodel -f resp unix:redis 2>log >out
  $ head -n 1 out && sed '1,/^\*0/d' out | tr -d '\r' | xargs
  %7\r (esc)
  :1 %1 $1 a $1 1 _ :1 ,1.5 :1 ~1 $1 x +OK _ +OK >2 $10 invalidate *1 $3 key +PONG
  $ cat log
  yodel: 12 sent, 12 answered, 0 bad, 0 lost, 1 unsolicited; rtt * (glob)

With --escapes, a command may be an array with any bytes. A large reply is one message, up to --max-frame.

  $ printf '*2\\r\\n$4\\r\\nECHO\\r\\n$3\\r\\n\\r\\n\\0\nPING\n' | yodel --quiet --escapes -f resp unix:redis
  $3\r (esc)
  \r (esc)
  \x00 (esc)
  +PONG
  $ echo "EVAL \"redis.call('SET','k',string.rep('x',9000000))\" 0" | yodel --quiet -f resp unix:redis
  $-1
  $ echo GET k | yodel --quiet -f resp unix:redis | wc -c
  9000011
  $ echo 'GET k' | yodel --quiet -f resp --max-frame 1M unix:redis
  yodel: a message of 9000010 bytes or more exceeds the limit of 1048576 (--max-frame)
  [56]

A conversation is recorded, and replayed to a service that has changed meanwhile.

  $ printf 'SET k v\nLRANGE other 0 -1\nGET k\n' | yodel -f resp --json unix:redis >talk.json 2>log
  $ yodel -f resp --replay talk.json -i 0 unix:redis
  yodel: 3 replayed, 3 matched, 0 bad, 0 lost; rtt * (glob)
  $ echo 'RPUSH other x' | yodel --quiet -f resp unix:redis
  :1
  $ yodel -f resp --replay talk.json -i 0 unix:redis
  reply 2 differs at byte 1 (expected 0, got 1)
      sent      LRANGE other 0 -1
      recorded  *0
      now       *1^M^J$1^M^Jx
  yodel: reply 2 differs from the recording at byte 1 (expected 0, got 1)
  yodel: 3 replayed, 2 matched, 1 bad, 0 lost; rtt * (glob)
  [1]

yodel-load sends own commands, at a rate, over several connections, in several threads.

  $ printf 'SET a "one two"\nGET a\nRPUSH l x\nLRANGE l 0 5\nHELLO 3\n' >commands
  $ load() { yodel-load -f resp --messages commands -c 400 "$@" unix:redis; }
  $ for options in '--rate 2k' '--rate 2k --connections 4 --threads 2' '--connections 3 --churn 50' '--window 20'; do
  >     load $options 2>&1 | grep -o '400 sent, 400 answered, 0 bad, 0 lost'
  > done | uniq -c | xargs
  4 400 sent, 400 answered, 0 bad, 0 lost

Bytes that are no reply end the connection with a sentence.

  $ play line 'send:HTTP/1.1 400 no\r\n' close
  $ echo PING | yodel --quiet -f resp 127.0.0.1 $PORT
  yodel: the server sent "HTTP/1.1 400 no", which is not valid for -f resp
  [56]
