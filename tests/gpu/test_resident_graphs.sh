#!/usr/bin/env bash
# Every program on real graphs, with attached weights, by the resident engine on the
# devices in $DEVICES (an emulated GPU unless told otherwise), passes --verify and finds
# what the cpu engine finds. The smallest graphs on an emulated GPU, all of them on a
# real one, the smaller first, or those that TANDEM_TEST_GRAPHS names.
. "$(dirname "$0")/../cli/lib.sh"

need_graphs
devices=${DEVICES:-emu}
case $devices in
emu*) few='karate.mtx chesapeake.mtx formats/4.wel' ;;
*) few=all ;;
esac

printf '1 2\n' >tiny.txt
t run wcc tiny.txt --engine resident --devices "$devices"
if [[ $err == *"--devices $devices: device "* ]]; then
    echo "skip: $err"
    exit 77
fi

result() { sed -n "/\"result\": {/,/}/s/^ *\"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" "$2"; }

# Whole results are equal; of real ones the least, the largest and the sum are close.
same_results() { # WHAT
    case $(result digest_of resident.json) in # up to a comma
    'ids and results') equal "$(result digest resident.json)" "$(result digest cpu.json)" "$1: digest" ;;
    *) for number in lowest highest sum; do
        if awk -v a="$(result $number resident.json)" -v b="$(result $number cpu.json)" \
            -v c="$(result highest cpu.json)" 'function size(x) { return x < 0 ? -x : x }
            BEGIN { exit !(size(a - b) <= 1e-5 * (size(b) + size(c))) }'; then
            good
        else
            bad "$1: $number is $(result $number resident.json), not $(result $number cpu.json)"
        fi
    done ;;
    esac
}

circuit_iterations=100
for name in $(graph_names "$few"); do
    began=$SECONDS
    take_graph "$name" || continue
    for program in $all_programs; do
        more=
        case $program in bfs | sssp) more=--parents ;; esac
        succeeds run $program graph.tg --engine cpu --quiet --json cpu.json $(arguments $program) $more
        for mode in $(modes $program); do
            rm -f resident.json
            succeeds run $program graph.tg $mode --engine resident --devices "$devices" --quiet --verify \
                --json resident.json \
                $(arguments $program) $more
            # Values that change while others read them settle elsewhere within the tolerance: --verify looks at those.
            case $program$mode in circuit--async | pagerank--async | adsorption--async) continue ;; esac
            same_results "$program on $name, $mode, $devices"
        done
    done
    printf '%s: %d s\n' "$name" $((SECONDS - began))
done
finish
