Bugs of servers from books
==========================

Each of these servers has one bug. --examine finds it in the checks that are about it, and names the cause if there is
evidence for it. Left out are checks whose failure follows from another, and one that depends on how the bytes arrive.

  $ for bug in $(python3 "$PEERS/bugs.py"); do
  >     start python3 "$PEERS/bugs.py" $bug
  >     yodel --examine -W 500ms -m 2m 127.0.0.1 $PORT >$bug.tap 2>&1 & examining="$examining $!"
  > done; wait $examining
  [1]
  $ for tap in *.tap; do
  >     echo "= ${tap%.tap}"
  >     grep -v '^ok\|^1\.\.\|byte by byte\|(see [0-9]' $tap | sed 's/ (expected [^,]*, got [^)]*)//; s/: .*\( ([^()]*)\)$/\1/; s/: .*//'
  > done
  = closes_early
  not ok 14 - answers everything after a half-close, and closes
  = dies_of_sigpipe
  not ok 16 - survives a reset by a client (a reset ended the server, by SIGPIPE or an unhandled error)
  Bail out! the server has not answered since check 16
  = fixed_size
  not ok 1 - echoes a message
  Bail out! examinations are for echo servers, and the first message was not echoed; see -f, -W and yodel-examine(7)
  = ignores_short_writes
  not ok 11 - echoes everything to a slow reader
  = never_closes
  not ok 14 - answers everything after a half-close, and closes
  = one_buffer
  not ok 10 - echoes a message of 70000 bytes
  not ok 13 - serves twenty clients together (bytes of another client)
  not ok 17 - serves a client while another never reads (it waits for a client that does not read)
  = stale_buffer
  not ok 6 - echoes a short message after a long one (bytes of the long message)
  = uses_strlen
  not ok 3 - echoes every byte value (00 ends its strings)
