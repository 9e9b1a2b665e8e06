#!/usr/bin/env bash
# Compares the memory that plans state with the memory that runs take, on runs drawn at random over all engines: the
# process's VmHWM as the kernel reports it, and with a CUDA GPU the used memory of the GPU as the driver reports it. An
# emulated GPU's memory is the host's. Ends with 1 if a figure is off by more than 5%.
#
#   scripts/promise.sh TANDEM [RUNS [SEED [DEVICE]]]     DEVICE: emu@unchecked (the default) or cuda:0
#
# Engines for several GPUs run on two: emulated ones, or slices of the CUDA GPU. PROMISE_ENGINES has the engines to draw
# from, PROMISE_LIMIT the percent.
#
# The CUDA driver takes memory of its own, on the GPU and on the host: contexts, kernels, stacks. It is measured by the
# same run on a graph of 2^10 vertices, less what that run states, and is in the column `driver`. The other columns are
# without it.
#
# Graphs of 86 to 100 MB are made in $TMPDIR once. On a CUDA GPU they are 16 times as large, because the driver rounds
# each of 20 to 30 arrays up to 2 MiB. PROMISE_SCALE is added to the scale of the graphs in place of 0 or 4.
set -euo pipefail

tandem=${1:?the tool to run, e.g. build/tandem}
runs=${2:-12}
seed=${3:-1}
device=${4:-emu@unchecked}
limit=${PROMISE_LIMIT:-5} # percent
read -r -a engines <<< "${PROMISE_ENGINES:-cpu resident stream coop hybrid disk multi paths}"
case $device in
emu*) pair=emu:2${device#emu} larger=0 ;;
*) pair=$device/2 larger=4 ;;
esac
larger=${PROMISE_SCALE:-$larger}
work=${TMPDIR:-/tmp}/tandem-promise
mkdir -p "$work"

make_graph() { # NAME ARGUMENTS...
    local file=$work/$1.tg
    shift
    [ -f "$file" ] || "$tandem" gen "$@" -o "$file" 2> "$work/gen.log" || { cat "$work/gen.log" >&2; exit 1; }
}
make_graphs() { # FOLDER SCALE MORE: of 2^SCALE vertices, uniform of 2^(SCALE + MORE)
    mkdir -p "$work/$1"
    make_graph "$1/directed" rmat --scale "$2" --degree 64 --weights 1:100
    make_graph "$1/symmetric" rmat --scale "$2" --degree 96 --weights 1:100 --symmetrize --dedup
    make_graph "$1/uniform" uniform --scale $(($2 + $3)) --degree 16 --weights 1:100
}
large=$((17 + larger))
make_graphs "$large" "$large" 2

# Appends the GPU's used memory to a file, every 5 ms while the script runs.
watch_gpu() {
    : > "$work/used"
    stdbuf -oL nvidia-smi --id="${device#cuda:}" --query-gpu=memory.used --format=csv,noheader,nounits --loop-ms=5 \
        >> "$work/used" 2> "$work/used.log" &
    sampler=$!
    trap 'kill "$sampler" 2> /dev/null || true' EXIT
    while [ ! -s "$work/used" ]; do
        kill -0 "$sampler" 2> /dev/null || { echo "promise.sh: nvidia-smi says no used memory" >&2; cat "$work/used.log" >&2; exit 1; }
        sleep 0.01
    done
}
case $device in cuda*)
    make_graphs 10 10 0
    watch_gpu
    ;;
esac

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

samples() { wc -l < "$work/used"; }
used_from() { # LINE: the largest sample from that line on, in bytes
    tail -n "+$1" "$work/used" | awk '$1 > most { most = $1 } END { printf "%.0f\n", most * 1048576 }'
}

# Waits for two samples that are equal: contexts of the process before may still be closing.
settle() {
    local before after=-1
    while before=$after && sleep 0.1 && after=$(tail -n 1 "$work/used") && [ "$before" != "$after" ]; do :; done
}

# Runs a command and writes its peak of resident memory, in KiB. Python gets it where there is no /usr/bin/time.
timed() { # FILE COMMAND...
    if type -P time > /dev/null; then command time -f %M -o "$@"
    else
        python3 -c 'import resource, subprocess, sys
status = subprocess.call(sys.argv[2:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=open(sys.argv[1], "w"))
sys.exit(status)' "$@"
    fi
}

# Runs the tool and watches it: $resident is its VmHWM as the kernel reports it when the process ends, $on_gpu what the
# GPU had more of at most; $stated_host and $stated_gpu are the plan's.
watch_run() {
    local before first
    on_gpu=0
    case $device in cuda*)
        settle
        first=$(($(samples) + 1))
        before=$(used_from "$((first - 1))")
        ;;
    esac
    timed "$work/peak" "$tandem" "$@" --json "$work/run.json" > "$work/run.log" 2>&1 || { cat "$work/run.log" >&2; exit 1; }
    case $device in cuda*)
        on_gpu=$(($(used_from "$first") - before))
        kill -0 "$sampler" 2> /dev/null || { cat "$work/used.log" >&2; exit 1; }
        ;;
    esac
    resident=$(($(tail -n 1 "$work/peak") * 1024))
    stated_host=$(($(number graph_bytes) + $(number program_bytes) + $(number process_bytes) + $(number cache_bytes)))
    stated_gpu=$(($(number device_graph_bytes) + $(number device_program_bytes)))
}

# What the driver takes on the host and on the GPU for such a run: $driver_host, $driver_gpu.
watch_driver() {
    driver_host=0 driver_gpu=0
    case $device in emu*) return ;; esac
    watch_run "${@//$work\/$large\//$work\/10\/}"
    [ "$on_gpu" -gt 0 ] || return 0 # no context was made
    driver_host=$((resident > stated_host ? resident - stated_host : 0))
    driver_gpu=$((on_gpu > stated_gpu ? on_gpu - stated_gpu : 0))
}

failed=0
compare() { # PLACE STATED MEASURED DRIVER
    awk -v place="$1" -v stated="$2" -v measured="$(($3 - $4))" -v driver="$4" -v limit="$limit" -v what="$what" 'BEGIN {
        ratio = measured > 0 ? stated / measured : 0
        bad = ratio < 1 - limit / 100 || ratio > 1 + limit / 100
        printf "%-6s %9.1f %9.1f %9.1f %7.3f%s  %s\n", place, stated / 1e6, measured / 1e6, driver / 1e6, ratio,
               bad ? " !" : "  ", what
        exit bad }' || failed=$((failed + 1))
}

echo "where     stated  measured    driver   ratio    run (MB, within $limit%, seed $seed)"
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
    request=(run "$program" "$work/$large/$graph.tg")
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
    disk) request+=(--engine hybrid --memory "$((larger < 0 ? 64 >> -larger : 64 << larger))M") ;;
    esac
    what="${request[*]//$work\/$large\//}"
    watch_driver "${request[@]}"
    watch_run "${request[@]}"
    compare host "$stated_host" "$resident" "$driver_host"
    case $device in cuda*)
        if [ "$stated_gpu" -gt 0 ]; then compare gpu "$stated_gpu" "$on_gpu" "$driver_gpu"; fi
        ;;
    esac
done
[ "$failed" -eq 0 ] || { echo "$failed figures are off by more than $limit%"; exit 1; }
