#!/usr/bin/env bash
# Redraws Figure 13 of Scaph (ATC'20) with this tree: the variants of the stream engine for the paper's five programs.
#
#     scripts/scaph_figure.sh FOLDER DEVICE [PROGRAM ...]     for example scripts/scaph_figure.sh /data/figure cuda:0
#
# Programs: labels (the paper's CC), sssp, mst, nn (NNDR), circuit (GCS). Graphs are made in FOLDER where missing: a web
# graph, a layered network whose layers are spread over all subgraphs, a grid of resistors. A line per program and
# variant: iterations, GB over the link, seconds (a GPU's clock; virtual for an emulated GPU), speed-up over lbase
# (Graphie), and the cost of the queue (host) and of the bitmap (device) as shares of the time (the paper: 0.8%, 4.3%).
# TANDEM names the tool (default: build/tandem). VERIFY=1 verifies every result. SMALL=1 takes tiny graphs, for an
# emulated GPU; SHARE is the share of the edges that the device holds (default 25%).
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
tandem=${TANDEM:-$top/build/tandem}
[ $# -ge 2 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d'; exit 2; }
folder=$1 device=$2 share=${SHARE:-25%}
shift 2
[ $# -gt 0 ] || set -- labels sssp mst nn circuit
mkdir -p "$folder"
if [ -n "${SMALL:-}" ]; then web=9 width=200 layers=8 side=14 tolerance=0.01 subgraph=1K small_circuit=256
else web=22 width=100000 layers=16 side=1500 tolerance=0.001 subgraph='' small_circuit=''; fi

fail() { echo "scaph_figure.sh: $*" >&2; exit 1; }

make_graph() { # NAME
    [ ! -f "$folder/$1.tg" ] || return 0
    case $1 in
    web) "$tandem" gen web --scale $web --degree 16 --symmetrize --weights 1:100 --seed 7 -o "$folder/web.tg" ;;
    network) awk -v w=$width -v n=$layers 'BEGIN {
                for (l = 0; l + 1 < n; l++) for (v = 0; v < w; v++) for (k = 0; k < 8; k++)
                    print v * n + l, (v + k * 37 + k * k) % w * n + l + 1, (v + 3 * k) % 7 - 2.75 }' |
            "$tandem" convert - --format edgelist -o "$folder/network.tg" ;;
    grid) "$tandem" gen grid --width $side --weights 1:100 --seed 7 --symmetrize -o "$folder/grid.tg" ;;
    esac > "$folder/make.log" 2>&1 || fail "$1: $(tail -n 1 "$folder/make.log")"
}

graph_of() { case $1 in nn) echo network ;; circuit) echo grid ;; *) echo web ;; esac; }

arguments() { # PROGRAM
    case $1 in
    sssp) echo --source 1 ;;
    circuit) echo --tolerance $tolerance ;;
    esac
}

sum() { # FIELD: over the rows
    grep -o "\"$1\": [0-9.e+-]*" "$folder/run.json" | awk '{ s += $2 } END { printf "%.9g", s }'
}

measure() { # PROGRAM VARIANT
    local set=(--set "stream.variant=$2") bytes=$subgraph
    [ "$1" != circuit ] || bytes=$small_circuit
    [ -z "$bytes" ] || set+=(--set "stream.subgraph=$bytes")
    # shellcheck disable=SC2046
    "$tandem" run "$1" "$folder/$(graph_of "$1").tg" $(arguments "$1") --engine stream --devices "$device" \
        --gpu-edges "$share" "${set[@]}" ${VERIFY:+--verify} --json "$folder/run.json" > "$folder/run.log" 2>&1 ||
        fail "$1, $2: $(grep -v '^tandem: warning' "$folder/run.log" | tail -n 1)"
}

seconds_of() { # by the device's clock
    sed -n 's/.*emu:[0-9]*: \([0-9.e-]*\) s device time.*/\1/p; s/.*cuda:[0-9]*: \([0-9.e-]*\) s device time.*/\1/p' \
        "$folder/run.log" | head -n 1
}

echo '| program | variant | iterations | GB | seconds | over lbase | queue | bitmap |'
echo '|---|---|---|---|---|---|---|---|'
for program in "$@"; do
    make_graph "$(graph_of "$program")"
    base=''
    for variant in lbase hbase hvsp lvsp scaph full; do
        [ "$variant $program ${SMALL:+small}" != 'full circuit small' ] || continue # a gather needs larger subgraphs
        measure "$program" "$variant"
        seconds=$(seconds_of)
        [ -n "$seconds" ] || seconds=$(grep -o '"seconds": [0-9.e-]*' "$folder/run.json" | head -n 1 | cut -d' ' -f2)
        [ -n "$base" ] || base=$seconds
        bytes=$(awk -v a="$(sum bytes_whole)" -v b="$(sum bytes_extracted)" -v c="$(sum bytes_direct)" \
            'BEGIN { print a + b + c }')
        case $device in emu*) virtual=1 ;; *) virtual=0 ;; esac # the host's time is no share of a virtual one
        iterations=$(grep -o '"iterations": [0-9]*' "$folder/run.json" | head -n 1 | cut -d' ' -f2)
        awk -v e=$virtual -v p="$program" -v v="$variant" -v i="$iterations" -v b="$bytes" -v s="$seconds" \
            -v base="$base" -v q="$(sum queue_seconds)" -v m="$(sum bitmap_seconds)" 'BEGIN {
                queue = e ? "-" : sprintf("%.1f%%", 100 * q / s)
                printf "| %s | %s | %d | %.6g | %.4g | %.2f |", p, v, i, b / 1e9, s, base / s
                printf " %s | %.1f%% |\n", queue, 100 * m / s }'
    done
done
