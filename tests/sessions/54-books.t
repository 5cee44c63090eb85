The protocols of two books
==========================

With -f len4le, a message begins with its length, as in Build Your Own Redis. The server is in Python and shares
no code with the programs.

  $ start python3 "$PEERS/books.py" length 0
  $ { printf 'hello1\nhello2\nhello3\n'; head -c 33554432 /dev/zero | tr '\0' x; printf '\nhello5\n'; } >input
  $ yodel --quiet -f len4le 127.0.0.1 $PORT <input | cmp - input

A client in Python that reads only after sending all gets all. A message that is cut gets no answer.

  $ serve -f len4le
  $ for size in 1 65536 33554432; do python3 "$PEERS/books.py" ask-length $PORT $size; done
  all came back
  all came back
  all came back
  $ ask 'send:\x05\0\0\0whole\n\0\0\x0001234' shut show | od -c
  0000000 005  \0  \0  \0   w   h   o   l   e
  0000011
  $ await inside $LOG && sed -n 's/.*: the client/the client/p' $LOG
  the client closed the connection inside a message, after 5 of 10 bytes
  $ serve -f len4le --self-signed
  $ for size in 1 33554432; do python3 "$PEERS/books.py" ask-length $PORT $size tls; done
  all came back
  all came back

With -f caret, the server greets with *, a message is between ^ and $, and every byte comes back increased by
one, as in Concurrent Servers.

  $ start python3 "$PEERS/books.py" caret 0
  $ printf 'abc\nhello\n^\n' | yodel -f caret 127.0.0.1 $PORT
  bcd
  ifmmp
  _
  yodel: 3 sent, 3 echoed, 0 bad, 0 lost; rtt * (glob)
  $ printf '^abc$de^abte$fxyz^12325$^ab0000$abab' | yodel --quiet -f raw --expect none 127.0.0.1 $PORT; echo
  *bcdbcuf23436bc1111
  $ serve -f caret
  $ printf '^abc$de^abte$fxyz^12325$^ab0000$abab' | yodel --quiet -f raw --expect none 127.0.0.1 $PORT; echo
  *bcdbcuf23436bc1111
  $ python3 "$PEERS/books.py" ask-caret $PORT 5
  all came back
  $ printf 'a\n\nb\n' | yodel -f caret 127.0.0.1 $PORT
  b
  yodel: standard input, line 2: -f caret does not allow empty messages
  yodel: 1 sent, 1 echoed, 0 bad, 0 lost; rtt * (glob)
  [1]
  $ serve
  $ echo a | yodel --quiet -f caret 127.0.0.1 $PORT
  yodel: the server did not send the greeting * of -f caret
  [56]
