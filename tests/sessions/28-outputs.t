Inputs and outputs that fail
============================

An output that cannot be written ends the program with 23, an input that cannot be read with 26. Without
its standard error, the program works.

  $ need bash
  $ serve
  $ echo a | yodel --quiet 127.0.0.1 $PORT >/dev/full
  yodel: standard output: No space left on device
  [23]
  $ echo a | yodel --quiet 127.0.0.1 $PORT >&-
  yodel: standard output: Bad file descriptor
  [23]
  $ echo a | yodel 127.0.0.1 $PORT 2>/dev/full
  a
  $ echo a | yodel 127.0.0.1 $PORT 2>&-
  a
  $ yodel --quiet 127.0.0.1 $PORT </
  yodel: standard input: Is a directory
  [26]
  $ yodel 127.0.0.1 $PORT <&-
  yodel: 0 sent, 0 echoed, 0 bad, 0 lost
  $ yodel 127.0.0.1 $PORT <&- >&- 2>&-
  $ (yes | yodel --quiet 127.0.0.1 $PORT; echo $? >status) | head -n 1
  y
  yodel: standard output: Broken pipe
  $ cat status
  23
  $ (ulimit -f 0; echo a | yodel --quiet >file)
  yodel: standard output: File too large
  [23]
  $ yodel -V >/dev/full
  yodel: standard output: No space left on device
  [23]

So does a log (-o). It is no regular file if its reader is a process.

  $ echo a | yodel --quiet -o /no/such/log
  yodel: cannot write the transcript /no/such/log: No such file or directory
  [23]
  $ echo a | yodel --quiet -o /dev/full
  a
  yodel: cannot write the transcript /dev/full: No space left on device
  [23]
  $ (ulimit -f 0; echo a | yodel --quiet -o log)
  a
  yodel: cannot write the transcript log: File too large
  [23]
  $ mkfifo pipe
  $ echo a | yodel --quiet -o pipe
  yodel: cannot write the transcript pipe: the pipe has no reader: No such device or address
  [23]
  $ exec 8<>pipe && dd if=/dev/zero of=pipe oflag=nonblock bs=1k 2>dd.log
  [1]
  $ echo a | yodel --json -o pipe 2>log | grep -o '"status":[0-9]*'
  "status":23
  $ cat log
  yodel: cannot write the transcript pipe: its reader did not keep up; output is incomplete
  yodel: 1 sent, 1 echoed, 0 bad, 0 lost; rtt * (glob)
  $ bash -c 'echo hello | yodel --quiet -o >(cat >copy)' && await '- closed' copy && sed 's/^[^-<>]* //' copy
  hello
  20* - connected to 127.0.0.1:*; look-up *, connect * ms (glob)
  20* > hello (glob)
  20* < hello (glob)
  20* - closed (glob)
  $ yodel -c 1 -o /dev/stdout >file
  yodel: -o /dev/stdout is the same file as standard output (yodel -h shows the options)
  [2]
  $ yodeld --port-file /dev/stdout 0 >file
  yodeld: --port-file /dev/stdout is the same file as standard output (yodeld -h shows the options)
  [2]

Output that nobody reads delays neither the end of a run nor a limit.

  $ yodel -i 0 -m 100ms -W 100ms -q 100ms 127.0.0.1 $PORT >pipe 2>run.log & client=$!
  $ yodel --quiet -m 200ms -f raw 127.0.0.1 $PORT </dev/zero >pipe
  yodel: the run did not finish within 200ms (--max-time)
  [28]
  $ for options in '' '-f raw'; do
  >     rm pipe && mkfifo pipe && exec 8<>pipe
  >     seq 15000 | yodel --quiet $options -m 1s 127.0.0.1 $PORT >pipe
  > done
  yodel: standard output was not read within 1s (--max-time)
  yodel: standard output was not read within 1s (--max-time)
  [28]
  $ wait $client
  [28]
  $ head -n 1 run.log
  yodel: standard output was not read in time after --max-time

A slow reader gets all.

  $ seq 200000 >lines
  $ yodel --quiet 127.0.0.1 $PORT <lines | dd bs=64 status=none | cmp - lines
