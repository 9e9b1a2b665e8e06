#!/usr/bin/env bash
# Every program on real graphs, with attached weights, passes --verify with 1, 2
# and 8 threads, sync and async. The small graphs by default; all of them with
# TANDEM_TEST_GRAPHS=all (half an hour on two cores), or those that it names.
. "$(dirname "$0")/lib.sh"
need_graphs

for name in $(graph_names 'karate.mtx chesapeake.mtx rome99.gr wb-cs-stanford.mtx formats/4.wel'); do
    take_graph "$name" || continue
    for program in $all_programs; do
        for mode in $(modes $program); do
            for threads in 1 2 8; do
                succeeds run $program graph.tg $mode --threads $threads --verify $(arguments $program)
            done
        done
    done
done
finish
