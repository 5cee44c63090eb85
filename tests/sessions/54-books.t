The protocols of two books
==========================

With -f len4le, a message begins with its length, as in Build Your Own Redis. The servers are in Python and share
no code with the programs.

  $ play rest
  $ { printf 'hello1\nhello2\nhello3\n'; head -c 33554432 /dev/zero | tr '\0' x; printf '\nhello5\n'; } >input
  $ yodel --quiet -f len4le 127.0.0.1 $PORT <input | cmp - input

A client in Python that reads only after sending all gets all. A message that is cut gets no answer.

  $ together() {
  >     { printf "\\6\\0\\0\\0hello1$1"; head -c $2 /dev/zero | tr '\0' x; } >sent
  >     ask $3 'send:\6\0\0\0hello1' "send:$1" "send:$2*x" show:$(($2 + 14)) | cmp - sent && echo all came back
  > }
  $ serve -f len4le
  $ together '\1\0\0\0' 1; together '\0\0\1\0' 65536; together '\0\0\0\2' 33554432
  all came back
  all came back
  all came back
  $ ask 'send:\x05\0\0\0whole\n\0\0\x0001234' shut show | od -c
  0000000 005  \0  \0  \0   w   h   o   l   e
  0000011
  $ await inside $LOG && sed -n 's/.*: the client/the client/p' $LOG
  the client closed the connection inside a message, after 5 of 10 bytes
  $ serve -f len4le --self-signed
  $ together '\0\0\0\2' 33554432 tls
  all came back

With -f caret, the server greets with *, a message is between ^ and $, and every byte comes back increased by
one, as in Concurrent Servers.

  $ play caret
  $ printf 'abc\nhello\n^\n' | yodel --quiet -f caret 127.0.0.1 $PORT
  bcd
  ifmmp
  _
  $ printf '^abc$de^abte$fxyz^12325$^ab0000$abab' | yodel --quiet -f raw --expect none 127.0.0.1 $PORT; echo
  *bcdbcuf23436bc1111
  $ serve -f caret
  $ printf '^abc$de^abte$fxyz^12325$^ab0000$abab' | yodel --quiet -f raw --expect none 127.0.0.1 $PORT; echo
  *bcdbcuf23436bc1111
  $ printf 'a\n\nb\n' | yodel --quiet -f caret 127.0.0.1 $PORT
  b
  yodel: standard input, line 2: -f caret does not allow empty messages
  [1]
