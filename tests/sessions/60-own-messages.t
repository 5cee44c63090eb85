Own messages in a load
======================

yodel-load sends the lines of --messages in turn, over and over, at a planned rate.

  $ start python3 "$PEERS/key_value.py" 0
  $ printf 'SET a one\nGET a\nDEL a\n' >commands
  $ for arrivals in even poisson; do
  >     yodel-load --messages - --expect any --rate 500 --arrivals $arrivals -c 20 --connections 2 127.0.0.1 $PORT <commands
  > done
  yodel-load: 20 sent, 20 answered, 0 bad, 0 lost, */s; rtt * (glob)
  yodel-load: 20 sent, 20 answered, 0 bad, 0 lost, */s; rtt * (glob)
  $ serve -v
  $ yodel-load --messages - -c 5 127.0.0.1 $PORT <commands 2>log
  $ await closed $LOG && sed -n 's/.* bytes: //p' $LOG | tr -d '\n'
  SET a one^JGET a^JDEL a^JSET a one^JGET a^J (no-eol)

A file that cannot be read, or does not end, is refused.

  $ for file in /no/such/file /; do
  >     yodel-load --messages $file; yodel-load --merge $file; yodel --replay $file; echo $?
  > done
  yodel-load: --messages: /no/such/file: No such file or directory
  yodel-load: /no/such/file: No such file or directory
  yodel: /no/such/file: No such file or directory
  26
  yodel-load: --messages: /: Is a directory
  yodel-load: /: Is a directory
  yodel: /: Is a directory
  26
  $ yodel-load --messages /dev/zero -c 1
  yodel-load: --messages: /dev/zero is larger than 64 MiB
  [2]
