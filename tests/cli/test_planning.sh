#!/usr/bin/env bash
# `tandem plan` says what `tandem run` does: the table, the choice and why, refusals, advice; a run compares what was
# expected with what was measured; and earlier runs are remembered, if they are of the same file.
. "$(dirname "$0")/lib.sh"
export XDG_DATA_HOME=$folder/data XDG_CACHE_HOME=$folder/cache

# value KEY FILE: the first one.
value() { grep -m 1 "\"$1\":" "$2" | sed 's/.*: //; s/,$//; s/"//g'; }

succeeds gen rmat --scale 12 --degree 8 --weights 1:9 --symmetrize -o g.tg
succeeds gen grid --width 100 -o grid.tg

# The table.
succeeds plan sssp g.tg --devices cpu
contains_all "$out" 'the table' seconds total load prepare process memory GPU 'cpu      *' hybrid \
    'resident   no GPU among --devices' 'paths      runs only if --engine names it' 'no GPU among --devices' \
    'default rates (not calibrated)' 'guessed by probes'
narrow "$out" 'the table'
succeeds plan sssp g.tg --json plan.json
equal "$(value engine plan.json)" cpu 'the first engine'
contains_all "$(cat plan.json)" 'the report' '"why": "' '"basis": "' '"advice": [' '"processing": ' '"host_graph_bytes": ' \
    '"refusal": "runs only if --engine names it"'
if command -v python3 >/dev/null || perl -MJSON::PP -e 1 2>/dev/null; then
    if is_json <plan.json; then good; else bad "no JSON: $(cat plan.json)"; fi
fi
only_files g.tg grid.tg plan.json

# A run does what the plan says, on emulated GPUs too: by the memory that they have.
for limit in '' '--gpu-edges 25%' '--gpu-memory 300K' '--gpu-memory 1K'; do
    succeeds plan pagerank g.tg --devices emu@unchecked $limit --iterations 2 --json p.json
    succeeds run pagerank g.tg --devices emu@unchecked $limit --iterations 2 --json r.json
    planned=$(sed -n '/"engines"/,/^  \]/d; s/^  "engine": "\(.*\)",/\1/p' p.json)
    equal "$(sed -n 's/^  "engine": "\(.*\)",/\1/p' r.json)" "$planned" "the engine with '$limit'"
    engines="${engines:-} $planned"
done
equal "$engines" ' resident stream stream cpu' 'engines by the memory of the GPU'
succeeds plan bfs g.tg --devices emu --gpu-memory 1K
contains "$out" 'the engine resident needs' 'why the CPU runs it'
contains "$out" 'cpu      *' 'the choice'

# What lies beside the graph need not be made: of stream and coop the expected time falls.
phases() { sed -n "/\"engine\": \"$1\"/,/}/p" "$2" | awk -F'[:,]' '/"(load|prepare)"/ { all += $2 } END { printf "%.9f", all }'; }
succeeds plan sssp g.tg --devices emu@unchecked --gpu-edges 25% --json p.json
succeeds prepare g.tg --for stream:sssp,coop:sssp --quiet
succeeds plan sssp g.tg --devices emu@unchecked --gpu-edges 25% --json q.json
for engine in stream coop; do
    before=$(phases $engine p.json) after=$(phases $engine q.json)
    if awk -v a="$after" -v b="$before" 'BEGIN { exit !(a > 0 && a < b) }'; then good
    else bad "$engine: $after s prepared, $before s otherwise"; fi
done
succeeds prepare g.tg --remove stream --quiet
succeeds prepare g.tg --remove coop --quiet
rm -f p.json q.json

# Rounds of a grid are many, of an rmat graph few.
succeeds plan bfs grid.tg
rounds=$(grep -o '[0-9]* rounds' <<<"$out")
[ "${rounds% *}" -gt 60 ] || bad "a grid of 100 x 100 has $rounds"
succeeds plan bfs g.tg
rounds=$(grep -o '[0-9]* rounds' <<<"$out")
[ "${rounds% *}" -lt 30 ] || bad "an rmat graph has $rounds"

# Refusals.
fails 1 'needs edge weights' plan sssp "$(succeeds gen rmat --scale 5 -o plain.tg >&2; echo plain.tg)" --quiet
fails 1 'nowhere.tg' plan bfs nowhere.tg --quiet
fails 2 'unknown program' plan bsf g.tg --quiet
fails 2 'unknown engine' plan bfs g.tg --engine warp --quiet
fails 2 'resident.gather' plan bfs g.tg --set resident.gather=shards --engine cpu --quiet
fails 2 '--gpu-edges' plan bfs g.tg --gpu-edges 0% --quiet

# What was expected stands beside what was measured.
succeeds run wcc g.tg --verbose --json r.json --report page.html
contains "$err" 'expected 0.' 'the closing lines'
contains "$err" 'times as long' 'the closing lines'
contains_all "$(sed -n '/"predicted"/,/}/p' r.json)" 'predicted' '"load": ' '"processing": ' '"measured": false'
contains "$(cat page.html)" 'expected: processing' 'the page'
succeeds run wcc g.tg --json r.json
lacks "$err" 'expected 0.' 'the closing lines without --verbose'

# Earlier runs: of the same file, with the same settings; a damaged history is none.
unset TANDEM_HISTORY
succeeds run bfs g.tg --source 3
[ ! -e cache/tandem/runs ] || bad 'a small graph is remembered'
export TANDEM_HISTORY=all
succeeds run bfs g.tg --source 3
equal "$(wc -l <cache/tandem/runs)" 1 'runs that are remembered'
succeeds plan bfs g.tg --json p.json
contains_all "$(cat p.json)" 'the plan after a run' '"measured": true' 'rounds, as in an earlier run'
succeeds plan bfs grid.tg --json p.json
lacks "$(cat p.json)" '"measured": true' 'the plan for another file'
succeeds plan bfs g.tg --set cpu.direction=push --engine cpu --json p.json
lacks "$(cat p.json)" '"measured": true' 'the plan with other settings'
succeeds run bfs g.tg --sources 3,4,5
equal "$(wc -l <cache/tandem/runs)" 1 'runs after a batch'
succeeds run bfs g.tg --source 3 --devices emu@unchecked
equal "$(wc -l <cache/tandem/runs)" 1 'runs after an emulated one'
sed -i 's/ bfs cpu / bfs cpu 9/' cache/tandem/runs
succeeds plan bfs g.tg --json p.json
lacks "$(cat p.json)" '"measured": true' 'the plan after the history was damaged'
TANDEM_HISTORY=off succeeds run bfs g.tg --source 3
equal "$(wc -l <cache/tandem/runs)" 1 'runs with the history switched off'
rm -rf cache && mkdir cache && chmod 555 cache
succeeds run bfs g.tg --source 3
chmod 755 cache
finish
