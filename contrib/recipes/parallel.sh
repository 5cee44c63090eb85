#!/usr/bin/env bash
# Needs GNU parallel and results.py beside this file, and on each host yodel-load, synchronized clocks, and ssh without a password.
# Run: parallel.sh HOSTS_FILE TARGET [OPTION...]      one host a line, as in parallel --sshloginfile
# YODEL=PROGRAM replaces yodel-load on all hosts; START=SECONDS leaves more time for connecting (10).
#
# Every host applies the same load to TARGET, and their results are added up: with four hosts
# and --rate 1k, the total is 4000 messages per second. Requirements apply to the
# total. All or nothing: if a host cannot be reached or its run cannot begin, all runs end.
#
# The runs begin at the same time, each according to the clock of its host. If a clock is 5 ms
# ahead, its run begins 5 ms early. Round-trip times do not suffer, because one clock measures
# both ends of each.
# Check the clocks, and read "System time":
#     parallel --nonall --tag --sshloginfile HOSTS_FILE chronyc tracking
set -euo pipefail
if [ $# -lt 2 ] || [ ! -r "$1" ]; then
    sed -n 3p "$0" >&2
    exit 2
fi
hosts=$1 target=$2 yodel=${YODEL:-yodel-load}
shift 2

load=() total=()
while [ $# -gt 0 ]; do
    case $1 in
    --require)
        total+=("$1" "${2?is missing after $1}")
        shift
        ;;
    --require=*) total+=("$1") ;;
    *) load+=("$1") ;;
    esac
    shift
done
# A bad or lost reply on one host is judged as a part of the total, so it ends no run.
load+=(--json --quiet --require 'bad<=100%,lost<=100%,unsent<=100%,duplicates<=100%')

results=$(mktemp -d "yodel-$(date +%Y%m%d-%H%M%S)-XXXXXX")
# parallel cannot end a run that is still logging in, so a failing run first waits for the others.
# shellcheck disable=SC2016  # expanded on the host
patiently='"$@" || { status=$?; sleep 2; exit $status; }'
at=$(date -u -d "+${START:-10} sec" +%Y-%m-%dT%H:%M:%SZ)
grep -c '^[^#]' "$hosts" | xargs seq |
    parallel --sshloginfile "$hosts" --jobs 1 -N0 --halt now,fail=1 --results "$results/{#}" \
        --quote sh -c "$patiently" sh "$yodel" --start-at "$at" "${load[@]}" "$target" >/dev/null || {
    status=$?
    cat "$results"/*.err >&2
    exit $status
}
echo "the results of each host are in $results" >&2
exec "$(dirname "$0")/results.py" "${total[@]}" --merge "$results"/*[0-9]
