# Graphs built out of memory, as a user sees them: the same file, the memory kept, nothing left behind.
. "$(dirname "$0")/lib.sh"

# within MEMORY WHAT: the last --json report says that no more than 1.05 times that was resident.
within() {
    local peak
    peak=$(grep -o '"peak_resident": *[0-9]*' report.json | grep -o '[0-9]*$')
    if [ "$peak" -le $(($1 * 105 / 100)) ]; then good; else bad "$2: $peak bytes resident, allowed $1"; fi
}

succeeds gen rmat --scale 17 --degree 16 --weights 1:100 -o inside.tg --threads 2
succeeds gen rmat --scale 17 --degree 16 --weights 1:100 -o outside.tg --threads 2 --memory 100M --json report.json
contains "$err" 'built out of memory' 'gen'
if cmp -s inside.tg outside.tg; then good; else bad 'gen out of memory gives another file'; fi
checksum=$("$TANDEM" info outside.tg --json | key checksum)
contains "$err" " MiB, checksum $checksum" 'what gen wrote, out of memory'
equal "$(key checksum <report.json)" "$checksum" 'the checksum that gen reports, out of memory'
for how in '' '--memory 100M'; do # in memory, out of memory
    succeeds convert outside.tg -o other.tg --dedup --threads 2 $how --json report.json
    checksum=$("$TANDEM" info other.tg --json | key checksum)
    contains "$err" " MiB, checksum $checksum" "what convert wrote $how"
    equal "$(key checksum <report.json)" "$checksum" "the checksum that convert reports $how"
done
within $((100 << 20)) 'gen'

succeeds info outside.tg
contains "$out" 'to build it out of memory' 'info'
succeeds info outside.tg --json
contains "$out" '"build_temporary_bytes"' 'info --json'

succeeds convert inside.tg -o g.wel
succeeds convert g.wel -o outside.tg --threads 2 --memory 92M --json report.json
contains "$err" 'built out of memory' 'convert'
within $((92 << 20)) 'convert'
succeeds convert g.wel -o whole.tg --threads 2
if cmp -s whole.tg outside.tg; then good; else bad 'convert out of memory gives another file'; fi

succeeds convert whole.tg -o outside.tg --threads 2 --memory 100M --dedup --symmetrize --json report.json
contains "$err" 'built out of memory' 'convert of a .tg'
within $((100 << 20)) 'convert of a .tg'
succeeds convert whole.tg -o again.tg --threads 2 --dedup --symmetrize
if cmp -s again.tg outside.tg; then good; else bad 'a .tg converted out of memory gives another file'; fi
succeeds convert again.tg -o copy.tg --threads 2 --memory 40M --json report.json
contains "$err" 'checked and copied' 'copy of a .tg'
within $((40 << 20)) 'copy of a .tg'
if cmp -s again.tg copy.tg; then good; else bad 'a copied .tg is another file'; fi

mkdir temp
succeeds convert g.wel -o outside.tg --threads 1 --memory 70M --temp temp --symmetrize --dedup
succeeds convert g.wel -o whole.tg --threads 1 --symmetrize --dedup
if cmp -s whole.tg outside.tg; then good; else bad 'convert --symmetrize out of memory gives another file'; fi
fails 1 'nowhere' convert g.wel -o no.tg --threads 1 --memory 70M --temp nowhere
fails 1 'making no.tg with 2 threads needs at least --memory ' convert g.wel -o no.tg --threads 2 --memory 20M
absent no.tg

"$TANDEM" gen rmat --scale 20 --degree 16 -o stopped.tg --memory 120M --threads 2 2>/dev/null &
pid=$!
sleep 0.4
kill -TERM $pid
wait $pid
absent stopped.tg .stopped.tg*
equal "$(find . -name '.*.tmp' | wc -l)" 0 'temporary files'

# What a refusal says is enough is enough, in memory and out of it; a small graph needs little.
said_enough() { sed -n 's/.*needs at least --memory \([0-9.]*\) \([KMG]\)iB.* given$/\1\2/p' <<<"$err"; }
enough() { # ARGUMENTS: refused with 500 KB, and done with what the refusal says
    t "$@" --memory 500K
    local said
    said=$(said_enough)
    if [ $status -eq 1 ] && [ -n "$said" ]; then good; else bad "'tandem $*' with 500 KB: $status, $err"; fi
    succeeds "$@" --memory "${said:-1M}"
}
succeeds gen rmat --scale 12 --degree 16 --weights 1:100 -o few.tg
succeeds convert few.tg -o few.wel
for threads in 1 2 8; do
    for output in any.tg any.mtx; do
        enough gen rmat --scale 13 --degree 16 -o $output --threads $threads
        enough gen grid --width 200 -o $output --threads $threads --order hot
        enough convert few.wel -o $output --threads $threads
        enough convert few.tg -o $output --threads $threads --symmetrize
        enough convert few.tg -o $output --threads $threads --order rcm
    done
    enough convert few.tg -o any.mtx --threads $threads
    enough convert inside.tg -o any.tg --threads $threads --symmetrize
done
succeeds convert few.wel -o any.tg --threads 2 --memory 4M

# It is the least, and does not grow with what was given: an attempt that came further had more of the file mapped.
for input in g.wel inside.tg; do
    t convert $input -o any.tg --threads 2 --symmetrize --memory 2M
    least=$(said_enough)
    for memory in 12M 30M 45M 60M; do
        t convert $input -o any.tg --threads 2 --symmetrize --memory $memory
        said=$(said_enough)
        if awk -v one="${said%M}" -v two="${least%M}" 'BEGIN { exit !(one - two < 0.5 && two - one < 0.5) }'; then good
        else bad "$said is enough for $input under $memory, and $least under 2M"; fi
    done
    less=$(awk -v least="${least%M}" 'BEGIN { printf "%d", (least - 1) * 1048576 }')
    fails 1 'needs at least --memory' convert -q $input -o any.tg --threads 2 --symmetrize --memory "$less"
    succeeds convert $input -o any.tg --threads 2 --symmetrize --memory "$least"
done
finish
