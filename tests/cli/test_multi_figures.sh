# The script that prints the multi engine's figures: every table, on a tiny graph.
script=$(cd "$(dirname "$0")/../.." && pwd)/scripts/multi_figures.sh
. "$(dirname "$0")/lib.sh"
if ! command -v python3 >/dev/null; then
    skip 'there is no python3'
    finish
fi
if out=$(TANDEM=$TANDEM PROGRAMS='bfs pagerank' GPUS='1 2' ITERATIONS=2 bash "$script" emu:2@unchecked k5 2>&1); then good
else bad "the script: $out"; fi
for word in 'Figure 6, k5' 'Figure 8, k5' 'Figure 9, k5' 'Figure 10, k5' 'Figure 11, k5' 'Table IV, k5' 'speed-up' \
    '| bfs | 2 |' '| pagerank | seg |'; do
    contains "$out" "$word" 'the tables'
done
if out=$(TANDEM=$TANDEM FIGURES='6 costs' PROGRAMS=bfs GPUS=2 EDGES=20 bash "$script" emu:2@dgx1 k7 2>&1); then good
else bad "some numbers of GPUs, and costs: $out"; fi
lacks "$out" '| bfs | 1 |' 'Figure 6 with GPUS=2'
contains_all "$out" 'costs' '| bfs | exact |' '| bfs | model |' '| bfs | uniform |'
lacks "$out" '| bfs | exact | 0 |' 'iterations that are judged'
if out=$(TANDEM=$TANDEM bash "$script" emu:2 2>&1); then bad 'no graph was accepted'; else contains "$out" usage 'the message'; fi
if out=$(TANDEM=$TANDEM FIGURES=7 bash "$script" emu:2 k5 2>&1); then bad 'figure 7 was accepted'
else contains "$out" "'7' is none of" 'the message'; fi
finish
