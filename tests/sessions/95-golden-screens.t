What the screens look like
==========================

The files in tests/screens are what a reader sees here, with zeros for times. SCREENS_UPDATE=1 rewrites them. The sandbox is
off, because it differs between systems.

  $ need socat
  $ serve_path() { spawn socat -d -d "$@" && await 'listening on' "$LOG"; }
  $ serve_path UNIX-LISTEN:echo,fork PIPE
  $ for size in 80x24 40x10; do
  >     on_terminal ${size#*x}x${size%x*} yodel --no-sandbox unix:echo -- 'wait up 00:' 'wait connected to' "golden start-$size" \
  >         'type hello' 'wait ‹ hello ✓' 'type 你好, café' 'wait ‹ 你好, café ✓' 'type \e[200~\x01 and \e[31m\e[201~' \
  >         'wait ‹ ^A and ^[[31m ✓' "golden talk-$size" 'keys \eh' 'wait 00000000 ' \
  >         "golden hex-$size" 'keys \eh\e?' 'wait Keys (M-x' "golden keys-$size" \
  >         'keys \r\e[1;3A\e[1;3A\r' 'wait Sent, ' "golden message-$size" 'type e^U[{"id":7,"tags":["a","b"]}]' 'wait ‹ [{' \
  >         'type \e[1;3A' 'wait Sent, ' "golden json-$size" 'keys \r\ei' 'wait Connection' "golden connection-$size"
  > done

A wide, a tiny and an old terminal, and one without UTF-8.

  $ talk() {
  >     name=$1; shift
  >     on_terminal "$@" yodel --no-sandbox unix:echo -- 'wait up 00:' "golden start-$name" 'type hello' 'wait ms ' \
  >         "golden talk-$name" 'keys \e?' 'wait Keys' "golden keys-$name"
  > }
  $ for setting in '100x24 24x100' '20x5 5x20' 'vt100 TERM=vt100' 'ascii LC_ALL=C'; do
  >     talk $setting & talks="$talks $!"
  > done; wait $talks

Replies of Redis, a server that closes the connection after each, a pasted text, statistics, and a search in an opened message.

  $ cat >redis.sh <<'END'
  > read -r line
  > case $line in
  > G*) sleep 0.5; printf '*3\r\n$5\r\nhello\r\n:7\r\n$-1\r\n';;
  > *) printf -- '-ERR unknown command\r\n';;
  > esac
  > sleep 0.2
  > END
  $ serve_path UNIX-LISTEN:redis,fork EXEC:'sh redis.sh'
  $ decoded() {
  >     name=$1; shift
  >     on_terminal "$@" yodel --no-sandbox -f resp --expect any unix:redis -- 'wait up 00:' 'type GET a' 'wait 3) (nil)' 'wait closed' \
  >         'type FOO' 'wait ERR unknown' 'wait closed' 'keys \e[200~GET a\rGET b\e[201~' 'wait 2 lines' "golden resp-$name" \
  >         'keys ^U\es' 'wait Messages' 'keys \e[B' 'wait Enter opens' "golden statistics-$name" \
  >         'keys \r' 'wait Message' 'keys \e/' 'wait find:' 'type hello' 'wait n next' "golden found-$name"
  > }
  $ for setting in '100x24 24x100' '80x24 24x80' '40x10 10x40' '20x5 5x20' 'vt100 TERM=vt100' 'ascii LC_ALL=C'; do
  >     decoded $setting & decodes="$decodes $!"
  > done; wait $decodes

A server that corrupts, and answers by hand.

  $ rm echo && serve_path UNIX-LISTEN:echo,fork 'EXEC:stdbuf -o0 tr l 1'
  $ on_terminal yodel --no-sandbox unix:echo -- 'wait up 00:' 'type hello' 'wait differs at byte 2' 'golden bad-80x24' \
  >     'keys \e[1;3A\r' 'wait Received, 5 bytes' 'golden difference-80x24'
  $ on_terminal yodel --no-sandbox -l unix:here -- 'wait listening here' 'golden listening-80x24' \
  >     "pid socat UNIX:here 'SYSTEM:echo hello; read line; echo how are you?; read line' &" 'wait ‹ hello' 'type hi there' \
  >     'wait ms ‹ how are you?' 'golden answering-80x24' 'type fine' 'wait the client closed the connection' 'golden left-80x24'

A recording.

  $ cat >r.json <<END
  > {"type":"recording","version":2,"framing":"line","first":1,"connections":1,"started":"2026-11-23T18:00:00Z","expect":"echo"}
  > {"type":"connection","address":"127.0.0.1:7000"}
  > {"type":"message","seq":1,"sent_us":1000,"rtt_us":210,"fate":"echoed","right":true,"sent":"hello","received":"hello"}
  > {"type":"message","seq":2,"sent_us":2000,"rtt_us":340,"fate":"bad","difference":2,"sent":"hello","received":"he1lo"}
  > {"type":"message","fate":"unsolicited","received_us":3000,"received":"news"}
  > {"type":"message","seq":3,"sent_us":4000,"fate":"lost","sent":"gone"}
  > END
  $ printf '{"type":"mess' >>r.json
  $ for size in 80x24 40x10; do
  >     on_terminal ${size#*x}x${size%x*} TZ=UTC yodel -r r.json -- 'wait truncated' "golden recording-$size" 'keys \ei' 'wait damage' \
  >         "golden recorded-$size" 'keys \r\e[15~' 'wait there is no target' 'keys ^D' gone
  > done
  status 0
  status 0
