On a terminal
=============

On a terminal, yodel has a screen. Each line is sent, and its echo is shown with its time. On leaving, the shell's
screen comes back, with the summary and nothing else.

  $ up='wait up 00:'
  $ screen() { on_terminal 24x300 "$@"; }
  $ screen yodel -- "$up" 'type hello' 'wait ms ‹ hello ✓' 'wait  › hello' 'wait 1↑ 1↓ 0… 0✗ 0?' 'last ' 'keys ^D' gone screen
  status 0
  yodel: 1 sent, 1 echoed, 0 bad, 0 lost; rtt * (glob)
  $ for keys in ^D '^C^C' 'half a line^C^C'; do
  >     screen sh -c "echo before; yodel; echo status \$?" -- "$up" 'type hello' 'wait ‹ hello ✓' 'keys \eOP' \
  >         'keys \e[<64;1;1M' "keys $keys" gone screen | sed 's/rtt .*//' | xargs
  > done | uniq -c
        3 status 0 before yodel: 1 sent, 1 echoed, 0 bad, 0 lost; status 0
  $ screen sh -c "echo before; yodel --quiet; echo status \$?" -- "$up" 'keys ^D' gone screen | xargs
  status 0 before status 0

Lines that were never sent are reported, also after a failure.

  $ screen yodel 127.0.0.1 1 -- 'wait refused; retry ' 'type later' 'wait 1 queued' 'keys ^D' gone screen
  status 7
  yodel: cannot connect to 127.0.0.1:1: Connection refused
  yodel: 0 sent, 0 echoed, 0 bad, 0 lost, 1 unsent

F5 connects again, and leaves nothing of the attempt that it ends. F8 disconnects.

  $ need socat openssl
  $ start socat -d -d TCP-LISTEN:0,fork,bind=127.0.0.1 'EXEC:sleep 60'
  $ screen yodel --tls 127.0.0.1 $PORT -- 'wait handshake 0.5s' 'keys \e[15~' 'wait handshake 0.2s' 'hides disconnected' \
  >     'keys \e[19~' 'wait closed: disconnected'

With TLS the program trusts the certificate that it made for itself. It closes with close_notify, whatever ends it.

  $ screen yodel --tls --groups P-256 -- "$up" 'wait  TLS1.3 secp256r1 ' 'hides UNVERIFIED' 'type hello' 'wait ms ‹ hello ✓'
  $ for steps in 'keys ^D;gone' 'keys half a line^C^C;gone' 'keys \e[19~;wait closed: disconnected' 'kill TERM;gone'; do
  >     serve --tls --self-signed -v && screen yodel --tls -k localhost $PORT -- "$up" "${steps%;*}" "${steps#*;}"
  >     await ': closed, ' $LOG && grep close_notify $LOG
  > done
  status 0
  status 0
  status 143
  [1]

Failures of TLS have words in the status line, and a status of their own.

  $ certify old DNS:localhost -enddate 20210101000000Z && certify other DNS:example.org -enddate 20210101000000Z && certify good DNS:localhost
  $ failure() { words=$1 && shift && screen yodel --tls localhost $PORT "$@" -- "wait $words" 'keys ^C^C' gone 'wait yodel: the '; }
  $ serve --tls --cert old.pem --key old.key && failure 'CERT EXPIRED 2021-01-01' --cacert ca.pem
  status 60
  $ failure 'CERT UNTRUSTED, EXPIRED 2021-01-01'
  status 60
  $ serve --tls --cert other.pem --key other.key && failure 'CERT REFUSED, EXPIRED 2021-01-01' --cacert ca.pem
  status 60
  $ serve --tls --cert good.pem --key good.key --cacert ca.pem && failure 'CLIENT CERT REQUIRED (M-i shows it)' --cacert ca.pem
  status 58
  $ failure 'CLIENT CERT REFUSED (M-i shows it)' --cacert ca.pem --cert other.pem --key other.key
  status 58
  $ failure 'PIN DIFFERS (M-i shows it)' --pinnedpubkey sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
  status 90

The modes that are on are shown before the times in a usual terminal.

  $ serve --tls --self-signed && url=tls://localhost:$PORT
  $ modes() { on_terminal "$@" -- "$up" 'type hello' 'wait ‹ hello ✓' "wait  $mode $url TLS1.3" 'wait  UNVERIFIED (-k) ' 'wait  │ 1↑ 1↓'; }
  $ mode=KEYLOG && modes env SSLKEYLOGFILE=keys yodel -k $url
  $ mode=FILE && modes yodel -k -o log $url

A recording that M-o starts again gets another file, which the sandbox allows.

  $ screen yodel -o x.json -- "$up" 'keys \eo' 'wait stopped writing the recording' 'keys \eo' 'wait writing the recording to ' \
  >     'type kept' 'wait ‹ kept ✓' 'keys ^D' gone
  status 0
  $ grep -l '"sent":"kept"' x.json x-2.json
  x-2.json

The screen starts in hex with -x, writes a file with -o, and reads --escapes.

  $ screen yodel -x -o log2 --escapes -v -f len2 -- "$up" 'type a\x5cx00b' 'wait 61 00 62' 'keys ^D' gone && grep -c 'a^@b' log2
  status 0
  2
  $ screen yodel -o /no/such/log -- gone 'wait yodel: cannot write the transcript /no/such/log: No such file'
  status 23

It supports datagrams and WebSockets.

  $ serve -u --dup 1
  $ on_terminal 24x110 yodel udp://127.0.0.1:$PORT -- 'wait ○ ready 00:' 'type hello' 'wait ● up 00:' \
  >     'wait hello - a duplicate reply' 'keys ^D' gone
  status 0
  $ serve --ws && server=$SERVER port=$PORT
  $ on_terminal 50x100 yodel --retry forever --header 'Origin: https://example.com' ws://127.0.0.1:$port/chat -- "$up" \
  >     "wait ws://127.0.0.1:$port" 'type hello' 'wait ‹ hello ✓' 'keys \ei' "wait target      ws://127.0.0.1:$port/chat" \
  >     'wait WebSocket request' 'wait GET /chat HTTP/1.1' 'wait Origin: https://example.com' 'wait WebSocket response' \
  >     'wait HTTP/1.1 101 Switching Protocols' 'wait sandbox     ' 'keys \r' "pid kill $server" \
  >     'wait the server closed the connection' 'wait refused; retry ' 'type later' 'wait 1 queued' \
  >     "pid yodeld --ws $port >new.log 2>&1 & echo \$! >new.pid" 'wait ‹ later ✓' 'keys ^D' gone; kill $(cat new.pid)
  status 0
