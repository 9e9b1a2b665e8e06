#!/usr/bin/env bash
# Every program on real graphs, with attached weights, by the resident engine on the
# devices in $DEVICES (an emulated GPU unless told otherwise), passes --verify and finds
# what the cpu engine finds. The smallest graphs on an emulated GPU, all of them on a
# real one, the smaller first, or those that TANDEM_TEST_GRAPHS names.
. "$(dirname "$0")/../cli/lib.sh"

devices=${DEVICES:-emu}
data=${TANDEM_SHARED_DATA:-}
if [ ! -d "$data" ]; then
    echo 'skip: the folder of real graphs is absent (TANDEM_SHARED_DATA)'
    exit 77
fi
case $devices in
emu*) names=${TANDEM_TEST_GRAPHS:-karate.mtx chesapeake.mtx formats/4.wel} ;;
*) names=${TANDEM_TEST_GRAPHS:-all} ;;
esac
if [ "$names" = all ]; then
    names=$(cd "$data" && ls -Sr -- *.xz | sed 's/\.xz$//')
    [ -e "$data/cnr-2000/cnr-2000.graph" ] && names+=' cnr-2000/cnr-2000.graph'
fi

printf '1 2\n' >tiny.txt
t run wcc tiny.txt --engine resident --devices "$devices"
if [[ $err == *"--devices $devices: device "* ]]; then
    echo "skip: $err"
    exit 77
fi

# Voltages settle slowly on long graphs, and a network with cycles need not settle at all: both are limited.
arguments() {
    case $1 in
    bfs | sssp) echo "--source $2 --parents" ;;
    nn) echo '--iterations 10' ;;
    circuit) echo '--tolerance 1e-4 --iterations 100' ;;
    esac
}

result() { sed -n "/\"result\": {/,/}/s/^ *\"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" "$2"; }

# Whole results are equal; of real ones the least, the largest and the sum are close.
same_results() { # WHAT
    case $(result digest_of resident.json) in # up to a comma
    'ids and results') equal "$(result digest resident.json)" "$(result digest cpu.json)" "$1: digest" ;;
    *) for number in lowest highest sum; do
        if awk -v a="$(result $number resident.json)" -v b="$(result $number cpu.json)" -v c="$(result highest cpu.json)" \
            'BEGIN { d = a - b; if (d < 0) d = -d; if (b < 0) b = -b; if (c < 0) c = -c; exit !(d <= 1e-5 * (b + c)) }'; then
            good
        else
            bad "$1: $number is $(result $number resident.json), not $(result $number cpu.json)"
        fi
    done ;;
    esac
}

for name in $names; do
    began=$SECONDS
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
        succeeds run $program graph.tg --engine cpu --quiet --json cpu.json $(arguments $program "$source")
        for mode in $modes; do
            rm -f resident.json
            succeeds run $program graph.tg $mode --engine resident --devices "$devices" --quiet --verify --json resident.json \
                $(arguments $program "$source")
            # Values that change while others read them settle elsewhere within the tolerance: --verify looks at those.
            case $program$mode in circuit--async | pagerank--async | adsorption--async) continue ;; esac
            same_results "$program on $name, $mode, $devices"
        done
    done
    printf '%s: %d s\n' "$name" $((SECONDS - began))
done
finish
