Answering by hand
=================

With -l, yodel is the other side of the table: it accepts a client. In a pipe it does what `nc -l` is used for.
Input goes to the client, and what the client sends goes to standard output, as it is. When one side has
ended, the other side learns it, and yodel leaves.

  $ listen() { spawn yodel -l "$@" && await listening $LOG && PORT=$(sed -n 's/.*listening [^ ;]*:\([0-9]*\).*/\1/p' $LOG); }
  $ left() { wait $SERVER; echo "status $?"; sed "$@" $LOG; }
  $ listen 0
  $ printf 'hello\nworld' | ncat 127.0.0.1 $PORT
  $ left ''
  status 0
  yodel: listening 127.0.0.1:* (glob)
  hello
  worldyodel: 0 sent, 1 received

A file goes either way, to the byte.

  $ head -c 3000000 /dev/urandom >file
  $ listen 0 <file && socat -u TCP:127.0.0.1:$PORT - | cmp - file
  $ left 1d
  status 0
  yodel: * sent, 0 received (glob)
  $ yodel -l 0 </dev/null >copy 2>log & receiver=$!
  $ await listening log && socat -u OPEN:file TCP:127.0.0.1:$(sed 's/.*://' log) && wait $receiver && cmp copy file

A client that leaves is noticed although the input has not ended. With -q, it may be answered for longer.

  $ open_input
  $ listen --json 0 <input && echo hi | ncat --send-only 127.0.0.1 $PORT && wait $SERVER
  $ grep -c '"type":"message","received_bytes":2,"fate":"unsolicited"' $LOG
  1
  $ listen -f line -q 1m 0 <input
  $ (echo question; await question $LOG; printf 'answer\n' >input) | ncat 127.0.0.1 $PORT >answer & client=$!
  $ await answer answer; stop TERM $SERVER; wait $client; cat answer
  answer

A client that resets the connection, or leaves before it has read everything, is an error.

  $ listen 0 <file; python3 -c "import socket; socket.create_connection(('127.0.0.1', $PORT)).recv(1)"
  $ left 1d
  status 56
  yodel: receiving failed: Connection reset by peer
  yodel: * sent, 0 received (glob)

With TLS, the certificate is made on the spot, and its pin is printed. --cert and --key name another one.

  $ listen tls://:0
  $ sed -n 1p $LOG
  yodel: listening 127.0.0.1:*; clients trust it with --pinnedpubkey sha256//* (glob)
  $ echo hello | yodel --quiet --expect none -f raw --pinnedpubkey $(grep -o 'sha256//.*' $LOG) tls://localhost:$PORT
  $ left 1d
  status 0
  hello
  yodel: 0 sent, 1 received
  $ certify localhost DNS:localhost,IP:127.0.0.1
  $ listen --tls --cert localhost.pem --key localhost.key 0 <input
  $ (echo hello; await hello $LOG) | openssl s_client -quiet -no_ign_eof -CAfile ca.pem -verify_return_error -connect 127.0.0.1:$PORT 2>log >out
  $ wait $SERVER; grep -c hello $LOG
  1
  $ listen tls://:0
  $ echo no TLS | ncat 127.0.0.1 $PORT >out
  $ left 1d
  status 35
  yodel: the client does not speak TLS
  yodel: 0 sent, 0 received

The clients of Redis and of mail send lines. SSLKEYLOGFILE gets the keys of our side, too.

  $ for framing in resp smtp; do
  >     listen -f $framing 0; printf 'SET a 1\r\nGET a\r\n' | ncat 127.0.0.1 $PORT
  >     left 1d >$framing; xargs <$framing
  > done | uniq -c
        2 status 0 SET a 1 GET a yodel: 0 sent, 2 received
  $ SSLKEYLOGFILE=keys listen tls://:0
  $ echo hello | yodel --quiet --expect none -k tls://127.0.0.1:$PORT; wait $SERVER; grep -c '^SERVER_TRAFFIC_SECRET_0' keys
  1

WebSocket, UDP and Unix-domain sockets work as for a client. With UDP, each client that sends something is answered, until
nothing comes for -q.

  $ for target in ws://:0 wss://:0 udp://:0 unix:here; do
  >     case $target in udp*) listen -q 300ms $target ;; *) listen $target <input ;; esac
  >     case $target in unix:*) name=$target ;; *) name=${target%:0}localhost:$PORT ;; esac
  >     echo "hello $target" | yodel --quiet --expect none $(case $target in wss*) echo -k ;; esac) $name
  >     wait $SERVER && grep hello $LOG; test ! -e here
  > done
  hello ws://:0
  hello wss://:0
  hello udp://:0
  hello unix:here

The client's own words stay as they are.

  $ mkfifo silent && exec 6<>silent
  $ listen ws://:0 <silent
  $ ask open 'frame:88:\x0f\xa0the server is on fire' end >log 2>&1
  $ left 1d
  status 56
  yodel: the client closed with 4000 application code: the server is on fire
  yodel: 0 sent, 0 received
  $ exec 6>&-

An input error is reported while the client stays.

  $ listen 0 <. && (await directory $LOG; echo heard) | ncat 127.0.0.1 $PORT && left 1d
  status 26
  yodel: standard input: Is a directory
  heard
  yodel: 0 sent, 1 received

Two yodels that face each other are a chat, and a recording.

  $ mkfifo right && exec 8<>right
  $ listen -f line -o r.json 0 <right && heard_right=$LOG
  $ open_input 'hello\n'
  $ yodel --expect none localhost:$PORT <input >heard-left 2>log & left=$!
  $ await hello $heard_right && echo 'hello yourself' >right && await yourself heard-left && stop TERM $left; wait $SERVER
  $ grep -o '"fate":.*' r.json | sed 's/"received_us":[^,]*/T/'
  "fate":"unsolicited",T,"received":"hello"}
  "fate":"sent","sent":"hello yourself"}

Mistakes are named.

  $ yodel -l
  yodel: -l needs a port, as in -l 7000 (yodel -h shows the options)
  [2]
  $ yodel -l -f caret 7000
  yodel: -l cannot be combined with -f caret, whose greeting only a server can send (yodel -h shows the options)
  [2]
  $ serve
  $ yodel -l $PORT
  yodel: cannot listen on 127.0.0.1:*: Address already in use (glob)
  [1]
  $ yodel-load -l 7000
  yodel-load: -l is an option of yodel: yodel -l 7000
  [2]
