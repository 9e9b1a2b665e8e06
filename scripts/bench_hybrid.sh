#!/usr/bin/env bash
# The hybrid engine's rates, as tables for docs/performance.md.
#
#     scripts/bench_hybrid.sh disk GRAPH.tg [ROUNDS [MEMORY]]
#                                                  the disk: dd past the page cache and PageRank in a part of the
#                                                  file's memory (25%), in turn
#     scripts/bench_hybrid.sh both GRAPH.tg DEVICE       in memory: cpu, gpu and both, on cuda:0 for example
#
# TANDEM names the tool (default: build/tandem).
set -u -o pipefail
tandem=${TANDEM:-build/tandem}
report=$(mktemp) || exit 1
trap 'rm -f "$report"' EXIT

# figure KEY: the first there is; sum KEY: of all iterations but the first, which finds nothing in memory.
figure() { sed -n "s/.*\"$1\": *\([0-9.e+-]*\).*/\1/p" "$report" | head -n 1; }
sum() { sed -n "/\"direction\"/s/.*\"$1\": *\([0-9.e+-]*\).*/\1/p" "$report" | awk 'NR > 1 { all += $1 } END { printf "%.6f", all }'; }

disk_round() {
    local dd
    dd=$(LC_ALL=C dd if="$1" of=/dev/null bs=1M iflag=direct 2>&1 | awk '/bytes/ { for (i = 1; i < NF; i++) if ($(i + 1) == "s,") printf "%.0f", $1 / $i / 1e6 }')
    [ -n "$dd" ] || { echo "bench_hybrid.sh: dd cannot read $1 past the page cache" >&2; exit 1; }
    "$tandem" run pagerank "$1" --iterations 6 --memory "$2" -q --json "$report" || exit 1
    awk -v dd="$dd" -v bytes="$(sum disk_bytes)" -v seconds="$(sum seconds)" -v waited="$(sum disk_wait_seconds)" -v all="$(figure bytes)" \
        -v reused="$(figure reused_bytes)" -v threads="$(figure reader_threads)" -v idle="$(figure readers_idle_seconds)" \
        -v asking="$(figure readers_asking_seconds)" -v waiting="$(figure readers_waiting_seconds)" -v checking="$(figure readers_checking_seconds)" 'BEGIN {
            gb = all / 1e9
            printf "| %d | %.0f | %.2f | %.2f | %.2f | %.2f | %d | %.2f | %.2f | %.2f | %.2f |\n", dd, bytes / seconds / 1e6, bytes / seconds / 1e6 / dd,
                   bytes / 5e9, waited / seconds, reused / all, threads, idle / gb, asking / gb, waiting / gb, checking / gb }'
}

disk() {
    echo '| dd, MB/s | pagerank, MB/s | ratio | GB an iteration | waited | memory handed on | readers | idle, s/GB | asking | waiting | checking |'
    echo '|---|---|---|---|---|---|---|---|---|---|---|'
    for ((i = 0; i < ${2:-4}; i++)); do disk_round "$1" "${3:-25%}"; done
}

both() {
    local program use
    echo '| | cpu, ms | gpu, ms | both, ms | both over the better |'
    echo '|---|---|---|---|---|'
    for program in 'pagerank --iterations 10' 'bfs --source 1' 'sssp --source 1' 'adsorption --iterations 10'; do
        for use in cpu gpu both; do
            "$tandem" run $program "$1" --engine hybrid --devices "$2" --set hybrid.use=$use --repeat 5 -q --json "$report" || exit 1
            figure seconds
        done | awk -v program="${program%% *}" '{ ms[NR] = $1 * 1e3 } END { better = ms[1] < ms[2] ? ms[1] : ms[2]
            printf "| %s | %.2f | %.2f | %.2f | %.2f |\n", program, ms[1], ms[2], ms[3], ms[3] / better }' || exit 1
    done
}

case ${1:-} in
disk) disk "${2:?a .tg}" "${3:-4}" "${4:-25%}" ;;
both) both "${2:?a .tg}" "${3:?a device}" ;;
*) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
