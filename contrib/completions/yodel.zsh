#compdef yodel yodel-load yodeld
# Completes the options that --help lists, and files.
_gnu_generic
