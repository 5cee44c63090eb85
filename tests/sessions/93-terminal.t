The terminal
============

However the program ends, it restores the terminal. A signal appears as its end.

  $ up='wait up 00:'
  $ for signal in INT TERM HUP; do on_terminal yodel -- "$up" "kill $signal" gone 'wait yodel: ended by '; done | xargs
  status 130 status 143 status 129
  $ for signal in ABRT QUIT USR1 USR2 ALRM XCPU SYS TRAP VTALRM PROF; do on_terminal yodel -- "$up" "kill $signal" gone; done | xargs
  status 134 status 131 status 138 status 140 status 142 status 152 status 159 status 133 status 154 status 155

So it does at the very start, and while output is stopped, as by ^S.

  $ for i in 1 2 3 4 5; do for signal in INT TERM HUP; do on_terminal yodel -- raw "kill $signal" gone; done; done | sort | uniq -c | xargs
  5 status 129 5 status 130 5 status 143
  $ for signal in INT TERM HUP QUIT USR1; do
  >     on_terminal yodel -- "$up" 'stop output' 'keys half a line' "kill $signal" gone
  > done | xargs
  status 130 status 143 status 129 status 131 status 138
  $ on_terminal yodel -- "$up" 'hang up' 'left 129'

A blocked terminal delays neither keys nor signals.

  $ need socat
  $ start socat -d -d TCP-LISTEN:0,fork,bind=127.0.0.1 "EXEC:yes $(printf %0200d 0)"
  $ blocked() {
  >     on_terminal 200x300 yodel --expect none 127.0.0.1 $PORT -- 'wait 000' stall 'keys ^L' sleep 'keys ^L' sleep 'keys ^L' sleep \
  >         'keys ^L' sleep 'keys ^L' sleep 'keys ^L' sleep 'keys ^L' sleep 'keys ^L' sleep "$@"
  > }
  $ blocked 'keys still here' continue 'last still here'
  $ blocked 'keys ^C^C' 'left 0'
  $ blocked 'hang up' 'left 129'
  $ for signal in INT HUP; do blocked "kill $signal" 'left 130 129' continue 'wait yodel: ended by ' 'no screen'; done
  $ blocked 'kill ABRT' 'left 134' continue 'no screen'

While a terminal is blocked, a flood is not read, and the program rests.

  $ cat >rests <<'END'
  > for i in $(seq 50); do
  >     before=$(cut -d ' ' -f 14,15 /proc/$1/stat); sleep 0.2
  >     [ "$before" = "$(cut -d ' ' -f 14,15 /proc/$1/stat)" ] && exit 0
  > done; exit 1
  > END
  $ blocked 'pid sh rests $PID' 'keys still here' continue 'last still here' 'keys ^C^C' 'left 0'

A flood delays no key.

  $ on_terminal yodel --expect none 127.0.0.1 $PORT -- 'wait 000' 'keys typed meanwhile' 'last typed meanwhile' 'keys ^C' \
  >     'row 23 F1 help' 'keys ^C' 'wait ^C again to quit' 'keys ^C' gone
  status 0

Many resizes in a row leave the screen whole. Resizing to 0x0 is none.

  $ on_terminal yodel -- "$up" 'type hello' 'wait ‹ hello ✓' \
  >     $(for i in $(seq 0 299); do echo resize-$((1 + i * 7 % 60))x$((1 + i * 13 % 150)); done) resize-0x0 resize-24x80 \
  >     'wait  › hello' 'wait ‹ hello ✓' 'row 22 ● up 0' 'type again' 'wait ‹ again ✓'

^Z gives the terminal back to the shell, and fg draws the screen again. A suspended program can be ended by a signal, also
after it wanted the terminal in the background.

  $ shell() { on_terminal PS1='$ ' bash --norc -i -- 'wait $' "$@"; }
  $ shell 'type yodel' "$up" 'type hello' 'wait ‹ hello ✓' 'keys ^Z' 'wait Stopped' 'no screen' 'type fg' 'alternate screen' \
  >     'wait ‹ hello ✓' 'type again' 'wait ‹ again ✓' 'keys ^D' 'no screen' 'type exit' gone
  status 0
  $ for mode in -tostop tostop; do
  >     shell "type stty $mode; yodel" "$up" 'keys ^Z' 'wait Stopped' 'type clear; kill %1' 'wait yodel: ended by SIGTERM' 'no screen'
  >     shell "type stty $mode; yodel" "$up" 'keys ^Z' 'wait Stopped' \
  >         "type clear; bg; until [ \"\$(jobs -s)\" ]; do sleep 0.05; done; echo stopped''again" 'wait stoppedagain' \
  >         'type clear; kill %1' 'wait yodel: ended by SIGTERM' 'no screen'
  > done

Round trips across a suspension of any kind are not timed.

  $ serve
  $ on_terminal yodel 127.0.0.1 $PORT -- "$up" "pid kill -STOP $SERVER" 'type hello' 'wait 1↑ 0↓ 1…' 'kill STOP' 'kill CONT' \
  >     "pid kill -CONT $SERVER" 'wait untimed ‹ hello ✓'

The screen works on other types of terminal, and sends them no sequences that they may show. Where a cursor cannot be placed,
there is pipe mode.

  $ for term in screen linux vt100; do
  >     on_terminal TERM=$term yodel -- "$up" 'type hello' 'wait hello ✓' 'keys \e[1;3A' 'wait Enter opens it' 'keys ^C^C' gone 'last '
  > done | uniq -c
        3 status 0
  $ for term in linux vt100; do
  >     on_terminal TERM=$term yodel -- "$up" 'type hello' 'wait hello ✓' 'keys \e[1;3A\ew' \
  >         'wait not copied; this type of terminal has no clipboard' 'keys ^D' 'left 0' 'unsent ?1007' 'unsent ?2026' 'unsent \e]' 'unsent ^X'
  > done
  $ for term in TERM=dumb -uTERM TERM=no-such-terminal; do
  >     on_terminal env $term yodel 127.0.0.1 $PORT -- 'type hello' 'keys ^D' 'wait 1 sent, 1 echoed, 0 bad, 0 lost' gone screen | grep known
  > done
  yodel: the terminal type "no-such-terminal" (TERM) is not known on this system;

ESCDELAY sets the delay of an Esc, and delays nothing else. With NO_COLOR nothing is colored, and no text is missing.

  $ on_terminal ESCDELAY=1000 yodel -- "$up" 'keys \e' 'keys s' 'wait unsolicited         0'
  $ on_terminal ESCDELAY=0 yodel -- "$up" 'keys \eOP' 'wait Keys (M-x' 'keys \e' 'wait Enter sends a line' 'keys h' 'last h'
  $ on_terminal NO_COLOR=1 yodel -- "$up" 'type hello' 'wait ‹ hello ✓' 'cells colored'
  0

In the C locale, drawing uses ASCII only. Other bytes are sent unchanged, and shown as bytes.

  $ on_terminal LC_ALL=C yodel -- 'wait * up 00:0' 'keys caf\xc3\xa9' 'last caf\xc3\xa9' 'keys \x7f\r' 'wait ms < caf\xc3 ok'
