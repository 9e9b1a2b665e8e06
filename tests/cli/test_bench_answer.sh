#!/usr/bin/env bash
# `tandem bench answer`: every engine as a process of its own; results that can be resumed and divided into shards.
. "$(dirname "$0")/lib.sh"

fails 2 'there is no program' bench answer k8 --programs bsf --quiet
fails 2 'part I of N' bench answer k8 --shard 3/2 --quiet
fails 1 'nowhere.tg' bench answer nowhere.tg --quiet

succeeds bench answer k8 --programs bfs,wcc --trials 1 --threads 2 --devices cpu --resume all.tsv --json figures.json
contains_all "$out" 'the table' graph program memory 'k8        bfs       none' 'k8        wcc       none' \
    'auto over the best: geometric mean' 'predicted over measured'
equal "$(wc -l <all.tsv)" 6 'results: two programs on auto, cpu and hybrid'
equal "$(awk -F'\t' '$4 == "auto" && $5 == "cpu" && $6 > 0 && $7 > 0' all.tsv | wc -l)" 2 'results of auto'
contains_all "$(cat figures.json)" 'the report' '"geometric_mean": ' '"worst": ' '"ratio": ' '"predicted_within_1_3": '
narrow "$out" 'the table'
only_files all.tsv figures.json

# A resumed measurement measures what is missing; a line that was cut off is.
head -n 5 all.tsv >some.tsv
tail -n 1 all.tsv | cut -c 1-20 | tr -d '\n' >>some.tsv
echo >>some.tsv
succeeds bench answer k8 --programs bfs,wcc --trials 1 --threads 2 --devices cpu --resume some.tsv
equal "$(wc -l <some.tsv)" 7 'lines after resuming'
equal "$(head -n 5 some.tsv)" "$(head -n 5 all.tsv)" 'lines that were there'

# Shards: together they are the whole.
for shard in 1 2; do
    succeeds bench answer k8 --programs bfs,wcc --trials 1 --threads 2 --devices cpu --resume part$shard.tsv --shard $shard/2
    equal "$(wc -l <part$shard.tsv)" 3 "results of shard $shard"
done
equal "$(cut -f 1-4 part1.tsv part2.tsv | sort)" "$(cut -f 1-4 all.tsv | sort)" 'both shards'

# With a GPU: three limits of memory.
succeeds bench answer k6 --programs wcc --trials 1 --threads 2 --devices emu@unchecked --resume gpu.tsv
equal "$(cut -f 3,4 gpu.tsv | sort | tr '\t\n' '  ')" \
    'all auto all cpu all resident gpu25 auto gpu25 coop gpu25 cpu gpu25 stream none auto none cpu none hybrid ' 'cells'
contains "$(grep '^k6.wcc.all.auto' gpu.tsv)" resident 'what auto took'
equal "$(awk -F'\t' '$6 <= 0' gpu.tsv | wc -l)" 0 'refused cells'
finish
