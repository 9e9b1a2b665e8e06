# The stream engine through the tool, on an emulated GPU that may hold a part of the edges: right answers, what it
# reports and traces, and what it refuses.
. "$(dirname "$0")/lib.sh"

succeeds gen rmat --scale 9 --degree 16 --weights 1:50 --seed 3 -o g.tg
stream='--engine stream --devices emu --gpu-edges 25% --quiet'

# Every program, verified.
for program in 'bfs --source 1 --parents' 'sssp --source 1' wcc labels kcore mst 'pagerank --iterations 5' \
    'adsorption --iterations 5' \
    'nn --iterations 3' 'heat --iterations 3' 'circuit --iterations 5'; do
    succeeds run ${program%% *} g.tg $(sed 's/^[a-z]* *//' <<<"$program") $stream --verify --json one.json
    contains "$(cat one.json)" '"engine": "stream"' "the report of $program"
    contains "$(cat one.json)" '"verified": "' "the report of $program"
done

# The report of an iteration, and the trace's lanes.
small='--set stream.subgraph=1K'
succeeds run sssp g.tg --source 1 $stream $small --set stream.variant=hvsp --json whole.json --trace whole.trace
succeeds run sssp g.tg --source 1 $stream $small --set stream.variant=lvsp --json picked.json --trace picked.trace
for word in subgraphs_resident subgraphs_whole subgraphs_extracted subgraphs_direct bytes_whole bytes_extracted \
    bytes_direct \
    bytes_useful useful_over_moved rounds evictions copy_seconds compute_seconds both_seconds; do
    contains "$(cat whole.json)" "\"$word\": " 'the rows'
done
moved() { grep -o "\"$1\": [0-9]*" "$2" | awk '{ sum += $2 } END { print (sum > 0) }'; } # KEY FILE
equal "$(moved bytes_whole whole.json) $(moved bytes_extracted whole.json)" '1 0' 'bytes of hvsp'
equal "$(moved bytes_whole picked.json) $(moved bytes_extracted picked.json)" '0 1' 'bytes of lvsp'
for word in copies kernels workers; do contains "$(cat whole.trace)" "\"$word\"" 'the lanes'; done
for word in '"copy"' '"subgraph"'; do contains "$(cat whole.trace)" "$word" 'the events of hvsp'; done
contains "$(cat picked.trace)" '"extract"' 'the events of lvsp'
for file in whole.json whole.trace picked.trace; do if is_json <$file; then good; else bad "$file is not JSON"; fi; done

# With little host memory lists stay as they are; an emulated GPU of this size takes 11 MiB itself.
succeeds run sssp g.tg --source 1 --engine stream --devices emu@unchecked --gpu-edges 25% --quiet --memory 12M --verify

# All of them fit.
succeeds run bfs g.tg --source 1 --engine stream --devices emu --quiet --gpu-edges 100% --json all.json
contains "$(cat all.json)" '"engine": "stream"' 'a graph that fits'
contains "$(cat all.json)" 'so the resident engine runs it' 'why'
contains "$(cat all.json)" '"settings": {}' 'settings that change nothing'
succeeds run bfs g.tg --source 1 --engine stream --devices emu --set stream.subgraph=4K --repeat 2
contains "$err" 'engine stream (asked for; the graph fits on the GPU, so the resident engine runs it)' 'the plan'
equal "$(grep -c 'settings of stream have no effect' <<<"$err")" 1 'warnings of two repetitions'

# What people are told.
succeeds help stream
for word in variant subgraph rules alpha beta low levels repeats prefix list_order direction high_degree small \
    delta samples survivors compress pack; do
    contains "$out" "stream.$word" 'help stream'
done
contains "$out" '--engine stream --devices cuda:0 --gpu-edges 25%' 'the example'
succeeds run sssp g.tg --source 1 --engine stream --devices emu --gpu-edges 25% --json told.json
contains "$err" 'over the link: ' 'the summary'
contains "$err" 'the link carries subgraphs of' 'the plan'
for word in subgraph_edges subgraph_slots chunks prefix_bytes survivor_edges; do
    contains "$(cat told.json)" "\"$word\": " 'the plan'
done
edges=$(sed -n 's/.*"subgraph_edges": \([0-9]*\),/\1/p' told.json)
contains "$(cat told.json)" "\"stream.subgraph\": $((edges * 4))" 'bytes of a subgraph, as they took effect'
succeeds run sssp g.tg --source 1 --engine stream --devices emu --gpu-edges 25% --set stream.pack=off --json apart.json
edges=$(sed -n 's/.*"subgraph_edges": \([0-9]*\),/\1/p' apart.json)
contains "$(cat apart.json)" "\"stream.subgraph\": $((edges * 5))" 'bytes of a subgraph with weights apart'
contains "$(cat told.json)" '"stream.pack": "on"' 'words, as they took effect'
succeeds run sssp g.tg --source 1 --engine stream --devices emu --gpu-edges 25% --iterations 3 --json none.json
contains "$(cat none.json)" '"stream.pack": "off"' 'words where no list is copied'
equal "$(grep '"digest"' told.json)" "$(grep '"digest"' apart.json)" 'distances with weights apart'
for word in alpha beta repeats; do # of rules and variants that were not asked for
    if grep -q "stream.$word" told.json; then bad "the settings have $word, which changes nothing"; else good; fi
done

# What a run holds for the next is not in its way: lists stay in order, and with weights in their words.
succeeds gen uniform --scale 14 --degree 16 --weights 1:100 -o often.tg
for times in 1 2; do
    succeeds run sssp often.tg --source 1 --engine stream --devices emu --gpu-edges 30% --memory 20M \
        --set stream.small=0 --set stream.low=whole --repeat $times --json often.json
    moved[times]=$(grep -o '"bytes_whole": [0-9]*' often.json | awk '{sum += $2} END {print sum}')
done
if [ "${moved[2]}" -le "${moved[1]}" ]; then good; else bad "a second run moves ${moved[2]} bytes, not ${moved[1]}"; fi

# What is refused.
fails 2 'full|hvsp|lvsp|hbase|lbase|scaph' run bfs g.tg --source 1 $stream --set stream.variant=graphie
fails 2 'stream.subgraph' run bfs g.tg --source 1 $stream --set stream.subgraph=100
fails 2 'stream.subgraph' run bfs g.tg --source 1 $stream --set stream.subgrah=1K
for pair in alpha=0.4:rules=paper beta=0.2:rules=paper repeats=3:variant=hbase; do
    fails 2 "it is for stream.variant=" run sssp g.tg --source 1 $stream --set stream.${pair%%:*}
    contains "$err" "stream.${pair##*:}" 'when it would change something'
    contains "$err" "'tandem help stream'" 'where to look'
    succeeds run sssp g.tg --source 1 $stream --set stream.${pair%%:*} --set stream.${pair##*:}
done
for word in rules=paper low=direct prefix=0.5 list_order=hot small=0 compress=on; do
    fails 2 'has no effect with stream.variant=lbase; it is for stream.variant=full' run bfs g.tg \
        --source 1 $stream --set stream.variant=lbase \
        --set stream.$word
done
for variant in lvsp hbase lbase; do
    fails 2 "has no effect with stream.variant=$variant; it is for stream.variant=hvsp" run labels g.tg $stream \
        --set stream.variant=$variant --set stream.levels=2
done
fails 2 'has no effect with stream.variant=hvsp' run mst g.tg $stream --set stream.variant=hvsp \
    --set stream.survivors=off
fails 2 'a share from 0 to 1, or -1' run bfs g.tg --source 1 $stream --set stream.prefix=-0.5
fails 2 'it is for stream.activity=on' run pagerank g.tg $stream --set stream.low=direct
contains "$err" "'tandem help stream'" 'where to look'
fails 2 "; see 'tandem help stream'" run bfs g.tg --source 1 $stream --set stream.low=sideways
fails 2 'has no effect on wcc' run wcc g.tg $stream --set stream.delta=3
fails 2 'has no effect on bfs' run bfs g.tg --source 1 $stream --set stream.pack=off
for word in list_order=stored prefix=0 compress=on; do
    fails 2 "stream.pack has no effect with stream.$word" run sssp g.tg --source 1 $stream --set stream.$word \
        --set stream.pack=on
done
fails 2 'stream' run bfs g.tg --source 1 --engine stream --devices cpu --quiet
succeeds gen rmat --scale 6 --degree 8 --seed 3 -o tiny.tg
fails 1 '2 slots of 128 B on the device, minimum 256 B' run bfs tiny.tg --source 1 --engine stream --devices emu \
    --quiet --gpu-edges 5%
contains "$err" '--gpu-edges' 'what to do'
fails 1 "vertex arrays" run bfs g.tg --source 1 $stream --gpu-memory 8K

# Memory nodes: counted in the report where there are several, as a folder says; refused where there is one.
mkdir -p nodes/node0 nodes/node1
echo 0-1 | tee nodes/online >nodes/has_memory
echo 0-1000 | tee nodes/node0/cpulist >nodes/node1/cpulist
export TANDEM_NUMA=$PWD/nodes
succeeds run sssp g.tg --source 1 $stream $small --set stream.variant=scaph --threads 2 --json nodes.json
equal "$(moved bytes_local nodes.json)" 1 'local bytes'
contains_all "$(cat nodes.json)" 'the plan' '"memory_nodes": 2' '"duplicate_bytes": ' \
    '"stream.nodes": "home"' '"stream.duplicate": 0.25'
export TANDEM_NUMA=off
succeeds run sssp g.tg --source 1 $stream $small --set stream.variant=scaph --json one.json
equal "$(moved bytes_local one.json) $(moved bytes_remote one.json)" '0 0' 'bytes by node without nodes'
for word in nodes=home duplicate=0.5; do
    fails 2 'a machine with one memory node' run sssp g.tg --source 1 $stream --set stream.$word
done
finish
