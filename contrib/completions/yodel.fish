# Completes the options that --help lists, and files.
function __yodel_options
    set -l program (commandline -op)[1]
    set -l help ($program --help)
    string replace -rf '^ +(?:-., )?(--[^ =]+)\S* +' '$1\t' $help
    # Options that share a row with another option.
    string replace -rf '^ +-.*?  +(.*(--[a-z-]+).*)' '$2\t$1' $help
end
complete -c yodel -c yodel-load -c yodeld -n 'string match -q -- "-*" (commandline -ct)' -a '(__yodel_options)'
