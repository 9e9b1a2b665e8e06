# A run that is refused for want of memory says how much is enough, and it is: while a graph is loaded or read, and when
# it runs, on any engine. What is hopeless is refused before a plan is told.
. "$(dirname "$0")/lib.sh"

succeeds gen rmat --scale 12 --degree 16 --weights 1:100 --seed 7 -o g.tg
least() { sed -n 's/.*\(needs at least --memory\|--memory allows more:\) \([0-9.]*\) \([KM]\)iB.*/\2\3/p' <<<"$err"; }
rises() { # ARGUMENTS: refused with ever more until it succeeds, three times at most
    local memory=300K tries=0
    t "$@" --memory $memory
    if [ $status -eq 0 ]; then bad "'tandem $*' needs less than $memory"; fi
    while [ $status -ne 0 ] && [ $tries -lt 3 ]; do
        memory=$(least)
        tries=$((tries + 1))
        if [ -z "$memory" ]; then break; fi
        t "$@" --memory $memory
    done
    if [ $status -eq 0 ]; then good; else bad "'tandem $*' with $memory: $err"; fi
}
for program in 'bfs -s 1' 'sssp -s 1 --parents' wcc pagerank mst kcore 'circuit --iterations 3'; do
    rises run $program g.tg --engine cpu --threads 2 --quiet
    rises run $program g.tg --engine resident --devices emu@unchecked --threads 2 --quiet
    rises run $program g.tg --engine stream --devices emu@unchecked --gpu-edges 25% --threads 2 --quiet
done
rises run pagerank g.tg --engine coop --devices emu@unchecked --gpu-edges 25% --threads 2 --quiet
rises run bfs -s 1 g.tg --engine resident --devices emu --threads 2 --quiet
rises run pagerank g.tg --engine coop --devices emu --gpu-edges 25% --threads 2 --quiet
succeeds gen rmat --scale 14 --degree 16 --weights 1:100 -o wide.tg # with a larger limit the process counts
fails 1 'is enough' run bfs -s 1 wide.tg --engine resident --devices emu --threads 2 --quiet --memory 12M
succeeds run bfs -s 1 wide.tg --engine resident --devices emu --threads 2 --quiet --memory "$(least)"
rises run pagerank g.tg --threads 2 --quiet
succeeds convert g.tg -o text.wel
rises run pagerank text.wel --threads 2 --quiet
rises info text.wel --threads 2
rises reorder text.wel -o other.tg --threads 2
rises reorder g.tg -o other.tg --threads 2 --by rcm
rm text.wel other.tg

# 64-bit weights are ranked in memory: forests of them are not for edges that stay on disk.
awk 'BEGIN { srand(7); for (i = 0; i < 200000; i++) print int(rand() * 20000), int(rand() * 20000), rand() }' >reals.txt
succeeds convert reals.txt -o reals.tg --weights f64 --symmetrize
rises run mst reals.tg --threads 2 --quiet
rises run mst reals.tg --engine resident --devices emu@unchecked --threads 2 --quiet
fails 1 'needs at least --memory' run mst reals.tg --memory 9M --quiet --threads 2
lacks "$err" 'hybrid' 'advice for ranked weights'
t info reals.tg
contains "$(grep '^mst' <<<"$out")" 'in memory only' 'what mst of 64-bit weights needs'
succeeds run mst reals.tg --threads 2 --quiet --json ranked.json
stated=$(awk '/"graph_bytes"|"program_bytes"/ && n++ < 2 { gsub(/,/, ""); sum += $2 } END { print sum }' ranked.json)
peak=$(awk '$1 == "\"peak_memory\":" { gsub(/,/, ""); print $2; exit }' ranked.json)
if [ "$stated" -ge "$((peak * 95 / 100))" ]; then good; else bad "mst of 64-bit weights states $stated bytes, takes $peak"; fi
rm reals.txt reals.tg

# Where the edges nearly fit they stay on disk; pages that the user chose too large are named.
succeeds gen rmat --scale 16 --degree 16 -o large.tg
succeeds run wcc large.tg --threads 2 --memory 10M
contains "$err" 'engine hybrid' 'edges that nearly fit'
fails 1 'hybrid.page=8388608 is the size of its pages, and smaller ones need less' run wcc large.tg --threads 2 \
    --memory 8M --set hybrid.page=8388608 --quiet

# No plan, no file that is read first.
fails 1 'under --gpu-memory' run wcc g.tg --engine resident --devices emu --gpu-memory 8K --quiet
t run wcc g.tg --engine resident --devices emu --gpu-memory 8K
if [[ $err == *'engine resident (asked for)'* ]]; then bad "a plan of a hopeless run: $err"; else good; fi
fails 2 '--devices cpu: the stream engine needs a GPU (cuda:0)' run wcc absent.tg --engine stream --devices cpu
finish
