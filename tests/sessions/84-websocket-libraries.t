WebSocket with libraries
========================

Clients and servers made with libraries understand the programs, over TLS too.

  $ python=/usr/bin/python3
  $ need openssl /usr/share/nodejs/ws /usr/lib/python3/dist-packages/websockets
  $ for tls in '' s; do
  >     serve --ws ${tls:+--self-signed} && url=ws$tls://127.0.0.1:$PORT/any?path
  >     for code in 1000 1001 4000; do $python "$PEERS/websockets_client.py" $url $code | xargs; done
  >     for code in 1000 4000; do node "$PEERS/ws_client.js" $url $code | xargs; done
  >     stop TERM $SERVER; sed -n 's/.*: the client/the client/p' $LOG
  > done
  subprotocol first closed 1000
  subprotocol first closed 1001
  subprotocol first closed 4000
  subprotocol first closed 1000
  subprotocol first closed 4000
  the client closed with 4000 application code: bye
  the client closed with 4000 application code: bye
  subprotocol first closed 1000
  subprotocol first closed 1001
  subprotocol first closed 4000
  subprotocol first closed 1000
  subprotocol first closed 4000
  the client closed with 4000 application code: bye
  the client closed with 4000 application code: bye
  $ certify server IP:127.0.0.1
  $ printf 'hello\n\nh\303\274\n\377\376\nb\303\n' >lines && head -c 1M /dev/zero | tr '\0' x >>lines && echo >>lines
  $ talk() {
  >     yodel --quiet --header 'Origin: https://example.com' --header 'Authorization: Bearer x' \
  >         --subprotocol first --subprotocol second "$@://127.0.0.1:$PORT/chat?room=1" <lines | cmp - lines
  >     await closed $LOG && sed 1d $LOG | xargs
  > }
  $ for server in "$python $PEERS/websockets_server.py" "node $PEERS/ws_server.js"; do
  >     start $server 0 && talk ws
  >     start $server 0 server.pem server.key && talk --cacert ca.pem wss
  > done
  path /chat?room=1 Origin https://example.com Authorization Bearer x subprotocol second text 5 text 0 text 2 binary 2 binary 2 text 1048576 closed 1000
  path /chat?room=1 Origin https://example.com Authorization Bearer x subprotocol second text 5 text 0 text 2 binary 2 binary 2 text 1048576 closed 1000
  path /chat?room=1 Origin https://example.com Authorization Bearer x subprotocol second text 5 text 0 text 2 binary 2 binary 2 text 1048576 closed 1000
  path /chat?room=1 Origin https://example.com Authorization Bearer x subprotocol second text 5 text 0 text 2 binary 2 binary 2 text 1048576 closed 1000

Both servers pass the examination.

  $ for server in "$python $PEERS/websockets_server.py" "node $PEERS/ws_server.js"; do
  >     start $server 0
  >     yodel --examine ws://127.0.0.1:$PORT >$PORT & all="$all $!"
  > done; wait $all; cat [1-9]* | grep -v '^ok'
  1..18
  1..18
