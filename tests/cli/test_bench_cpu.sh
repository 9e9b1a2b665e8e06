# `tandem bench cpu`: every variant finds what the defaults find, or the benchmark fails.
. "$(dirname "$0")/lib.sh"

fails 2 "unexpected argument 'k10': bench convert makes its own graphs" bench convert k10
fails 1 'nowhere.tg' bench cpu nowhere.tg --quiet --json figures.json
only_files

# A graph by name, one read from text, and one whose ids are out of order.
printf '%s\n' '10 20 5' '20 30 1' '40 20 2' '30 20 7' '20 50 3' '40 50 1' '50 50 1' '60 60 2' >hand.txt
succeeds gen web --vertices 500 --weights 1:9 -o mixed.tg --order random
succeeds bench cpu k9 hand.txt mixed.tg --trials 2 --threads 2 --json figures.json
for word in bfs sssp wcc pagerank labels direction=push stealing=none huge_pages=off 'order hot' 'paid after'; do
    contains "$out" "$word" 'the table'
done
figures=$(grep -c '"ratio"' figures.json)
equal "$figures" $((3 * (5 * 11 - 3 - 1 - 4))) \
    'figures: no direction for wcc, no push for pagerank, no stealing for sssp'
equal "$(grep -c '"variant": "order hot".*"reorder_seconds"' figures.json)" 15 'the cost of an order'
if command -v python3 >/dev/null || perl -MJSON::PP -e 1 2>/dev/null; then
    if is_json <figures.json; then good; else bad "no JSON: $(cat figures.json)"; fi
fi
narrow "$out" 'the table'

# Without weights there is nothing for sssp to do.
printf '%s\n' '1 2' '2 3' '3 1' >plain.txt
succeeds bench cpu plain.txt --trials 1 --threads 2 --json plain.json
equal "$(grep -c '"program": "sssp"' plain.json)" 0 'figures of sssp on an unweighted graph'
equal "$(grep -c '"program": "bfs"' plain.json)" 11 'figures of bfs on an unweighted graph'

# A resumed measurement measures the rounds that are missing, one that was cut off among them, and no other.
resumed() { succeeds bench cpu k8 --trials 2 --threads 2 --resume rounds.tsv; }
resumed
equal "$(wc -l <rounds.tsv)" 10 'rounds: two of each program'
equal "$(awk -F'\t' 'NF != 14' rounds.tsv | wc -l)" 0 'rounds of another length'
head -n 9 rounds.tsv | awk -F'\t' -v OFS='\t' '$2 == "bfs" { $4 = "7.125" } { print }' >edited.tsv
tail -n 1 rounds.tsv | cut -c 1-40 | tr -d '\n' >>edited.tsv
mv edited.tsv rounds.tsv
resumed
contains "$out" ' 7125.000' 'times of rounds that were there'
equal "$(wc -l <rounds.tsv)" 11 'lines after resuming'
equal "$(tail -n 1 rounds.tsv | cut -f 1-3)" "k8	labels	2" 'the round that was measured again'
cp rounds.tsv before.tsv
resumed
if cmp -s rounds.tsv before.tsv; then good; else bad 'a round was measured twice'; fi
succeeds bench cpu u8 --trials 1 --threads 2 --resume rounds.tsv
equal "$(grep -c '^u8' rounds.tsv)" 5 'rounds of another graph'
fails 1 'cannot append to nowhere/rounds.tsv' bench cpu k8 --trials 1 --threads 2 --quiet --resume nowhere/rounds.tsv
finish
