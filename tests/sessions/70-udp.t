Datagrams
=========

With -u or udp://, each line is a datagram. Without a target, the server inside answers datagrams.

  $ serve -u
  $ printf 'a\n\nb' | yodel udp://127.0.0.1:$PORT
  a
  
  byodel: 3 sent, 3 echoed, 0 bad, 0 lost, 0 duplicate, 0 reordered; rtt * (glob)
  $ seq 3000 >lines && yodel --quiet -u 127.0.0.1 $PORT <lines | cmp - lines
  $ head -c 65507 /dev/zero | tr '\0' x >long && yodel --quiet -u 127.0.0.1 $PORT <long | cmp - long
  $ printf 'same\nsame\n' | yodel --quiet -u -4
  same
  same
  $ printf 'same\nsame\n' | yodel --quiet -u -6 -f raw
  same
  same
  $ yes same | sed 300q >same && yodel --quiet -u <same | cmp - same
  $ (ulimit -n 100; yodel-load --quiet -u --connections 70 -c 70 2>log)

A datagram that is too long is refused before it is sent. A port without a server is refused by it.

  $ { echo a; printf %065508d 0; } | yodel -u
  a
  yodel: standard input, line 2: a message of 65508 bytes does not fit into a datagram
  yodel: 1 sent, 1 echoed, 0 bad, 0 lost, 0 duplicate, 0 reordered; rtt * (glob)
  [1]
  $ echo a | yodel -u 127.0.0.1 1
  yodel: cannot connect to 127.0.0.1:1: Connection refused
  yodel: 1 sent, 0 echoed, 0 bad, 1 lost, 0 duplicate, 0 reordered
  [7]
  $ echo a | yodel -u 127.255.255.255 7
  yodel: cannot connect to 127.255.255.255:7: broadcast and multicast addresses are not supported
  yodel: 0 sent, 0 echoed, 0 bad, 0 lost, 0 duplicate, 0 reordered
  [7]

Bad, lost, duplicate and reordered replies are counted as a peer in Python makes them.

  $ for load in 'yodel -i 500us' 'yodel-load --connections 5 --rate 2k' 'yodel-load --connections 3 --window 16'; do
  >     start python3 "$PEERS/udp_planned.py"
  >     $load -c 400 -W 500ms udp://127.0.0.1:$PORT 2>&1 >out | grep -o '[0-9]* bad, .* reordered'
  > done
  10 bad, 10 lost, 10 duplicate, 8 reordered
  10 bad, 10 lost, 10 duplicate, 8 reordered
  10 bad, 10 lost, 10 duplicate, 8 reordered

Each form shows them, and requirements judge them. The jitter is defined in RFC 3550.

  $ serve -u --dup 1
  $ yodel -c 2 -i 1ms udp://127.0.0.1:$PORT >out 2>log; sed 's/[0-9.]* ms.*/N/' out | sort; cat log
  64 bytes, duplicate
  64 bytes, duplicate
  64 bytes, seq 1, N
  64 bytes, seq 2, N
  yodel: 2 sent, 2 echoed, 0 bad, 0 lost, 2 duplicate, 0 reordered; rtt * (glob)
  $ yodel-load -c 3 --rate 1k --require duplicates=0 udp://127.0.0.1:$PORT
  yodel-load: 3 sent, 3 echoed, 0 bad, 0 lost, 3 duplicate, 0 reordered, */s; rtt * (glob)
  yodel-load: required duplicates=0, was 3
  [1]
  $ yodel --json -c 3 -i 1ms udp://127.0.0.1:$PORT 2>log | grep -o '"fate":"duplicate"\|"duplicates":.*"jitter_us"' | sort -u
  "duplicates":3,"reordered":0,"jitter_us"
  "fate":"duplicate"
  $ yodel-load --json --connections 2 --rate 200 -m 1100ms udp://127.0.0.1:$PORT 2>log | sed -n 's/[0-9][0-9.]*/N/g; s/.*\("reordered.*jitter_us"\).*/\1/p'
  "reordered":N,"jitter_us"
  "reordered":N,"jitter_us"
  $ serve -u --corrupt 1 --seed 3
  $ echo hello | yodel udp://127.0.0.1:$PORT >out
  yodel: reply 1 differs from its message at byte 4 (expected o, got g)
  yodel: 1 sent, 0 echoed, 1 bad, 0 lost, 0 duplicate, 0 reordered; rtt * (glob)
  [1]
  $ serve -u --delay 200ms
  $ yodel -c 3 -i 50ms -W 50ms udp://127.0.0.1:$PORT 2>&1 | grep -o 'no reply, seq 1\|, late$\|late, 0 duplicate' | sort -u
  , late
  late, 0 duplicate
  no reply, seq 1
  $ serve -u --reorder 1
  $ yodel --json -c 2 -i 0 udp://127.0.0.1:$PORT 2>log | grep -c '"fate":"echoed"'
  2
