An echo server
==============

The first line of yodeld names the address on which it listens. The port file contains the port, and exists while
the server runs.

  $ need socat
  $ serve --port-file port && echo a | yodel --quiet 127.0.0.1 $PORT
  a
  $ echo $PORT | cmp port - && cat $LOG
  listening 127.0.0.1:* (glob)
  $ stop TERM $SERVER; [ -e port ] || echo gone
  gone

It listens on several addresses, each address of a name, and a path. A socket disappears with its server.

  $ spawn yodeld 0 127.0.0.1:0 '[::1]:0'
  $ await '\[::1\]' $LOG && wc -l <$LOG
  3
  $ serve
  $ stop TERM $SERVER
  $ spawn yodeld localhost:$PORT
  $ await "listening \[::1\]:$PORT" $LOG && await "listening 127.0.0.1:$PORT" $LOG
  $ for host in ::1 127.0.0.1; do echo $host | yodel --quiet $host $PORT; done; stop TERM $SERVER
  ::1
  127.0.0.1
  $ spawn yodeld 0.0.0.0:$PORT "[::]:$PORT"
  $ await "listening \[::\]:$PORT" $LOG && stop TERM $SERVER
  $ spawn yodeld -6 $PORT
  $ await "listening \[::1\]:$PORT" $LOG && yodel --quiet -c 1 ::1 $PORT && yodel --quiet -6 -c 1
  yodel: 1 sent, 1 echoed, 0 bad, 0 lost; rtt * (glob)
  yodel: 1 sent, 1 echoed, 0 bad, 0 lost; rtt * (glob)
  $ serve -U socket
  $ echo a | yodel --quiet -U socket
  a
  $ cat $LOG && stop TERM $SERVER; [ -e socket ]
  listening socket
  listening 127.0.0.1:* (glob)
  [1]

An address that it cannot use is named.

  $ serve -u
  $ for options in '' -u; do yodeld $options $PORT 2>&1 | sed "s/$PORT/PORT/"; done
  yodeld: cannot listen on 127.0.0.1:PORT: Address already in use
  yodeld: cannot listen on udp 127.0.0.1:PORT: Address already in use
  $ yodeld -U /no/such/folder/socket
  yodeld: cannot listen on /no/such/folder/socket: No such file or directory
  [1]
  $ yodeld -u 224.0.0.1:0
  yodeld: -u cannot listen on the broadcast or multicast address 224.0.0.1 (yodeld -h shows the options)
  [2]
  $ yodeld --tls --cert "$TESTDIR/setup.sh" --cacert /no 0
  yodeld: certificate */setup.sh contains no certificate (glob)
  [58]
  $ spawn sh -c 'ulimit -n 24; exec yodeld 0'
  $ await 'too high' $LOG && sed -n 's/.*yodeld: //p' $LOG
  --max-conns 1024 is too high: the system allows 24 descriptors (ulimit -Hn)

USR1 prints the counters. Lines of the log contain the date. With -v, they contain each connection and the head of
each read, and no bytes that command a terminal. HUP does no harm without TLS.

  $ serve -v --self-signed && kill -HUP $SERVER
  $ echo four | yodel --quiet --tls -k 127.0.0.1 $PORT
  four
  $ await closed $LOG && kill -USR1 $SERVER && await 'bytes out' $LOG && sed /sandbox/d $LOG
  listening 127.0.0.1:* (glob)
  --pinnedpubkey sha256//* (glob)
  20* yodeld: 127.0.0.1:*: connected, TLSv1.3 TLS_* (glob)
  20* yodeld: 127.0.0.1:*: read 5 bytes: four^J (glob)
  20* yodeld: 127.0.0.1:*: closed, 5 bytes in, 5 out (glob)
  20* yodeld: 0 connections, 1 accepted, 0 turned away, 0 failed, 5 bytes in, 5 bytes out (glob)
  $ serve -v -U socket
  $ printf "\033[2J$(head -c 80 /dev/zero | tr '\0' x)\n" | socat -t 10 - UNIX-CONNECT:socket,bind="$(printf '\033]0;owned\a')" >out
  $ await closed $LOG && sed -n '4,$s/^[^y]*//p' $LOG
  yodeld: ^[]0;owned^G: connected
  yodeld: ^[]0;owned^G: read 85 bytes: ^[[2Jxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
  yodeld: ^[]0;owned^G: closed, 85 bytes in, 85 out
  $ spawn yodeld --json -v --self-signed 0
  $ await pinned $LOG && kill -USR1 $SERVER && await bytes_out $LOG && sed /sandbox/d $LOG
  {"listening":"127.0.0.1:*","port":*} (glob)
  {"pinnedpubkey":"sha256//*"} (glob)
  {"time":"20*Z","connections":0,"accepted":0,"turned_away":0,"failed":0,"bytes_in":0,"bytes_out":0} (glob)
