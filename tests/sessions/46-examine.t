What is wrong with a server
===========================

--examine asks an echo server what servers often fail at, each in a connection of its own, and prints the Test Anything
Protocol. Examinations mostly wait, so these run at the same time.

  $ serve
  $ yodel --examine -m 2m 127.0.0.1 $PORT >right & all=$!
  $ play rest flood:x
  $ ([ -z "$MEASURES_MEMORY" ] || ulimit -v 500000; yodel --examine -W 500ms -m 2m 127.0.0.1 $PORT >flood) & all="$all $!"
  $ for fault in '--dup 1' --half-close '--close-after 5' '--max-conns 10' '--chunk 100'; do
  >     serve -f line $fault
  >     yodel --examine -W 500ms -m 2m 127.0.0.1 $PORT >"server $fault" & all="$all $!"
  > done
  $ wait $all; cat right
  1..19
  ok 1 - echoes a message
  ok 2 - echoes a second message on the connection
  ok 3 - echoes every byte value
  ok 4 - echoes an empty message
  ok 5 - keeps blanks, tabs and CR at both ends
  ok 6 - echoes a short message after a long one
  ok 7 - echoes a message in two pieces
  ok 8 - echoes a message byte by byte
  ok 9 - echoes a thousand messages together
  ok 10 - echoes a message of 70000 bytes
  ok 11 - echoes everything to a slow reader
  ok 12 - serves a second client while the first is idle
  ok 13 - serves twenty clients together
  ok 14 - answers everything after a half-close, and closes
  ok 15 - survives a client that leaves inside a message
  ok 16 - survives a reset by a client
  ok 17 - serves a client while another never reads
  ok 18 - serves many clients in turn
  ok 19 - still echoes a message

A server that floods costs neither memory nor time, and a reader that stops does not lock the program.

  $ grep '^not\|^Bail' flood
  not ok 14 - answers everything after a half-close, and closes: * bytes more arrived* (glob)
  $ serve; mkfifo stuck; exec 7<>stuck; head -c 65536 /dev/zero >&7
  $ yodel --examine -m 1 127.0.0.1 $PORT >stuck
  yodel: standard output was not read in time (-m)
  [28]
  $ exec 7>&-

A failure names what arrived instead, and a cause if there is evidence for it. Each fault of yodeld fails the checks that it must, and no
others.

  $ for each in server*; do echo "= ${each#server }"; grep '^not' "$each" | cut -d'(' -f1; done
  = --chunk 100
  = --close-after 5
  not ok 9 - echoes a thousand messages together: * (glob)
  not ok 11 - echoes everything to a slow reader: * (glob)
  not ok 14 - answers everything after a half-close, and closes: * (glob)
  = --dup 1
  not ok 1 - echoes a message: 13 bytes more arrived than were sent
  = --half-close
  not ok 1 - echoes a message: the server closed the connection; 0 of 13 bytes arrived
  = --max-conns 10
  not ok 13 - serves twenty clients together: * (glob)

What was sent and what arrived is printed with -v, and all of it as JSON.

  $ serve -f line --corrupt 1
  $ yodel --examine -v 127.0.0.1 $PORT
  1..19
  # 1 sent 13 bytes: hello, yodel^J
  # 1 received 13 bytes: hello, Yodel^J
  not ok 1 - echoes a message: the reply differs at byte 7 (expected y, got Y)
  Bail out! examinations are for echo servers, and the first message was not echoed; see -f, -W and yodel-examine(7)
  [1]
  $ yodel --examine --json 127.0.0.1 $PORT
  {"type":"check","number":1,"name":"echoes a message","ok":false,"came":"the reply differs at byte 4 (expected o, got O)"}
  {"type":"end","reason":"examinations are for echo servers, and the first message was not echoed; see -f, -W and yodel-examine(7)"}
  [1]
