STARTTLS
========

With --starttls, a service is asked in its own words to continue with TLS.

  $ need openssl
  $ certify good DNS:localhost
  $ smtp='send:220-mail.test\r\n220 ready\r\n
  > line:EHLO localhost
  > send:250-mail.test\r\n250 STARTTLS\r\n
  > line:STARTTLS'
  $ imap='send:* OK ready\r\n
  > line:a STARTTLS'
  $ pop3='send:+OK ready\r\n
  > line:STLS'
  $ ftp='send:220-Files\r\n 221 is inside\r\n220 ready\r\n
  > line:AUTH TLS'
  $ tls=tls:good.pem:good.key
  $ client() { echo a | yodel --quiet -f line --cacert ca.pem --starttls "$@" localhost $PORT; }
  $ play "$smtp" 'send:220 go ahead\r\n' $tls rest && client smtp
  a
  $ play "$imap" 'send:* CAPABILITY IMAP4rev1\r\na OK go ahead\r\n' $tls rest && client imap
  a
  $ play "$pop3" 'send:+OK go ahead\r\n' $tls rest && client pop3
  a
  $ play "$ftp" 'send:234 go ahead\r\n' $tls rest && client ftp
  a

All that TLS offers applies, also without messages, and in loads.

  $ play "$smtp" 'send:220 go ahead\r\n' $tls rest
  $ echo a | yodel --quiet -f line --starttls smtp localhost $PORT
  yodel: the certificate of localhost was sent without the certificate of its issuer CN=ca, *, or -k (glob)
  [60]
  $ yodel -z --cacert ca.pem --starttls smtp localhost $PORT
  yodel: connected to 127.0.0.1:*; look-up *, connect *, STARTTLS * ms; TLSv1.3 * CN=good until 2049-12-31, sha256//*= (glob)
  $ yodel-load -f line -c 20 --connections 4 --cacert ca.pem --starttls smtp localhost $PORT 2>&1 | grep -o '20 sent, 20 echoed'
  20 sent, 20 echoed

After --starttls smtp and ftp, -f smtp is the default. With -v, the answers are shown.

  $ echo '250 ok' | yodel -v --cacert ca.pem --starttls smtp localhost $PORT 2>&1 | grep -v 'sandbox\|connected\|sent'
  yodel: STARTTLS: 220-mail.test
  yodel: 220 ready
  yodel: STARTTLS: 250-mail.test
  yodel: 250 STARTTLS
  yodel: STARTTLS: 220 go ahead
  250 ok

A service that refuses is quoted. Plaintext after the answer does not reach the messages.

  $ play "$smtp" 'send:454 no TLS\r\n' && client smtp
  yodel: the server answered STARTTLS with: 454 no TLS; expected 220
  [35]
  $ play 'send:SSH-2.0-test\r\n' wait && client imap
  yodel: the server greeted with: SSH-2.0-test; expected * OK
  [35]
  $ play "$pop3" close && client pop3
  yodel: the server closed the connection before it answered STLS
  [35]
  $ play "$ftp" 'send:234 go ahead\r\n250 injected\r\n' wait && client ftp
  yodel: the server sent more plaintext after it answered AUTH TLS
  [35]

The connect timeout covers all steps.

  $ play "$smtp" wait && client smtp -w 100ms
  yodel: no connection to localhost:* within 100ms (-w): still in the STARTTLS handshake with 127.0.0.1:* (glob)
  [28]

Other targets have no STARTTLS.

  $ yodel --starttls smtp
  yodel: --starttls needs a target (yodel -h shows the options)
  [2]
  $ yodel --starttls nntp localhost 119
  yodel: --starttls: "nntp" is not one of smtp, imap, pop3, ftp (yodel -h shows the options)
  [2]
