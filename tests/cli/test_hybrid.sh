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

# Asked for by name on a graph that fits: it stays in memory.
succeeds run bfs g.tg --source 1 --engine hybrid
contains "$err" 'engine hybrid (asked for)' 'asked for'

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
succeeds run pagerank g.tg --iterations 3 --engine hybrid --memory 14M --verify
contains "$err" 'verified: one more step changes no more than the last one did' 'a replay that does not fit'
unchecked=0 # a check that finds no room takes nothing of the result with it
succeeds gen grid --width 600 --height 500 --weights 1:100 -o grid.tg
for memory in 20M 22M 24M 26M 28M; do
    rm -f forest.tsv
    t run -q mst grid.tg --memory $memory --verify -o forest.tsv
    [[ $err == *'written all the same, unchecked'* ]] || continue
    if [ -s forest.tsv ]; then unchecked=1; else bad "$memory: no result"; fi
done
if [ $unchecked = 1 ]; then good; else bad 'no check was without room'; fi

# A GPU that there is no memory for is left out, unless it was asked for: then what is named is enough.
succeeds run pagerank g.tg --iterations 2 --memory 30% --devices emu
contains "$err" 'hybrid: the GPU is left out' 'a GPU that is too dear'
for program in 'pagerank --iterations 1' 'sssp --source 1 --iterations 2'; do
    for memory in 9M 30%; do
        t run -q $program g.tg --engine hybrid --devices emu --set hybrid.use=both --memory $memory
        if [ "$status" = 0 ]; then bad "$program under $memory with an emulated GPU"; continue; fi
        contains "$err" 'needs at least --memory' "$program under $memory with an emulated GPU"
        enough=$(memory_named)
        succeeds run -q $program g.tg --engine hybrid --devices emu --set hybrid.use=both --memory "$enough"
    done
done
fails 2 'hybrid.use' run bfs g.tg --source 1 --engine hybrid --set hybrid.use=tpu

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
