#!/usr/bin/env bash
# The include rule: a file includes headers of its own room and of rooms below it, never above and never sideways. Rooms
# of one level (the engines, cpu and gpu) do not know each other; what engines share is engine/engine.h.
root=$(cd "$(dirname "$0")/../.." && pwd)
source "$root/tests/cli/lib.sh"

# Level of a room; engine/NAME is a room of its own.
level() {
    case $1 in
    base) echo 0 ;;
    store | device | page) echo 1 ;;
    layout) echo 2 ;;
    kernels) echo 3 ;;
    programs) echo 4 ;;
    run) echo 5 ;;
    cpu | gpu) echo 6 ;;
    engine) echo 7 ;; # the descriptor; engine.c knows the engines by name alone
    engine/*) echo 8 ;;
    planner) echo 9 ;;
    api) echo 10 ;;
    cli) echo 11 ;;
    *) echo "" ;;
    esac
}

room_of() { # PATH below src/: "engine/stream" or the first folder
    case $1 in
    engine/*/*) echo "engine/$(cut -d/ -f2 <<<"$1")" ;;
    *) echo "${1%%/*}" ;;
    esac
}

# check FOLDER: prints a line for every include that goes up or sideways, or names an unknown room.
check() {
    local file header from to
    (cd "$1" && grep -rnoE '#include "[a-z_]+/[a-z_/]+\.(h|def)"' --include=*.c --include=*.h --include=*.cu .) |
        sed 's|^\./||; s|:[0-9]*:#include "| |; s|"$||' | sort -u |
        while read -r file header; do
            from=$(room_of "$file") to=$(room_of "$header")
            [ "$from" = "$to" ] && continue
            if [ -z "$(level "$from")" ] || [ -z "$(level "$to")" ]; then
                echo "$file includes $header: a room without a level"
            elif [ "$(level "$to")" -ge "$(level "$from")" ]; then
                echo "$file includes $header"
            fi
        done
}

found=$(check "$root/src")
if [ -z "$found" ]; then good; else bad "includes that go up or sideways: $found"; fi

# The check itself: one include of every forbidden kind is found, allowed ones are not.
made=$folder/made
mkdir -p "$made"/{base,store,gpu,cpu,run} "$made"/engine/{stream,coop}
echo '#include "run/run.h"' >"$made/store/up.c"
echo '#include "cpu/cpu.h"' >"$made/gpu/sideways.c"
echo '#include "engine/coop/coop.h"' >"$made/engine/stream/policy.c"
echo '#include "attic/box.h"' >"$made/base/unknown.c"
printf '#include "engine/engine.h"\n#include "gpu/job.h"\n#include "engine/stream/stream.h"\n' >"$made/engine/stream/fine.c"
found=$(check "$made")
for name in store/up.c gpu/sideways.c engine/stream/policy.c base/unknown.c; do
    if grep -q "^$name" <<<"$found"; then good; else bad "the check does not find $name"; fi
done
if grep -q fine.c <<<"$found"; then bad "the check refuses allowed includes: $found"; else good; fi

# The tool is a client of the public API: its files include tandem.h, the tool's own headers and base/. The files below
# look inside by their nature: they measure kernels, devices and builders one by one (bench), or draw up a cost model of
# kernels from such measurements (calibrate).
inside='cmd_bench.c bench.h bench_allocation.c bench_answer.c bench_convert.c bench_cpu.c bench_gpu.c bench_graphs.c bench_multi.c
bench_paths.c bench_reorder.c cmd_calibrate.c calibrate.h calibrate_graphs.c calibrate_machine.c
calibrate_train.c'

# check_tool FOLDER: prints a line for every include of an internal header by a file that is not on the list.
check_tool() {
    (cd "$1" && grep -noE '#include "[a-z_]+/[a-z_/]+\.(h|def)"' -- *.c *.h) | sed 's|:[0-9]*:#include "| |; s|"$||' |
        while read -r file header; do
            [[ $header == base/* ]] || grep -qwF "$file" <<<"$inside" || echo "$file includes $header"
        done
    # And a header of the list takes its insides along.
    (cd "$1" && grep -noE '#include "[a-z_]+\.h"' -- *.c *.h) | sed 's|:[0-9]*:#include "| |; s|"$||' |
        while read -r file header; do
            grep -qwF "$header" <<<"$inside" && ! grep -qwF "$file" <<<"$inside" && echo "$file includes $header"
        done
}

found=$(check_tool "$root/cli")
if [ -z "$found" ]; then good; else bad "the tool looks inside: $found"; fi
for file in $inside; do [ -f "$root/cli/$file" ] || bad "the list has $file, which is not there"; done
mkdir -p "$made/cli"
echo '#include "run/run.h"' >"$made/cli/cmd_run.c"
echo '#include "bench.h"' >"$made/cli/cmd_help.c"
printf '#include "base/json.h"\n#include "text.h"\n#include "tandem.h"\n' >"$made/cli/cmd_gen.c"
echo '#include "device/kinds.h"' >"$made/cli/bench.h"
found=$(check_tool "$made/cli")
if [ "$found" = $'cmd_run.c includes run/run.h\ncmd_help.c includes bench.h' ]; then good; else bad "found: $found"; fi
finish
