# Completes the options that --help lists, and files.
function __yodel_options
    set -l program (commandline -op)[1]
    $program --help | string replace -rf '^ +(?:-., )?(--[^ =]+)\S* +' '$1\t'
end
complete -c yodel -c yodel-load -c yodeld -n 'string match -q -- "-*" (commandline -ct)' -a '(__yodel_options)'
