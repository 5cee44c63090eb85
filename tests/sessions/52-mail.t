Mail and other services with codes
==================================

With -f smtp, a reply is all lines up to the one without - after its code. The server speaks first.

  $ start python3 "$PEERS/mail.py" 0
  $ printf '%s\n' 'EHLO me' 'MAIL FROM:<a@b>' 'RCPT TO:<c@d>' NOOP DATA 'Subject: hello\r\n\r\nhello\r\n.' QUIT |
  >     yodel -f smtp --escapes 127.0.0.1 $PORT
  220-mail.test\r (esc)
  220 ready
  250-mail.test\r (esc)
  250-SIZE 1000\r (esc)
  250 HELP
  250 OK
  250 OK
  250 OK
  354 end with a dot
  250 accepted
  221 bye
  yodel: 7 sent, 7 answered, 0 bad, 0 lost, 1 unsolicited; rtt * (glob)
  $ printf '%s\n' 'USER anonymous' 'PASS me' FEAT QUIT | yodel --quiet -f smtp 127.0.0.1 $PORT
  220-mail.test\r (esc)
  220 ready
  331 password, please
  230-Welcome.\r (esc)
  230-\r (esc)
    100 files\r (esc)
  230 Logged in.
  211-Features:\r (esc)
   SIZE\r (esc)
   MDTM\r (esc)
  211 End
  221 bye
  $ echo NOOP >noop && yodel-load -f smtp --messages noop -c 60 --connections 3 --churn 7 127.0.0.1 $PORT
  yodel-load: 60 sent, 60 answered, 0 bad, 0 lost, * unsolicited, */s; rtt * (glob)

Over TLS, the session begins after handshake and greeting.

  $ need openssl
  $ certify good DNS:localhost
  $ start python3 "$PEERS/mail.py" 0 tls good.pem good.key
  $ printf 'EHLO me\nQUIT\n' | yodel --quiet -f smtp --cacert ca.pem tls://localhost:$PORT
  220-mail.test\r (esc)
  220 ready
  250-mail.test\r (esc)
  250-SIZE 1000\r (esc)
  250 HELP
  221 bye

A server that does not greet, or closes instead, is named.

  $ start python3 "$PEERS/mail.py" 0 mute
  $ echo NOOP | yodel --quiet -f smtp -w 300ms 127.0.0.1 $PORT
  yodel: no connection to 127.0.0.1:* within 300ms (-w): still waiting for the greeting from 127.0.0.1:* (glob)
  [28]
  $ play 'send:SSH-2.0-\x1b[2J\r\n' close
  $ echo NOOP | yodel --quiet -f smtp 127.0.0.1 $PORT
  yodel: the server sent "SSH-2.0-^[[2J", which is not valid for -f smtp
  [56]
