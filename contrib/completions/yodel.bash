# Completes the options that --help lists, the values of -f and --expect, and files.
_yodel() {
    local option=$3
    [ "$option" = = ] && option=${COMP_WORDS[COMP_CWORD - 2]}
    case $option in
    -f | --framing) COMPREPLY=($(compgen -W "$("$1" --help | sed -n 's/^F: //p')" -- "${2#=}")) ;;
    --expect) COMPREPLY=($(compgen -W "echo any none" -- "${2#=}")) ;;
    *)
        _longopt "$@"
        [[ $2 != --* ]] || COMPREPLY=($(compgen -W "$("$1" --help | grep -o -e '--[a-z-]*[a-z]')" -- "$2"))
        ;;
    esac
}
complete -F _yodel yodel yodel-load yodeld
