No source port left
===================

In a network with ten source ports, additional connections fail, with TCP and with UDP.

  $ unshare -rn ip link set lo up 2>/dev/null || skip "no network namespace can be made"
  $ in_small_network() {
  >     unshare -rn sh -c "ip link set lo up; echo 40000 40009 >/proc/sys/net/ipv4/ip_local_port_range
  >         yodeld -u --port-file port 39000 >log & while [ ! -s port ]; do sleep 0.01; done
  >         yodel-load --connections 15 -c 100 $* 127.0.0.1 39000; echo \$?; kill \$!" 2>&1 | grep -m 2 '^7\|cannot'
  > }
  $ for options in '' -u '-u -s 127.0.0.1'; do in_small_network $options; done | sort | uniq -c
        3 7
        3 yodel-load: cannot connect to 127.0.0.1:39000: (no ephemeral port is left; the system has 10 ports for each destination|Cannot assign|Address).*\(5 times\) (re)
