Outputs that nobody reads
=========================

A program whose standard output or error is full continues, and a signal ends it.

  $ mkfifo full && exec 7<>full && dd if=/dev/zero of=full bs=4k oflag=nonblock status=none 2>/dev/null
  [1]
  $ endless() { exec yodel -v -c 1000000 -i 1ms --retry forever --retry-delay 1ms 127.0.0.1 $PORT; }
  $ for output in full /dev/null; do for signal in TERM INT HUP; do
  >     serve -v --reset-after 1
  >     (endless >$output 2>$([ $output = full ] && echo /dev/null || echo full)) & client=$!
  >     await ': closed.*65 out' $LOG && until [ $(grep -c ': connected' $LOG) -gt 2 ]; do sleep 0.01; done
  >     stop $signal $client; echo $?
  > done; done | xargs
  143 130 129 143 130 129
  $ for program in yodel yodel-load yodeld; do $program --nonsense 2>full; echo $?; done | xargs
  2 2 2
  $ (exec yodeld -v -U socket 0 >full 2>full) & server=$!
  $ for i in 1 2 3; do echo a | yodel --quiet --retry forever --retry-delay 1ms -m 20 unix:socket; done
  a
  a
  a
  $ stop TERM $server
