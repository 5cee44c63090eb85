# Completes the options that --help lists, the values of -f and --expect, and files.
_yodel() {
    local help option=$3
    help=$("$1" --help 2>/dev/null)
    [ "$option" = = ] && option=${COMP_WORDS[COMP_CWORD - 2]}
    case $option in
    -f | --framing) COMPREPLY=($(compgen -W "$(sed -n 's/^F: //p' <<<"$help")" -- "${2#=}")) ;;
    --expect) COMPREPLY=($(compgen -W "echo any none" -- "${2#=}")) ;;
    *)
        _longopt "$@"
        [[ $2 != --* ]] || COMPREPLY=($(compgen -W "$(grep -o -e '--[a-z-]*[a-z]' <<<"$help")" -- "$2"))
        ;;
    esac
}
complete -F _yodel yodel yodel-load yodeld
