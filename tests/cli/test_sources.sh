#!/usr/bin/env bash
# `tandem run --sources`: a row or a file per source, each that of a run of its own.
. "$(dirname "$0")/lib.sh"

succeeds gen rmat --scale 9 --seed 3 --weights 1:100 -o g.tg
printf 'Ulm Bonn\nBonn Kiel\nKiel Ulm\nKiel Trier\nBad%%20Ems a/b\na/b Ulm\n' >cities.txt

digest() { sed -n 's/.*"digest": "\([0-9a-f]*\)".*/\1/p' "$1" | head -1; }

# The table on standard output, a row per source, in their order.
printf '# depots\n17\n\n  4 \n99\n17\n' >depots.txt
for program in bfs sssp; do
    succeeds run $program g.tg --sources depots.txt --verify
    equal "$(wc -l <<<"$out")" 5 "lines of the table of $program"
    equal "$(awk 'NR > 1 { print $1 }' <<<"$out" | xargs)" '17 4 99 17' 'its sources'
    contains "$err" 'verified, for every source' 'the messages'
    equal "$(awk 'NR == 2 { print $2, $3, $4, $6 }' <<<"$out")" "$(awk 'NR == 5 { print $2, $3, $4, $6 }' <<<"$out")" \
        'a source that is repeated'
    for source in 17 4 99; do
        succeeds run $program g.tg --source $source --json one.json -o "one-$source.tsv"
        equal "$(t run $program g.tg --sources 17,4,99 && awk -v s=$source '$1 == s { print $6 }' <<<"$out")" \
            "$(digest one.json)" "the digest of $program from $source"
    done
    # A file per source.
    mkdir -p out
    succeeds run $program g.tg --sources 17,4,99 -o "out/$program-%s.tsv" --top 2
    for source in 17 4 99; do
        file=out/$program-$source.tsv
        if cmp -s "one-$source.tsv" "$file"; then good; else bad "$file differs"; fi
    done
    equal "$(wc -l <<<"$out")" 7 'lines of --top: two vertices of every source'
    equal "$(awk 'NR > 1 { print $1 }' <<<"$out" | xargs)" '17 17 4 4 99 99' 'their sources'
done

# Engines and the switch: the same rows but for the times.
rows() { awk '{ print $1, $2, $3, $4, $6 }' <<<"$out"; }
succeeds run bfs g.tg --sources random:70 --set cpu.batch=single
single=$(rows)
for way in '--set cpu.batch=bits' '--threads 1' '--engine resident --devices emu@unchecked --set resident.batch=bits' \
    '--order hot' '--engine hybrid'; do
    succeeds run bfs g.tg --sources random:70 $way
    equal "$(rows)" "$single" "rows with $way"
done
succeeds run bfs g.tg --sources random:70 --seed 2
if [ "$(rows)" != "$single" ]; then good; else bad 'another seed draws the same sources'; fi

# The report.
succeeds run bfs g.tg --sources random:70 --json -
contains_all "$out" 'the report' '"batch": [' '"batch_totals": {' '"sources": 70' '"at_once": 64' '"searches": 2' \
    '"words": '
equal "$(grep -c '"reached": ' <<<"${out#*\"batch\": [}")" 70 'rows of the report'
bits=$(sed -n '/"batch_totals"/,$ s/.*"edges_processed": \([0-9]*\).*/\1/p' <<<"$out")
t run bfs g.tg --sources random:70 --set cpu.batch=single --json -
all=$(sed -n '/"batch_totals"/,$ s/.*"edges_processed": \([0-9]*\).*/\1/p' <<<"$out")
if [ "$((bits * 2))" -lt "$all" ]; then good; else bad "edges: $bits with shared searches, $all with single runs"; fi

# Names.
printf 'Kiel\nBonn\n' >names.txt
succeeds run bfs cities.txt --sources names.txt --json names.json -o 'to-%s.tsv'
equal "$(awk 'NR > 1 { print $1 }' <<<"$out" | xargs)" 'Kiel Bonn' 'sources with names'
contains "$(cat names.json)" '"name": "Kiel"' 'the report'
succeeds run bfs cities.txt --source Bonn -o bonn.tsv
if cmp -s bonn.tsv to-Bonn.tsv; then good; else bad 'to-Bonn.tsv differs'; fi
fails 2 "the vertex 'a/b' has a name that cannot be part of a file's" run bfs cities.txt -q --sources Kiel,a/b -o 'to-%s'

# What is refused.
printf '17\nx\n' >words.txt
printf '17\n5000\n' >beyond.txt
printf '# nothing\n\n' >empty.txt
touch 4,5
fails 2 '--sources words.txt:2: ' run bfs g.tg --quiet --sources words.txt
fails 2 '--sources beyond.txt:2: ' run bfs g.tg --quiet --sources beyond.txt
fails 2 '--sources names.txt:1: ' run bfs g.tg --quiet --sources names.txt
fails 1 '--sources empty.txt: there is no vertex in it' run bfs missing.tg --sources empty.txt
fails 1 '--sources absent.txt: No such file' run bfs missing.tg --sources absent.txt
fails 1 'one vertex is given by --source, several with commas' run bfs missing.tg --sources 17
fails 2 'vertex 2 is missing' run bfs missing.tg --sources 17,,4
fails 2 'which is ./4,5' run bfs missing.tg --sources 4,5
fails 2 'random:1 to random:' run bfs missing.tg --sources random:0
fails 2 '--sources random:many' run bfs missing.tg --sources random:many
fails 1 'sources are to be drawn' run bfs cities.txt --quiet --sources random:6
fails 2 '--sources and --source exclude each other' run bfs missing.tg --sources 1,2 --source 3
fails 2 '--sources is for programs that start from one vertex' run wcc missing.tg --sources 1,2
fails 2 '--checkpoint with --sources: a checkpoint is the state of one run' run bfs missing.tg --checkpoint c \
    --sources 1,2
fails 2 '--resume with --sources: a checkpoint is the state of one run' run bfs missing.tg --sources 1,2 --resume c
fails 2 'exclude each other' run bfs missing.tg --sources 1,2 --repeat 3
fails 2 'in the place of %s: d-%s.tsv' run bfs missing.tg --sources 1,2 -o d.tsv
fails 2 'in the place of %s: d-%s.tsv' run bfs missing.tg --sources 1,2 -o -
fails 2 'one %s is allowed, and no other %' run bfs missing.tg --sources 1,2 -o 'd-%s-%s.tsv'
fails 2 'one %s is allowed, and no other %' run bfs missing.tg --sources 1,2 -o '%d-%s.tsv'
fails 2 "the setting 'batch' is for --sources" run bfs missing.tg --source 1 --set cpu.batch=single
fails 2 "'cpu.batch' has no effect on sssp" run sssp missing.tg --sources 1,2 --set cpu.batch=single
fails 1 'nowhere/d-' run bfs missing.tg --sources 1,2 -o 'nowhere/d-%s.tsv'
absent 'd-%s.tsv' to-Kiel
finish
