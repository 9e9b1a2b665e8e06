# The resident engine through the tool, on an emulated GPU: what it reports, that it
# reports the same twice, and what it refuses.
. "$(dirname "$0")/lib.sh"

succeeds gen rmat --scale 8 --degree 8 --weights 1:50 --seed 3 -o g.tg
resident='--engine resident --devices emu --quiet'

# The report.
succeeds run sssp g.tg --source 1 $resident --set resident.delta=20 --verify --json one.json
for word in '"engine": "resident"' '"device_graph_bytes"' '"device_program_bytes"' '"name": "emu:0"' '"launches"' \
    '"peak_bytes"' \
    '"grid_barriers"' '"bytes_read"' '"atomics"' '"resident.delta": 20' '"resident.balance": "warp"' '"verified": "'; do
    contains "$(cat one.json)" "$word" 'the report'
done
for word in '"devices": [' '"busy_seconds"' '"open": 0.'; do contains "$(cat one.json)" "$word" 'the report'; done
case $(cat one.json) in *resident.samples*) bad 'the report has a setting that sssp does not use' ;; *) good ;; esac

# Twice the same, but for times of the host's clock; the device's own is virtual.
without_times() {
    grep -v -E '"(peak_resident|free_bytes|load|open|prepare|edges_per_second|verify|write|plan|finish|report|close|rest)": [-0-9]' |
        sed -E '/"device": \{/,/\}/!s/"(seconds|start)": [0-9.e+-]+//g' |
        awk '/"processing": \[/ { inside = 1 } !inside { print } /\]/ { inside = 0 }'
}
for program in 'bfs --source 1 --parents' 'sssp --source 1' wcc labels kcore mst pagerank adsorption \
    'nn --iterations 3' heat 'circuit --iterations 5'; do
    for i in 1 2; do
        succeeds run ${program%% *} g.tg $(sed 's/^[a-z]* *//' <<<"$program") $resident --json $i.json
    done
    equal "$(without_times <1.json)" "$(without_times <2.json)" "two reports of $program"
    if without_times <1.json | grep -q '^    "seconds": [0-9]'; then good
    else bad "no time of the device: $program"; fi
done

# What people are told.
succeeds run wcc g.tg --engine resident --devices emu
contains "$err" 'on the device: graph' 'the plan'
contains "$err" 'emu:0: 0.000' 'the device'
succeeds help resident
for word in direction balance gather replication high_degree small rounds delta samples; do
    contains "$out" "resident.$word" 'help resident'
done
if [[ $out == *e+0* ]]; then bad "help resident has numbers that nobody types: $out"; else good; fi
succeeds run --help
contains "$out" 'cpu, resident' 'run --help'
contains "$(tr '\n' ' ' <<<"$out")" "'tandem help engines'" 'run --help'

# What is refused.
fails 2 'thread|cta|iwb|warp' run bfs g.tg --source 1 $resident --set resident.balance=none
fails 2 "resident.rounds" run bfs g.tg --source 1 $resident --set resident.round=1
fails 2 'has no effect on wcc' run wcc g.tg $resident --set resident.direction=pull
# Before a plan is told.
fails 1 '--engine cpu needs no GPU' run bfs g.tg --source 1 $resident --gpu-memory 8K
contains "$err" 'bfs needs' 'the bytes needed'
contains "$err" 'KiB on emu:0 for the graph' 'the bytes needed'
fails 1 '--gpu-edges allows' run bfs g.tg --source 1 $resident --gpu-edges 25%
succeeds run bfs g.tg --source 1 $resident --gpu-edges 100%
fails 2 'the resident engine needs a GPU' run bfs g.tg --source 1 --engine resident --devices cpu --quiet
if ! "$TANDEM" devices --devices cuda:0 --quiet >/dev/null 2>&1; then
    fails 1 'cuda:0' run bfs g.tg --source 1 --engine resident --devices cuda:0 --quiet
    fails 1 'cuda:0' run bfs g.tg --source 1 --engine resident --quiet
fi
# One GPU is used, and the processor beside it is no second one.
succeeds run wcc g.tg --engine resident --devices emu:2@unchecked --quiet
contains "$err" 'uses one GPU: of --devices emu:2@unchecked, emu:0' 'two GPUs'
succeeds run wcc g.tg --engine resident --devices cpu,emu@unchecked --quiet
equal "$err" '' 'a GPU beside the processor'
# One plan and one open device, whatever is compared and repeated.
succeeds gen rmat --scale 11 --degree 8 --seed 3 -o larger.tg
for words in "--engine resident" "--engine stream --gpu-edges 50%" "--engine coop --gpu-edges 50%" "" "--repeat 3"; do
    succeeds run pagerank larger.tg --iterations 3 $words --devices emu@unchecked --json once.json -q
    contains "$(cat once.json)" '"plans": 1,' "plans of 'run $words'"
    contains "$(cat once.json)" '"device_opens": 1,' "opens of 'run $words'"
done
finish
