# Graphs from standard input, results to standard output: in a pipe the tool does what it does with files.
. "$(dirname "$0")/lib.sh"

# piped FILE ARGUMENTS: the tool with the file on a pipe; then as after `t`.
piped() { # FILE ARGUMENTS
    local file=$1
    shift
    cat "$file" | timeout "${TANDEM_TEST_SECONDS:-240}" "$TANDEM" "$@" >"$folder/.out" 2>"$folder/.err"
    status=$?
    out=$(cat "$folder/.out")
    err=$(cat "$folder/.err")
}
works() { # WHAT
    if [ $status -eq 0 ]; then good; else bad "$1 ends with $status: $err"; fi
}

succeeds gen rmat --scale 10 --degree 8 --weights 1:50 -o g.tg
for format in wel mtx wsg; do
    succeeds convert g.tg -o g.$format --quiet
    succeeds convert g.$format -o wanted.tg
    piped g.$format convert - -o seen.tg
    works "convert - of a .$format"
    contains "$err" 'standard input (' "what convert - of a .$format read"
    if cmp -s wanted.tg seen.tg; then good; else bad "convert - of a .$format gives another graph"; fi
done
piped g.tg convert - -o seen.tg --json report.json
works 'convert - of a .tg'
if cmp -s g.tg seen.tg; then good; else bad 'convert - of a .tg gives another graph'; fi
contains "$(cat report.json)" '"input": "standard input"' 'the report'
succeeds convert g.wel -o wanted.tg
gzip -k g.wel
if decodes gzip; then
    piped g.wel.gz convert - -o seen.tg
    works 'convert - of a compressed text'
    if cmp -s wanted.tg seen.tg; then good; else bad 'convert - of a compressed text gives another graph'; fi
fi
"$TANDEM" convert - -o seen.tg --quiet <g.wel || bad 'convert - of a file'
if cmp -s wanted.tg seen.tg; then good; else bad 'convert - of a file gives another graph'; fi
rm seen.tg wanted.tg g.mtx g.wsg g.wel.gz report.json

# A file that something else has read from goes on there, and is not overwritten.
printf '1 2\n2 3\n3 4\n' >part.txt
{
    read -r _
    "$TANDEM" convert - -o part.tg --quiet
} <part.txt || bad 'convert - of the rest of a file'
succeeds info part.tg --json --quiet
contains "$out" '"edges": 2' 'what was left of the file'
cp part.txt kept.txt
for command in 'run wcc - -o' 'convert - -o'; do
    "$TANDEM" $command part.txt --quiet <part.txt 2>.said && bad "$command over its own input"
    contains "$(cat .said)" 'is the input itself' "$command over its own input"
    if cmp -s part.txt kept.txt; then good; else bad "$command has overwritten its input"; fi
done
rm part.txt part.tg kept.txt .said

# Pipes of the tool's own; results to standard output.
succeeds run bfs g.tg --source 0 --output wanted.tsv --quiet
"$TANDEM" convert g.tg -o - --to edgelist --quiet | "$TANDEM" run bfs - --source 0 --output - --quiet >seen.tsv
if cmp -s wanted.tsv seen.tsv; then good; else bad 'bfs in a pipe gives another result'; fi
piped g.tg run bfs - --source 0 --output - --quiet
if cmp -s wanted.tsv .out; then good; else bad 'bfs of a .tg from a pipe gives another result'; fi
piped g.tg info - --check
works 'info -'
contains "$out" 'standard input' 'info -'
piped g.tg reorder - -o seen.tg
works 'reorder -'
succeeds info seen.tg --check
rm seen.tg seen.tsv wanted.tsv

# Little memory, and edges that stay on disk.
piped g.wel convert - -o seen.tg --memory 2M
works 'convert - with little memory'
rm seen.tg

# What is wrong is told of standard input, and nothing is left behind.
says() { # WORDS
    if [ $status -eq 1 ] && [[ $err == "tandem: $1"* ]] && [ "$(wc -l <.err)" -eq 1 ]; then good
    else bad "ends with $status: $err (not: $1)"; fi
}
printf '1 2\n2 x\n' >wrong.txt
piped wrong.txt convert - -o no.tg
says "standard input:2: the vertex id is 'x'"
piped /dev/null convert - -o no.tg
says 'standard input is empty'
"$TANDEM" convert - -o no.tg <. >.out 2>.err
status=$? err=$(cat .err)
says 'standard input is a directory'
"$TANDEM" convert - -o no.tg <&- >.out 2>.err
status=$? err=$(cat .err)
says 'cannot read standard input'
fails 1 '--temp nowhere' convert - -o no.tg --temp nowhere
fails 2 'unknown program' run frobnicate -
absent no.tg

# Ctrl-C while nothing comes.
mkfifo pipe
sleep 30 >pipe &
writer=$!
"$TANDEM" convert - -o no.tg <pipe >.out 2>.err &
reader=$!
sleep 0.3
kill -TERM $reader
began=$SECONDS
wait $reader
equal $? 1 'an interrupted convert -'
if [ $((SECONDS - began)) -lt 10 ]; then good; else bad 'an interrupted convert - waits for its input'; fi
kill $writer
wait $writer 2>/dev/null

# And so are warnings, and lines that tell.
printf '3 2\n2\n3\n\n' >one-way.metis
piped one-way.metis convert - --format metis -o seen.tg -q
works 'convert - of one-way METIS'
contains "$err" 'warning: standard input lists 2 neighbours for 2 edges' 'a warning about standard input'
lacks "$err" '/dev/' 'a warning about standard input'
printf '3 2 10\n5 2\n5 1 3\n5 2\n' >weighted.metis
piped weighted.metis run wcc - --format metis
works 'run - of METIS with vertex weights'
contains "$err" 'standard input: vertex weights and sizes are ignored' 'a line about standard input'
lacks "$err" '/dev/' 'a line about standard input'
rm pipe wrong.txt one-way.metis weighted.metis seen.tg
only_files g.tg g.wel
finish
