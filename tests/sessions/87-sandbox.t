The sandbox
===========

Each program gives up the rights that it does not need. With -v it reports what the system supports.

  $ state() { sed -n 's/.*: sandbox: //p' "$1"; }
  $ yodel -v </dev/null 2>log && state log | tee supported
  (landlock |none: ).* (re)
  $ yodel-load -v </dev/null 2>log && state log | cmp - supported
  $ serve -v && await sandbox $LOG && state $LOG | cmp - supported

With --no-sandbox it keeps them.

  $ for program in yodel yodel-load; do $program -v --no-sandbox </dev/null 2>log && state log; done
  none: --no-sandbox
  none: --no-sandbox
  $ serve -v --no-sandbox && await sandbox $LOG && state $LOG
  none: --no-sandbox
