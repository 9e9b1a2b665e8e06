#!/usr/bin/env bash
# Compares the memory that plans state with the memory that runs take, on runs drawn at random over all engines: the
# process's VmHWM as the kernel reports it, and with a CUDA GPU the driver's free memory. An emulated GPU's memory is the
# host's. Ends with 1 if a figure is off by more than 5%.
#
#   scripts/promise.sh TANDEM [RUNS [SEED [DEVICE]]]     DEVICE: emu@unchecked (the default) or cuda:0
#
# Engines for several GPUs run on two: emulated ones, or slices of the CUDA GPU. PROMISE_ENGINES has the engines to draw
# from.
#
# Graphs of 86 to 100 MB are made in $TMPDIR once. The program `time` reports the peak.
set -euo pipefail

tandem=${1:?the tool to run, e.g. build/tandem}
runs=${2:-12}
seed=${3:-1}
device=${4:-emu@unchecked}
limit=${PROMISE_LIMIT:-5} # percent
read -r -a engines <<< "${PROMISE_ENGINES:-cpu resident stream coop hybrid disk multi paths}"
case $device in
emu*) pair=emu:2${device#emu} ;;
*) pair=$device/2 ;;
esac
work=${TMPDIR:-/tmp}/tandem-promise
type -P time > /dev/null || { echo 'promise.sh needs the program time (/usr/bin/time)' >&2; exit 1; }
mkdir -p "$work"

make_graph() { # NAME ARGUMENTS...
    local file=$work/$1.tg
    shift
    [ -f "$file" ] || "$tandem" gen "$@" -o "$file" 2> "$work/gen.log" || { cat "$work/gen.log" >&2; exit 1; }
}
make_graph directed rmat --scale 17 --degree 64 --weights 1:100
make_graph symmetric rmat --scale 17 --degree 96 --weights 1:100 --symmetrize --dedup
make_graph uniform uniform --scale 19 --degree 16 --weights 1:100

# Numbers drawn by the script's own generator, so that a seed is the same everywhere.
state=$seed
draw() { # BOUND: a number below it, in $drawn
    state=$(((state * 1103515245 + 12345) % 2147483648))
    drawn=$((state / 65536 % $1))
}
pick() { # WORDS...: one of them, in $picked
    draw $#
    shift "$drawn"
    picked=$1
}

number() { # KEY: its first number in the report
    awk -v key="\"$1\":" '$1 == key { gsub(/,/, "", $2); print $2; found = 1; exit } END { if (!found) print 0 }' \
        "$work/run.json"
}

free_on_gpu() { # in bytes; the driver's word
    nvidia-smi --id="${device#cuda:}" --query-gpu=memory.free --format=csv,noheader,nounits |
        awk '{ printf "%.0f\n", $1 * 1048576 }'
}

# Runs the tool and watches it: $resident is its VmHWM as the kernel reports it when the process ends, $on_gpu what the
# GPU had less of at most.
watch_run() {
    local before=0 now
    on_gpu=0
    case $device in cuda*) before=$(free_on_gpu) ;; esac
    command time -f %M -o "$work/peak" "$tandem" "$@" --json "$work/run.json" > "$work/run.log" 2>&1 &
    local pid=$!
    case $device in cuda*)
        while kill -0 "$pid" 2> /dev/null; do
            now=$((before - $(free_on_gpu)))
            [ "$now" -gt "$on_gpu" ] && on_gpu=$now
            sleep 0.005
        done
        ;;
    esac
    wait "$pid" || { cat "$work/run.log" >&2; exit 1; }
    resident=$(($(tail -n 1 "$work/peak") * 1024))
}

failed=0
compare() { # PLACE STATED MEASURED
    awk -v place="$1" -v stated="$2" -v measured="$3" -v limit="$limit" -v what="$what" 'BEGIN {
        ratio = measured > 0 ? stated / measured : 0
        bad = ratio < 1 - limit / 100 || ratio > 1 + limit / 100
        printf "%-6s %9.1f %9.1f %7.3f%s  %s\n", place, stated / 1e6, measured / 1e6, ratio, bad ? " !" : "  ", what
        exit bad }' || failed=$((failed + 1))
}

# Kernels and the context are the driver's, whatever the run: a run on a small graph shows how much they take.
driver=0
case $device in cuda*)
    make_graph small rmat --scale 8 --degree 8 --weights 1:100
    watch_run run sssp "$work/small.tg" --source 0 --engine resident --devices "$device"
    driver=$on_gpu
    ;;
esac

echo "where     stated  measured   ratio    run (MB, within $limit%, seed $seed)"
for ((i = 0; i < runs; i++)); do
    pick "${engines[@]}"
    engine=$picked
    pick directed symmetric uniform
    graph=$picked
    pick pagerank sssp bfs wcc kcore labels heat
    program=$picked
    pick 25% 40% 60%
    share=$picked
    case $engine-$program in # what paths have no run of, or take minutes for on an emulated GPU
    paths-heat | paths-pagerank) program=sssp ;;
    paths-wcc) program=labels ;;
    paths-kcore) program=bfs ;;
    esac
    request=(run "$program" "$work/$graph.tg")
    case $program in sssp | bfs) request+=(--source 1) ;; esac
    case $engine-$program in
    multi-labels | paths-*) ;; # to the end
    *-pagerank | *-heat | *-labels) request+=(--iterations 2) ;;
    esac
    case $engine in
    cpu) request+=(--engine cpu) ;;
    resident) request+=(--engine resident --devices "$device") ;;
    stream | coop) request+=(--engine "$engine" --devices "$device" --gpu-edges "$share") ;;
    hybrid) request+=(--engine hybrid --devices "$device") ;;
    multi | paths) request+=(--engine "$engine" --devices "$pair") ;;
    disk) request+=(--engine hybrid --memory 64M) ;;
    esac
    what="${request[*]//$work\//}"
    watch_run "${request[@]}"
    stated=$(($(number graph_bytes) + $(number program_bytes) + $(number process_bytes) + $(number cache_bytes)))
    compare host "$stated" "$resident"
    stated=$(($(number device_graph_bytes) + $(number device_program_bytes)))
    case $device in cuda*)
        if [ "$stated" -gt 0 ]; then compare gpu "$stated" $((on_gpu - driver)); fi
        ;;
    esac
done
[ "$failed" -eq 0 ] || { echo "$failed figures are off by more than $limit%"; exit 1; }
