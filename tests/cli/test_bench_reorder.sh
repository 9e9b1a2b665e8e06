# `tandem bench reorder`: on every engine, every order finds what the input's order finds, or the benchmark fails.
. "$(dirname "$0")/lib.sh"

fails 1 'nowhere.tg' bench reorder nowhere.tg --devices cpu --quiet --json figures.json
fails 2 "there is no device 'gpu'" bench reorder k7 --devices gpu --quiet
only_files

succeeds gen web --vertices 300 --weights 1:9 -o mixed.tg --order random
succeeds bench reorder k7 mixed.tg --devices emu --trials 2 --threads 2 --json figures.json
for word in bfs sssp wcc pagerank 'cpu, ms' 'resident, ms' 'coop, ms' hot indegree random rcm gorder bisect 'paid after' 'bits of a gap' '2 threads and emu'; do
    contains "$out" "$word" 'the table'
done
equal "$(grep -c '"ratio"' figures.json)" $((2 * (4 + 4 + 3) * 6)) 'figures: graphs, programs of three engines, orders'
figures=$(grep -c '"engine": "resident".*"order": "rcm".*"reorder_seconds"' figures.json)
equal "$figures" $((2 * 4)) 'figures of rcm on the resident engine'
figures=$(grep -c '"engine": "coop".*"order": "bisect".*"gap_bits"' figures.json)
equal "$figures" $((2 * 3)) 'figures of bisect on coop, which leaves wcc to the CPU'
if command -v python3 >/dev/null || perl -MJSON::PP -e 1 2>/dev/null; then
    if is_json <figures.json; then good; else bad "no JSON: $(cat figures.json)"; fi
fi
narrow "$out" 'the table'

# Without a GPU the cpu engine is measured alone; without weights there is nothing for sssp to do.
printf '%s\n' '1 2' '2 3' '3 1' >plain.txt
succeeds bench reorder plain.txt --devices cpu --trials 1 --threads 2 --json plain.json
equal "$(grep -c '"engine": "cpu"' plain.json)" 18 'figures without a GPU and without weights'
equal "$(grep -c '"engine": "resident"' plain.json)" 0 'figures of a GPU that is not there'
equal "$(grep -c '"program": "sssp"' plain.json)" 0 'figures of sssp on an unweighted graph'
finish
