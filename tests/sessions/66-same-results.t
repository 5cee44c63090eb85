A ping and a load of one connection
===================================

yodel and yodel-load end alike, and their results have the same members but the samples, whatever the server
does.

  $ result() { "$@" --json -W 100ms 127.0.0.1 $PORT 2>$name.log >$name.out; echo status $?; tail -n 1 $name.out | sed 's/,"samples".*//' | grep -o '"[a-z0-9_.]*":' | sort -u; }
  $ compare() {
  >     result yodel $1 >$name.ping; result yodel-load $2 >$name.load
  >     cmp $name.ping $name.load && sed -n 1p $name.ping && grep -c '"rtt_us"\|"histogram"\|"errors"' $name.ping
  > }
  $ for faults in '' '--drop 0.3 --seed 1' '--corrupt 0.3 --seed 1' '--drop 1' '--close-after 3'; do
  >     serve -f line $faults && name=case$PORT && names="$names $name"
  >     { compare '-c 20 -i 1ms' '-c 20 --rate 1k'; compare '-c 20 -i 0' '-c 20 --window 64'; compare '-m 100ms -i 5ms' '-m 100ms --rate 200'; } | xargs echo "($faults)" >$name & all="$all $!"
  > done; wait $all; cat $names
  () status 0 3 status 0 3 status 0 3
  (--drop 0.3 --seed 1) status 1 3 status 1 3 status 1 3
  (--corrupt 0.3 --seed 1) status 1 3 status 1 3 status 1 3
  (--drop 1) status 1 1 status 1 1 status 1 1
  (--close-after 3) status 56 3 status 56 3 status 56 3
  $ PORT=1 name=refused; { compare '-c 3 -i 1ms' '-c 3 --rate 1k'; compare '-c 3 -i 0' '-c 3'; } | xargs
  status 7 1 status 7 1
