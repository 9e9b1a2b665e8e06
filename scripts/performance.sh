#!/usr/bin/env bash
# Measures the tables of docs/performance.md on this machine, from one commit.
#
#     scripts/performance.sh list                               the tables, each with what it measures
#     scripts/performance.sh run FOLDER DEVICE [TABLE ...]      measures tables (all, if none is named) on a GPU, cuda:0
#                                                               for example; graphs are made in FOLDER where missing
#     scripts/performance.sh print FOLDER                       prints what was measured
#     scripts/performance.sh update FOLDER                      puts it into docs/performance.md
#
# Every table is measured by itself, takes some minutes at most, and is kept in FOLDER/results: `run` skips those that
# this commit has measured already, so that it can be interrupted and called again (`timeout 140 scripts/performance.sh
# run ...`, until it says that all is there); a table that takes longer goes on where it was. FORCE=1 measures them again.
#
# TANDEM names the tool (default: build/tandem), COMMIT the commit (default: git's), MACHINE the machine in words
# (default: from /proc/cpuinfo), REPEAT how often a run is repeated (default: 3, the median counts). GAPBS names the
# folder of GAPBS's programs; without it the column of GAPBS is empty. SMALL=1 takes tiny graphs, to try the script out.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
tandem=${TANDEM:-$top/build/tandem}
repeat=${REPEAT:-3}
page=${PAGE:-$top/docs/performance.md}
end_marker='<!-- end of table -->'

usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2; }

fail() { echo "performance.sh: $*" >&2; exit 1; }

commit() { # the commit that is measured, with + where the tree differs from it
    local dirty=''
    [ -z "${COMMIT:-}" ] || { echo "$COMMIT"; return; }
    git -C "$top" diff --quiet HEAD -- src cli include 2>/dev/null || dirty=+
    echo "$(git -C "$top" rev-parse --short=7 HEAD 2>/dev/null || echo 'not recorded')$dirty"
}

machine() { # , DEVICE
    [ -z "${MACHINE:-}" ] || { echo "$MACHINE"; return; }
    echo "$(nproc) cores of $(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)$1"
}

# Graphs: graph NAME makes it where it is missing; its file is $folder/NAME.tg.

graph_line() { # NAME: the command line of `tandem gen`
    case $1 in
    web) if [ -n "${SMALL:-}" ]; then echo 'web --vertices 5000 --degree 8 --weights 1:100'
         else echo 'web --vertices 20000000 --degree 25 --weights 1:100'; fi ;;
    rows) if [ -n "${SMALL:-}" ]; then echo 'grid --width 40'; else echo 'grid --width 3000'; fi ;;
    s23) if [ -n "${SMALL:-}" ]; then echo 'rmat --scale 11 --degree 16 --symmetrize --weights 1:100'
         else echo 'rmat --scale 23 --degree 16 --symmetrize --weights 1:100'; fi ;;
    r24) if [ -n "${SMALL:-}" ]; then echo 'rmat --scale 12 --degree 16'; else echo 'rmat --scale 24 --degree 16'; fi ;;
    *) if [ -n "${SMALL:-}" ]; then sed 's/2[35]$/10/; s/3000$/40/' <<<"$1"; else echo "$1"; fi ;;
    esac
}

graph() { # NAME
    local line
    [ -e "$folder/$1.tg" ] && return
    line=$(graph_line "$1")
    echo "performance.sh: tandem gen $line" >&2
    # shellcheck disable=SC2086
    "$tandem" gen $line -o "$folder/$1.tg" --quiet || fail "cannot make $1.tg in $folder"
}

# Runs: measure ARGUMENTS fills $report; figure KEY is the first there is; rows KEY the sum over the iterations.

measure() { # in a subshell mostly: that a run failed is left in a file
    : >"$report"
    "$tandem" run "$@" --quiet --json "$report" && return
    echo "performance.sh: 'tandem run $*' failed" >&2
    echo failed >"$report.failed"
}
figure() { sed -n "s/.*\"$1\": *\([0-9.e+-]*\).*/\1/p" "$report" | head -n 1; }
rows() {
    sed -n "/\"direction\"/s/.*\"$1\": *\([0-9.e+-]*\).*/\1/p" "$report" |
        awk '{ all += $1 } END { printf "%.0f", all }'
}
milliseconds() { # three digits
    awk -v s="$(figure seconds)" -v n="${1:-1}" \
        'BEGIN { ms = s * 1e3 / n; printf ms < 9.995 ? "%.2f" : ms < 99.95 ? "%.1f" : "%.0f", ms }'
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (a == "" || b == "" || b + 0 == 0) exit; printf "%.2f", a / b }'; }

# arguments PROGRAM GRAPH: what it is run with; iterations: over how many the time is divided.
arguments() {
    case $1 in
    bfs | sssp) echo "--source $(source_of "$2")" ;;
    pagerank | heat) echo '--iterations 20' ;;
    esac
}
source_of() { case $1 in k23*) echo 3 ;; *) echo 1 ;; esac; } # vertex 1 of k23 has no edges
iterations() { case $1 in pagerank | heat) echo 20 ;; *) echo 1 ;; esac; }

time_of() { # PROGRAM GRAPH OPTIONS: ms, of pagerank those of an iteration
    local program=$1 name=$2
    shift 2
    # shellcheck disable=SC2046
    measure "$program" "$folder/$name.tg" $(arguments "$program" "$name") --repeat "$repeat" "$@"
    milliseconds "$(iterations "$program")"
}

gigabytes() { # over the link in the last run, in one iteration of pagerank
    awk -v bytes="$(($(rows bytes_whole) + $(rows bytes_extracted) + $(rows bytes_direct)))" -v n="${1:-1}" \
        'BEGIN { printf "%.2f", bytes / n / 1e9 }'
}

head_of() { # CELLS
    local cell line='|' rule='|'
    for cell in "$@"; do line+=" $cell |" rule+='---|'; done
    printf '%s\n%s\n' "$line" "$rule"
}

row() { local cell line='|'; for cell in "$@"; do line+=" $cell |"; done; echo "$line"; }

measured_by() { # COMMAND: the line above a table; with the GPU where the command has it
    local used=''
    [[ $1 != *"$device"* ]] || used=", $device"
    printf '`%s`; %s; commit %s.\n\n' "$1" "$(machine "$used")" "$(commit)"
}

# indented COMMAND: its text, as a block; fails with the command.
indented() { ( set -o pipefail; "$@" | sed 's/^/    /; s/ *$//' ); }

# The tables: what_NAME is a line for `list`, table_NAME prints one.

what_input='parsing, building, opening, decoding (tandem bench convert)'
table_input() {
    local options='--trials 5'
    [ -z "${SMALL:-}" ] || options='--scale 12 --trials 1'
    measured_by "tandem bench convert $options"
    # shellcheck disable=SC2086
    indented "$tandem" bench convert $options
}

what_external='building out of memory beside dd of as many bytes'
table_external() {
    local scale=25 limit=1G bytes write read build
    [ -z "${SMALL:-}" ] || scale=14 limit=96M
    measured_by "tandem gen rmat --scale $scale --degree 16 -o g.tg --memory $limit"
    rm -f "$folder/external.tg"
    build=$( { time -p "$tandem" gen rmat --scale $scale --degree 16 -o "$folder/external.tg" --memory $limit --quiet \
        --json "$report"; } 2>&1 | awk '/^real/ { print $2 }')
    bytes=$(stat -c %s "$folder/external.tg") || fail 'nothing was built'
    write=$(seconds_of dd if=/dev/zero of="$folder/external.dd" bs=1M count=$((bytes / 1048576 + 1)) conv=fsync) &&
        read=$(seconds_of dd if="$folder/external.dd" of=/dev/null bs=1M iflag=direct) ||
        write=''
    rm -f "$folder/external.tg" "$folder/external.dd"
    [ -n "$write" ] || fail "dd cannot write or read past the page cache in $folder"
    head_of graph memory 'dd: write, read, s' 'build, s' 'ratio (aim: at most 3)' 'peak resident, MiB'
    row "rmat $scale" $limit "$write, $read" "$build" \
        "$(awk -v b="$build" -v w="$write" -v r="$read" 'BEGIN { printf "%.1f", b / (w + r) }')" \
        "$(awk -v p="$(figure peak_resident)" 'BEGIN { printf "%.0f", p / 1048576 }')"
}
seconds_of() { ( set -o pipefail; { time -p "$@" 2>/dev/null; } 2>&1 | awk '/^real/ { print $2 }' ); }

gapbs() { # PROGRAM GRAPH: median ms of its trials; nothing without GAPBS
    local suffix=sg tool options='' average=1
    [ -n "${GAPBS:-}" ] || return
    case $1 in
    bfs) tool=bfs options="-r $(source_of "$2")" ;;
    sssp) tool=sssp suffix=wsg options="-r $(source_of "$2") -d $( [[ $2 == grid* ]] && echo 100 || echo 2)" ;;
    wcc) tool=cc ;;
    pagerank) tool=pr options='-i 20 -t 0' average=20 ;;
    esac
    if [ ! -e "$folder/$2.$suffix" ]; then
        # shellcheck disable=SC2046
        "$tandem" convert "$folder/$2.tg" -o "$folder/$2.$suffix" --quiet \
            $([ $suffix = wsg ] || echo --drop-weights) || return
    fi
    # shellcheck disable=SC2086
    OMP_PROC_BIND=close GLIBC_TUNABLES=glibc.malloc.hugetlb=1 \
        "$GAPBS/$tool" -f "$folder/$2.$suffix" -n "$repeat" $options |
        awk -v n=$average '/^Trial Time:/ { t[++c] = $3 } END { for (i = 1; i <= c; i++) for (j = i + 1; j <= c; j++)
            if (t[j] < t[i]) { x = t[i]; t[i] = t[j]; t[j] = x } if (c) printf "%.1f", t[int((c + 1) / 2)] * 1e3 / n }'
}

what_cpu='bfs, sssp, wcc, pagerank on all cores, in the order of the input and ordered, beside GAPBS'
table_cpu() {
    local name program peer ours ordered how
    measured_by "tandem run P G.tg --engine cpu --repeat $repeat"
    head_of graph program 'GAPBS ms' 'ours ms' ratio 'ours, ordered' ratio
    for name in k23 u23 grid3000; do
        how=indegree
        [ $name != grid3000 ] || how=hot
        graph $name
        [ -e "$folder/$name-ordered.tg" ] ||
            "$tandem" reorder "$folder/$name.tg" -o "$folder/$name-ordered.tg" --by $how --quiet ||
            fail "cannot reorder $name"
        for program in bfs sssp wcc pagerank; do
            peer=$(gapbs $program $name)
            ours=$(time_of $program $name --engine cpu)
            ordered=$(time_of $program $name-ordered --engine cpu)
            row $name $program "$peer" "$ours" "$(ratio "$peer" "$ours")" "$ordered" "$(ratio "$peer" "$ordered")"
        done
    done
}

bench() { # KIND GRAPH OPTIONS: the text of `tandem bench`, as a block
    local kind=$1 name=$2
    shift 2
    graph "$name"
    indented "$tandem" bench "$kind" "$folder/$name.tg" "$@"
}

what_cpu_ablation='the cpu engine with one switch changed at a time (tandem bench cpu)'
table_cpu_ablation() {
    local trials=5
    [ -z "${SMALL:-}" ] || trials=1
    measured_by "tandem bench cpu k23.tg --trials $trials"
    bench cpu k23 --trials $trials --resume "$rounds" # a round of the longest program takes half a minute
}

what_gpu='the resident engine: bfs, sssp, wcc, pagerank, mst, kcore, labels'
table_gpu() {
    local name program cells
    measured_by "tandem run P G.tg --engine resident --devices $device --repeat $repeat"
    head_of ms bfs sssp wcc 'pagerank, iteration' mst kcore labels
    for name in k23 k25 u23 grid3000 rows; do
        graph $name
        cells=("$name")
        for program in bfs sssp wcc pagerank mst kcore labels; do
            cells+=("$(time_of $program $name --engine resident --devices "$device")")
        done
        row "${cells[@]}"
    done
}

what_gpu_ablation='the resident engine with one switch changed at a time (tandem bench gpu)'
table_gpu_ablation() {
    measured_by "tandem bench gpu k23.tg --devices $device --trials 3"
    bench gpu k23 --devices "$device" --trials 3
}

what_devices='the rates of the machine (tandem devices)'
table_devices() {
    local options="--devices $device --largest 8G"
    [ -z "${SMALL:-}" ] || options="--devices $device"
    measured_by "tandem devices $options"
    # shellcheck disable=SC2086
    indented "$tandem" devices $options
}

what_stream_k25='the stream engine at 25% of the edges of k25 beside everything resident'
what_stream_web='the same of the web-like graph'
table_stream_k25() { stream_beside_resident k25; }
table_stream_web() { stream_beside_resident web; }
stream_beside_resident() { # GRAPH
    local program streamed=('stream, ms') moved=('GB over the link') resident=('everything resident, ms')
    local over=('stream over resident (aim 3)')
    measured_by "tandem run P $1.tg --engine stream --devices $device --gpu-edges 25% --repeat $repeat"
    head_of "$1" bfs sssp wcc labels 'pagerank, iteration' mst kcore
    graph "$1"
    for program in bfs sssp wcc labels pagerank mst kcore; do
        streamed+=("$(time_of $program "$1" --engine stream --devices "$device" --gpu-edges 25%)")
        moved+=("$(gigabytes "$(iterations $program)")")
        resident+=("$(time_of $program "$1" --engine resident --devices "$device")")
        over+=("$(ratio "${streamed[-1]}" "${resident[-1]}")")
    done
    row "${streamed[@]}"
    row "${moved[@]}"
    row "${resident[@]}"
    row "${over[@]}"
}

what_variants="the paper's variants of the stream engine at 25% of k25: ms, GB"
table_variants() {
    local program variant cells
    measured_by "tandem run P k25.tg --engine stream --devices $device --gpu-edges 25% --set stream.variant=V"
    head_of 'ms, GB' full lbase hbase hvsp lvsp scaph
    graph k25
    for program in sssp labels mst; do # hbase and hvsp are refused for bfs and wcc
        cells=("$program")
        for variant in full lbase hbase hvsp lvsp scaph; do
            cells+=("$(repeat=1 time_of $program k25 --engine stream --devices "$device" --gpu-edges 25% \
                --set stream.variant=$variant), $(gigabytes)")
        done
        row "${cells[@]}"
    done
}

what_coop_k25='the coop engine beside stream and cpu, PageRank and sssp at 10, 25 and 50% of k25'
what_coop_web='the same of the web-like graph'
table_coop_k25() { coop_beside_stream k25; }
table_coop_web() { coop_beside_stream web; }
coop_beside_stream() { # GRAPH
    local share
    measured_by "tandem run P $1.tg --engine E --devices $device --gpu-edges C --repeat $repeat"
    head_of "$1, ms" 'coop, pagerank, iteration' 'stream, pagerank, iteration' 'coop, sssp' 'stream, sssp'
    graph "$1"
    for share in 10% 25% 50%; do
        row "at $share" "$(time_of pagerank "$1" --engine coop --devices "$device" --gpu-edges $share)" \
            "$(time_of pagerank "$1" --engine stream --devices "$device" --gpu-edges $share)" \
            "$(time_of sssp "$1" --engine coop --devices "$device" --gpu-edges $share)" \
            "$(time_of sssp "$1" --engine stream --devices "$device" --gpu-edges $share)"
    done
    row 'cpu engine' "$(time_of pagerank "$1" --engine cpu)" '' "$(time_of sssp "$1" --engine cpu)" ''
}

what_disk='PageRank from disk beside dd (scripts/bench_hybrid.sh disk)'
table_disk() {
    local name=k25 share=25%
    [ -z "${SMALL:-}" ] || name=k18 share=12M
    measured_by "scripts/bench_hybrid.sh disk $name.tg 3 $share"
    graph $name
    TANDEM=$tandem bash "$top/scripts/bench_hybrid.sh" disk "$folder/$name.tg" 3 $share
}

what_disk_bytes='bytes that programs read from disk at 25% and 60% of the file'
table_disk_bytes() {
    local program name share
    measured_by 'tandem run P G.tg --engine hybrid --memory C'
    head_of program graph memory 'read, GB' 'times the edge bytes' 'edges processed, millions' seconds
    graph s23 && graph r24
    while read -r program name share; do
        [ -z "${SMALL:-}" ] || share=24M
        # shellcheck disable=SC2046
        measure "$program" "$folder/$name.tg" $(arguments "$program" "$name") --engine hybrid --memory "$share"
        row "$program" "$name" "$share" "$(awk -v b="$(rows disk_bytes)" 'BEGIN { printf "%.2f", b / 1e9 }')" \
            "$(awk -v b="$(rows disk_bytes)" -v e="$(figure edges)" \
                -v each="$([ "$program" = sssp ] && echo 5 || echo 4)" 'BEGIN { printf "%.2f", b / (e * each) }')" \
            "$(awk -v e="$(figure edges_processed)" 'BEGIN { printf "%.1f", e / 1e6 }')" \
            "$(awk -v s="$(figure seconds)" 'BEGIN { printf "%.2f", s }')"
    done <<'PROGRAMS'
wcc r24 25%
pagerank r24 25%
bfs s23 25%
sssp s23 25%
kcore s23 60%
PROGRAMS
}

what_both='in memory: cpu, gpu and both (scripts/bench_hybrid.sh both)'
table_both() {
    measured_by "scripts/bench_hybrid.sh both s23.tg $device"
    graph s23
    TANDEM=$tandem bash "$top/scripts/bench_hybrid.sh" both "$folder/s23.tg" "$device"
}

what_checkpoints='a checkpoint after every iteration of PageRank (scripts/bench_checkpoint.sh)'
table_checkpoints() {
    local pairs=4
    [ -z "${SMALL:-}" ] || pairs=1
    measured_by "scripts/bench_checkpoint.sh r24.tg FOLDER $pairs"
    graph r24
    TANDEM=$tandem bash "$top/scripts/bench_checkpoint.sh" "$folder/r24.tg" "$folder" $pairs
}

tables='input external cpu cpu_ablation gpu gpu_ablation devices stream_k25 stream_web variants coop_k25 coop_web disk
disk_bytes both checkpoints'

list() { local name what; for name in $tables; do what=what_$name; printf '%-14s %s\n' "$name" "${!what}"; done; }

run_tables() { # TABLES
    local name result now
    now=$(commit)
    for name in "$@"; do
        declare -F "table_$name" >/dev/null || fail "there is no table '$name'; 'scripts/performance.sh list' has them"
        result=$folder/results/$name.md
        if [ -z "${FORCE:-}" ] && grep -qF "commit $now." "$result" 2>/dev/null; then
            echo "performance.sh: $name is there already (commit $now)" >&2
            continue
        fi
        echo "performance.sh: $name" >&2
        # What an interrupted measurement of this commit kept; a changed tree is not one commit.
        rounds=$folder/results/$name.$now.rounds
        [[ $now != *+ ]] || rm -f "$rounds"
        # A table with a run that failed is not kept, and the others are measured all the same.
        rm -f "$report.failed"
        if ( table_"$name" ) >"$result.new" && [ ! -e "$report.failed" ]; then
            mv "$result.new" "$result"
            rm -f "$rounds"
        else
            rm -f "$result.new"
            failed=1
        fi
    done
}

print_tables() {
    local name what
    for name in $tables; do
        what=what_$name
        [ ! -e "$folder/results/$name.md" ] || { printf '### %s\n\n' "${!what}"; cat "$folder/results/$name.md"; echo; }
    done
}

# What stands in the page between the marker of a table and the end marker is replaced.
update_page() {
    local name result
    for name in $tables; do
        result=$folder/results/$name.md
        [ -e "$result" ] || continue
        grep -qF "<!-- table $name -->" "$page" || fail "$page has no marker '<!-- table $name -->'"
        awk -v marker="<!-- table $name -->" -v end="$end_marker" -v result="$result" '
            $0 == marker {
                print; print ""
                while ((getline line < result) > 0) print line
                print ""; skipping = 1; next
            }
            $0 == end { skipping = 0 }
            !skipping { print }' "$page" >"$page.new" && mv "$page.new" "$page" || exit 1
        echo "performance.sh: $name is in $(basename "$page")" >&2
    done
}

report=$(mktemp) || exit 1
trap 'rm -f "$report" "$report.failed"' EXIT
failed=0
command=${1:-}
case $command in
list) list ;;
run)
    [ $# -ge 3 ] || usage
    folder=$2 device=$3
    shift 3
    [ -x "$tandem" ] || fail "there is no tool $tandem; build it, or name it in TANDEM"
    mkdir -p "$folder/results" || exit 1
    # shellcheck disable=SC2086
    if [ $# -gt 0 ]; then run_tables "$@"; else run_tables $tables; fi
    ;;
print) folder=${2:?a folder}; print_tables ;;
update) folder=${2:?a folder}; update_page ;;
*) usage ;;
esac
exit $failed
