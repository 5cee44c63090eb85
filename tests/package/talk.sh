# shellcheck shell=sh
# Shared by these scripts: lets clients of tests/package/stranger talk by a server.
# usage: talk SERVER CLIENT

await() {
    tries=0
    until "$@" || [ $tries -eq 600 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
}

# The first client hears a line of the second one, which sends it again until both are connected.
say() {
    test "$("$client" 127.0.0.1 "$port" "$pin" 'hello, stranger')" = 'hello, stranger'
    [ -s heard ]
}

talk() {
    client=$2
    "$1" >address &
    server=$!
    await test -s address
    read -r port pin <address
    "$client" 127.0.0.1 "$port" "$pin" >heard &
    await say
    test "$(cat heard)" = 'hello, stranger'
    kill $server
    wait $server
    server=
    rm address heard
}
