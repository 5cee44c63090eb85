A program that is taken over
============================

Here the word PAYLOAD takes over the program that receives it: it executes a program, writes a file and connects to
another server. A sandbox (Landlock 4 or later) prevents all of it.

  $ yodel -v </dev/null 2>log; [ -e "$PAYLOAD" ] && grep -q 'landlock \([4-9]\|[1-9][0-9]\)' log || skip "needs Landlock 4 and a build without sanitizers"
  $ serve && export PAYLOAD_PORT=$PORT PAYLOAD_FILE=$PWD/made
  $ infected() { LD_PRELOAD=$PAYLOAD "$@"; }
  $ effect() { sed -n 's/^payload //p' $1 | sort -u; rm made 2>/dev/null && echo a file was made; }
  $ serve
  $ for program in yodel 'yodel --json' 'yodel-load --connections 2'; do
  >     echo PAYLOAD | infected $program 127.0.0.1 $PORT 2>log >out && effect log
  > done | sort | uniq -c
        3 connects: Permission denied
        3 executes: Permission denied
        3 writes: Permission denied
  $ for program in yodel 'yodel-load --connections 2'; do
  >     echo PAYLOAD | infected $program --no-sandbox 127.0.0.1 $PORT 2>log >out && effect log
  > done | sort | uniq -c
        2 a file was made
        2 connects: done
        2 executes: done
        2 writes: done

So it does in a server.

  $ for options in '' --no-sandbox; do
  >     LD_PRELOAD=$PAYLOAD serve $options && echo "= $options"
  >     echo PAYLOAD | yodel --quiet 127.0.0.1 $PORT >out
  >     stop TERM $SERVER; effect $LOG
  > done
  = 
  connects: Permission denied
  executes: Permission denied
  writes: Permission denied
  = --no-sandbox
  connects: done
  executes: done
  writes: done
  a file was made
