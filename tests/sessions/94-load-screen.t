A load on a terminal
====================

A load on a terminal shows a page, and leaves the summary behind.

  $ serve
  $ page() { on_terminal yodel-load --connections 3 "$@"; }
  $ page -m 600ms 127.0.0.1 $PORT -- 'wait ● running 0:00 of 0:00, ' "wait %  tcp://127.0.0.1:$PORT" 'alternate screen' 'wait round trip  p50 ' \
  >     'wait connections 3 open of 3, 0 failed' 'wait column: 250ms' 'wait █' 'wait ○ ended after 0:01' 'wait press a key to quit' 'keys x' gone \
  >     'row 1 yodel-load: ' 'wait  echoed, 0 bad, 0 lost, '
  status 0

^C ends it gracefully: it waits for replies. ^C again does not. A signal from outside ends it.

  $ page --rate 500 127.0.0.1 $PORT -- 'wait ● running 0:00  tcp://127.0.0.1' 'wait  echoed, 0 bad, 0 lost' 'keys ^C' gone 'wait  echoed, 0 bad, 0 lost, '
  status 0
  $ page --start-at +1h 127.0.0.1 $PORT -- 'wait ● starts in 36' 'keys ^C' gone
  status 0
  $ for signal in INT TERM HUP; do page 127.0.0.1 $PORT -- 'wait ● running' "kill $signal" gone 'wait 0 bad, 0 lost, '; done | xargs
  status 130 status 143 status 129
  $ page 127.0.0.1 $PORT -- 'wait ● running' 'hang up' 'left 129'
  $ running=$PORT && serve --drop 1 -f line
  $ page -W 1h 127.0.0.1 $PORT -- 'wait 3 sent, 0 echoed, 0 bad, 0 lost, 3 in flight' 'keys ^C' 'wait ● ending: 3 in flight' \
  >     'wait ^C quits immediately' 'keys ^C' gone 'wait 3 sent, 0 echoed, 0 bad, 0 lost'
  status 130

The page follows the size of the terminal. Suspended without a shell that could continue it, it comes back. A blocked terminal
does not delay its end.

  $ page --rate 500 127.0.0.1 $running -- 'wait lateness ' resize-1x1 resize-1x80 'wait 0 bad' resize-0x0 resize-24x80 'wait column: ' 'keys ^C' gone
  status 0
  $ page 127.0.0.1 $running -- 'wait ● running' 'keys ^Z' 'no screen' 'alternate screen' 'wait ● running' 'keys ^L^C' gone
  status 0
  $ blocked() { on_terminal 60x200 yodel-load --connections 3 127.0.0.1 $running -- 'wait ● running' stall 'keys ^L' "$@"; }
  $ blocked 'keys ^C' 'left 0' && blocked 'kill TERM' 'left 143'

There is no page if none is wanted, or without a terminal for it. A load in the background of its terminal would be stopped
by it.

  $ for how in --no-tui --json '>/dev/null' '</dev/null' '--no-tui 2>/dev/null'; do
  >     on_terminal sh -c "yodel-load --connections 3 -c 9 127.0.0.1 $running $how" -- gone 'unsent \e[?1049h'
  > done | uniq -c | xargs
  5 status 0
  $ on_terminal bash -c "set -m; yodel-load --connections 3 --rate 500 -m 300ms 127.0.0.1 $running & wait \$!; echo over" -- \
  >     gone 'wait  echoed, 0 bad, 0 lost' 'wait over' 'unsent \e[?1049h' 'unsent  \r'
  status 0

Progress is shown on a terminal while the replies go elsewhere. It takes one row, and is removed at the end.

  $ on_terminal sh -c 'yodel -c 3 -i 150ms >/dev/null' -- 'wait  echoed, 0 bad, 0 lost, p50' 'wait yodel: 3 sent, 3 echoed, 0 bad, 0 lost; rtt' gone
  status 0
  $ on_terminal 24x20 sh -c 'yodel -c 3 -i 150ms >/dev/null' -- 'wait  sent, ' gone 'row 1 yodel: 3 sent, 3 ech'
  status 0
  $ serve --self-signed --tls
  $ on_terminal yodel-load -z --connections 3 -m 500ms --churn 50ms -k --no-tui tls://127.0.0.1:$PORT -- 'wait  open, ' \
  >     'wait  connections opened, 0 failed, handshake p50 ' gone
  status 0
