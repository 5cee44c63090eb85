The name of one server, the address of another
==============================================

With --connect-to, the program connects to another address, for example to test a server before its name points to it.
The name of the target is not looked up, and stays in the messages.

  $ serve -f line
  $ echo a | yodel -v --connect-to 127.0.0.1:$PORT service.example 80
  yodel: sandbox: * (glob)
  yodel: connected to 127.0.0.1:*; look-up *, connect * ms (glob)
  a
  yodel: 1 sent, 1 echoed, 0 bad, 0 lost; rtt * ms* (glob)
  $ echo a | yodel --quiet --connect-to localhost -4 service.example $PORT
  a
  $ yodel-load -c 20 --connections 4 --threads 2 --connect-to 127.0.0.1:$PORT tcp://service.example:80
  yodel-load: 20 sent, 20 echoed, 0 bad, 0 lost, */s; rtt * (glob)
  $ yodel --quiet --connect-to 127.0.0.1:1 service.example 80
  yodel: cannot connect to service.example:80: 127.0.0.1:1: Connection refused
  [7]
  $ for connections in 1 2; do
  >     yodel-load -z --connections $connections --connect-to other.invalid:1 service.example 80 2>&1 | grep -o 'cannot resolve [^ ]*'
  > done
  cannot resolve other.invalid:1:
  cannot resolve other.invalid:1:
  $ serve -u
  $ echo a | yodel --quiet --connect-to 127.0.0.1:$PORT udp://service.example:7
  a

TLS sends the name of the target, and the certificate must be valid for it.

  $ need openssl
  $ certify service DNS:service.example
  $ certify other DNS:other.example
  $ start openssl s_server -rev -accept 127.0.0.1:0 -cert other.pem -key other.key -servername service.example -cert2 service.pem -key2 service.key
  $ echo live | yodel --quiet --expect any --cacert ca.pem --connect-to 127.0.0.1:$PORT tls://service.example:443
  evil
  $ echo live | yodel --quiet --expect any --cacert ca.pem --connect-to 127.0.0.1:$PORT tls://third.example:443
  yodel: the certificate of third.example is for other.example, not for third.example; to accept it: --pinnedpubkey sha256//*=, or -k (glob)
  [60]

So does the request of a WebSocket.

  $ open_input
  $ yodel -l 0 <input >heard 2>log & listener=$!
  $ await listening log
  $ yodel -z -w 1 --connect-to 127.0.0.1:$(sed 's/.*://' log) ws://service.example/path 2>out & client=$!
  $ await Host heard
  $ grep Host heard
  Host: service.example\r (esc)
  $ kill $client $listener
