Other servers
=============

Echo servers made of socat, ncat and openssl bring back every line.

  $ need socat ncat openssl
  $ start socat -d -d TCP-LISTEN:0,fork,bind=127.0.0.1 PIPE
  $ printf 'a\nb\n' | yodel --quiet 127.0.0.1 $PORT
  a
  b
  $ spawn ncat -l -k -e /bin/cat -U plain
  $ printf 'a\nb\n' | yodel --quiet --retry forever --retry-delay 10ms -m 10s unix:plain 2>log
  a
  b

So they do over TLS.

  $ certify good DNS:localhost
  $ start socat -d -d OPENSSL-LISTEN:0,fork,bind=127.0.0.1,verify=0,cert=good.pem,key=good.key PIPE
  $ printf 'a\nb\n' | yodel --quiet --tls --cacert ca.pem localhost $PORT
  a
  b
  $ serve && stop TERM $SERVER  # the port is free then
  $ spawn ncat --ssl --ssl-cert good.pem --ssl-key good.key -l -k -e /bin/cat 127.0.0.1 $PORT
  $ printf 'a\nb\n' | yodel --quiet --tls --cacert ca.pem --retry forever --retry-delay 10ms -m 10s localhost $PORT 2>log
  a
  b
  $ start openssl s_server -rev -accept 127.0.0.1:0 -cert good.pem -key good.key
  $ printf 'abc\n123\n' | yodel --quiet --tls --cacert ca.pem --expect any localhost $PORT
  cba
  321

A service that answers only at the end of the input receives that end.

  $ start socat -d -d TCP-LISTEN:0,fork,bind=127.0.0.1 EXEC:sort,pipes
  $ printf 'b\na\n' | yodel --quiet --expect any 127.0.0.1 $PORT
  a
  b

Datagrams come back, too.

  $ serve -u && stop TERM $SERVER
  $ spawn socat -d -d UDP4-RECVFROM:$PORT,bind=127.0.0.1,fork EXEC:cat
  $ await 'AF=2 127' $LOG
  $ echo hello | yodel --quiet -u 127.0.0.1 $PORT
  hello
