# Compressed text under --memory: nobody knows how large its graph is, so it is read into memory as far as it goes, and
# spills from there on. Any limit from the one that the refusal names upwards works, gives the same bytes, and is kept.
. "$(dirname "$0")/lib.sh"
for tool in gzip zstd xz; do
    command -v $tool >/dev/null || { echo "skip: $tool is not installed"; exit 77; }
done
for tool in gzip xz; do decodes $tool || exit 77; done
decodes zstd && zstd=yes || zstd=

# pack NAME: five kinds of compressed files of NAME.txt; long windows make decoders that need memory themselves.
pack() {
    gzip -c $1.txt >$1-gz.txt.gz
    { head -c 100000 $1.txt | gzip -c; tail -c +100001 $1.txt | gzip -c; } >$1-members.txt.gz
    xz --lzma2=preset=0,dict=48MiB -c $1.txt >$1-xz.txt.xz
    [ -n "$zstd" ] || return 0
    zstd -q -c <$1.txt >$1-zst.txt.zst
    zstd -q --long=26 -c <$1.txt >$1-long.txt.zst
}

threads=1

# sizes FILE OPTIONS -- SIZES: from the least that a refusal names upwards.
sizes() {
    local file=$1 options=() least size peak
    shift
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    shift
    t convert $file -o out.tg --threads $threads "${options[@]}" --memory 1M --quiet
    least=$(sed -n 's/.*needs at least --memory \([0-9.]*\) \([KM]\)iB.*/\1\2/p' <<<"$err")
    if [ $status -ne 1 ] || [ -z "$least" ]; then bad "$file with 1M: $status, $err" && return; fi
    for size in $least "$@"; do
        case $size in +*) size=$(awk -v least="${least%?}" -v more="${size#+}" 'BEGIN { printf "%.1fM", least + more }') ;; esac
        succeeds convert $file -o out.tg --threads $threads "${options[@]}" --memory $size --json report.json
        if [ $status -ne 0 ]; then continue; fi
        equal "$(cksum <out.tg)" "$wanted" "$file with $size"
        peak=$(sed -n 's/.*"peak_resident": \([0-9]*\).*/\1/p' report.json)
        # Stacks and arenas of further threads are not counted: half a MiB each.
        if awk -v peak="$peak" -v size="${size%?}" -v more=$((threads - 1)) \
            'BEGIN { exit !(peak <= (size * 1.01 + more / 2) * 1048576) }'; then good
        else bad "$file with $size: $peak bytes resident"; fi
        # The least itself may go either way: a page more or less of the process decides.
        [ $size = $least ] || ways+=$(grep -c 'out of memory' <<<"$err")
    done
}

"$TANDEM" gen rmat --scale 13 --degree 12 -o small.tg --quiet
"$TANDEM" convert small.tg -o small.txt --quiet
"$TANDEM" gen rmat --scale 16 --degree 17 -o large.tg --quiet
"$TANDEM" convert large.tg -o large.txt --quiet
pack small
pack large
all=
[ -z "${TANDEM_TEST_ALL:-}" ] || all='+1 +2 +3 +5 +7 +9 +12 +15 +20 +25 +30 +40 +50 +70 +90 +150 +300'

ways=
wanted=$(cksum <small.tg)
for file in small-*; do
    sizes $file -- +0.3 +0.6 +1 +1.5 +2 +3 +4 +6 +9 +13 +18 +25 +35 +50 +70 +100 +200 +400 +900
done
lacks "$ways" 1 'a small graph is built in memory'
"$TANDEM" convert large.txt -o wanted.tg --symmetrize --quiet
wanted=$(cksum <wanted.tg)
for file in large-*; do sizes $file --symmetrize -- +4 +60 $all; done
[ -z "$zstd" ] || contains "$ways" 1 'a large graph is built out of memory where memory is short'
contains "$ways" 0 'and in memory where it is not'

# Several threads decode within the same limits.
threads=3
split -n l/9 large.txt part.
for part in part.*; do gzip -c $part; done >large-parts.txt.gz
xz -0 --block-size=1MiB -c large.txt >large-blocks.txt.xz
for file in large-parts.txt.gz large-blocks.txt.xz; do
    sizes $file --symmetrize -- +3 $all
    lacks "$(cat report.json)" '"parallel_members": 0' "$file is decoded by several threads"
done
finish
