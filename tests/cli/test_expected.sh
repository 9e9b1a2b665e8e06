# What people expect of a tool: results that are kept or said not to be, CSV by suffix, names and columns, hints for the
# words of other tools, and file names that cannot command a terminal.
. "$(dirname "$0")/lib.sh"

succeeds gen rmat --scale 8 --degree 8 --weights 1:9 -o g.tg

# Where the result went.
kept='the result was not kept: add --top 10 to see its largest values, or --output FILE for all of it'
succeeds run wcc g.tg
contains "$err" "$kept" 'a run without output'
succeeds run wcc g.tg --top 1
lacks "$err" "$kept" '--top'
succeeds run wcc g.tg -o w.tsv
lacks "$err" "$kept" '--output'
lacks "$err" 'CUDA' 'a run without a GPU'

# CSV by suffix, and a line of column names on request.
succeeds run bfs g.tg -s 1 -o b.csv --quiet
equal "$(sed -n 2p b.csv)" '1,0' 'a .csv'
succeeds run bfs g.tg -s 1 -o b.tsv --quiet
equal "$(sed -n 2p b.tsv)" "$(printf '1\t0')" 'a .tsv'
succeeds run bfs g.tg -s 1 -o b.csv --output-format tsv --quiet
equal "$(sed -n 2p b.csv)" "$(printf '1\t0')" 'the format that was asked for'
succeeds run sssp g.tg -s 1 -o d.csv --header --parents --quiet
equal "$(head -1 d.csv)" 'vertex,distance,parent' 'a heading'
equal "$(wc -l <d.csv)" 257 'lines'
succeeds run mst g.tg -o m.tsv --header --quiet
equal "$(head -1 m.tsv)" "$(printf 'source\ttarget\tweight')" 'the heading of a forest'
fails 2 '--header has no effect without --output' run bfs g.tg -s 1 --header

# Names of vertices, from a file to its results.
printf 'source,target,weight\nBerlin,"New York",3\n"New York","L, A",2\nBerlin,Paris,1\n' >n.csv
succeeds convert n.csv -o n.tg --quiet
succeeds run sssp n.tg --source Berlin -o - --quiet
equal "$out" "$(printf 'Berlin\t0\n"L, A"\t5\n"New York"\t3\nParis\t1')" 'distances by name'
succeeds run sssp n.tg --source 'New York' --top 1 --quiet
contains "$out" 'L, A' 'the top by name'
succeeds run wcc n.tg -o - --output-format csv --order random --quiet
equal "$(sort <<<"$out")" "$(printf '"L, A",Berlin\n"New York",Berlin\nBerlin,Berlin\nParis,Berlin')" 'groups by name'
succeeds run bfs n.tg --source Paris --engine hybrid --memory 20M -o - --quiet
equal "$(tail -1 <<<"$out")" "$(printf 'Paris\t0')" 'names of a graph on disk'
succeeds run bfs n.tg --source Paris --json named.json --quiet
contains "$(cat named.json)" '"source_name": "Paris"' 'the report of a run from a name'
fails 1 'one vertex is given by --source, several with commas' run bfs n.tg --sources Paris --quiet
printf 'Berlin 1\nParis 3\n' >seeds.txt
succeeds run pagerank n.tg --set pagerank.personal=seeds.txt --top 1 --quiet
contains "$out" 'Paris' 'files of values by name'
fails 1 "vertex 'Rome' is not in n.tg" run bfs n.tg -s Rome --quiet
fails 2 "'Rome' is not a whole number" run bfs g.tg -s Rome --quiet
succeeds info n.tg
contains "$out" "names, from 'Berlin' to 'Paris'" 'info'
succeeds convert n.tg -o back.csv --quiet
succeeds convert back.csv -o again.tg --quiet
if cmp -s n.tg again.tg; then good; else bad 'names do not survive a text file'; fi
succeeds convert n.tg -o out.tg --out-only --memory 120M --quiet
succeeds info out.tg
contains "$out" "names, from 'Berlin' to 'Paris'" 'a graph that was rebuilt'

# Columns.
printf 'when,a,b,km\n9,1,2,5\n9,2,3,6\n' >c.csv
succeeds run sssp c.csv --columns _,source,target,weight -s 1 -o - --quiet
equal "$out" "$(printf '1\t0\n2\t5\n3\t11')" 'columns'
succeeds info c.csv --columns _,source,target,_
succeeds reorder c.csv -o c.tg --columns _,source,target,_ --quiet
fails 2 "--columns source,x: 'x' is none of source, target, weight and _" convert c.csv -o x.tg --columns source,x
fails 2 '--columns is for edge lists' convert g.tg -o x.tg --columns source,target
fails 2 '--columns is for edge lists' info g.tg --columns source,target

# A word where edges have their weights is one of a heading, whatever its language.
printf 'von,nach,km\nRom,Ulm,5\nUlm,Bonn,6\n' >km.csv
succeeds run sssp km.csv -s Rom -o - --quiet
equal "$out" "$(printf 'Bonn\t11\nRom\t0\nUlm\t5')" 'names under a heading of other words'
printf 'am,von,nach,km\n9,Rom,Ulm,5\n9,Ulm,Bonn,6\n' >days.csv
succeeds run sssp days.csv --columns _,source,target,weight -s Rom -o - --quiet
equal "$out" "$(printf 'Bonn\t11\nRom\t0\nUlm\t5')" 'columns of names under such a heading'
printf 'Rom,Ulm,5\nUlm,Bonn,6\n' >bare.csv
succeeds run sssp bare.csv -s Rom -o - --quiet
equal "$out" "$(printf 'Bonn\t11\nRom\t0\nUlm\t5')" 'names without a heading'
printf '1 2 4294967296\n' >wide.txt
fails 1 'and --weights f64 allows 2^53' run sssp wide.txt -s 1 --quiet

# A process substitution is read like standard input.
"$TANDEM" convert g.tg -o g.wel --quiet
"$TANDEM" run wcc <(cat g.wel) --top 1 --quiet >one
equal $? 0 'a process substitution'
equal "$(cat one)" "$("$TANDEM" run wcc g.tg --top 1 --quiet)" 'its result'

# The words of other tools.
fails 2 "unknown program 'pr' (did you mean 'pagerank'?)" run pr g.tg
fails 2 "unknown program 'cc' (did you mean 'wcc'?)" run cc g.tg
fails 2 'there is no program for strongly connected components; wcc finds the weakly connected ones' run scc g.tg
fails 2 "unknown command 'stats' (did you mean 'info'?)" stats g.tg
fails 2 "unknown command 'generate' (did you mean 'gen'?)" generate rmat -o x.tg

# Advice never destroys: weights that are missing are not to be drawn at random where 1 is meant.
printf '1 2\n2 3\n' >plain.txt
fails 1 '--weights 1:1 makes every weight 1' run sssp plain.txt -s 1 --quiet
succeeds run sssp plain.txt -s 1 --weights 1:1 -o - --quiet
equal "$out" "$(printf '1\t0\n2\t1\n3\t2')" 'the advice'

# File names with escape sequences and line ends are masked wherever they are printed.
name=$(printf 'x\033[31mred\nline\302\2331m.tg')
masked='x?[31mred?line??1m.tg'
cp g.tg "$name"
for command in "info|$name" "run|wcc|$name" "convert|$name|-o|y$name" "info|no$name" "run|wcc|no$name" \
    "convert|g.tg|-o|no$name/z.tg" "run|$name|g.tg" "run|wcc|g.tg|--json|no$name/j" "$name"; do
    IFS='|' read -rd '' -a words <<<"$command|"
    unset 'words[-1]'
    t "${words[@]}"
    contains "$out$err" "$masked" "${words[0]}"
    if grep -q $'\033\|\302\233' .out .err; then bad "a raw name: $(cat -v .out .err)"; else good; fi
done

# A file that becomes shorter while it is read is an error that names it, whatever it is read for.
"$TANDEM" gen rmat --scale 17 --degree 12 -o large.tg --quiet
"$TANDEM" convert large.tg -o large.txt --quiet
shrink() { # FILE BYTES COMMAND: the file is cut while the command reads it; several times, because it may be too late
    local file=$1 bytes=$2 delay seen=0
    shift 2
    for delay in 0.01 0.03 0.06 0.1; do
        cp "large.${file##*.}" "$file"
        timeout 240 "$TANDEM" "$@" --threads 1 >.out 2>.err &
        sleep $delay
        truncate -s "$bytes" "$file"
        wait $!
        status=$?
        if [ $status -gt 1 ]; then bad "'tandem $*' ends with $status: $(cat .err)"; else good; fi
        if [ $status -eq 1 ]; then contains "$(cat .err)" "$file" "'tandem $*'"; fi
    done
}
shrink s.txt 5000 convert s.txt -o s.out.tg
shrink s.txt 100000 run wcc s.txt
shrink s.tg 300000 info s.tg --check

# Names that are words of a heading are names in Tandem's own files, and a heading that is skipped is told.
printf 'a v\nv u\nu a\n' >words.txt
succeeds convert words.txt -o words.tg
succeeds convert words.tg -o back.txt
succeeds convert back.txt -o back.tg
succeeds info back.tg
contains "$out" '3 directed' 'names that look like a heading'
printf 'source target\nann bob\n' >headed.txt
succeeds convert headed.txt -o headed.tg
contains "$err" 'taken for a heading' 'a heading of names'
finish
