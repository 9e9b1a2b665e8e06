#!/usr/bin/env bash
# The wall clock of a run is accounted for: phases and a rest of at most 3%, in --json, in the closing line and in the
# trace.
source "$(dirname "$0")/lib.sh"

# value KEY: of the last report, at any depth.
value() { grep -m 1 "\"$1\":" r.json | grep -o '[-0-9.e+]*,\?$' | tr -d ,; }

# sum: of all phases of the last report, without those that are part of others; of `processing` the last one.
sum() {
    awk '/"times": \{/ {in_times = 1} in_times && /\}/ {in_times = 0}
        in_times && /"(start|load|open|plan|prepare|earlier|finish|verify|write)":/ {sum += $2}
        /"processing": \[/ {in_list = 1; next} in_list && /\]/ {in_list = 0; sum += last} in_list {last = $1 + 0}
        /"wall": \{/ {in_wall = 1} in_wall && /"(report|close|rest)":/ {sum += $2} END {print sum}' r.json
}

# below A B
below() { awk -v a="$1" -v b="$2" 'BEGIN {exit !(a < b)}'; }

# accounted ARGUMENTS: phases and rest are the wall clock, the rest is at most 3%, and what passes outside of it is the
# start and the end of the process. A machine at work may interrupt between two phases: the best of five runs counts.
accounted() {
    local rest=1 wall outside
    for _ in 1 2 3 4 5; do
        outside=$EPOCHREALTIME
        succeeds run "$@" --json r.json
        outside=$(awk -v a="$outside" -v b="$EPOCHREALTIME" 'BEGIN {print b - a}')
        wall=$(sed -n '/"wall"/,$p' r.json | grep -m 1 '"seconds"' | grep -o '[0-9.e-]*,' | tr -d ,)
        if ! below "$(awk -v a="$(sum)" -v b="$wall" 'BEGIN {d = a - b; print d < 0 ? -d : d}')" 1e-5; then
            bad "run $*: phases and rest are $(sum), the wall clock is $wall"
            return
        fi
        if below "$outside" "$wall"; then bad "run $*: $wall s of $outside"; return; fi
        rest=$(awk -v r="$(value rest)" -v w="$wall" -v o="$outside" -v b="$rest" \
            'BEGIN {r = (r < 0 ? -r : r) / w; if ((o - w) / o > 0.5) r = 1; print r < b ? r : b}')
        if below "$rest" 0.03; then good; return; fi
    done
    bad "run $*: a part of $rest of the wall clock is in no phase"
}

succeeds gen grid --width 500 --weights 1:50 -o g.tg
accounted mst g.tg --engine cpu --threads 2
below "$(value rest)" "$(value finish)" && good || bad 'a forest is not finished in a phase of its own'
accounted wcc g.tg --engine hybrid --threads 2 --output w.tsv --top 3
contains "$(grep '"write"' r.json)" write 'writing among the times'
accounted bfs g.tg --source 3 --threads 2 --repeat 3 --verify --order hot
succeeds gen rmat --scale 9 --degree 8 --weights 1:9 -o s.tg
accounted sssp s.tg --source 3 --devices emu --engine resident --parents --trace t.json
contains "$(cat r.json)" '"open":' 'opening the GPU among the times'
contains "$err" 'wall clock ' 'the closing line'
for phase in start load plan open prepare finish summarise; do
    contains "$(cat t.json)" "\"name\": \"$phase\"" 'a phase in the trace'
done
finish
