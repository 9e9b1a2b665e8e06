# `tandem bench paths`: every variant finds what the defaults find, or the benchmark fails.
. "$(dirname "$0")/lib.sh"

fails 1 'nowhere.tg' bench paths nowhere.tg --quiet --json figures.json
only_files

succeeds gen web --vertices 400 --weights 1:9 -o web.tg
printf '%s\n' '1 2' '2 3' '3 1' '3 4' >plain.txt
succeeds bench paths web.tg plain.txt --trials 1 --threads 2 --json figures.json
for word in pagerank adsorption sssp bfs kcore labels full 'w: no priority' 't: no paths' layers=off balance=off share=1 \
    merge=free acyclic=on partition=off near=off 'cpu --async'; do
    contains "$out" "$word" 'the table'
done
equal "$(grep -c '"contender": "full"' figures.json)" 11 'figures: six programs, without sssp where there are no weights'
equal "$(grep -c '"updates"' figures.json)" $((11 * 12)) 'figures of all contenders'
if command -v python3 >/dev/null || perl -MJSON::PP -e 1 2>/dev/null; then
    if is_json <figures.json; then good; else bad "no JSON: $(cat figures.json)"; fi
fi
narrow "$out" 'the table'
equal "$(grep -c 'layers have no effect' <<<"$err")" 4 'what plans say of kcore and labels, once for each graph'

# On a GPU: its own techniques, and its own asynchronous vertices.
succeeds bench paths plain.txt --trials 1 --threads 2 --devices emu:1@unchecked --json gpu.json
for word in full 't: no paths' proxy=32 steal=off pack=off loop=off layers=on walk=lanes dense=0.2 near=off streams=4 early=on 'resident --async'; do contains "$out" "$word" 'the table of a GPU'; done
lacks "$out" 'cpu --async' 'the table of a GPU'
lacks "$out" 'affinity=off' 'the table of a GPU'
equal "$(grep -c '"updates"' gpu.json)" $((5 * 21)) 'figures of all contenders on a GPU'

equal "$(grep -c '"launches"' gpu.json)" $((5 * 21)) 'launches of all contenders on a GPU'

# On several GPUs: theirs.
succeeds bench paths plain.txt --trials 1 --threads 2 --devices emu:2@unchecked --json several.json
for word in affinity=off sort=off rounds=1 rounds=16 exchange=copies; do contains "$out" "$word" 'the table of several GPUs'; done
equal "$(grep -c '"message_bytes"' several.json)" $((5 * 26)) 'messages of all contenders on several GPUs'

finish
