Mistakes and what they cost
===========================

A usage error is one line that helps, and status 2.

  $ yodel --nonsense
  yodel: unknown option --nonsense (yodel -h shows the options)
  [2]
  $ yodel localhost
  yodel: "localhost" needs a port: write HOST PORT or HOST:PORT (yodel -h shows the options)
  [2]
  $ yodel http://localhost:80
  yodel: "http://" is not supported; use tcp://, tls://, udp://, ws:// or wss:// (yodel -h shows the options)
  [2]
  $ yodel -f morse localhost 7
  yodel: -f: "morse" is not a framing; the framings are line, crlf, nul, len1, len2, len4, len2le, len4le, caret, resp, smtp, raw (yodel -h shows the options)
  [2]
  $ yodel -f resp -c 1
  yodel: -f resp needs a target, because the built-in server only echoes (yodel -h shows the options)
  [2]

An option of another program names that program, with the arguments in place.

  $ yodel-load localhost 7000 --hex
  yodel-load: --hex is an option of yodel: yodel localhost 7000 --hex
  [2]
  $ yodel-load --rate fast localhost 7000
  yodel-load: --rate: "fast" is not a rate from 0.001 to 10M per second, such as 50, 2.5 or 20k (yodel-load -h shows the options)
  [2]

Each other failure has its own status: a name that is unknown, a service that is not there, files of certificates.

  $ yodel --quiet name.invalid 7 </dev/null
  yodel: cannot resolve name.invalid:7: * (glob)
  [6]
  $ yodel --quiet 127.0.0.1 1 </dev/null
  yodel: cannot connect to 127.0.0.1:1: Connection refused
  [7]
  $ yodel --quiet unix:/no/such/socket </dev/null
  yodel: cannot connect to /no/such/socket: No such file or directory
  [7]
  $ yodel --quiet "$(printf '\033]0;title\a')" 1 </dev/null
  yodel: cannot resolve ^[]0;title^G:1: * (glob)
  [6]
  $ yodel --tls --cacert /no/such/file localhost 7 </dev/null
  yodel: trusted certificates /no/such/file: No such file or directory
  [77]
  $ yodel --tls --cert /no/such/file localhost 7 </dev/null
  yodel: certificate /no/such/file: No such file or directory
  [58]

With --json, a connection that was never established has an end, too. So has a server that cannot start.

  $ yodel --json 127.0.0.1 1 </dev/null 2>log | grep -o '"status":7,"sent":0'
  "status":7,"sent":0
  $ yodeld --json --nonsense
  {"error":"unknown option --nonsense (yodeld -h shows the options)","status":2}
  [2]
  $ yodeld --json 192.0.2.1:0
  {"error":"cannot listen on 192.0.2.1:0: Cannot assign requested address","status":1}
  [1]
  $ yodeld --json --tls --cert /no --key /no 0
  {"error":"certificate /no: No such file or directory","status":58}
  [58]
  $ yodeld --json --port-file /no/port 0
  {"listening":"127.0.0.1:*","port":*} (glob)
  {"error":"--port-file: cannot write /no/port: No such file or directory","status":1}
  [1]
  $ yodeld 0 >/dev/full
  yodeld: standard output: No space left on device
  [1]
  $ yodeld 0 >&-
  yodeld: standard output: Bad file descriptor
  [1]
  $ (ulimit -f 0; yodeld --port-file port 0 >/dev/null)
  yodeld: --port-file: cannot write port: File too large
  [1]
  $ [ -e port ]
  [1]

The help of each program and its version go to standard output.

  $ yodel --help | sed -n 1p
  usage: yodel [options] [TARGET]  Sends lines; measures and checks replies.
  $ yodeld --help | sed -n 1p
  usage: yodeld [options] [ADDR:]PORT...
  $ yodel -V | sed 's/[0-9].*//'
  yodel 
  OpenSSL 
  backends auto, *poll, select; the first is the default (glob)
