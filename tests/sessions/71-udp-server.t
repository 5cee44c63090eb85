A server of datagrams
=====================

With -u, yodeld answers connections and datagrams on the same port. The port file contains it once.

  $ need socat
  $ for host in 127.0.0.1 '[::1]'; do
  >     spawn yodeld -u --port-file port$host $host:0 && await '[0-9]' "port$host"
  >     port=$(cat "port$host") && sed "s/$port/PORT/" $LOG
  >     echo stream | yodel --quiet "$host:$port"
  >     printf 'datagram\n' | socat -t0.5 - UDP:$host:$port
  > done
  listening 127.0.0.1:PORT
  listening udp 127.0.0.1:PORT
  stream
  datagram
  listening [::1]:PORT
  listening udp [::1]:PORT
  stream
  datagram

Its datagrams are counted, and reported with -v.

  $ spawn yodeld -u --json -v 127.0.0.1:0
  $ await '"udp"' $LOG && port=$(sed -n 's/.*"port":\([0-9]*\).*udp.*/\1/p' $LOG)
  $ printf hello | socat -t0.5 - UDP:127.0.0.1:$port,shut-none
  hello (no-eol)
  $ kill -USR1 $SERVER && await datagram_bytes $LOG && sed -n 's/.*"text":"d/d/p; s/.*"datagrams_in/"datagrams_in/p' $LOG
  datagram of 5 bytes: hello"}
  "datagrams_in":1,"datagrams_out":1,"datagrams_unanswered":0,"datagrams_dropped":0,"datagram_bytes_in":5,"datagram_bytes_out":5}
