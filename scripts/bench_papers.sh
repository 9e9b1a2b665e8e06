#!/usr/bin/env bash
# What the papers' own switches gain, in one run each.
#
#     scripts/bench_papers.sh cggraph GRAPH.tg DEVICE   coop: balancing on the GPU, stealing among the workers
#     scripts/bench_papers.sh garaph GRAPH.tg DEVICE    hybrid and resident: replication; hybrid: the dispatcher's rules
#
# TANDEM names the tool (default: build/tandem), REPEAT the runs of which a median is taken (default: 5). Times are those
# of processing; on an emulated GPU they say nothing.
set -u
tandem=${TANDEM:-build/tandem}
report=$(mktemp) || exit 1
trap 'rm -f "$report"' EXIT

figure() { sed -n "s/.*\"$1\": *\([0-9.e+-]*\).*/\1/p" "$report" | head -n 1; }
total() { grep -o "\"$1\": *[0-9.e+-]*" "$report" | awk '{ all += $2 } END { printf "%.6g", all }'; }
median() { # WORDS OF RUN...
    "$tandem" run "$@" --repeat "${REPEAT:-5}" -q --json "$report" || exit 1
    figure seconds
}

# A row per choice of a setting: milliseconds, over the first choice, counters.
rows() { # SETTING CHOICES COUNTERS WORDS OF RUN...
    local setting=$1 choices=$2 counters=$3 choice seconds first='' name
    shift 3
    for choice in $choices; do
        seconds=$(median "$@" --set "$setting=$choice") || exit 1
        : "${first:=$seconds}"
        printf '| %s | %s | %s |' "$1" "$setting=$choice" "$(awk -v s="$seconds" -v f="$first" 'BEGIN { printf "%.3f | %.2f", s * 1e3, f / s }')"
        for name in $counters; do printf ' %s %s' "$name" "$(total "$name")"; done
        echo ' |'
    done
}

heading() {
    echo '| program | switch | ms | speed-up over the first | counters |'
    echo '|---|---|---|---|---|'
}

cggraph() {
    local program
    heading
    for program in sssp bfs labels; do
        local words=("$program" "$1" --engine coop --devices "$2" --gpu-edges 50% --set coop.invoke=always)
        if [ $program != labels ]; then words+=(--source 1); fi
        rows coop.balance 'thread cta iwb warp' 'tasks_moved edges_gpu' "${words[@]}"
        rows coop.stealing 'none donate vertex edge' 'steals gifts pieces idle_seconds' "${words[@]}"
        rows resident.balance 'thread cta iwb warp' tasks_moved "$program" "$1" "${words[@]:10}" --engine resident --devices "$2"
    done
}

garaph() {
    local one='pagerank --iterations 10'
    heading
    rows hybrid.replication '1 2 4 8 16 32 auto' shards $one "$1" --engine hybrid --devices "$2" --set hybrid.use=gpu --set hybrid.gather=shards
    rows resident.replication '1 2 4 8 16 32 auto' shards $one "$1" --engine resident --devices "$2" --set resident.gather=shards
    rows hybrid.gather 'rows shards' shards $one "$1" --engine hybrid --devices "$2" --set hybrid.use=gpu
    rows hybrid.use 'cpu gpu both' 'pages_cpu pages_gpu overlap_seconds' $one "$1" --engine hybrid --devices "$2"
    rows hybrid.rule 'paper measured' 'pages_cpu pages_gpu overlap_seconds' $one "$1" --engine hybrid --devices "$2" --set hybrid.use=both
}

case ${1:-} in
cggraph | garaph) "$1" "${2:?a .tg}" "${3:?a device}" ;;
*) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
