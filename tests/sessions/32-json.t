Output for programs
===================

With --json, each object is a line: the connection, each message, the end. A checker in Python knows what
they must contain.

  $ { printf 'hello\n\033]0;x\a\n\n'; seq 200; } | yodel --json 2>log | python3 "$PEERS/check_json.py"
  203 messages: 203 echoed
  $ seq 200 | yodel --json --tls 2>log | python3 "$PEERS/check_json.py"
  200 messages: 200 echoed
  $ serve -f line --corrupt 0.5 --seed 3
  $ (seq 50 | yodel --json 127.0.0.1 $PORT 2>log; echo $? >status) | python3 "$PEERS/check_json.py" && cat status
  50 messages: * bad* (glob)
  1
  $ serve -f line --drop 0.5 --delay 60ms
  $ seq 10 | yodel --json -W 20ms -q 200ms 127.0.0.1 $PORT 2>log | python3 "$PEERS/check_json.py"
  10 messages: * lost* (glob)
  $ printf 'a\nbc\n' | yodel --json --expect none 2>log | grep sent_us
  {"type":"message","seq":1,"sent_bytes":1,"planned_us":*,"sent_us":*,"fate":"sent","sent":"a"} (glob)
  {"type":"message","seq":2,"sent_bytes":2,"planned_us":*,"sent_us":*,"fate":"sent","sent":"bc"} (glob)
  $ yodel --json -c 1 -i 0 --retry 2 --retry-delay 1ms 127.0.0.1 1 2>log | grep -o '"connections":{.*'
  "connections":{"attempts":3,"opened":0,"failed":3},"errors":[{"text":"cannot connect to 127.0.0.1:1: Connection refused","status":7,"count":3,"failed":3}]}

The phases of connecting are timed, even if they take no time.

  $ for i in $(seq 20); do yodel --json -z --tls 2>log; done | grep -c '"connection",.*"handshake_us":[0-9.]*[1-9]'
  20

With --quiet, the end is alone.

  $ for program in yodel yodel-load; do $program --json --quiet -c 2 | sed 's/,.*//'; done
  {"type":"end"
  {"type":"end"
