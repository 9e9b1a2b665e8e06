# What people try who have not read the help: each mistake is told apart, with what would be right, and costs nothing.
. "$(dirname "$0")/lib.sh"

succeeds gen rmat --scale 8 --degree 8 --weights 1:9 -o g.tg
before=$(cksum <g.tg)

# Words in another order.
fails 2 "unknown command 'sssp'; it is a program: tandem run sssp FILE" sssp g.tg
fails 2 "the program comes first: tandem run sssp g.tg" run g.tg sssp
fails 2 "'-q' is not a command; the command comes first, options after it" -q run wcc g.tg
fails 2 "unknown program 'frobnicate'; see 'tandem help programs'" run frobnicate g.tg
fails 2 "unknown kind of graph 'frobnicate'; see 'tandem help generators'" gen frobnicate -o x.tg
fails 2 "unknown format 'papyrus'; see 'tandem help formats'" convert g.tg -o x.tg --to papyrus
fails 2 'option -o FILE is missing: it names the output' convert g.tg

fails 2 '--set pagerank.damping is given twice' run pagerank g.tg --set pagerank.damping=0.5 --set pagerank.damping=0.6

# One page to look at, not two.
fails 2 "; see 'tandem help pagerank'" run pagerank g.tg --set pagerank.damping=2
if [[ $err == *"see 'tandem help run'"* ]]; then bad "two pages: $err"; else good; fi

# The input is never overwritten, however it is called.
ln g.tg link.tg
for name in g.tg ./g.tg link.tg; do
    fails 2 "--output $name is the input itself" run pagerank g.tg -o $name --quiet
    fails 2 "--trace $name is the input itself" run pagerank g.tg --trace $name --quiet
    fails 2 'would overwrite' run pagerank g.tg --json $name --quiet
    fails 2 'is the input itself' convert g.tg -o $name --to edgelist --quiet
done
rm link.tg
equal "$(cksum <g.tg)" "$before" 'the input'

# A vertex that is not there; a seed that cannot be; a text that is taken for something else.
fails 1 'vertex 256 is not in g.tg, whose ids lie between 0 and 255' run bfs g.tg --source 256 --quiet
fails 2 '--seed 18446744073709551615' gen rmat --scale 5 --seed 18446744073709551615 -o x.tg
printf '1\n' >one.txt
fails 1 '(it was taken for ' convert one.txt -o x.tg
contains "$err" '--format NAME decides' 'a file taken for something else'
fails 1 'one.txt:1: ' convert one.txt -o x.tg --format edgelist
absent x.tg

# Started without standard files, what is written goes where it should, and what cannot be written is an error.
"$TANDEM" convert g.tg -o wanted.wel --quiet
"$TANDEM" convert g.tg -o seen.wel 0<&- 1>&- 2>&-
equal $? 0 'convert without standard files'
if cmp -s wanted.wel seen.wel; then good; else bad 'convert without standard files writes something else'; fi
"$TANDEM" run wcc g.tg -o wanted.tsv --quiet
"$TANDEM" run wcc g.tg -o seen.tsv --verbose 0<&- 1>&- 2>&-
equal $? 0 'run without standard files'
if cmp -s wanted.tsv seen.tsv; then good; else bad 'run without standard files writes something else'; fi
for command in 'run wcc g.tg -o -' 'run wcc g.tg --top 3' 'run wcc g.tg --json' 'convert g.tg -o - --to edgelist' \
    'info g.tg' help; do
    "$TANDEM" $command 1>&- 2>.err
    equal $? 1 "'$command' without standard output"
    contains "$(cat .err)" 'cannot write standard output' "'$command' without standard output"
done
rm -f one.txt ./*.wel ./*.tsv
only_files g.tg
finish
