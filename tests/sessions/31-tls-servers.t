Servers that TLS must judge
===========================

The servers are in Python. Each has a certificate of another class.

  $ need openssl
  $ host=DNS:localhost,IP:127.0.0.1
  $ certify right $host && certify client && certify sha1 $host -md sha1
  $ certify expired $host -enddate 20210101000000Z && certify elsewhere DNS:example.org
  $ SUBJECT=localhost certify common && AUTHORITY=unknown certify stranger
  $ certify intermediate '' -extensions authority
  $ AUTHORITY=intermediate certify incomplete $host
  $ cat incomplete.pem intermediate.pem >chained.pem && cp incomplete.key chained.key
  $ openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out short.key 2>log; certify short $host
  $ new_key alone 2>log; openssl req -x509 -key alone.key -out alone.pem -subj /CN=alone -addext subjectAltName=$host
  $ class() { play tls:$1.pem:$1.key${2:+:$2} rest; }
  $ hello() { echo hello | yodel --cacert ca.pem "$@" tls://127.0.0.1:$PORT; }
  $ class right && hello --quiet
  hello
  $ class right newest=1.2 && hello --quiet
  hello
  $ class chained && hello --quiet
  hello
  $ class right clients=ca.pem && hello --quiet --cert client.pem --key client.key
  hello

A certificate that is refused (60) is accepted with its pin, or with -k, which leaves a remark.

  $ for name in expired elsewhere alone incomplete common sha1 short; do
  >     class $name; hello --quiet 2>log; echo $? $name && cat log
  >     hello --quiet --pinnedpubkey $(grep -o 'sha256//[^,]*' log) >out &&
  >     hello -k 2>log >out && grep -o 'UNVERIFIED (-k): the certificate' log >>remarks
  > done
  60 expired
  yodel: the certificate of 127.0.0.1 expired on 20*; to accept it: --pinnedpubkey sha256//*=, or -k (glob)
  60 elsewhere
  yodel: the certificate of 127.0.0.1 is for example.org, not for 127.0.0.1; to accept it: --pinnedpubkey sha256//*=, or -k (glob)
  60 alone
  yodel: the certificate of 127.0.0.1 is self-signed; to accept it: --cacert FILE, --pinnedpubkey sha256//*=, or -k (glob)
  60 incomplete
  yodel: the certificate of 127.0.0.1 was sent without the certificate of its issuer CN=intermediate, which is an intermediate or an untrusted CA; the server should send its intermediate certificate; to accept it: --cacert FILE, --pinnedpubkey sha256//*=, or -k (glob)
  60 common
  yodel: the certificate of 127.0.0.1 names no host: it has no subject alternative name, and its subject CN=localhost is ignored; to accept it: --pinnedpubkey sha256//*=, or -k (glob)
  60 sha1
  yodel: the certificate of 127.0.0.1 is signed with ecdsa-with-SHA1, which is too weak; to accept it: --pinnedpubkey sha256//*=, or -k (glob)
  60 short
  yodel: the certificate of 127.0.0.1 has a key of 1024 bits (rsaEncryption), which is too weak; to accept it: --pinnedpubkey sha256//*=, or -k (glob)
  $ wc -l <remarks
  7
  $ hello -k -v 2>&1 | grep -o 'UNVERIFIED: .*'
  UNVERIFIED: the certificate has a key of 1024 bits (rsaEncryption), which is too weak
  $ hello -k --json 2>log | grep -o '"unverified":"[^"]*"'
  "unverified":"the certificate has a key of 1024 bits (rsaEncryption), which is too weak"

The screen shows that a pinned certificate has expired.

  $ class expired; hello --quiet 2>log; pin=$(grep -o 'sha256//[^,]*' log)
  $ on_terminal yodel --pinnedpubkey $pin tls://127.0.0.1:$PORT -- 'wait CERT EXPIRED 2021-01-01' 'keys ^D' gone
  status 0

So is our own certificate judged by the server.

  $ class right clients=ca.pem
  $ hello --quiet --cert stranger.pem --key stranger.key
  yodel: the server refused our certificate (TLS alert: unknown CA); choose one that it accepts with --cert FILE and --key FILE
  [58]

The two sides may have no version or group in common, or an end that is not orderly.

  $ class right newest=1.1 && hello --quiet
  yodel: the server supports none of our TLS versions (TLS alert: protocol version)
  [35]
  $ class right newest=1.2 && hello --quiet --tls-min 1.3
  yodel: the server supports none of our TLS versions (TLS alert: protocol version)
  [35]
  $ class right group=secp521r1 && hello --quiet --groups P-521
  hello
  $ hello --quiet --groups X25519
  yodel: the server aborted the connection (TLS alert: handshake failure)
  [35]
  $ play tls:right.pem:right.key echo close && hello --quiet -c 5 -i 50ms 2>&1 | grep close_notify
  yodel: the server closed the connection without a TLS close_notify

Other servers speak no TLS, or break off.

  $ for steps in 'send:SSH-2.0-OpenSSH_9.2\r\n wait' 'shut wait' 'send:\x16\x03\x03\x00\x10 shut wait' 'some reset' \
  >     'send:\x15\x03\x03\x00\x02\x02\x50 wait' 'send:\x16\x03\x03\xff\xff\x02\x02 wait'; do
  >     play $steps && hello --quiet; echo $?
  > done
  yodel: the server does not speak TLS
  35
  yodel: the server closed the connection during the TLS handshake
  35
  yodel: the server closed the connection during the TLS handshake
  35
  yodel: the TLS handshake failed: Connection reset by peer
  35
  yodel: the server aborted the connection (TLS alert: internal error)
  35
  yodel: the server does not speak TLS
  35

A server that requests renegotiation is refused, and its end is explained.

  $ open_input
  $ start openssl s_server -tls1_2 -accept 127.0.0.1:0 -cert right.pem -key right.key <input
  $ yodel --cacert ca.pem --expect none -i 20ms tls://127.0.0.1:$PORT >out 2>log & client=$!
  $ await 'Secure Renegotiation IS supported' $LOG && echo r >input && wait $client
  [56]
  $ sed -n 1p log
  yodel: the server aborted the connection, because its renegotiation was refused* (glob)
