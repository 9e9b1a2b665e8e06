#!/usr/bin/env bash
# CPU kernels for every level of the instruction set: a part of the table of programs passes with each level forced,
# every program finds the same, bit for bit, with all of them, and a file of edges becomes the same graph. A level that this
# processor lacks is skipped; the table of the level that it takes by itself is test_engine_table.
#
# TANDEM_TEST_ALL=1: the whole table of every level.
. "$(dirname "$0")/../cli/lib.sh"
build=$(dirname "$TANDEM")
table=$build/tests/test_engine_table
levels=$(sed -n 's/.*"\(.*\)".*/\1/p' "$build/generated/isa_levels.def")
[ -n "$levels" ] || bad "no levels in $build/generated/isa_levels.def"
rows='bfs_ sssp_ mst_ kcore_ pagerank_ heat_'
[ -z "${TANDEM_TEST_ALL:-}" ] || rows=_

succeeds gen rmat --scale 9 --degree 6 --weights 1:50 -o whole.tg --quiet
succeeds gen rmat --scale 9 --degree 6 --weights 0.5:9.5 -o real.tg --quiet
source=$("$TANDEM" run kcore whole.tg --top 1 --quiet | awk 'NR == 2 { print $1 }')

awk 'BEGIN { for (i = 0; i < 4000; i++) print 7 * (i * i % 1009) + 100, 3 * (i * 37 % 2003) + 90 }' >ids.txt

# Ids with gaps are numbered by loops that are compiled per level as well.
check_convert() { # LEVEL
    succeeds convert ids.txt -o "ids-$1.tg" --quiet
    succeeds info "ids-$1.tg" --check --quiet
    if cmp "ids-$first.tg" "ids-$1.tg"; then good; else bad "$1 makes another file than $first"; fi
}

check_table() { # LEVEL
    local row
    for row in $rows; do
        if timeout "${TANDEM_TEST_SECONDS:-250}" "$table" "$row" >table.log 2>&1; then good
        else bad "$1: the table's rows '$row' fail: $(grep -B 3 -m 1 '^FAIL' table.log)"; fi
    done
}

# One line per run: program, graph, digest of all values.
check_results() { # LEVEL
    local program graph
    for program in $all_programs; do
        for graph in whole real; do
            succeeds run "$program" $graph.tg $(circuit_iterations=40 arguments "$program") --threads 2 --quiet --json
            equal "$(key isa <<<"$out")" "$1" "$program: the level in use"
            echo "$program $graph $(sed -n 's/ *"digest": "\(.*\)".*/\1/p' <<<"$out")" >>"results-$1"
        done
    done
    equal "$(awk 'NF == 3' "results-$1" | wc -l)" 22 "$1: runs with a digest"
    [ "$1" = "$first" ] || equal "$(diff "results-$first" "results-$1")" '' "what $1 finds other than $first"
}

succeeds run wcc whole.tg --quiet --json
own=$(key isa <<<"$out")
contains " $levels " "$own" 'the level that is taken by itself'
first=
for level in $levels; do
    export TANDEM_ISA=$level
    t --version
    if [[ $err == *"this processor does not have"* ]]; then
        skip "$level: this processor does not have it"
        continue
    fi
    equal "$status" 0 "$level can be forced"
    first=${first:-$level}
    check_convert "$level"
    if [ "$level" != "$own" ] || [ "$rows" = _ ]; then check_table "$level"; fi
    check_results "$level"
done
finish
