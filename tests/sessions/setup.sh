# Runs the commands of a transcript: cram --shell-opts=$PWD/tests/sessions/setup.sh FILE.t
#
# The commands run in an empty folder, with an empty standard input and the programs in PATH. They may use:
#   serve [OPTION]...         starts yodeld on a free port of 127.0.0.1, which is then in $PORT
#   start COMMAND...          starts another server, which prints 127.0.0.1:PORT
#   spawn COMMAND...          starts any program in the background
#                             All three set $SERVER to the process and $LOG to the file of its output, the first two
#                             also $PORT. The process ends with the transcript.
#   play STEP...              makes a server in Python perform these steps of $PEERS/steps.py from the next connection
#                             on, and sets $PORT and $LOG, which is empty. There is one such server in a transcript.
#   ask STEP...               performs such steps as a client on $PORT
#   counters                  makes yodeld print its counters but the first, once for each server
#   await TEXT FILE           waits until a line of the file matches TEXT, as for grep
#   open_input [TEXT]         makes the FIFO `input`, which contains TEXT, as for printf, and never ends:
#                             yodel <input; printf TEXT >input adds text
#   certify NAME [NAMES [OPTION...]]
#                             makes NAME.pem and NAME.key, valid for NAMES (DNS:localhost,IP:127.0.0.1) and signed by
#                             $AUTHORITY.pem (ca), which is made if it is missing; with options of `openssl ca`
#   stop SIGNAL PROCESS       sends the signal to a process in the background, and returns its status
#   need PROBE...             skips the transcript if something is missing, as for contrib/packaging/deps
#   skip REASON               skips the transcript; `make test` prints the reason
#   $PEERS                    the folder of the servers and clients in other languages
#
# Commands of a pipeline start at the same time, so a file that one of them writes and another awaits is a new one.
# If a program writes several lines to standard output and to standard error, their order depends on the arrival of
# replies: one of them goes to a file.

PEERS=$TESTDIR/../peers
export PYTHONDONTWRITEBYTECODE=1
servers=$CRAMTMP/servers
: >"$servers"
player=

serve() { start yodeld "$@" 0; }

play() {
    printf '%s\n' "$@" >"$TMPDIR/steps"
    if [ -z "$player" ]; then
        start python3 "$PEERS/steps.py" serve 0 "@$TMPDIR/steps"
        player=$PORT player_log=$LOG
    fi
    : >"$player_log"
    PORT=$player LOG=$player_log
}

ask() { python3 "$PEERS/steps.py" ask "$PORT" "$@"; }

spawn() {
    LOG=$(mktemp)
    "$@" <&8 >>"$LOG" 2>&1 &
    SERVER=$!
    echo $SERVER >>"$servers"
} 8<&0

start() {
    spawn "$@"
    await '127\.0\.0\.1:[1-9]' "$LOG" || exit
    PORT=$(sed -n 's/.*127\.0\.0\.1:\([1-9][0-9]*\).*/\1/p' "$LOG" | tail -n 1)
}

await() {
    tries=0
    until grep -q -e "$1" "$2" 2>/dev/null; do
        tries=$((tries + 1))
        if [ $tries -eq 1000 ]; then
            echo "$2 does not contain $1:"
            cat "$2"
            return 1
        fi
        sleep 0.01
    done
}

counters() {
    kill -USR1 "$SERVER" && await ' bytes out' "$LOG" && sed -n 's/.* yodeld: [0-9]* connections, //p' "$LOG"
}

open_input() {
    rm -f input
    mkfifo input
    exec 9<>input
    # shellcheck disable=SC2059  # it is a format
    printf "${1-}" >input
}

new_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"; }

certify() {
    name=$1 names=${2:+-addext "subjectAltName=$2"} authority=${AUTHORITY:-ca}
    shift; [ $# -eq 0 ] || shift
    {
        if [ ! -e "$authority.pem" ]; then
            new_key "$authority"
            openssl req -x509 -key "$authority.key" -out "$authority.pem" -days 30 -subj "/CN=$authority"
        fi
        printf '%s\n' >ca.cnf '[ca]' default_ca=d '[d]' new_certs_dir=. database=ca.index rand_serial=yes \
            default_md=sha256 policy=p copy_extensions=copy unique_subject=no '[p]' commonName=supplied \
            '[authority]' basicConstraints=critical,CA:TRUE
        : >>ca.index
        [ -e "$name.key" ] || new_key "$name"
        # shellcheck disable=SC2086  # two words
        openssl req -new -key "$name.key" -out "$name.csr" -subj "/CN=${SUBJECT:-$name}" $names
        openssl ca -batch -notext -config ca.cnf -cert "$authority.pem" -keyfile "$authority.key" -in "$name.csr" \
            -out "$name.pem" -startdate 20200101000000Z -enddate 20491231000000Z "$@"
    } >openssl.log 2>&1 || cat openssl.log
}

stop() {
    grep -vx "$2" "$servers" >"$servers.left"
    mv "$servers.left" "$servers"
    kill -"$1" "$2"
    wait "$2"
} 2>/dev/null

skip() {
    echo "${TESTFILE%.t}: $1" >>"${SKIPPED:-/dev/null}"
    exit 80
}

need() {
    lack=$("$TESTDIR/../../contrib/packaging/deps" need "$@") || skip "$lack"
}

# A command that waits for a server or client which never ends would hide the output so far.
watch_time() {
    trap 'kill $sleeper' TERM
    sleep 150 &
    sleeper=$!
    wait $sleeper && kill $(cat "$servers")
} >/dev/null 2>&1 </dev/null

stop_servers() {
    kill $watch
    # After the second signal, yodeld does not wait for its clients. The first one must have arrived.
    for times in 1 2 3; do kill $(cat "$servers"); sleep 0.02; done
    wait $(cat "$servers")
} 2>/dev/null

watch_time & watch=$!
trap stop_servers EXIT
cat >"$CRAMTMP/commands"
. "$CRAMTMP/commands" </dev/null
