# Completes the options that --help lists, and files.
complete -F _longopt yodel yodel-load yodeld
