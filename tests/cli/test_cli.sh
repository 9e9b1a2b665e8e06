#!/usr/bin/env bash
# The tool from outside: usage, statuses, what goes where.
. "$(dirname "$0")/lib.sh"

# Usage errors end with 2 and name what was wrong and where to look.
fails 2 "unknown command 'cnovert' (did you mean 'convert'?); see 'tandem help'" cnovert
fails 2 "unknown option '--symmetrise' (did you mean '--symmetrize'?); see 'tandem help convert'" convert a -o b \
    --symmetrise
fails 2 "option --output needs a value (OUT)" convert a -o
fails 2 "option -o FILE is missing" convert a
fails 2 "an argument is missing: IN" convert -o b.tg
fails 2 "unexpected argument 'c'" convert a -o b.tg c
fails 2 "--threads 0: 1 to 1024 is allowed" convert a -o b.tg --threads 0
fails 2 "--largest 1K: 1.0 MiB to" devices --largest 1K
fails 2 "'12Q' is not a size" convert a -o b.tg --memory 12Q
fails 2 "unknown format 'mxt' (did you mean 'mtx'?)" convert a -o b.tg --format mxt
fails 2 "unknown format 'mxt' (did you mean 'mtx'?)" convert a -o b.tg --to mxt
fails 2 "no such format has the suffix 'xyz'" convert a -o b.xyz
fails 2 "unknown kind of graph 'rmta' (did you mean 'rmat'?)" gen rmta -o b.tg
fails 2 "unknown help topic 'formast' (did you mean 'formats'?)" help formast
fails 2 "unknown benchmark 'converts' (did you mean 'convert'?)" bench converts
t
equal $status 2 'no command'

# Options that exclude each other, or mean nothing alone.
fails 2 "--drop-weights and --weights exclude each other" convert a -o b.tg --drop-weights --weights 1:2
fails 2 "--quiet and --verbose exclude each other" convert a -o b.tg -q -v
fails 2 "--seed has no effect without --weights or --order" convert a -o b.tg --seed 3
fails 2 "--scale and --vertices exclude each other" gen uniform --scale 3 --vertices 7 -o b.tg
fails 2 "--scale cannot change the named graph 'k10'" gen k10 --scale 3 -o b.tg
fails 2 "--width" gen rmat --scale 4 --width 3 -o b.tg
fails 2 "weight range '9:1'" gen path --vertices 3 --weights 9:1 -o b.tg
fails 2 "--json './b.tg' would overwrite 'b.tg'" gen path --vertices 3 -o b.tg --json ./b.tg
fails 2 "cannot both go to '-'" gen path --vertices 3 -o - --format edgelist --json
only_files

# Help goes to standard output and nowhere else.
for topic in '' gen convert reorder info run devices bench help formats generators; do
    succeeds help $topic
    equal "$err" '' "help $topic on stderr"
    narrow "$out" "help $topic"
done
for command in gen convert reorder info run devices bench help; do
    t help $command
    page=$out
    succeeds $command --help
    equal "$out" "$page" "$command --help"
done
succeeds --version
contains "$out" "tandem " version

# Results on stdout, diagnostics on stderr, no progress line in a pipe.
succeeds gen rmat --scale 12 --seed 7 --weights 1:100 -o g.tg
equal "$out" '' 'gen prints'
contains "$err" '4,096 vertices, 65,536 edges, weights u8 1..100' 'gen tells'
if [[ $err == *$'\r'* || $err == *$'\033'* ]]; then bad 'a progress line in a pipe'; else good; fi
succeeds gen rmat --scale 12 --seed 7 -o h.tg --quiet
equal "$err" '' 'gen --quiet says'
succeeds info g.tg
equal "$err" '' 'info says'
contains_all "$out" info vertices edges weights symmetric sinks 'out targets' checksum 'max degree'
LC_ALL=C t info g.tg
if [ "$(awk 'length > 80' <<<"$out" | wc -l)" -eq 0 ]; then good; else bad "info is wider than 80 columns"; fi
if LC_ALL=C grep -q '[^ -~]' <<<"$out"; then bad 'not ASCII in the C locale'; else good; fi
contains "$out" '####' 'bars in ASCII'

# --json with and without a file, before and behind the argument.
succeeds info g.tg --json
equal "$(key vertices <<<"$out")" 4096 'vertices'
equal "$(key edges <<<"$out")" 65536 'edges'
equal "$(key weights <<<"$out")" u8 'weights'
json=$out
succeeds info --json g.tg
equal "$(key checksum <<<"$out")" "$(key checksum <<<"$json")" 'info --json FILE'
succeeds info g.tg --json facts.json
contains "$out" 'vertices     4,096' 'text beside a JSON file'
equal "$(key edges <facts.json)" 65536 'edges in the file'
if command -v python3 >/dev/null || perl -MJSON::PP -e 1 2>/dev/null; then
    for arguments in 'gen grid --width 9 --height 7 -o j.tg' 'convert g.tg -o j.mtx' 'info j.mtx' 'info j.tg --check' \
        'devices --largest 1M' 'bench convert --scale 10 --trials 1'; do
        succeeds $arguments --json --quiet
        if is_json <"$folder/.out"; then good; else bad "$arguments --json: $out"; fi
    done
else
    skip 'JSON validity: neither python3 nor perl is here'
fi
succeeds convert g.tg -o c.tg --json -
for word in peak_memory edge_bytes peak_over_edges read_seconds build_seconds write_seconds; do
    if [ -n "$(key $word <<<"$out")" ]; then good; else bad "convert --json has no $word"; fi
done

# What is written twice is the same: threads, conversions, rebuilding.
checksum() { "$TANDEM" info "$1" --json | key checksum; }
succeeds gen rmat --scale 16 --seed 7 --threads 1 -o one.tg
succeeds gen rmat --scale 16 --seed 7 --threads 2 -o two.tg
equal "$(checksum one.tg)" "$(checksum two.tg)" 'checksums with 1 and 2 threads'
if cmp -s one.tg two.tg; then good; else bad 'files with 1 and 2 threads'; fi
succeeds gen rmat --scale 16 --seed 8 -o eight.tg
if [ "$(checksum one.tg)" != "$(checksum eight.tg)" ]; then good; else bad 'another seed, the same graph'; fi
equal "$(checksum c.tg)" "$(checksum g.tg)" 'a packed file converted to a packed file'

# Options of the builder, on a graph that can be counted by hand.
printf '1 2\n2 1\n2 3\n2 3\n3 3\n' >hand.txt
edges() { "$TANDEM" convert "$@" -o hand.tg --quiet --json | key edges; }
equal "$(edges hand.txt)" 5 'all edges'
equal "$(edges hand.txt --dedup)" 4 '--dedup'
equal "$(edges hand.txt --drop-loops)" 4 '--drop-loops'
equal "$(edges hand.txt --symmetrize --dedup --drop-loops)" 4 'symmetrised'
succeeds convert hand.txt -o plain.tg
equal "$(edges plain.tg --symmetrize --dedup --drop-loops)" 4 'the same from a packed file'
succeeds convert hand.txt -o weighted.tg --weights 3:3 --seed 9
equal "$("$TANDEM" info weighted.tg --json | key weight_max)" 3 'attached weights'
equal "$("$TANDEM" convert weighted.tg -o bare.tg --drop-weights -q --json | key weights)" none '--drop-weights'

# Text may go to standard output.
succeeds convert hand.txt -o - --to edgelist --quiet
equal "$(grep -v '^#' <<<"$out")" $'1 2\n2 1\n2 3\n2 3\n3 3' 'edges on standard output'
finish
