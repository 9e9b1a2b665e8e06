#!/usr/bin/env bash
# What a checkpoint after every iteration of PageRank costs, as a table for docs/performance.md: pairs of runs
# without and with them, in turn.
#
#     scripts/bench_checkpoint.sh GRAPH.tg FOLDER [PAIRS]     checkpoints go to FOLDER, which decides the disk
#
# TANDEM names the tool (default: build/tandem), ITERATIONS how many (20).
set -u
[ $# -ge 2 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2; }
tandem=${TANDEM:-build/tandem}
report=$(mktemp) && state=$(mktemp -d "$2/bench.XXXXXX") || exit 1
trap 'rm -rf "$report" "$state"' EXIT

# figure KEY: of the report; of_checkpoints KEY: of its part about them; rows: what the iterations took together.
figure() { sed -n "s/.*\"$1\": *\([0-9.e+-]*\).*/\1/p" "$report" | head -n 1; }
of_checkpoints() { sed -n "/\"checkpoints\"/,/}/s/.*\"$1\": *\([0-9.e+-]*\).*/\1/p" "$report" | head -n 1; }
rows() { sed -n '/"direction"/s/.*"seconds": *\([0-9.e+-]*\).*/\1/p' "$report" | awk '{ all += $1 } END { printf "%.6f", all }'; }

run() { "$tandem" run pagerank "$graph" --engine cpu --iterations "${ITERATIONS:-20}" -q --json "$report" "$@" || exit 1; }

graph=$1
echo '| without, ms | with, ms | cost | with the last write | iterations alone | written | each, ms | of it on a processor | copying, ms |'
echo '|---|---|---|---|---|---|---|---|---|'
for ((i = 0; i < ${3:-5}; i++)); do
    run
    plain=$(figure seconds) plain_rows=$(rows)
    rm -f "$state"/*
    run --checkpoint "$state" --every 1
    awk -v plain="$plain" -v with="$(figure seconds)" -v plain_rows="$plain_rows" -v rows="$(rows)" \
        -v written="$(of_checkpoints written)" -v writing="$(of_checkpoints seconds)" \
        -v processor="$(of_checkpoints processor_seconds)" -v waited="$(of_checkpoints waited_seconds)" \
        -v last="$(of_checkpoints waited_last_seconds)" 'BEGIN {
            each = written > 0 ? 1e3 / written : 0
            printf "| %.0f | %.0f | %+.1f%% | %+.1f%% | %+.1f%% | %d | %.1f | %.1f | %.1f |\n", plain * 1e3, with * 1e3, (with / plain - 1) * 100,
                   ((with + last) / plain - 1) * 100, (rows / plain_rows - 1) * 100, written, writing * each, processor * each, (waited - last) * each }'
done
