# Memory figures are promises. Draws graphs, programs, engines, threads and limits: the least that a refusal names is
# enough at the first try, every larger limit works too, and the process's peak resident memory stays within each.
# TANDEM_TEST_ALL=1 draws 300 instead of 12; TANDEM_TEST_DRAWS=N draws N; TANDEM_TEST_SEED=N draws others.
. "$(dirname "$0")/lib.sh"

draws=12
[ -z "${TANDEM_TEST_ALL:-}" ] || draws=300
draws=${TANDEM_TEST_DRAWS:-$draws}
RANDOM=${TANDEM_TEST_SEED:-19}
counted=$((9 << 20)) # bytes: below, the process itself does not count
draw() { # WORDS: one of them, in $drawn
    local words=("$@")
    drawn=${words[RANDOM % $#]}
}

least() { sed -n 's/.*needs at least --memory \([0-9.]*\) \([KM]\)iB.*/\1\2/p; t; s/.*: \([0-9.]*\) \([KM]\)iB\(, about,\)\{0,1\} is enough.*/\1\2/p' <<<"$err" | head -1; }
bytes() { awk -v size="${1%?}" -v unit="${1: -1}" 'BEGIN { printf "%d", size * (unit == "K" ? 1024 : 1048576) }'; }

# keeps SIZE ARGUMENTS: succeeds, and its peak is within the limit, or above by less than the kernel counts in advance
# (resident pages are counted per thread, in batches of 64).
keeps() {
    local size=$1 peak limit
    shift
    t "$@" --memory "$size" --json report.json --quiet
    if [ $status -ne 0 ]; then
        bad "'tandem $* --memory $size': $err"
        return
    fi
    peak=$(sed -n 's/.*"peak_resident": \([0-9]*\).*/\1/p' report.json)
    limit=$(bytes "$size")
    if [ "$peak" -le $((limit + limit / 100 + 524288)) ]; then good
    else bad "'tandem $* --memory $size': $peak bytes resident, $((peak - limit)) too many"; fi
}

# The least that is named covers what comes after the run: sizes of groups are counted in what memory is left.
"$TANDEM" gen uniform --scale 21 --degree 1 -o groups.tg --quiet
t run wcc groups.tg --engine hybrid --threads 2 --memory 2M --quiet
keeps "$(least)" run wcc groups.tg --engine hybrid --threads 2 --top 1
equal "$out" "$("$TANDEM" run wcc groups.tg --top 1 --quiet)" 'groups counted in little memory'

# A check of a mapped file releases what it has read.
keeps 48M info groups.tg --check --threads 2 # of 67 MiB, half of which are offsets that estimates scan

# The first run on a new file probes it. What it looks at must not bring large folios of the page cache along.
"$TANDEM" gen smallworld --vertices 200000 --degree 8 --seed 3 -o new.tg --quiet
keeps 9M run bfs -s 1 new.tg --threads 1

# An emulated GPU's memory is this machine's, and so are the stacks of its threads. An index of paths is counted, too.
"$TANDEM" gen rmat --scale 16 --degree 9 --weights 1:50 --seed 5 -o gpu.tg --quiet
for command in 'sssp -s 1|resident --devices emu:1@unchecked' 'sssp -s 1|stream --devices emu:1@unchecked' \
    'sssp -s 1|coop --devices emu:1@unchecked' 'mst|coop --devices emu:1@unchecked' \
    'pagerank --iterations 3|hybrid --devices emu:1@unchecked --set hybrid.use=gpu' \
    'sssp -s 1|multi --devices emu:2@unchecked' 'sssp -s 1|paths --devices cpu' 'kcore|paths --devices cpu' \
    'sssp -s 1|paths --devices emu:1@unchecked'; do
    command="run ${command%|*} gpu.tg --threads 2 --engine ${command#*|}"
    t $command --memory 2M --quiet
    keeps "$(least)" $command
done
t run mst gpu.tg --engine paths --devices cpu --memory 2M --quiet
contains "$err" 'paths would gain nothing' 'what no memory would help'

# What works with some memory works with more, also where the process takes a large part of it.
"$TANDEM" gen uniform --scale 16 --degree 22 -o small.tg --quiet
works=
for size in $(seq 8 20); do
    t run pagerank small.tg --engine cpu --threads 2 --memory ${size}M --json report.json --quiet
    if [ $status -ne 0 ]; then
        if [ -z "$works" ]; then good; else bad "pagerank works with ${works}M and not with ${size}M: $err"; fi
        continue
    fi
    works=${works:-$size}
    peak=$(sed -n 's/.*"peak_resident": \([0-9]*\).*/\1/p' report.json)
    if [ "$peak" -le $(((size << 20) * 101 / 100 + 524288)) ]; then good; else bad "$peak bytes resident with ${size}M"; fi
done
if [ -n "$works" ]; then good; else bad 'pagerank works with none of these limits'; fi

for number in $(seq $draws); do
    if [ $((number % 4)) -eq 1 ]; then
        draw 'rmat --scale 17 --degree 14' 'uniform --scale 17 --degree 12' 'grid --width 700 --height 700' \
            'web --vertices 250000 --degree 9' 'smallworld --vertices 200000 --degree 8'
        "$TANDEM" gen $drawn --weights 1:100 --seed $RANDOM -o g.tg --quiet || bad "gen $drawn"
    fi
    draw 'bfs -s 1' 'sssp -s 1' wcc labels 'pagerank --iterations 4' mst kcore 'adsorption --iterations 3' \
        'heat --iterations 3' 'circuit --iterations 3'
    program=$drawn
    draw '' '--engine cpu' '--engine cpu' '--engine hybrid'
    engine=$drawn
    draw 1 2 3
    command="run $program g.tg $engine --threads $drawn"
    t $command --memory 900K --quiet
    if [ $status -eq 0 ]; then
        bad "'tandem $command' runs in 900K"
        continue
    fi
    size=$(least)
    if [ -z "$size" ]; then
        bad "'tandem $command' names no least: $err"
        continue
    fi
    if [ "$(bytes "$size")" -lt $counted ]; then size=9M; fi
    keeps "$size" $command
    for more in 1 2; do
        keeps "$(awk -v least="$(bytes "$size")" -v share=$RANDOM 'BEGIN { printf "%.1fK", least * (1 + share / 32768) / 1024 }')" \
            $command
    done
done
finish
