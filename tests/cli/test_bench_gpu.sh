# `tandem bench gpu` on the emulator: every variant finds what the defaults and the cpu
# engine find, or the benchmark fails; virtual times are the same every time.
. "$(dirname "$0")/lib.sh"

fails 1 'nowhere.tg' bench gpu nowhere.tg --devices emu --quiet --json figures.json
fails 2 'needs a GPU' bench gpu k7 --devices cpu --quiet
if ! "$TANDEM" devices --devices cuda:0 --quiet >/dev/null 2>&1; then fails 1 'cuda:0' bench gpu k7 --quiet; fi
only_files

succeeds gen web --vertices 300 --weights 1:9 -o mixed.tg --order random
succeeds bench gpu k7 mixed.tg --devices emu --trials 2 --threads 2 --json figures.json
for word in bfs sssp wcc pagerank direction=push balance=iwb replication=32 rounds=1 'order hot' 'must move' \
    'G/s, - of - (random reads over ' '(virtual)'; do
    contains "$out" "$word" 'the table'
done
# defaults, order; + direction 2, balance 4, rounds for bfs and sssp; + direction=pull, gather 8 for pagerank
equal "$(grep -c '"ratio"' figures.json)" $((2 * (4 * 2 + 2 * 7 + 1 + 8))) 'figures'
equal "$(grep -c '"bytes_per_iteration"' figures.json)" $((2 * 11)) 'figures of pagerank'
equal "$(grep -c '"gathers_per_second_measured": null' figures.json)" $((2 * 11)) \
    'gathers that an emulated GPU does not measure'
if command -v python3 >/dev/null || perl -MJSON::PP -e 1 2>/dev/null; then
    if is_json <figures.json; then good; else bad "no JSON: $(cat figures.json)"; fi
fi
narrow "$out" 'the table'

table=$out
succeeds bench gpu k7 mixed.tg --devices emu --trials 2 --threads 1
equal "$out" "$table" 'the table of a second run'

# Without weights there is nothing for sssp to do.
printf '%s\n' '1 2' '2 3' '3 1' >plain.txt
succeeds bench gpu plain.txt --devices emu --trials 1 --json plain.json
equal "$(grep -c '"program": "sssp"' plain.json)" 0 'figures of sssp on an unweighted graph'
equal "$(grep -c '"program": "bfs"' plain.json)" 9 'figures of bfs on an unweighted graph'
finish
