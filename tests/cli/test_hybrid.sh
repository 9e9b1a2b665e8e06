# Graphs larger than the memory allowed: chosen, kept to, reported, refused.
. "$(dirname "$0")/lib.sh"

# A figure of a report: figure FILE KEY, the first there is.
figure() { sed -n "s/.*\"$2\": *\([0-9.e+-]*\).*/\1/p" "$1" | head -n 1; }

# sum FILE KEY: of all rows.
sum() { sed -n "s/.*\"$2\": *\([0-9]*\).*/\1/p" "$1" | awk '{ all += $1 } END { printf "%.0f\n", all }'; }

close_to() { # SEEN WANTED
    awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !((d < 0 ? -d : d) <= 1e-5 * (a + b)) }'
}

succeeds gen rmat --scale 17 --degree 64 --weights 1:100 --seed 3 -o g.tg
bytes=$(wc -c <g.tg)

succeeds gen grid --width 600 --height 500 --weights 1:100 -o grid.tg

# The planner takes it where the graph does not fit, and says why; answers are those of the cpu engine.
for program in 'bfs --source 1' 'sssp --source 1' wcc 'pagerank --iterations 3' mst kcore; do
    name=${program%% *}
    succeeds run $program g.tg --engine cpu --json cpu.json
    case $name in mst | kcore) shares=50 ;; pagerank) shares='25 50' ;; *) shares=25 ;; esac
    for share in $shares; do
        succeeds run $program g.tg --memory $share% --json disk.json --verify
        contains "$err" 'verified:' "$name under $share%"
        contains "$err" 'engine hybrid (the graph' "$name under $share%"
        contains "$err" 'edges stay on disk' "$name under $share%"
        for key in reached groups largest_group highest total_weight; do
            one=$(figure cpu.json $key) two=$(figure disk.json $key)
            if close_to "${two:-0}" "${one:-0}"; then good; else bad "$name under $share%: $key is $two, not $one"; fi
        done
        peak=$(figure disk.json peak_resident)
        if [ "$peak" -le $((bytes * share / 100 * 105 / 100 + 2097152)) ]; then good
        else bad "$name under $share%: $peak bytes resident of $((bytes * share / 100)) allowed"; fi
    done
done

# Components: every page once. No page twice in an iteration of PageRank.
edges=$(figure disk.json edges)
succeeds run wcc g.tg --memory 25% --json wcc.json
read=$(sum wcc.json disk_bytes) all=$((edges * 4))
if [ "$read" -le $((all * 105 / 100)) ]; then good; else bad "wcc read $read bytes of $all"; fi
succeeds run pagerank g.tg --iterations 4 --memory 25% --json pr.json
pages=$(figure pr.json pages)
if sed -n 's/.*"page_misses": *\([0-9]*\).*/\1/p' pr.json | sed 1d |
    awk -v most="$pages" '$1 > most { exit 1 }'; then good
else bad 'pagerank read a page twice in an iteration'; fi

# No iteration reads more than the plan says.
for program in wcc 'pagerank --iterations 4' mst kcore 'bfs --source 1' 'sssp --source 1' \
    'heat --set heat.step=1e-8 --iterations 4' 'pagerank --iterations 4 --set hybrid.direction=notify'; do
    for share in 30 80; do
        succeeds run -q $program g.tg --memory $share% --json said.json
        most=$(figure said.json disk_bytes_per_iteration)
        if sed -n 's/.*"disk_bytes": *\([0-9]*\).*/\1/p' said.json |
            awk -v most="$most" '$1 > most { exit 1 } END { exit NR == 0 }'; then good
        else bad "$program under $share%: an iteration read more than the $most bytes that were said"; fi
    done
done

# Nor with a GPU beside it, whose memory is the host's here, and which leaves less room for pages.
succeeds gen rmat --scale 14 --degree 64 --weights 1:100 -o m.tg
for program in 'pagerank --iterations 3' 'bfs --source 1' 'sssp --source 1'; do
    succeeds run $program m.tg --engine hybrid --devices emu --set hybrid.use=both --memory 24M --json said.json
    contains "$err" 'edges stay on disk' "$program with a GPU"
    most=$(figure said.json disk_bytes_per_iteration) room=$(figure said.json room_bytes)
    if sed -n 's/.*"disk_bytes": *\([0-9]*\).*/\1/p' said.json |
        awk -v most="$most" '$1 > most { exit 1 } END { exit NR == 0 }'; then good
    else bad "$program with a GPU: an iteration read more than the $most bytes that were said"; fi
    if [ "$room" -lt $((14 << 20)) ]; then good; else bad "$program with a GPU: room of $room bytes"; fi
done

# A graph that stays in memory: what is said is what is taken, or a little more, whoever works. The rows of the report
# beyond the first 64 are not in the plan: kcore has 358 (room for 512, about 500 bytes each), and takes 0.58% more.
for program in 'pagerank --iterations 2' 'sssp --source 1' kcore; do
    for use in cpu gpu both; do
        case $program in kcore) set='' part=150 ;; *) set="--set hybrid.use=$use" part=300 ;; esac
        succeeds run -q $program m.tg --engine hybrid --devices emu $set --json said.json
        said=$(($(figure said.json graph_bytes) + $(figure said.json program_bytes))) peak=$(figure said.json run_peak)
        if [ "$peak" -le $((said + said / part)) ] && [ "$said" -le $((peak * 110 / 100)) ]; then good
        else bad "$program by $use: $said bytes said, $peak taken"; fi
    done
done

# A GPU is left out where the memory is too small for it, and so is the graph where it does not fit; the limit is that
# of the process.
succeeds run pagerank m.tg --iterations 2 --devices emu --memory 30M --json said.json
contains "$err" 'engine cpu (the engine resident needs' 'an emulated GPU that does not fit'
contains "$err" "an emulated GPU's memory is this machine's" 'an emulated GPU that does not fit'
# Whose memory it is.
for how in '--engine resident' '--engine stream --gpu-edges 30%' '--engine coop --gpu-edges 30%'; do
    fails 1 'MiB of it for the emulated GPU' run -q pagerank m.tg --iterations 2 --devices emu $how --memory 18M
    fails 1 "and an emulated GPU's memory" run -q pagerank m.tg --iterations 2 --devices emu $how --memory 6M
done
fails 1 'with its edges in memory, estimated' run -q pagerank m.tg --engine cpu --memory 6M
peak=$(figure said.json peak_resident)
if [ "$peak" -le $((30 << 20)) ]; then good; else bad "$peak bytes resident of 30 MiB"; fi
succeeds run pagerank m.tg --iterations 2 --devices emu --memory 9M
contains "$err" 'engine hybrid (the graph' 'a graph that does not fit beside an emulated GPU'
succeeds run wcc m.tg --memory 9M
case $err in *'after the first'*) bad "components have one iteration: $err" ;; *) good ;; esac

# One figure for the least memory, wherever it is named.
succeeds info m.tg
needs=$out
for program in pagerank kcore labels; do
    least=$(echo "$needs" | awk -v program=$program '$1 == program { print $6 }')
    for memory in 1M 2M; do
        fails 1 "needs at least --memory $least MiB" run -q $program m.tg --memory $memory
        contains "$err" "${memory%M}.0 MiB given" "$program under $memory"
    done
    succeeds run -q $program m.tg --memory "$(awk -v mib="$least" 'BEGIN { printf "%d", mib * 1048576 }')"
done

# Asked for by name on a graph that fits: it stays in memory.
succeeds run bfs g.tg --source 1 --engine hybrid
contains "$err" 'engine hybrid (asked for)' 'asked for'

# What no memory would help is said first.
succeeds gen rmat --scale 12 --degree 8 -o plain.tg
for how in '--engine hybrid --memory 200K' '--engine cpu --memory 200K' '--memory 200K' \
    '--devices emu --gpu-memory 4K' '--engine stream --devices emu --gpu-memory 4K'; do
    fails 1 'sssp needs edge weights and plain.tg has none' run -q sssp plain.tg --source 1 $how
done
fails 1 'mst needs edge weights' run -q mst g.tg --drop-weights --memory 1M
printf '0 1 4294967295\n0 1 5\n1 2 7\n' >heavy.txt # too heavy for mst, but for an option that drops it
succeeds convert heavy.txt -o heavy.tg
fails 1 'integer weights up to 4294967294' run -q mst heavy.tg
succeeds run -q mst heavy.tg --dedup
succeeds convert plain.tg -o out.tg --out-only
fails 1 'without its in-adjacency' run -q pagerank out.tg --engine hybrid --memory 200K

# Too little memory says what would do; a check of the result that does not fit is made by one that does where there
# is one.
for program in pagerank kcore mst labels 'heat --set heat.step=1e-8'; do # named, and enough
    for memory in 6M 8M 12M; do
        t run -q $program g.tg --engine hybrid --iterations 2 --memory $memory
        if [ "$status" = 0 ]; then continue; fi
        contains "$err" 'needs at least --memory' "$program under $memory"
        enough=$(memory_named)
        succeeds run -q $program g.tg --engine hybrid --iterations 2 --memory "$enough"
    done
done
mkdir state # the copy that checkpoints are written from is part of it, and what a run goes on from
for program in pagerank mst; do
    for how in '--checkpoint state --every 1 --iterations 2' '--resume state --iterations 3'; do
        fails 1 'needs at least --memory' run -q $program grid.tg --engine hybrid $how --memory 2M
        enough=$(memory_named)
        succeeds run -q $program grid.tg --engine hybrid $how --memory "$enough"
    done
    rm state/*
done
succeeds run pagerank g.tg --iterations 3 --engine hybrid --memory 14M --verify
contains "$err" 'verified: one more step changes no more than the last one did' 'a replay that does not fit'
unchecked=0 # a check that finds no room takes nothing of the result with it
for memory in 20M 22M 24M 26M 28M; do
    rm -f forest.tsv
    t run -q mst grid.tg --memory $memory --verify -o forest.tsv
    [[ $err == *'the result was written, but is not verified'* ]] || continue
    if [ -s forest.tsv ]; then unchecked=1; else bad "$memory: no result"; fi
done
if [ $unchecked = 1 ]; then good; else bad 'no check was without room'; fi

# A GPU that there is no memory for is left out, unless it was asked for: then what is named is enough.
succeeds run pagerank g.tg --iterations 2 --memory 30% --devices emu
contains "$err" 'hybrid: the GPU is not used' 'a GPU that is too dear'
for program in 'pagerank --iterations 1' 'sssp --source 1 --iterations 2'; do
    for memory in 9M 30%; do
        t run -q $program g.tg --engine hybrid --devices emu --set hybrid.use=both --memory $memory
        if [ "$status" = 0 ]; then bad "$program under $memory with an emulated GPU"; continue; fi
        contains "$err" 'needs at least --memory' "$program under $memory with an emulated GPU"
        contains "$err" "the emulated GPU's own memory (" "$program under $memory with an emulated GPU"
        enough=$(memory_named)
        succeeds run -q $program g.tg --engine hybrid --devices emu --set hybrid.use=both --memory "$enough"
    done
done
fails 2 'hybrid.use' run bfs g.tg --source 1 --engine hybrid --set hybrid.use=tpu

# One that cannot do what was asked for: refused where no graph would change that, otherwise a warning.
for program in wcc mst kcore; do
    fails 2 "'hybrid.use' has no effect on $program" run -q $program m.tg --engine hybrid --devices emu \
        --set hybrid.use=gpu
    succeeds run $program m.tg --engine hybrid --devices emu
    contains "$err" "the CPU processes all pages of $program" "$program with a GPU beside it"
    lacks "$err" 'warning' "$program with a GPU that was not asked for"
done
for program in labels 'bfs --source 1 --iterations 2'; do
    for use in gpu both; do
        succeeds run -q $program m.tg --engine hybrid --devices emu --set hybrid.use=$use
        contains "$err" "warning: hybrid.use: the CPU processes all pages of ${program%% *}" "$program by $use"
        equal "$(wc -l <.err)" 1 "lines about $program by $use"
    done
done

# Striped over directories: each is read.
mkdir disk1 disk2
succeeds convert g.tg -o s.tg --stripe disk1,disk2
succeeds run wcc s.tg --memory 25% --json s.json
same=$(sum s.json disk_bytes)
if [ "$same" = "$read" ]; then good; else bad "a striped graph: $same bytes read, not $read"; fi

# Damage: told with file and block, no result. In the middle of the file are targets.
cp g.tg broken.tg
printf '\377\377\377\377' | dd of=broken.tg bs=1 seek=$((bytes / 3)) conv=notrunc 2>/dev/null
fails 1 'broken.tg is damaged: block' run -q wcc broken.tg --memory 25%
fails 1 'broken.tg is damaged: block' run -q mst broken.tg --memory 25%

finish
