Busy programs
=============

With --busy, the programs spin while there is a connection, and sleep while there is none. /proc shows it.

  $ [ -e /proc/self/stat ] || skip "there is no /proc"
  $ state() { sed 's/.*) //' /proc/$1/stat; }
  $ ticks() { state $1 | awk '{ print $12 + $13 }'; }
  $ spins() { limit=$(($(ticks $1) + 10)); until [ $(ticks $1) -gt $limit ]; do sleep 0.01; done; echo spins; }
  $ sleeps() {
  >     looks=0
  >     until [ $looks -eq 20 ]; do
  >         case $(state $1) in S*) looks=$((looks + 1));; *) looks=0;; esac
  >     done; echo sleeps
  > }
  $ serve --busy && sleeps $SERVER
  sleeps
  $ open_input
  $ yodel --no-tui 127.0.0.1 $PORT <input 2>log & client=$!
  $ spins $SERVER && stop TERM $client
  spins
  [143]
  $ sleeps $SERVER
  sleeps
  $ yodel-load --busy -c 200 127.0.0.1 $PORT
  yodel-load: 200 sent, 200 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  $ serve
  $ yodel-load --busy -v --retry forever --retry-delay 1h 127.0.0.1 $PORT <input 2>log & client=$!
  $ spins $client && stop KILL $SERVER
  spins
  [137]
  $ await 'retry in' log && sleeps $client && stop TERM $client
  sleeps
  [143]

Without it, idle programs sleep.

  $ serve
  $ open_input 'hello\n'
  $ for program in yodel yodel-load; do
  >     $program -v 127.0.0.1 $PORT <input >$program.out 2>log & client=$!
  >     await hello $program.out && sleeps $client && sleeps $SERVER && stop TERM $client
  >     printf 'hello\n' >input
  > done
  sleeps
  sleeps
  sleeps
  sleeps
