TLS
===

With --tls or tls://, the server's certificate must be valid for its name and signed by an authority that
the system or --cacert knows.

  $ need openssl
  $ certify good DNS:localhost,IP:127.0.0.1
  $ serve --tls --cert good.pem --key good.key
  $ printf 'a\nb\n' | yodel --quiet --tls --cacert ca.pem localhost $PORT
  a
  b
  $ echo a | yodel --quiet --cacert ca.pem tls://127.0.0.1:$PORT
  a

A certificate that is refused is named with the reason and with the options that accept it.

  $ serve --self-signed
  $ echo a | yodel --quiet --tls localhost $PORT 2>log
  [60]
  $ cat log
  yodel: the certificate of localhost is self-signed; to accept it: --cacert FILE, --pinnedpubkey sha256//*=, or -k (glob)

The options that the sentence names work.

  $ pin=$(sed -n 's/.*--pinnedpubkey \([^,]*\),.*/\1/p' log)
  $ echo a | yodel --quiet --pinnedpubkey $pin tls://localhost:$PORT
  a
  $ echo a | yodel --quiet -k --tls localhost $PORT
  a
  $ echo a | yodel --quiet -k --tls --pinnedpubkey sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= localhost $PORT
  yodel: the public key of localhost does not match the pin; its pin is sha256//*= (glob)
  [90]

TLS to a plain port and plain text to a TLS port are both named.

  $ for line in a hello 'GET / HTTP/1.0'; do echo "$line" | yodel --quiet localhost $PORT; done 2>&1 | uniq
  yodel: the server speaks TLS; use --tls
  $ serve
  $ echo a | yodel --tls -k --quiet localhost $PORT
  yodel: the server does not speak TLS
  [35]

A server may demand a certificate of the client.

  $ serve --tls --cert good.pem --key good.key --cacert ca.pem
  $ echo a | yodel --quiet --tls --cacert ca.pem localhost $PORT
  yodel: the server requires a client certificate (TLS alert: certificate required); choose one that it accepts with --cert FILE and --key FILE
  [58]
  $ yodel -z --tls --cacert ca.pem localhost $PORT
  yodel: connected to 127.0.0.1:*; look-up *, connect *, TLS * ms; TLSv1.3 *, CN=good until 2049-12-31, sha256//*= (glob)
  yodel: the server requires a client certificate (TLS alert: certificate required); choose one that it accepts with --cert FILE and --key FILE
  [58]
  $ echo a | yodel --quiet --tls --cacert ca.pem --cert good.pem --key good.key localhost $PORT
  a

Keys are logged to SSLKEYLOGFILE. A key log that cannot be written is a failure.

  $ SSLKEYLOGFILE=keys yodel --quiet --tls </dev/null && sed 's, .*,,' keys | sort -u
  CLIENT_HANDSHAKE_TRAFFIC_SECRET
  CLIENT_TRAFFIC_SECRET_0
  EXPORTER_SECRET
  SERVER_HANDSHAKE_TRAFFIC_SECRET
  SERVER_TRAFFIC_SECRET_0
  $ mkfifo fifo
  $ for log in /dev/full /nowhere/log fifo; do echo a | SSLKEYLOGFILE=$log yodel --quiet --tls; done
  yodel: key log /dev/full: No space left on device
  yodel: key log /nowhere/log: No such file or directory
  yodel: key log fifo is a FIFO, but must be a file
  [23]
