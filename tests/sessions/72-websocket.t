WebSocket
=========

With --ping, an idle connection sends pings. They do not disturb a recording or a load.

  $ play open frames:1 read frame:8a:1 read frame:8a:2 frames
  $ (echo a; await 'ping 32' $LOG; echo b) | yodel -o r.json --ping 10ms ws://127.0.0.1:$PORT 2>log
  a
  b
  $ cat log
  yodel: 2 sent, 2 echoed, 0 bad, 0 lost; rtt * (glob)
  $ serve --ws
  $ yodel --replay r.json -i 0 ws://127.0.0.1:$PORT
  yodel: 2 replayed, 2 matched, 0 bad, 0 lost; rtt * (glob)
  $ yodel-load --connections 3 -c 30 --rate 150 --ping 5ms ws://127.0.0.1:$PORT
  yodel-load: 30 sent, 30 echoed, 0 bad, 0 lost* (glob)
