#!/usr/bin/env bash
# Every program on real graphs, with attached weights, passes --verify with 1, 2
# and 8 threads, sync and async. The small graphs by default; all of them with
# TANDEM_TEST_GRAPHS=all (half an hour on two cores), or those that it names.
. "$(dirname "$0")/lib.sh"

data=${TANDEM_SHARED_DATA:-}
if [ ! -d "$data" ]; then
    echo 'skip: the folder of real graphs is absent (TANDEM_SHARED_DATA)'
    exit 77
fi

names=${TANDEM_TEST_GRAPHS:-karate.mtx chesapeake.mtx rome99.gr wb-cs-stanford.mtx formats/4.wel}
if [ "$names" = all ]; then
    names=$(cd "$data" && ls -- *.xz | sed 's/\.xz$//')
    names+=' cnr-2000/cnr-2000.graph'
fi

# Voltages settle slowly on long graphs, and a network with cycles need not settle at all: both are limited.
arguments() {
    case $1 in
    bfs | sssp) echo "--source $2" ;;
    nn) echo '--iterations 10' ;;
    circuit) echo '--tolerance 1e-4 --iterations 300' ;;
    esac
}

for name in $names; do
    input=$data/$name
    [ -e "$input" ] || input=$data/$name.xz
    t convert "$input" -o graph.tg --weights 1:100 --seed 3
    if [ $status -ne 0 ]; then
        skip "$name: $err"
        continue
    fi
    source=$("$TANDEM" run kcore graph.tg --top 1 --quiet | awk 'NR == 2 { print $1 }') # in the thick of it
    for program in bfs sssp wcc labels pagerank mst kcore adsorption nn heat circuit; do
        modes='--sync --async'
        case $program in nn | heat) modes=--sync ;; esac
        for mode in $modes; do
            for threads in 1 2 8; do
                succeeds run $program graph.tg $mode --threads $threads --verify $(arguments $program "$source")
            done
        done
    done
done
finish
