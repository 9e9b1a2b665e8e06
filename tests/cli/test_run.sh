#!/usr/bin/env bash
# `tandem run` from outside: what it refuses and how, what it writes and where.
. "$(dirname "$0")/lib.sh"

printf '10 20 2\n20 30 3\n30 20 1\n10 30 9\n40 50 7\n' >small.txt
printf '1 2\n2 3\n' >plain.txt
succeeds gen rmat --scale 12 --seed 7 --weights 1:100 -o g.tg
succeeds gen grid --width 15 --height 12 --seed 7 -o road.tg

# Programs, engines, devices, options and keys that do not exist.
fails 2 "unknown program 'pagerang' (did you mean 'pagerank'?)" run pagerang g.tg
fails 2 "unknown engine 'gpu'; there are auto, cpu" run wcc g.tg --engine gpu
fails 2 "--devices cpu,gpu: there is no device 'gpu'; there are cpu, cuda:N" run wcc g.tg --devices cpu,gpu
fails 2 "device 'cuda:0/2#2': the slice is 2, allowed are 0 to 1" run wcc missing.tg --devices 'cuda:0/2#2'
fails 1 "--devices cpu,cuda:63: device 'cuda:63': " run wcc g.tg --devices cpu,cuda:63
fails 2 'option --gpu-memory' run wcc g.tg --gpu-memory much
fails 2 '--gpu-memory 0: 1 B to 4.0 EiB is allowed' run wcc g.tg --gpu-memory 0
fails 2 '--gpu-memory 50%: a size is expected (examples: 4G, 512M), not a share' run wcc g.tg --gpu-memory 50%
fails 2 "option --gpu-edges: 'half' is not a size or a share (examples: 4G, 512M, 65536, 25%)" run wcc g.tg \
    --gpu-edges half
fails 2 'option --gpu-edges 25: that is 25 bytes; a share is written 25%' run wcc g.tg --gpu-edges 25
fails 2 'option --gpu-edges 0%: more than 0%, or a size, is allowed' run wcc g.tg --gpu-edges 0%
succeeds run wcc g.tg --devices cpu --gpu-edges 120%
succeeds run wcc g.tg --devices cpu --gpu-memory 4G --gpu-edges 25%
fails 2 "unknown option '--sourec' (did you mean '--source'?)" run bfs g.tg --sourec 1
fails 2 "unknown option '--damping': it is a setting, --set pagerank.damping=VALUE" run pagerank g.tg --damping 0.9
fails 2 "unknown option '--list_order': it is a setting, --set stream.list_order=VALUE" run bfs g.tg --list_order=hot
fails 2 "unknown setting 'cpu.direktion' (did you mean 'cpu.direction'?)" run wcc g.tg --set cpu.direktion=pull
fails 2 "unknown setting 'cpu.colour'; allowed are those of cpu; see 'tandem help cpu'" run wcc g.tg --set cpu.colour=red
fails 2 "unknown setting 'heat.step'" run wcc g.tg --set heat.step=1
fails 2 "unknown setting 'pagerank.damping': 'pagerank.' begins the parameters of pagerank, and the program is bfs" \
    run bfs g.tg --source 0 --set pagerank.damping=0.9
fails 2 "unknown setting 'damping' (did you mean 'pagerank.damping'?)" run pagerank g.tg --set damping=0.9
fails 2 "cpu.direction=sideways: allowed are auto|pull|notify|push" run labels g.tg --set cpu.direction=sideways
fails 2 "the setting 'cpu.direction' has no effect on wcc; it is for bfs, sssp, pagerank" run wcc g.tg \
    --set cpu.direction=pull
fails 2 "the setting 'cpu.delta' has no effect on bfs; it is for sssp" run bfs g.tg -s 1 --set cpu.delta=2
fails 2 'cpu.delta is the width of a bucket' run sssp g.tg -s 1 --iterations 3 --set cpu.delta=2 --quiet
fails 2 "pagerank.damping=2: allowed is a number from 0 to 1" run pagerank g.tg --set pagerank.damping=2
fails 2 "--set 'cpu.direction': key=value expected" run wcc g.tg --set cpu.direction
fails 2 "unknown output format 'xml'; there are tsv, csv, graphalytics" run wcc g.tg -o x --output-format xml
fails 2 "unknown format 'edgelits'" run wcc g.tg --format edgelits
fails 2 "an argument is missing after 'wcc': FILE" run wcc

# What a program does not take, known before the graph is read.
fails 2 'bfs needs a source vertex; give one with --source' run bfs missing.tg
fails 2 'wcc starts everywhere and takes no source vertex' run wcc missing.tg --source 1
fails 2 "--source: 'first' is not a whole number" run bfs g.tg --source first --quiet # or a name, which the graph tells
fails 2 'heat depends on the order of updates' run heat missing.tg --async
fails 2 '--async has no effect on wcc' run wcc missing.tg --async
fails 2 '--async has no effect on kcore' run kcore missing.tg --async
fails 2 'bfs ends with an exact result and takes no tolerance' run bfs missing.tg -s 1 --tolerance 0.1
fails 2 'wcc has no parents to give' run wcc missing.tg --parents
fails 2 '--sync and --async exclude each other' run wcc missing.tg --sync --async
fails 2 '--output-format has no effect without --output' run wcc missing.tg --output-format csv
fails 2 'only one of' run wcc missing.tg --json - --output -
fails 2 'only one of' run wcc missing.tg --top 3 --output -
fails 2 'would overwrite' run wcc missing.tg --json x --output x
fails 1 'nowhere/facts.json' run wcc missing.tg --json nowhere/facts.json
fails 2 'would overwrite' run wcc missing.tg --trace x --output x
fails 2 '--out-only' run wcc g.tg --out-only
fails 2 "cpu.direction=push: pagerank needs the whole sum" run pagerank small.txt --quiet --set cpu.direction=push

# Graphs that a program cannot run on.
fails 1 'No such file' run wcc missing.tg
fails 1 'vertex 7 is not in small.txt' run bfs small.txt --quiet --source 7
fails 1 'has none; --weights 1:1 makes every weight 1' run sssp plain.txt --quiet -s 1
printf '7 8 1.5\n8 9 -2\n' >negative.txt
fails 1 'the edge from 8 to 9 has weight -2; sssp needs weights of at least zero' run sssp negative.txt --quiet -s 7
printf '7 8 1\n8 9 0\n' >zero.txt
fails 1 'the edge from 8 to 9 has weight 0; circuit needs weights above zero' run circuit zero.txt --quiet
printf '1 2 4294967295\n' >heavy.txt
fails 1 'mst takes integer weights up to 4294967294' run mst heavy.txt --quiet
printf '%%%%MatrixMarket matrix coordinate pattern general\n0 0 0\n' >empty.mtx
fails 1 'no vertices' run wcc empty.mtx --quiet
fails 1 'and the process itself, estimated); 800.0 KiB given' run pagerank g.tg --quiet --memory 800K
only_files small.txt plain.txt g.tg road.tg negative.txt zero.txt heavy.txt empty.mtx

# A limit that the graph fits and the run does not; the process itself takes about 4.5 MiB of it, and less
# without optional libraries.
process=$((9 << 19))
succeeds gen uniform --scale 17 --degree 1 --weights 1:9 -o sparse.tg
for program in circuit mst; do
    succeeds run $program sparse.tg --iterations 3 --threads 2 --quiet --json
    load=$(sed -n 's/^    "load_peak": \([0-9]*\),$/\1/p' <<<"$out")
    run=$(sed -n 's/^    "run_peak": \([0-9]*\),$/\1/p' <<<"$out")
    if [ "$run" -gt "$load" ]; then good; else bad "$program needs $run to run, $load to load"; fi
    for part in 3 4 5; do
        fails 1 "budget" run $program sparse.tg --engine cpu --iterations 3 --threads 2 --quiet \
            --memory $((process + load + (run - load) * part / 9))
    done
    succeeds run $program sparse.tg --iterations 3 --threads 2 --quiet --memory $((process + run + (1 << 20)))
done

# What is set aside for reading a small graph is as small, however many workers there are.
succeeds convert small.txt -o small.tg
succeeds run wcc small.tg --engine cpu --threads 16 --memory 500K

# Graphs with next to nothing in them: every program, verified.
printf '5 5 3\n' >loop.txt
printf '5 5 3\n6 6 1\n9 9 2\n' >loops.txt
for program in bfs sssp wcc labels pagerank mst kcore adsorption nn heat circuit; do
    source=
    case $program in bfs | sssp) source='--source 5' ;; esac
    for graph in loop.txt loops.txt; do
        succeeds run $program $graph $source --verify
        succeeds run $program $graph $source --verify --drop-loops
        contains "$err" 'verified: ' "$program on $graph"
    done
done

# Results, on standard output or in a file, with original ids.
succeeds run bfs small.txt -s 10 -o - --quiet
equal "$out" $'10\t0\n20\t1\n30\t1\n40\tinf\n50\tinf' 'levels'
equal "$err" '' 'run --quiet says'
succeeds run sssp small.txt -s 10 --parents -o d.csv --output-format csv
equal "$(cat d.csv)" $'10,0,10\n20,2,10\n30,5,20\n40,inf,-\n50,inf,-' 'distances and parents'
contains "$err" 'sssp: 3 of 5 vertices reached, the farthest at distance 5' 'what sssp tells'
equal "$out" '' 'standard output beside a file'
if [[ $err == *$'\r'* || $err == *$'\033'* ]]; then bad 'a progress line in a pipe'; else good; fi
succeeds run wcc small.txt -o - --quiet
equal "$out" $'10\t10\n20\t10\n30\t10\n40\t40\n50\t40' 'components'
succeeds run mst small.txt -o -
equal "$out" $'10\t20\t2\n30\t20\t1\n40\t50\t7' 'forest'
contains "$err" 'mst: 3 edges, total weight 10, 2 trees' 'what mst tells'
succeeds run sssp plain.txt -s 1 --weights 5:5 --seed 3 -o - --quiet
equal "$out" $'1\t0\n2\t5\n3\t10' 'attached weights'
succeeds run bfs plain.txt -s 3 --symmetrize -o - --quiet
equal "$out" $'1\t2\n2\t1\n3\t0' 'symmetrised'
fails 1 'nowhere/out' run wcc small.txt --quiet -o nowhere/out
"$TANDEM" run wcc small.txt -q -o - >/dev/full 2>.err
equal $? 1 'results on a full disk'

# The best vertices.
succeeds run sssp small.txt -s 10 --top 2 --quiet
equal "$out" $'vertex     distance\n30         5\n20         2' 'the farthest'
succeeds run wcc small.txt --top 1 --quiet
equal "$out" $'component  vertices\n10         3' 'the largest component'

# Convergence, or the cap said plainly.
succeeds run pagerank g.tg --iterations 3
contains "$err" 'stopped by --iterations after 3: the last change is ' 'iterations'
contains "$err" ', the tolerance 0 (--tolerance T sets another)' 'iterations alone'
succeeds run pagerank g.tg --iterations 3 --tolerance 1e-9
contains "$err" ', the tolerance 1e-09' 'iterations and a tolerance'
succeeds run pagerank g.tg --iterations 500 --tolerance 0.5
contains "$err" 'converged after 2 iterations' 'a tolerance that is met first'
succeeds help run
contains "$(tr -s ' \n' ' ' <<<"$out")" 'or, for mst, per edge of the forest' 'what results are'
contains "$(tr -s ' \n' ' ' <<<"$out")" '0 if --iterations is given)' 'the tolerance of --iterations'
one_line=$(tr -s ' \n' ' ' <<<"$out")
engines=$("$TANDEM" help engines | sed -n '/^  auto/,$s/^  \([a-z][a-z]*\) .*/\1/p' | grep -v auto | paste -sd, | sed 's/,/, /g')
contains "$engines" ', multi' 'all engines'
contains "$one_line" "the engine: $engines (default: auto" 'help run lists every engine'

# Limits on the edges on a GPU are refused by engines that do not obey them.
fails 2 '--gpu-edges has no effect on the hybrid engine; it is for resident, stream, coop, multi, paths (--gpu-memory limits' \
    run wcc g.tg --engine hybrid --gpu-edges 25%
succeeds run wcc g.tg --engine multi --devices emu:2 --gpu-edges 25%
contains "$err" 'edges that do not fit the GPUs are read from host memory' 'multi obeys --gpu-edges'
fails 2 'multi.seed=7 has no effect beside the other settings; it is for multi.partition=random' \
    run wcc g.tg --devices emu:2 --set multi.seed=7

# What several GPUs did is printed for each of them.
succeeds run wcc g.tg --engine multi --devices emu:3
for gpu in emu:0 emu:1 emu:2; do
    contains "$err" "on $gpu: graph " 'the plan of every GPU'
    if grep -qE "^tandem: $gpu +.* [1-9][0-9]* +[0-9.]+ (B|[KM]iB) +[0-9.]+ (B|[KM]iB)$" <<<"$err"; then good; else bad "$gpu: $err"; fi
done
lacks "$err" 'on the device:' 'no figure for one of them alone'
lacks "$err" 's device time' 'no figure for one of them alone'
succeeds run wcc g.tg --engine resident --devices emu
contains "$err" 'on the device: graph ' 'the plan of one GPU'
contains "$err" 'emu:0: ' 'device time of one GPU'

succeeds help pagerank
contains "$(tr -s ' \n' ' ' <<<"$out")" '0 if only --iterations is given' 'the tolerance of a program'
succeeds help circuit
contains "$out" 'must be positive' 'the weights of a program'
succeeds run pagerank g.tg --tolerance 0.01
contains "$err" 'converged after' 'tolerance'
printf '1 2\n2 1\n' >swap.txt
t run adsorption swap.txt --tolerance 0 --set adsorption.injection=0 --set adsorption.continuation=1 -o kept.tsv \
    --verify
equal $status 1 'a tolerance that cannot be reached'
contains "$err" 'adsorption did not converge within its default of 1000 iterations' 'a tolerance that cannot be reached'
contains "$err" 'above the tolerance of 0' 'a tolerance that cannot be reached'
equal "$(wc -l <kept.tsv)" 2 'what there is, is written'

# Sync and async, one and many threads, every direction: the same answers.
for program in 'bfs --source 1' 'sssp --source 1' wcc labels kcore mst; do
    digests=
    for how in '--threads 1' '--threads 2 --async' '--threads 8' '--threads 2 --set cpu.direction=pull' \
        '--threads 2 --set cpu.stealing=none --set cpu.huge_pages=off' '--threads 2 --repeat 2'; do
        if [[ $program == [mw]* && $how == *direction* ]]; then continue; fi
        if [[ $program == [mwk]* && $how == *async* ]]; then continue; fi
        succeeds run $program g.tg $how --verify --quiet --json
        digests+=$(sed -n 's/.*"digest": "\([0-9a-f]*\)".*/\1 /p' <<<"$out")
    done
    equal "$(tr ' ' '\n' <<<"$digests" | sed '/^$/d' | sort -u | wc -l)" 1 "digests of $program"
done
for program in pagerank adsorption nn heat circuit; do
    for how in '--threads 1' '--threads 2' '--threads 8 --iterations 7' '--threads 2 --set cpu.direction=notify'; do
        succeeds run $program road.tg $how --verify --quiet
    done
done
for program in pagerank adsorption circuit; do
    succeeds run $program road.tg --async --verify
    succeeds run $program road.tg --async --verify --iterations 5
done
succeeds run pagerank g.tg --set pagerank.dangling=ignore --set cpu.sinks=defer --verify
contains "$err" 'verified: one more step stays within the tolerance' 'deferred sinks'
succeeds run bfs road.tg -s 1 -o /dev/null
contains "$err" 'engine cpu (' 'what will be held is said before the run'
contains "$err" ', free ' 'and what there is'
fails 1 'cannot verify bfs: it was stopped after 1 iteration,' run bfs road.tg -s 1 --iterations 1 --verify --quiet

# The report and the trace.
# Distances beyond 32 bits: the run is repeated with 64, and its report is about the second one.
printf '0 1 4000000000\n1 2 4000000000\n' >far.txt
succeeds run sssp far.txt -s 0 --verify --repeat 2 --json far.json --trace far-trace.json --report far.html
contains "$err" 'it runs again with 64' 'a run that is repeated'
contains "$(cat far.json)" '"highest": 8e+09' 'the largest distance of a repeated run'
succeeds run sssp g.tg -s 1 --verify --json facts.json --trace trace.json --repeat 3 --quiet
equal "$(key program <facts.json)" sssp 'program'
equal "$(key engine <facts.json)" cpu 'engine'
equal "$(key vertices <facts.json)" 4096 'vertices'
equal "$(key converged <facts.json)" true 'converged'
for word in plan why settings parameters result digest directions times processing memory rows verified peak_memory; do
    if grep -q "\"$word\"" facts.json; then good; else bad "run --json has no $word"; fi
done
equal "$(grep -c '"number":' facts.json)" "$(key iterations <facts.json)" 'rows of the report'
contains_all "$(cat trace.json)" trace traceEvents '"load"' '"prepare"' '"verify"' '"0 bucket"'
if command -v python3 >/dev/null || perl -MJSON::PP -e 1 2>/dev/null; then
    for program in 'bfs --source 1' 'sssp --source 1' wcc mst pagerank heat circuit; do
        succeeds run $program g.tg --json --trace t.json --iterations 9 --quiet
        if is_json <"$folder/.out"; then good; else bad "$program --json: $out"; fi
        if is_json <t.json; then good; else bad "$program --trace"; fi
    done
else
    skip 'JSON validity: neither python3 nor perl is here'
fi

# Help, from the tables.
for topic in bfs sssp wcc labels pagerank mst kcore adsorption nn heat circuit cpu programs engines; do
    succeeds help $topic
    narrow "$out" "help $topic"
done
t help pagerank
contains "$out" 'pagerank.damping' 'help pagerank'
page=$out
succeeds run --help pagerank
equal "$out" "$page" 'run --help pagerank'
t help cpu
contains "$out" 'cpu.stealing' 'help cpu'
fails 2 "unknown help topic 'ssps' (did you mean 'sssp'?)" help ssps

# Ctrl-C between two iterations: one word, nothing left behind.
mkdir stop
succeeds gen path --vertices 200000 --weights 1:9 --symmetrize -o path.tg
for signal in INT TERM; do
    env --default-signal=$signal "$TANDEM" run circuit path.tg --threads 1 --quiet --tolerance 0 -o stop/volts \
        --json stop/facts 2>.err &
    job=$!
    sleep 0.5
    kill -$signal $job
    wait $job
    equal $? 1 "status after SIG$signal"
    equal "$(cat .err)" 'tandem: interrupted' "message after SIG$signal"
    equal "$(ls -A stop)" '' "files after SIG$signal"
done
finish
