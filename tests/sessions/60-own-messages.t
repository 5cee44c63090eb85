Own messages in a load
======================

yodel-load sends the lines of --messages in turn, over and over, at a planned rate.

  $ serve
  $ printf 'SET a one\nGET a\nDEL a\n' >commands
  $ for arrivals in even poisson; do
  >     yodel-load --messages commands --expect any --rate 500 --arrivals $arrivals -c 20 --connections 2 127.0.0.1 $PORT 2>&1 | cut -d ' ' -f 2-9
  > done | uniq -c
        2 20 sent, 20 answered, 0 bad, 0 lost,
  $ serve -v
  $ yodel-load --messages commands -c 5 127.0.0.1 $PORT 2>log
  $ await closed $LOG && sed -n 's/.* bytes: //p' $LOG | tr -d '\n'
  SET a one^JGET a^JDEL a^JSET a one^JGET a^J (no-eol)

With -, each line of standard input is sent once, in order and as it is needed, and the run ends with the input.

  $ serve -v
  $ seq 20 | yodel-load --messages - 127.0.0.1 $PORT
  yodel-load: 20 sent, 20 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  $ await closed $LOG && sed -n 's/.* bytes: //p' $LOG | tr -d '\n^J'
  1234567891011121314151617181920 (no-eol)
  $ seq 20000 | yodel-load --messages - --connections 5 --threads auto --quiet -m 1m 127.0.0.1 $PORT 2>&1 | cut -d ' ' -f 2-9
  20000 sent, 20000 echoed, 0 bad, 0 lost,
  $ yes | yodel-load --messages - -c 100 --window 8 -u
  yodel-load: 100 sent, 100 echoed, 0 bad, 0 lost, * (glob)

A line is sent although the next one is not there yet. The input waits for the server, too.

  $ for options in '--rate 1k' '--window 1'; do
  >     serve -v -f line
  >     open_input 'one\n'
  >     yodel-load --messages - $options 127.0.0.1 $PORT <input 2>summary 9>&- & client=$!
  >     await one $LOG && printf 'two\n' >input && await two $LOG && printf 'three' >input && exec 9>&- && wait $client && cut -d ' ' -f 2-9 summary
  > done
  3 sent, 3 echoed, 0 bad, 0 lost,
  3 sent, 3 echoed, 0 bad, 0 lost,
  $ play stay
  $ (seq 1000000 && echo all was read >&2) 2>>end | yodel-load --messages - --window 3 -W 300ms -q 100ms -m 100ms 127.0.0.1 $PORT 2>log
  [1]
  $ cat end; cut -d ' ' -f 2-7 log
  no reply to message 1 within
  the server did not close within
  3 sent, 0 echoed, 0 bad,

Without a line, or with one that cannot be sent, that is a usage error, as with a file.

  $ : >nothing
  $ yodel-load --messages nothing
  yodel-load: --messages: nothing is empty
  [2]
  $ yodel-load --messages - --connections 3 <nothing
  yodel-load: standard input is empty
  yodel-load: 0 sent, 0 echoed, 0 bad, 0 lost
  [2]
  $ printf 'a\nb\\nc\nd\n' | yodel-load --messages - --escapes --connections 3
  yodel-load: standard input, line 2: the message contains a delimiter of -f line
  yodel-load: 1 sent, 1 echoed, 0 bad, 0 lost, * (glob)
  [2]

A file that cannot be read, or does not end, is refused.

  $ yodel-load --messages /
  yodel-load: --messages: /: Is a directory
  [26]
  $ yodel-load --messages /dev/zero -c 1
  yodel-load: --messages: /dev/zero is larger than 64 MiB
  [2]
