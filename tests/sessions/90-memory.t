Memory of a client
==================

The programs bound their memory. The limits are in KiB.

  $ [ "$MEASURES_MEMORY" ] || skip "sanitizers take memory of their own"
  $ memory() { sed -n "s/^$1:[^0-9]*\([0-9]*\) kB/\1/p" /proc/$2/status; }
  $ peak() { found=$(memory VmHWM $2); [ $found -lt $1 ] && echo below $1 || echo $found; }

A client needs less than 5.8 MiB, 2 of them for OpenSSL. It loads no other library but the C library.

  $ shared() { ldd "$(command -v $1)" | grep -q 'libc++'; }
  $ shared yodel && limit=8000 || limit=5900
  $ serve && open_input 'a\n'
  $ yodel --quiet 127.0.0.1 $PORT <input >echoes & client=$!
  $ await a echoes; peak $limit $client; stop TERM $client
  below 5900
  yodel: ended by SIGTERM
  [143]
  $ shared yodel || ldd "$(command -v yodel)" | grep -vE 'vdso|/ld-|/lib(ssl|crypto|c)\.so'
  [1]

A load needs 5 MiB, and 3 KiB for each connection. The containers of libc++ are a little larger.

  $ [ $(ulimit -n) -gt 10100 ] || ulimit -n 10100 || skip "the limit of descriptors is too low"
  $ shared yodel-load && limit=38400 || limit=35200
  $ serve --max-conns 10000
  $ yodel-load --connections 10000 --rate 5k -m 2s --json 127.0.0.1 $PORT >load 2>log & client=$!
  $ await '"open":10000,"sent":[1-9]' load; peak $limit $client; wait $client
  below 3[58][24]00 (re)

A client whose output is not read stops reading its input.

  $ yes "$(printf %099d 0)" | head -c 32M >lines && mkfifo slow
  $ serve
  $ position() { sed -n 's/pos:[^0-9]*//p' /proc/$1/fdinfo/0; }
  $ rest() { last=0; until [ $last -gt 0 ] && [ $last = $(position $1) ]; do last=$(position $1); sleep 0.3; done; }
  $ for framing in raw line; do
  >     (exec yodel --quiet -f $framing 127.0.0.1 $PORT <lines >slow) & client=$!
  >     exec 6<slow && rest $client; [ $last -lt 16000000 ] && echo it stops
  >     { head -c 16000000; peak 16384 $client >peak; cat; } <&6 | cmp - lines; exec 6<&-; cat peak
  > done
  it stops
  below 16384
  it stops
  below 16384
