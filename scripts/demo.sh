#!/usr/bin/env bash
# demo.sh TANDEM: shows what the tool does on a skewed and a road-like graph, and
# checks it: every conversion has to give back the graph it started from.
set -eu
export LANG=${LC_ALL:-${LANG:-C}} LC_NUMERIC=C # decimal points, whatever the language
unset LC_ALL
tandem=$1
folder=$(mktemp -d "${TMPDIR:-/tmp}/tandem-demo-XXXXXX")
trap 'rm -rf "$folder"' EXIT
shown=${tandem#"$PWD"/}
cd "$folder"
failures=0

heading() { printf '\n== %s\n\n' "$*"; }

# field NAME FILE: a value of a flat JSON report.
field() { sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$2"; }

count() { printf "%s" "$1" | sed ':a; s/\B[0-9]\{3\}\>/,&/; ta'; }
size() { awk -v b="$1" 'BEGIN { printf "%.1f MiB", b / 1048576 }'; }

make_graph() { # NAME WHAT ARGUMENTS...
    local name=$1 what=$2 report=$1.json
    shift 2
    "$tandem" gen "$@" -o "$name.tg" --quiet --json "$report"
    printf '%-7s %-26s %11s %12s %11s %6.2f s\n' "$name" "$what" "$(count "$(field vertices "$report")")" \
        "$(count "$(field edges "$report")")" "$(size "$(field output_bytes "$report")")" "$(field seconds "$report")"
}

# There and back through a format; the digests of the two graphs have to agree.
round_trip() { # NAME SUFFIX WHAT
    local there=$1.$2 back=back.tg verdict=same
    "$tandem" convert "$1.tg" -o "$there" --quiet --json there.json
    "$tandem" convert "$there" -o "$back" --quiet --json back.json
    if [ "$(field digest back.json)" != "$(field digest "$1.json")" ]; then
        verdict=DIFFERS
        failures=$((failures + 1))
    fi
    printf '%-7s %-22s %11s %9.2f s %9.2f s  %s\n' "$1" "$3" "$(size "$(field output_bytes there.json)")" \
        "$(field seconds there.json)" "$(field seconds back.json)" "$verdict"
    rm -f "$there" "$back"
}

heading 'Two graphs from a seed'
printf '%-7s %-26s %11s %12s %11s %8s\n' graph kind vertices edges 'as .tg' made
make_graph skewed 'rmat, degree 16, 1..100' rmat --scale 17 --degree 16 --weights 1:100 --seed 7
make_graph road 'grid, weights as on roads' grid --width 400 --height 400 --seed 7

heading 'Into other formats and back'
printf '%-7s %-22s %11s %11s %11s  %s\n' graph format size there back graph
for graph in skewed road; do
    round_trip $graph el 'edge list (text)'
    round_trip $graph mtx 'Matrix Market (text)'
    round_trip $graph wsg 'GAP (binary)'
done

heading 'The skewed graph, every byte checked'
"$tandem" info skewed.tg --check

# The programs, each result checked by the claims it makes.
run() { # PROGRAM GRAPH RESULT-KEY WORDS ARGUMENTS...
    local program=$1 graph=$2 key=$3 words=$4 verdict=verified
    shift 4
    if ! "$tandem" run "$program" "$graph.tg" "$@" --verify --quiet --json run.json; then
        verdict=FAILED
        failures=$((failures + 1))
        return
    fi
    local found
    found=$(sed -n "s/^    \"$key\": \([^,]*\),\{0,1\}\$/\1/p" run.json)
    printf '%-9s %-7s %10.4f s %10s %-26s %s\n' "$program" "$graph" "$(field seconds run.json)" \
        "$(field iterations run.json)" "$words $(printf '%.8g' "$found")" "$verdict"
}

heading 'Programs on all cores'
printf '%-9s %-7s %12s %10s %-26s %s\n' program graph processing iterations result claims
for graph in skewed road; do
    run bfs $graph highest 'farthest level' --source 0
    run sssp $graph highest 'farthest distance' --source 0
    run wcc $graph groups 'components'
    run pagerank $graph highest 'highest rank'
    run kcore $graph highest 'largest core'
    run mst $graph total_weight 'total weight'
done

# The stream engine: a GPU, emulated if there is none, with a part of the edges.
"$tandem" gen rmat --scale 13 --degree 16 --weights 1:100 --symmetrize --seed 7 -o small.tg --quiet --json small.json
gpu=emu:1@unchecked
if "$tandem" run wcc small.tg --engine resident --devices cuda:0 --quiet >/dev/null 2>&1; then gpu=cuda:0; fi
total() { sed -n "s/^ *\"$1\": \([0-9]*\),\{0,1\}\$/\1/p; s/.*\"$1\": \([0-9]*\),.*/\1/p" run.json | awk '{ sum += $1 } END { printf "%.0f", sum }'; }

stream() { # PROGRAM ARGUMENTS...
    local program=$1 verdict=verified whole=0
    shift
    rm -f run.json
    if ! "$tandem" run "$program" small.tg "$@" --engine stream --devices $gpu --gpu-edges 25% --verify --quiet --json run.json; then
        verdict=FAILED
        failures=$((failures + 1))
    fi
    whole=$(($(total bytes_whole) + $(total bytes_extracted) + $(total bytes_direct)))
    printf '%-9s %10s %11s %11s %11s  %s\n' "$program" "$(field iterations run.json)" "$(size "$edge_bytes")" "$(size "$whole")" \
        "$(size "$(total bytes_useful)")" "$verdict"
}

heading "A quarter of the edges on the GPU, the rest in host memory ($gpu)"
edge_bytes=$(($(field edges small.json) * 5))
printf '%-9s %10s %11s %11s %11s  %s\n' program iterations edges 'over link' useful claims
stream bfs --source 0
stream sssp --source 0
stream wcc
stream pagerank --iterations 3
stream mst

# Killed in the middle of its iterations; the second command resumes. One thread, so that reals are the same bit for bit.
digest() { sed -n 's/^    "digest": "\([0-9a-f]*\)".*/\1/p' "$1"; }
resume() {
    local verdict='the same ranks, bit for bit'
    "$tandem" run pagerank skewed.tg --iterations 40 --threads 1 --resume state --quiet --json run.json
    if [ "$(digest run.json)" != "$(digest whole.json)" ]; then
        verdict=DIFFERS
        failures=$((failures + 1))
    fi
    printf 'tandem run pagerank skewed.tg --iterations 40 --resume state\n    resumed after iteration %s of %s: %s\n' \
        "$(sed -n 's/^    "resumed_iterations": \([0-9]*\)$/\1/p' run.json)" "$(field iterations run.json)" "$verdict"
}

heading 'Killed, and resumed'
mkdir state
"$tandem" run pagerank skewed.tg --iterations 40 --threads 1 --quiet --json whole.json
"$tandem" run pagerank skewed.tg --iterations 40 --threads 1 --quiet --checkpoint state --every 1 &
victim=$!
for _ in $(seq 1000); do
    [ -z "$(ls state)" ] || break
    sleep 0.01
done
sleep 0.05
kill -9 $victim 2>/dev/null || true
wait $victim 2>/dev/null || true
printf 'tandem run pagerank skewed.tg --iterations 40 --checkpoint state --every 1\n    killed (SIGKILL); the last two checkpoints of all that were written: %s\n' "$(cd state && echo *.tdck)"
resume

heading 'A damaged file is refused'
cp road.tg damaged.tg
printf 'X' | dd of=damaged.tg bs=1 seek=300000 conv=notrunc status=none
if "$tandem" info damaged.tg --check; then
    echo 'NOT NOTICED'
    failures=$((failures + 1))
fi

if [ $failures -gt 0 ]; then
    printf '\n%d checks failed\n' $failures
    exit 1
fi
printf "\nAll checks passed. Next: %s help\n" "$shown"
