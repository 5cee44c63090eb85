Bugs of servers from books
==========================

Each of these servers has one bug, and is a page long. --examine finds it in the checks that are about it. One
check is left out here, because it depends on how the bytes arrive.

  $ for source in "$PEERS"/bugs/*.c; do
  >     bug=$(basename "$source" .c); cc -O1 -pthread -o $bug "$source" || exit
  >     (spawn ./$bug && await 127 $LOG && yodel --examine -W 500ms $(cat $LOG) >$bug.tap 2>&1; kill $SERVER 2>log) & examining="$examining $!"
  > done; wait $examining
  $ for tap in *.tap; do echo "= ${tap%.tap}"; grep -v '^ok\|^1\.\.\|byte by byte' $tap | cut -d: -f1; done
  = closes_early
  not ok 11 - answers everything after a half-close, and closes
  = dies_of_sigpipe
  not ok 14 - survives a reset by a client
  Bail out! the server has gone
  = echoes_16_bytes
  not ok 2 - echoes every byte value
  not ok 6 - echoes a thousand messages at once
  not ok 7 - echoes a short message after a long one
  not ok 8 - echoes everything to a slow reader
  not ok 11 - answers everything after a half-close, and closes
  = echoes_once
  not ok 4 - echoes a message in two pieces
  not ok 6 - echoes a thousand messages at once
  not ok 7 - echoes a short message after a long one
  not ok 8 - echoes everything to a slow reader
  not ok 10 - serves twenty clients at once
  not ok 11 - answers everything after a half-close, and closes
  = fixed_size
  not ok 1 - echoes a message
  Bail out! this is no echo server, or its messages have another framing (-f)
  = ignores_short_writes
  not ok 8 - echoes everything to a slow reader
  = never_closes
  not ok 11 - answers everything after a half-close, and closes
  = one_buffer
  not ok 10 - serves twenty clients at once
  not ok 13 - serves a client while another never reads
  = one_client
  not ok 9 - serves a second client while the first is idle
  not ok 10 - serves twenty clients at once
  not ok 13 - serves a client while another never reads
  = stale_buffer
  not ok 6 - echoes a thousand messages at once
  not ok 7 - echoes a short message after a long one
  not ok 8 - echoes everything to a slow reader
  not ok 10 - serves twenty clients at once
  not ok 11 - answers everything after a half-close, and closes
  = strips_newline
  not ok 1 - echoes a message
  Bail out! this is no echo server, or its messages have another framing (-f)
  = uses_strlen
  not ok 2 - echoes every byte value
