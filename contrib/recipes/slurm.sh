#!/usr/bin/env bash
# Needs Slurm, and on its nodes yodel-load and synchronized clocks. One task on each of N nodes:
# Run: sbatch --nodes N slurm.sh TARGET [OPTION...]
# YODEL=PROGRAM replaces yodel-load; RESULTS=FILE replaces /usr/share/doc/yodel/recipes/results.py; START=SECONDS leaves more time for connecting (10).
#
# Every task applies the same load to TARGET, and their results are added up at the end of the
# job's output. Requirements apply to the total. All or nothing: srun starts all
# tasks or none, and if the run of one cannot begin, all end.
#
# The runs begin at the same time, each according to the clock of its node. If a clock is 5 ms
# ahead, its run begins 5 ms early. Round-trip times do not suffer: one clock measures both ends of each.
# Check the clocks, and read "System time":
#     srun --nodes N --label chronyc tracking
#SBATCH --job-name=yodel
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
set -euo pipefail
if [ $# -lt 1 ]; then
    echo "usage: sbatch --nodes N slurm.sh TARGET [OPTION...]" >&2
    exit 2
fi
target=$1 yodel=${YODEL:-yodel-load}
shift

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
# A bad or lost reply of one task is judged as a part of the total, so it ends no task.
load+=(--json --quiet --require 'bad<=100%,lost<=100%,unsent<=100%,duplicates<=100%')

results=yodel-$SLURM_JOB_ID
mkdir "$results"
at=$(date -u -d "+${START:-10} sec" +%Y-%m-%dT%H:%M:%SZ)
srun --kill-on-bad-exit=1 --output="$results/%t.json" --error="$results/%t.err" \
    "$yodel" --start-at "$at" "${load[@]}" "$target" || {
    status=$?
    cat "$results"/*.err >&2
    exit $status
}
echo "the results of each task are in $results" >&2
exec "${RESULTS:-/usr/share/doc/yodel/recipes/results.py}" "${total[@]}" --merge "$results"/*.json
