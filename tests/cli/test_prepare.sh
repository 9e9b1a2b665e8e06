# `tandem prepare` and `tandem info --paths`: layouts beside the graph, made once, listed, removed, never wrong.
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$folder/cache

succeeds gen web --scale 12 --degree 8 -o g.tg --quiet
before=$(cksum <g.tg)

# What is wrong is told before the graph is read.
fails 2 "there is no layout 'nothing' to prepare; there are: paths, stream, coop" prepare nowhere.tg --for nothing
fails 2 "'stream:nothing' names no program" prepare nowhere.tg --for stream:nothing
fails 2 'the layout paths is the same for all programs' prepare nowhere.tg --for paths:bfs
fails 2 "'paths,,coop' is no list of layouts" prepare nowhere.tg --for paths,,coop
fails 2 "there is no layout 'bfs' to prepare" prepare nowhere.tg --for bfs
fails 2 "there is no layout 'nothing'" convert nowhere.txt -o out.tg --for nothing
fails 2 'prepare needs --for LAYOUT, --remove LAYOUT or --list' prepare g.tg
fails 2 'paths.dept' prepare g.tg --for paths --set paths.dept=3
fails 2 '0' prepare g.tg --for paths --set paths.depth=0
fails 2 'paths.merge has no effect beside paths.acyclic=on' prepare g.tg --for paths --set paths.acyclic=on --set paths.merge=free
fails 2 "'multi' does not say how the graph is cut" prepare nowhere.tg --for multi
for partition in bfs metis seg 8; do
    fails 2 "'multi:$partition' does not say how the graph is cut and for how many GPUs: write multi:metis:8" \
        prepare nowhere.tg --for "multi:$partition"
done
fails 2 "asks for '17' fragments" prepare nowhere.tg --for multi:random:17
fails 2 "'multi:random:2:nothing' names no program" prepare nowhere.tg --for multi:random:2:nothing
for programs in '' :bfs; do
    fails 2 "multi.partition has no effect: the layout 'multi:random:2' names the partition" \
        prepare g.tg --for "multi:random:2$programs" --set multi.partition=random
done
fails 1 'nowhere.tg' prepare nowhere.tg --for paths
fails 1 "g.tg has no prepared layout 'paths'" prepare g.tg --remove paths
printf '1 2\n2 3\n' >tiny.txt
fails 1 'layouts are prepared for .tg files' prepare tiny.txt --for paths
fails 2 '--set is for the settings of --paths' info g.tg --set paths.depth=3

# Made, used, listed, removed. The graph stays as it is.
succeeds prepare g.tg --for paths
contains "$err" 'g.tg.paths' 'what was made'
succeeds prepare g.tg --for paths
contains "$err" 'prepared already' 'the second time'
succeeds info g.tg --paths
contains "$out" 'prepared beside the graph' 'info --paths'
contains "$out" 'depth=16 merge=on' 'info'
succeeds info g.tg --paths --set paths.merge=free --json
contains "$out" '"prepared": false' 'other settings'
succeeds prepare g.tg --list --json
contains_all "$out" 'the list' '"layout": "paths"' '"matches": true' "\"bytes\": $(stat -c %s g.tg.paths)"
equal "$(cksum <g.tg)" "$before" 'the graph'

# The figures: the bound is met by free joining, and the bound with one path through a vertex by joining.
figure() { sed -n "s/^ *\"$1\": \([0-9.]*\),*\$/\1/p" <<<"$out" | tail -1; }
succeeds info g.tg --paths --json
if is_json <<<"$out"; then good; else bad "no JSON: $out"; fi
equal "$(sed -n 's/^ *"paths": \([0-9]*\),$/\1/p' <<<"$out")" "$(figure bound_one_pass)" 'joined paths'
succeeds info g.tg --paths --set paths.merge=free --json
equal "$(sed -n 's/^ *"paths": \([0-9]*\),$/\1/p' <<<"$out")" "$(figure bound)" 'freely joined paths'
same() { "$TANDEM" info g.tg --paths --set paths.hot=64 --threads "$1" --json | sed -n '/"paths": {/,/"lane_balance"/p'; }
equal "$(same 1)" "$(same 3)" 'one thread and three'

# Another build: listed as such, refused, made anew.
cp g.tg.paths old.paths
succeeds gen web --scale 12 --degree 9 -o g.tg --quiet
succeeds info g.tg
contains "$out" 'of another build of the graph' 'info after the graph changed'
succeeds info g.tg --paths
contains "$err" 'another build of' 'info --paths after the graph changed'
succeeds prepare g.tg --for paths
lacks "$err" 'prepared already' 'a layout of another build'
succeeds info g.tg --paths
contains "$out" 'prepared beside the graph' 'the layout made anew'

# Damage: told, and made anew.
printf '\377\377\377\377' | dd of=g.tg.paths bs=1 seek=50000 conv=notrunc status=none
succeeds info g.tg --paths
contains "$err" 'damaged' 'a damaged layout'
lacks "$out" 'prepared beside the graph' 'a damaged layout'
succeeds prepare g.tg --for paths
succeeds info g.tg --paths --quiet
contains "$out" 'prepared beside the graph' 'the layout after the damage'
succeeds prepare g.tg --remove paths
if [ -e g.tg.paths ]; then bad 'the layout is still there'; else good; fi
equal "$(cd "$folder" && ls | grep -c 'g.tg.')" 0 'files beside the graph'

# Weights of a graph whose edges go both ways: programs without weights see another graph, with the same paths.
printf '%s\n' '1 2 5' '2 1 7' '2 3 1' '3 2 4' >both.txt
succeeds convert both.txt -o both.tg --quiet
succeeds prepare both.tg --for paths
for program in labels adsorption; do
    succeeds run $program both.tg --engine paths --json both.json
    lacks "$err" 'prepare it again' "paths of a graph with weights, $program"
    contains "$(grep -A1 '"prepared"' both.json)" '"prepared": 1' "paths of a graph with weights, $program"
done

# Engines: lists as they cross the link, and the split graph. Runs read them, say so, and give the same.
succeeds gen rmat --scale 10 --degree 24 --weights 1:50 -o e.tg --quiet
before=$(cksum <e.tg)
succeeds prepare e.tg --for stream:sssp,bfs,coop:bfs
contains_all "$err" 'layouts of engines' 'e.tg.stream-out-light-packed' 'e.tg.coop-hot' \
    "stream:bfs: bfs reads the graph's own lists"
succeeds prepare e.tg --for stream,coop --json made.json
contains "$err" 'stream-out-light-packed: ' 'the second time'
contains "$err" 'prepared already' 'the second time'
contains_all "$(cat made.json)" 'the report' '"layout": "stream-both-hot"' '"layout": "stream-in-small"' '"made": true'
result() { sed -n 's/^ *"digest": "\(.*\)".*/\1/p' "$1" | tail -1; }
for of in stream:sssp:stream-out-light-packed stream:wcc:stream-both-hot coop:bfs:coop-hot; do
    IFS=: read -r engine program layout <<<"$of"
    source=(); [ "$program" = wcc ] || source=(--source 1)
    succeeds run "$program" e.tg --engine "$engine" --devices emu@unchecked --gpu-edges 30% "${source[@]}" --json with.json
    contains "$err" "prepared ($layout)" "$of"
    contains_all "$(cat with.json)" "$of" "\"$layout\"" '"prepared": 1'
    succeeds run "$program" e.tg --engine "$engine" --devices emu@unchecked --gpu-edges 30% "${source[@]}" --json without.json \
        --set "$engine.prepared=off"
    contains "$(cat without.json)" '"prepared": []' "$of"
    equal "$(result with.json)" "$(result without.json)" "the result of $of"
done

# Partitions for several GPUs: for all programs, or some; none for ranges.
succeeds prepare e.tg --for multi:random:2:bfs,sssp,multi:seg:2 --json made.json
contains_all "$err" 'partitions' 'e.tg.multi-random-2-both' 'e.tg.multi-random-2-out' \
    'multi:seg:2: the partition seg is ranges' 'there is nothing to prepare'
lacks "$err" 'e.tg.multi-random-2-in' 'partitions of two programs'
succeeds prepare e.tg --for multi:random:2
contains_all "$err" 'partitions of all programs' 'e.tg.multi-random-2-in' 'prepared already'
succeeds info e.tg
contains "$out" 'partition=random parts=2 seed=1 lists=both shares=equal' 'info of a partition'
multi() { echo run bfs e.tg --engine multi --devices "emu:$1@unchecked" --source 1 --set multi.partition=random; }
succeeds $(multi 2) --json with.json
contains "$err" 'multi: the partition is read as it was prepared (multi-random-2-both)' 'a run with its partition'
contains_all "$(cat with.json)" 'a run with its partition' '"multi-random-2-both"' '"prepared": 1'
succeeds $(multi 2) --set multi.prepared=off --json without.json
contains "$(cat without.json)" '"prepared": []' 'a run without its partition'
equal "$(result with.json)" "$(result without.json)" 'the result of multi'
succeeds $(multi 2) --set multi.seed=5
lacks "$err" 'as it was prepared' 'another seed'
succeeds $(multi 3) --set multi.prepared=read
if [ -e e.tg.multi-random-3-both ]; then bad 'read made a partition'; else good; fi
TANDEM_HISTORY=all succeeds $(multi 3)
if [ -e e.tg.multi-random-3-both ]; then bad 'auto made a partition'; else good; fi
succeeds $(multi 3) --set multi.prepared=make
contains "$err" 'prepared e.tg.multi-random-3-both for later runs' 'a run that makes its partition'
succeeds $(multi 3) --set multi.prepared=make
contains "$err" 'prepared (multi-random-3-both)' 'the run after it'
lacks "$err" 'for later runs' 'the run after it'
fails 2 'multi.prepared=off has no effect' run bfs e.tg --source 1 --engine multi --devices emu:2 --set multi.prepared=off
succeeds prepare e.tg --remove multi-random-3-both
succeeds prepare e.tg --remove multi
if ls e.tg.multi* >/dev/null 2>&1; then bad 'partitions are left'; else good; fi
succeeds prepare g.tg --for coop
contains "$err" "coop keeps the graph's order" 'a layout that no program reads'

# A run makes its layout, if it is asked to; one that is emulated does so by no history. A full disk costs a warning.
succeeds prepare e.tg --remove stream-out-light-packed
sssp_words() {
    echo run sssp e.tg --engine stream --devices emu@unchecked --gpu-edges 30% --source 1 --set "stream.prepared=$1"
}
for i in 1 2 3; do TANDEM_HISTORY=all succeeds $(sssp_words auto); done
if [ -e e.tg.stream-out-light-packed ]; then bad 'auto made a layout for an emulated GPU'; else good; fi
succeeds $(sssp_words read)
if [ -e e.tg.stream-out-light-packed ]; then bad 'read made a layout'; else good; fi
out=$(trap '' XFSZ; ulimit -f 4; timeout 240 "$TANDEM" $(sssp_words make) 2>&1) || bad "a full disk: $out"
contains_all "$out" 'a full disk' 'vertices reached' 'no layout was prepared for later runs: '
if ls e.tg.stream-out-light-packed* >/dev/null 2>&1; then bad 'half a layout is left'; else good; fi
succeeds $(sssp_words make)
contains "$err" 'prepared e.tg.stream-out-light-packed for later runs' 'a run that makes its layout'
succeeds $(sssp_words make)
contains "$err" 'prepared (stream-out-light-packed)' 'the run after it'
lacks "$err" 'for later runs' 'the run after it'
fails 2 'stream.prepared=off has no effect with stream.variant=lbase' run sssp e.tg --source 1 --engine stream --devices emu \
    --set stream.variant=lbase --set stream.prepared=off
equal "$(cksum <e.tg)" "$before" 'the graph'
succeeds prepare e.tg --remove stream,coop-hot
if ls e.tg.stream* e.tg.coop-hot >/dev/null 2>&1; then bad 'layouts are left'; else good; fi
succeeds convert e.tg -o c.tg --for stream:pagerank --json c.json
contains "$(cat c.json)" '"layout": "stream-in-small"' 'convert --for'
if [ -e c.tg.stream-in-small ]; then good; else bad 'convert --for left no layout'; fi
# Files that other lists or a damaged disk left behind are reported and not used.
cp c.tg.stream-in-small e.tg.stream-out-light-packed
succeeds run sssp e.tg --engine stream --devices emu@unchecked --gpu-edges 30% --source 1 --json wrong.json
contains "$err" 'e.tg.stream-out-light-packed' 'a layout of another name'
contains "$(cat wrong.json)" '"prepared": []' 'a layout of another name'

# Memory: what is too little is told, and nothing is left.
succeeds gen rmat --scale 16 -o large.tg --quiet
fails 1 '--memory allows more' prepare large.tg --for paths --memory 20M
if ls large.tg.* >/dev/null 2>&1; then bad 'files are left'; else good; fi

# A pipe in the place of a layout is no layout, and a run does not wait for its writer.
cp g.tg piped.tg
mkfifo piped.tg.coop-hot
succeeds run bfs piped.tg --source 3 --engine coop --devices emu@unchecked --gpu-edges 30% --quiet
succeeds prepare piped.tg --list
rm -f piped.tg piped.tg.coop-hot

# A folder that cannot be written: the cache folder, or without.
if [ "$(id -u)" -ne 0 ]; then
    mkdir fixed && cp g.tg fixed/ && chmod 555 fixed
    succeeds prepare fixed/g.tg --for paths
    contains "$err" "$folder/cache/tandem" 'a layout in the cache folder'
    succeeds info fixed/g.tg --paths
    contains "$out" 'prepared beside' 'a layout from the cache folder'
    succeeds prepare fixed/g.tg --remove paths
    chmod 755 fixed
else
    skip 'a folder that cannot be written: root writes everywhere'
fi
finish
