Servers that attack the terminal
================================

A server sends each sequence that could command a terminal. None reaches it, however the screen shows them, in a UTF-8 locale or
another.

  $ need socat
  $ on_terminal attacks >attacks && echo the last of them >>attacks
  $ start socat -d -d TCP-LISTEN:0,fork,bind=127.0.0.1 "EXEC:cat $PWD/attacks -"
  $ attacked() {
  >     for locale in C.UTF-8 C; do
  >         [ $locale = C ] && bar='row 48 * up 00:' || bar='row 48 ● up 00:'
  >         on_terminal 50x100 LC_ALL=$locale yodel --expect none 127.0.0.1 $PORT -- 'wait the last of them' "$bar" 'row 49 F1 help' \
  >             "$@" "$bar" 'alternate screen' untouched
  >     done
  > }
  $ attacked 'wait ^[]0;OWNED^G' 'row 49 F1 help'
  $ attacked 'keys \eh' 'wait 1b' 'row 49 F1 help'
  $ attacked $(yes 'keys-up' | head -n 20) 'keys \r' 'wait Unsolicited' 'row 49 Esc goes back'
  $ attacked 'keys \e/OWNED\r' 'wait HELD'

Nor do they in pipe mode, or as names and options.

  $ for framing in line raw; do
  >     on_terminal 50x100 yodel --no-tui -f $framing 127.0.0.1 $PORT -- 'wait the last of them' 'no screen' untouched
  > done
  $ while IFS= read -r word; do yodel "--$word" "$word"; echo $?; done <attacks 2>errors | uniq
  2
  $ LC_ALL=C grep "$(printf '[\033\a\233\235\r\b]')" errors
  [1]
