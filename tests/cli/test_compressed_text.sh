# Compressed text from the file to the answer: members, frames and blocks that several threads decode give the same
# graph as one thread's decoder, and the report says what was used; `run` says what reading cost, and leaves out weights
# that the program ignores.
. "$(dirname "$0")/lib.sh"
for tool in gzip zstd xz; do
    command -v $tool >/dev/null || { echo "skip: $tool is not installed"; exit 77; }
done
for tool in gzip xz; do decodes $tool || exit 77; done

# has KEY VALUE: in the last report.
has() { contains "$(tr -d ' \n' <report.json)" "\"$1\":$2" "$1"; }

"$TANDEM" gen rmat --scale 13 --degree 12 --weights 1:9 -o graph.tg --quiet
"$TANDEM" convert graph.tg -o graph.txt --quiet
"$TANDEM" convert graph.txt -o wanted.tg --quiet
wanted=$(cksum <wanted.tg)
split -n l/8 graph.txt part.
for part in part.*; do gzip -c $part; done >members.txt.gz
for part in part.*; do zstd -q -c $part; done >frames.txt.zst
xz -0 --block-size=100000 -c graph.txt >blocks.txt.xz
gzip -c graph.txt >one.txt.gz
blocks=$(xz --robot -l blocks.txt.xz | awk '$1 == "file" { print $3 }')

# same FILE COMPRESSION PARALLEL: the same bytes by any decoder; with two threads so many members side by side.
same() {
    for decoder in "" sequential zlib sequential,zlib; do
        for threads in 1 2 5; do
            TANDEM_DECODER=$decoder succeeds convert $1 -o out.tg --threads $threads --json report.json
            equal "$(cksum <out.tg)" "$wanted" "$1 by '$decoder' with $threads threads"
            has compression "\"$2\""
            case $decoder,$threads in
            sequential*,* | *,1) has parallel_members 0 ;;
            *) has parallel_members $3 ;;
            esac
            has content_bytes $(wc -c <graph.txt)
        done
    done
}
same members.txt.gz gzip 8
if decodes zstd; then same frames.txt.zst zstd 8; fi
same blocks.txt.xz xz $blocks
same one.txt.gz gzip 0
TANDEM_DECODER=zlib succeeds convert one.txt.gz -o out.tg --json report.json
has decoder '"zlib"'
has members 1
succeeds convert graph.tg -o out.tg --json report.json
lacks "$(cat report.json)" reading 'a .tg is not read as text'
TANDEM_DECODER=fast fails 2 "TANDEM_DECODER is 'fast'; allowed are sequential, zlib, and both" \
    convert one.txt.gz -o no.tg

# Damage behind the first members is found, whichever thread meets it, and nothing is written.
head -c $(($(wc -c <members.txt.gz) * 3 / 4)) members.txt.gz >short.txt.gz
for threads in 1 2 5; do
    fails 1 "short.txt.gz: byte $(wc -c <short.txt.gz): the gzip stream is corrupt: truncated" \
        convert short.txt.gz -o no.tg --threads $threads
    [ ! -e no.tg ] && good || bad 'a damaged file left an output'
done

# run
succeeds run wcc members.txt.gz --json report.json --output wcc.tsv
contains "$err" "'tandem convert members.txt.gz -o members.tg' does that once, for later runs to load members.tg" \
    'what a .tg would have saved'
contains "$err" 'wcc ignores weights: those of the file were left out' 'weights that are not needed'
has weights_dropped true
has weights '"none"'
succeeds run wcc graph.tg --output kept.tsv
lacks "$err" 'reading and building' 'a .tg has nothing to say of text'
equal "$(cksum <wcc.tsv)" "$(cksum <kept.tsv)" 'with and without weights'
succeeds run sssp members.txt.gz --source 1 --json report.json
has weights_dropped false
has weights '"u8"'
mkdir state
rm report.json
succeeds run wcc members.txt.gz --checkpoint state --json report.json
has weights '"u8"'
succeeds run wcc members.txt.gz --weights 1:5 --json report.json
has weights_dropped false
err=$("$TANDEM" run bfs - --source 1 <graph.txt 2>&1)
contains "$err" "'tandem convert - -o graph.tg' does that once" 'standard input'
finish
