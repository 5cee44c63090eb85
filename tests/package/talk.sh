# shellcheck shell=sh
# Shared by these scripts: lets a client of tests/package/stranger talk to a server.
# usage: talk SERVER CLIENT

talk() {
    "$1" >port &
    server=$!
    tries=0
    until [ -s port ] || [ $tries -eq 600 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    test "$("$2" 127.0.0.1 "$(cat port)" 'hello, stranger')" = 'hello, stranger'
    kill $server
    wait $server
    server=
    rm port
}
