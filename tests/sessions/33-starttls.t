STARTTLS
========

With --starttls, a service is asked in its own words to continue with TLS.

  $ need openssl
  $ certify good DNS:localhost
  $ service() { start python3 "$PEERS/starttls.py" 0 good.pem good.key "$@"; }
  $ client() { echo a | yodel --quiet -f line --cacert ca.pem --starttls "$@" localhost $PORT; }
  $ for name in smtp imap pop3 ftp; do service $name && client $name; done
  a
  a
  a
  a
  $ for name in smtp imap pop3 ftp; do service $name bytewise && client $name; done
  a
  a
  a
  a

All that TLS offers applies, also without messages, and in loads.

  $ service smtp
  $ echo a | yodel -f line --starttls smtp localhost $PORT
  yodel: the certificate of localhost was sent without the certificate of its issuer CN=Test Authority, *, or -k (glob)
  yodel: 0 sent, 0 echoed, 0 bad, 0 lost
  [60]
  $ yodel -z --cacert ca.pem --starttls smtp localhost $PORT
  yodel: connected to 127.0.0.1:*; look-up *, connect *, STARTTLS * ms; TLSv1.3 * CN=good until 2049-12-31, sha256//*= (glob)

After --starttls smtp and ftp, -f smtp is the default. With -v, the answers are shown.

  $ echo '250 ok' | yodel -v --cacert ca.pem --starttls smtp localhost $PORT 2>&1 | grep -v 'sandbox\|connected\|sent'
  yodel: STARTTLS: 220-mail.test
  yodel: 220 ready
  yodel: STARTTLS: 250-mail.test
  yodel: 250 STARTTLS
  yodel: STARTTLS: 220 go ahead
  250 ok
  $ yodel-load -f line -c 20 --connections 4 --cacert ca.pem --starttls smtp localhost $PORT 2>&1 | grep -o '20 sent, 20 echoed'
  20 sent, 20 echoed

A service that refuses is quoted.

  $ for name in smtp imap pop3 ftp; do service $name refuse && client $name; done
  yodel: the server answered STARTTLS with: 454 no TLS; expected 220
  yodel: the server answered STARTTLS with: a BAD no TLS; expected a OK
  yodel: the server answered STLS with: -ERR no TLS; expected +OK
  yodel: the server answered AUTH TLS with: 530 no TLS; expected 234
  [35]
  $ service imap strange && client imap
  yodel: the server greeted with: SSH-2.0-test; expected * OK
  [35]
  $ service pop3 close && client pop3
  yodel: the server closed the connection before it answered STLS
  [35]
  $ service ftp && client smtp
  yodel: the server closed the connection before it answered EHLO localhost
  [35]

Bytes in clear behind the answer do not reach the messages.

  $ for name in smtp imap pop3 ftp; do service $name inject && client $name; done
  yodel: the server sent more in clear after it answered STARTTLS
  yodel: the server sent more in clear after it answered STARTTLS
  yodel: the server sent more in clear after it answered STLS
  yodel: the server sent more in clear after it answered AUTH TLS
  [35]

The connect timeout covers all steps.

  $ service smtp silent && client smtp -w 100ms
  yodel: no connection to localhost:* within 100ms (-w): still in the STARTTLS handshake with 127.0.0.1:* (glob)
  [28]

Other targets and modes have no STARTTLS.

  $ yodel --starttls smtp
  yodel: --starttls needs a target (yodel -h shows the options)
  [2]
  $ yodel --starttls nntp localhost 119
  yodel: --starttls: "nntp" is not one of smtp, imap, pop3, ftp (yodel -h shows the options)
  [2]
  $ yodel --starttls smtp ws://localhost:1
  yodel: --starttls cannot be combined with ws:// (yodel -h shows the options)
  [2]
  $ yodel -u --starttls smtp localhost 1
  yodel: -u cannot be combined with --starttls (yodel -h shows the options)
  [2]
  $ yodel -l --starttls smtp 1
  yodel: --starttls cannot be combined with -l (yodel -h shows the options)
  [2]
