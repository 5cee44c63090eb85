How a server leaves
===================

On TERM and INT, yodeld delivers pending replies and exits with 0. Idle peers are left immediately, over TLS with
close_notify.

  $ need socat openssl
  $ open_input
  $ for signal in TERM INT; do
  >     serve && printf 'a\n' >input
  >     yodel 127.0.0.1 $PORT <input >$signal 2>log & client=$!
  >     await a $signal && stop $signal $SERVER; wait $client; echo $? $(cat $signal) $(wc -l <$LOG)
  > done
  56 a 1
  56 a 1
  $ for peer in 'socat - TCP:' 'openssl s_client -quiet -state -connect '; do
  >     case $peer in socat*) serve;; *) serve --self-signed;; esac
  >     server=$SERVER && log=$LOG && spawn socat -u TCP:127.0.0.1:$PORT EXEC:'sleep 60'
  >     ${peer}127.0.0.1:$PORT <input >out.$PORT 2>states & printf 'hello\n' >input
  >     await hello out.$PORT && stop TERM $server; wc -l <$log; kill $! 2>kill.log
  > done; await 'read:warning:close notify' states
  1
  2

A second signal ends it immediately, also with replies that are due in an hour.

  $ serve -v --delay 1h -f line --self-signed
  $ openssl s_client -quiet -state -connect 127.0.0.1:$PORT <input 2>states >out & client=$!
  $ printf 'a\n' >input; await 'read 2 bytes: a^J' $LOG && kill $SERVER
  $ while socat -u /dev/null TCP:127.0.0.1:$PORT 2>log; do :; done
  $ stop TERM $SERVER && wait $client; grep -o 'read:warning:close notify' states; grep echoes $LOG
  read:warning:close notify
  [1]

TLS records without data are no traffic. Idle clients get close_notify. Here each K sends a KeyUpdate, the last one
long after the timeout.

  $ serve --idle-timeout 500ms --self-signed
  $ for i in $(seq 100); do echo K || break; sleep 0.05; done 2>log | openssl s_client -state -connect 127.0.0.1:$PORT >out 2>states
  $ grep -o 'read:warning:close notify' states; sed -n 's/.*idle/idle/p' $LOG
  read:warning:close notify
  idle for 500ms
