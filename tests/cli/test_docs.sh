# Command lines that people copy: those of the README, of the documentation's pages and of the help work as they stand,
# but for graphs that are smaller here, GPUs that are emulated and disks that are folders. What the tour shows of a
# run is what the run says.
top=$(cd "$(dirname "$0")/../.." && pwd)
tour=docs/guide/running.md
. "$(dirname "$0")/lib.sh"
export XDG_DATA_HOME=$folder/data

# The graphs that the pages take for granted.
mkdir disk1 disk2 disk3 disk1/graphs disk2/graphs disk3/graphs
succeeds gen web --scale 10 --degree 8 -o edges.txt
gzip -kc edges.txt >web.txt.gz
succeeds gen grid --width 20 --height 20 -o small.txt
awk '/^[0-9]/ { n++; a[n] = "a " $1 + 1 " " $2 + 1 " " $3; m = $1 + 1 > m ? $1 + 1 : m }
     END { print "p sp", m, n; for (i = 1; i <= n; i++) print a[i] }' small.txt >USA-road-d.NY.gr
gzip -kc USA-road-d.NY.gr >road.gr.gz
cp USA-road-d.NY.gr road.gr
cp edges.txt social.el
cp edges.txt web.txt
printf 'day,from,to,km\n1,7,8,2.5\n2,8,9,4\n' >trips.csv
if command -v xz >/dev/null; then xz -c edges.txt >soc-Epinions1.txt.xz; else cp edges.txt soc-Epinions1.txt.xz; fi

# Lines that go on behind a backslash are one.
joined() { sed -e ':join' -e '/\\$/ { N; s/ *\\\n */ /; b join' -e '}' "$1"; }

# A line as a page has it -> as it runs here.
smaller() {
    sed -E -e 's/^ *(\$ )?//' -e 's/  +#.*$//' -e 's/ # goes on$//' \
        -e 's/--scale [12][0-9]/--scale 11/' -e 's/gen [ku]2[0-9]/gen k10/' -e 's/--width 1?000/--width 50/' \
        -e 's/--memory 25%/--memory 12M/' \
        -e '/calibrate|--engine multi/s/cuda:0[^ ]*/emu:2@unchecked/g' -e 's/calibrate --dev/calibrate --size small --dev/' \
        -e 's/cuda:0(\/[0-9]+(#[0-9]+)?)?/emu@unchecked/g' -e 's/--devices emu( |$)/--devices emu@unchecked\1/' \
        -e 's/--gpu-memory 8G/--gpu-edges 25% --devices emu@unchecked/' -e 's#/disk#disk#g' \
        -e 's/edges.txt.zst/edges.txt/'
}

# Files that no page makes: those of others are made here before they are used.
provide() { # COMMAND
    local file
    for file in g.tg road.tg web.tg big.tg large.tg; do
        if [[ $1 != *$file* ]] || [ -e $file ] || [[ $1 == *"-o $file"* ]]; then continue; fi
        "$TANDEM" gen rmat --scale 11 --degree 16 --weights 1:100 -o $file --quiet
    done
    if [[ $1 == *'--resume state'* || $1 == *'--checkpoint state'* ]]; then mkdir -p state; fi
}

obey() { # WHERE COMMAND
    local where=$1 command=$2
    provide "$command"
    if [[ $command == *'--resume state'* ]] && ! ls state/*.tdck >/dev/null 2>&1; then
        "$TANDEM" run pagerank "$(grep -o '[a-z]*\.tg' <<<"$command")" --checkpoint state --every 1 --quiet
    fi
    PATH=$(dirname "$TANDEM"):$PATH timeout "${TANDEM_TEST_SECONDS:-240}" bash -o pipefail -c "$command" \
        >.out 2>.err </dev/null
    status=$?
    if [ $status -eq 0 ]; then good; else bad "$where: '$command' ends with $status: $(tail -2 .err)"; fi
}

# Page by page, each in the order it has.
pages=$(cd "$top" && echo README.md docs/guide/*.md docs/design/*.md)
commands=0
for page in $pages; do
    rm -rf state
    while read -r command; do
        commands=$((commands + 1))
        obey "$page" "$command"
    done < <(joined "$top/$page" | grep -E '^    (\$ )?(tandem [a-z]|[a-z]+ [^|]*\|.*tandem [a-z])' |
        grep -v 'PROGRAM FILE' | smaller)
done

# The README's first table.
while read -r command; do
    commands=$((commands + 1))
    obey README.md "$command"
done < <(sed -n 's/^| .* | `\(tandem [a-z].*\)` |$/\1/p' "$top/README.md" | smaller)
if [ $commands -gt 30 ]; then good; else bad "only $commands command lines were found"; fi

# What the tour pipes through is the whole graph, vertices without edges too.
printf '3 1\n2\n1\n\n' >few.metis
"$TANDEM" convert few.metis -o - --to edgelist --quiet | gzip >web.txt.gz
succeeds convert web.txt.gz -o wanted.tg
obey $tour "$(grep -m 1 '^    \$ zcat web.txt.gz |' "$top/$tour" | smaller)"
if cmp -s wanted.tg web.tg; then good; else bad 'what the tour pipes through is another graph'; fi
gzip -kc edges.txt >web.txt.gz

# The examples of the help.
for command in gen convert reorder info run report; do # devices and bench take their time, and have tests of their own
    rm -rf state ./*.tg
    while read -r example; do obey "help $command" "$example"
    done < <("$TANDEM" help $command | sed -n '/^Examples\{0,1\}$/,/^$/s/^  \(.*tandem .*\)/\1/p' | smaller)
done

# What the tour shows of a run and of a graph: numbers apart, every line of it is said.
succeeds gen grid --width 1000 --height 800 -o road.tg
t run sssp road.tg --source 0 --verify --output distances.tsv --engine cpu
said=$(sed -E 's/\([a-z ]+\)/(...)/; s/[0-9][0-9,.e-]*/N/g; s/[KMG]iB/B/g' <<<"$err")
while read -r line; do
    contains "$said" "$(sed -E 's/[0-9][0-9,.e-]*/N/g; s/[KMG]iB/B/g' <<<"$line")" 'what the tour shows of a run'
done < <(sed -n 's/^    \(tandem: .*\)/\1/p' "$top/$tour")
contains "$err" '800,000 vertices, 3,196,400 edges, weights u8 20..195, symmetric' "the tour's graph"
contains "$err" 'the farthest at distance 152049' "the tour's result"
"$TANDEM" gen rmat --scale 20 --degree 16 --weights 1:100 --seed 7 -o g.tg --quiet
succeeds info g.tg
while read -r line; do contains "$out" "$line" 'what the tour shows of a graph'
done < <(sed -n '/^    \$ tandem info g.tg/,/^$/s/^    \([a-z0-9].*\)$/\1/p' "$top/$tour" |
    sed 's/ *[█▉▊▋▌▍▎▏].*//')
finish
