Memory of a server
==================

  $ [ "$MEASURES_MEMORY" ] || skip "sanitizers take memory of their own"
  $ memory() { sed -n "s/^$1:[^0-9]*\([0-9]*\) kB/\1/p" /proc/$2/status; }
  $ peak() { found=$(memory VmHWM $2); [ $found -lt $1 ] && echo below $1 || echo $found; }

A server reads no more from clients that send and never read.

  $ serve; ask 50 flood:x input </dev/null | uniq && counters | cut -d ' ' -f 1,2; peak 65536 $SERVER
  flooded
  50 accepted,
  below 65536
  $ serve --self-signed; ask 50 tls flood:x input </dev/null | uniq && counters | cut -d ' ' -f 1,2; peak 73728 $SERVER
  flooded
  50 accepted,
  below 73728
  $ for frames in '89:125*x' 81:x; do
  >     serve --ws --max-frame 1M; ask open flood:$frames reset | tail -n 1
  >     counters | cut -d ' ' -f 1,2; peak 16384 $SERVER
  > done
  flooded
  1 accepted,
  below 16384
  flooded
  1 accepted,
  below 16384

After many clients have left, their memory goes back to the system.

  $ serve --self-signed --max-conns 1500; base=$(memory VmRSS $SERVER)
  $ yodel-load -k --quiet --connections 1500 --rate 3k -c 1500 tls://127.0.0.1:$PORT 2>log; [ $(memory VmHWM $SERVER) -gt $((base + 40000)) ]
  $ until [ $(memory VmRSS $SERVER) -lt $((base + 32768)) ]; do sleep 0.01; done

Memory for long messages goes back to the system after them.

  $ export MALLOC_MMAP_THRESHOLD_=131072
  $ returned() { until [ $(memory VmRSS $1) -lt 9000 ]; do sleep 0.01; done; [ $(memory VmHWM $1) -gt 20000 ] && echo returned; }
  $ serve -f len4le && ask 'send:\0\0\0\2' 'send:33554432*x' show:33554436 >out && returned $SERVER
  returned
  $ serve --ws && open_input
  $ (exec 9>&-; ask open 'frame:01:20000000*x' frame:80:y read:1 input) <input >text & client=$!
  $ await 'text of 20000001 bytes' text && returned $SERVER; exec 9>&-; wait $client
  returned
