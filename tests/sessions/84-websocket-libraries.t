WebSocket with a library
========================

The client and the server of Python's websockets understand the programs, over TLS too.

  $ python=/usr/bin/python3
  $ need openssl /usr/lib/python3/dist-packages/websockets
  $ for tls in '' s; do
  >     serve --ws ${tls:+--self-signed} && url=ws$tls://127.0.0.1:$PORT/any?path
  >     for code in 1000 1001 4000; do $python "$PEERS/websockets_client.py" $url $code | xargs; done
  >     stop TERM $SERVER; sed -n 's/.*: the client/the client/p' $LOG
  > done
  subprotocol first closed 1000
  subprotocol first closed 1001
  subprotocol first closed 4000
  the client closed with 4000 application code: bye
  subprotocol first closed 1000
  subprotocol first closed 1001
  subprotocol first closed 4000
  the client closed with 4000 application code: bye
  $ certify server IP:127.0.0.1
  $ printf 'hello\n\nh\303\274\n\377\376\nb\303\n' >lines && head -c 1M /dev/zero | tr '\0' x >>lines && echo >>lines
  $ talk() {
  >     yodel --quiet --header 'Origin: https://example.com' --header 'Authorization: Bearer x' \
  >         --subprotocol first --subprotocol second "$@://127.0.0.1:$PORT/chat?room=1" <lines | cmp - lines
  >     await closed $LOG && sed 1d $LOG | xargs
  > }
  $ start $python "$PEERS/websockets_server.py" 0 server.pem server.key && talk --cacert ca.pem wss
  path /chat?room=1 Origin https://example.com Authorization Bearer x subprotocol second text 5 text 0 text 2 binary 2 binary 2 text 1048576 closed 1000
  $ start $python "$PEERS/websockets_server.py" 0
  $ yodel --examine ws://127.0.0.1:$PORT | grep -v '^ok'
  1..18
