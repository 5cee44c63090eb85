Forged datagrams
================

A forged sender cannot make yodeld -u answer others, itself, or for ever. This needs a network of its own, and a system that
tells the target of a broadcast.

  $ unshare -rn ip link set lo up 2>/dev/null || skip "no network namespace can be made"
  $ yodel -V | grep -q epoll || portable='s/target: 1 in, 1 out, 0/target: 1 in, 0 out, 1/; s/by 127.0.0.1/by 127.0.0.9/'
  $ forge() { unshare -rn sh -c "ip link set lo up && python3 $PEERS/udp_forger.py yodeld" | sed "$portable"; }
  $ forge
  an ordinary sender: 1 in, 1 out, 0 unanswered
  a privileged port: 1 in, 0 out, 1 unanswered
  itself: 1 in, 0 out, 1 unanswered
  itself, by its other port: 1 in, 0 out, 1 unanswered
  a broadcast sender: 1 in, 0 out, 0 unanswered
  a broadcast target: 1 in, 0 out, 1 unanswered
  asked at 127.0.0.9, answered by 127.0.0.9
  two servers: stopped and reported 1
