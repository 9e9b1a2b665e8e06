#!/usr/bin/env bash
# Checkpoints through the tool: killed, interrupted, going on elsewhere, refused.
. "$(dirname "$0")/lib.sh"

digest() { sed -n 's/.*"digest": "\([0-9a-f]*\)".*/\1/p' "$1"; }
number() { sed -n "s/.*\"$2\": \([0-9]*\),*\$/\1/p" "$1" | head -n 1; }

succeeds gen grid --width 700 --seed 3 -o road.tg
succeeds gen rmat --scale 12 --degree 8 --weights 1:100 --seed 3 -o small.tg
succeeds run sssp road.tg --source 0 --json whole.json
wanted=$(digest whole.json)

# Killed in the middle: until one was killed after its first checkpoint and before its end.
mkdir state
for delay in 0.05 0.1 0.15 0.2 0.3 0.08 0.12 0.25; do
    rm -f state/*
    "$TANDEM" run sssp road.tg --source 0 --threads 1 --checkpoint state --every 1 >/dev/null 2>&1 &
    pid=$!
    sleep "$delay"
    kill -9 $pid 2>/dev/null && wait $pid 2>/dev/null
    [ -n "$(ls state)" ] && break
done
contains "$(ls state)" .tdck 'what a killed run leaves'
succeeds run sssp road.tg --source 0 --resume state --json resumed.json
equal "$(digest resumed.json)" "$wanted" 'the digest after a kill'
contains "$(cat resumed.json)" '"resumed_from": "state/checkpoint-' 'the report'
if [ "$(number resumed.json resumed_iterations)" -gt 0 ]; then good; else bad 'it went on from nothing'; fi

# Interrupted: it says how to go on, with the file that it left; with circuit, which takes thousands of iterations.
succeeds gen path --vertices 100000 --weights 1:9 --symmetrize -o path.tg
mkdir volts
for signal in INT TERM; do
    env --default-signal=$signal "$TANDEM" run circuit path.tg --threads 1 --quiet --tolerance 0 --checkpoint volts \
        --resume volts 2>.err &
    job=$!
    sleep 0.5
    kill -$signal $job
    wait $job
    equal $? 1 "status after SIG$signal"
    contains "$(cat .err)" 'go on with --resume volts' "message after SIG$signal"
done
equal "$(ls volts | wc -l)" 2 'checkpoints after two interrupts'
succeeds run circuit path.tg --iterations 100000 --tolerance 1e9 --resume volts --json resumed.json
if [ "$(number resumed.json resumed_iterations)" -gt 10 ]; then good; else bad 'the second run did not go on'; fi

# One engine's state is another's beginning.
succeeds run kcore small.tg --json whole.json
wanted=$(digest whole.json)
mkdir cores
succeeds run kcore small.tg --checkpoint cores --every 1 --iterations 6
succeeds run kcore small.tg --engine resident --devices emu:1@unchecked --checkpoint cores --resume cores --every 1 \
    --iterations 15
succeeds run kcore small.tg --engine stream --devices emu:1@unchecked --gpu-edges 40% --resume cores --verify \
    --json resumed.json
equal "$(digest resumed.json)" "$wanted" 'the digest of three engines, one after another'

# What they cost is told.
mkdir told
succeeds run kcore small.tg --checkpoint told --every 1 --iterations 3 --json told.json
contains "$err" 'copying them and the last one took' 'what checkpoints cost'
for key in written bytes seconds processor_seconds waited_seconds waited_last_seconds; do
    contains "$(sed -n '/"checkpoints"/,/}/p' told.json)" "\"$key\":" 'the report of checkpoints'
done

# A search that the hybrid engine began is not one by levels, and a GPU takes more memory to go on with it: that is
# planned for.
mkdir levels
succeeds run bfs small.tg --source 0 --engine hybrid --checkpoint levels --every 1
succeeds run bfs small.tg --source 0 --engine resident --devices emu:1@unchecked --resume levels --json resumed.json
planned=$(($(number resumed.json device_graph_bytes) + $(number resumed.json device_program_bytes)))
if [ "$(number resumed.json peak_bytes)" -le $planned ]; then good
else bad "it took more than the $planned bytes planned"; fi

# Refused.
fails 2 'give a folder that exists' run kcore small.tg --checkpoint nowhere
fails 2 'give a folder that exists' run kcore small.tg --resume nowhere
mkdir empty
fails 2 'there is no checkpoint in it' run kcore small.tg --resume empty
fails 2 'checkpoint' run kcore small.tg --every 3
fails 2 'repeat' run kcore small.tg --checkpoint empty --repeat 3
fails 2 'from after iteration' run kcore small.tg --resume cores --iterations 1
t run kcore small.tg --set kcore.degree=in --resume cores
contains "$err" 'kcore.degree=both; this one has in' 'another parameter'
lacks "$err" 'engine ' 'a refusal that has no plan in front'
fails 1 'is of the program kcore' run bfs small.tg --source 1 --resume cores
t run kcore road.tg --resume cores
contains "$err" 'is of another graph' 'another graph'
lacks "$err" 'engine ' 'a refusal that has no plan in front'
mkdir short # nothing in it can be read: that is seen before the graph is
head -c 700 "$(ls cores/* | tail -n 1)" >short/checkpoint-00000001.tdck
fails 1 'is truncated' run kcore small.tg --resume short
printf '\1' | dd of=short/checkpoint-00000001.tdck bs=1 seek=12 conv=notrunc 2>/dev/null
fails 1 'has version 1' run kcore small.tg --resume short
fails 2 'holds those of another run' run -q kcore small.tg --checkpoint short
fails 2 'holds those of another run' run -q kcore small.tg --resume cores --checkpoint short
equal "$(ls short)" checkpoint-00000001.tdck 'what another version left'

# A limit on files: the run goes on.
mkdir full
out=$(trap '' XFSZ; ulimit -f 4; timeout 240 "$TANDEM" run kcore small.tg --checkpoint full --every 1 --top 1 2>&1)
contains "$out" 'the run goes on' 'a disk that is full'
equal "$(printf '%s\n' "$out" | grep -c 'the run goes on')" 1 'warnings about it'
equal "$(ls -A full)" '' 'what is left in the folder'

finish
