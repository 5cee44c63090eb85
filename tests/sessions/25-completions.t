Completions
===========

Each shell completes the options of the three programs, and the names of files.

  $ need pc:bash-completion
  $ for program in yodel yodel-load yodeld; do
  >     install -D "$TESTDIR/../../contrib/completions/yodel.bash" share/bash-completion/completions/$program
  >     install -D "$TESTDIR/../../contrib/completions/yodel.fish" share/fish/vendor_completions.d/$program.fish
  > done
  $ install -D "$TESTDIR/../../contrib/completions/yodel.zsh" share/zsh/_yodel
  $ echo "function fish_prompt; echo '> '; end; set fish_greeting" >ready.fish
  $ echo ". /usr/share/bash-completion/bash_completion; bind 'set bell-style none'" >ready.bash
  $ echo 'LISTMAX=999; fpath=(~/share/zsh $fpath); autoload -Uz compinit; compinit -u -D' >ready.zsh
  $ : >one.json
  $ for shell in 'bash --norc -i' 'zsh -f -i' 'fish -i'; do
  >     command -v ${shell%% *} >program || continue
  >     on_terminal 50x120 HOME="$PWD" 'PS1=> ' XDG_DATA_DIRS="$PWD/share:/usr/share" $shell -- \
  >         "type . ~/ready.${shell%% *}; cd; clear; echo rea''dy" 'row 1 ready' 'row 2 >' \
  >         'keys yodel --fram' 'wait > yodel --fram' 'keys ^I' 'wait > yodel --framing' 'keys ^U' \
  >         'keys yodel --replay one' 'wait > yodel --replay one' 'keys ^I' 'wait > yodel --replay one.json' 'keys ^U' \
  >         'keys yodel-load --arr' 'wait > yodel-load --arr' 'keys ^I' 'wait > yodel-load --arrivals' 'keys ^U' \
  >         'keys yodel-load --messages=one' 'wait > yodel-load --messages=one' 'keys ^I' \
  >         'wait > yodel-load --messages=one.json' 'keys ^U' \
  >         'keys yodeld --self' 'wait > yodeld --self' 'keys ^I' 'wait > yodeld --self-signed' 'keys ^U^D' 'left 0'
  > done

In bash and fish, options that share a row of --help, too, and in bash, some values.

  $ export HOME="$PWD" XDG_DATA_DIRS="$PWD/share:/usr/share"
  $ ! command -v fish >program || fish -c "complete -C 'yodel --tls-ma'" | grep -q '^--tls-max'
  $ complete() { on_terminal 50x120 HOME="$PWD" 'PS1=> ' XDG_DATA_DIRS="$PWD/share:/usr/share" bash --norc -i -- \
  >     "type . ~/ready.bash; cd; clear; echo rea''dy" 'row 1 ready' 'row 2 >' "keys $1" "wait > $1" 'keys ^I' "wait > $2" \
  >     'keys ^U^D' 'left 0'; }
  $ for word in --ke:--key --tls-ma:--tls-max '-f len4l:-f len4le' '--expect no:--expect none' '--expect=no:--expect=none'
  > do
  >     complete "yodel ${word%%:*}" "yodel ${word##*:}"
  > done
