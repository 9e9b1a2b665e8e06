# `tandem info --partition`: fragments of a graph, their cut edges and mirrors.
. "$(dirname "$0")/lib.sh"

# What is wrong is said before the file is looked at, with what is allowed.
fails 2 "--partition: 'seg:0' asks for '0' fragments; allowed are 1 to 16" info nowhere.tg --partition seg:0
fails 2 "'17' fragments; allowed are 1 to 16" info nowhere.tg --partition seg:17
fails 2 "'2x' fragments; allowed are 1 to 16" info nowhere.tg --partition seg:2x
fails 2 "unknown partitioner 'foo'; allowed are seg, random and metis" info nowhere.tg --partition foo:2
fails 2 "'seg' has no number of fragments" info nowhere.tg --partition seg
fails 1 'nowhere.tg' info nowhere.tg --partition seg:2

# Half of a table of 64 columns and rows each: one row of 64 edges between them, in both directions.
succeeds gen grid --width 64 -o grid.tg --quiet
succeeds info grid.tg --partition seg:2
contains_all "$out" 'the table' 'seg:2' 'cut edges' 'mirrors' 'cut 0.79%, balance 1.000'
equal "$(awk '/^fragment 1/ { print $3, $4, $5, $6 }' <<<"$out")" '2,048 8,064 64 64' 'the second half of a grid'
equal "$(awk '/^all / { print $2, $3, $4, $5 }' <<<"$out")" '4,096 16,128 128 128' 'both halves'
narrow "$(sed -n '/^seg:2/,$p' <<<"$out")" 'the table'
lacks "$(cd .. && "$TANDEM" info "$folder/grid.tg")" 'mirrors' 'info without --partition'

# The report has the same figures; a text file gives those of the .tg.
succeeds info grid.tg --partition seg:2 --json
if is_json <<<"$out"; then good; else bad "no JSON: $out"; fi
contains_all "$out" 'the report' '"partitioner": "seg"' '"parts": 2' '"cut_edges": 128' '"mirrors": 128' '"balance": 1,' \
    '{"vertices": 2048, "edges": 8064, "cut_edges": 64, "mirrors": 64}'
fragments() { "$TANDEM" info "$@" --json | sed -n '/"fragments"/,/\]/p'; }
succeeds convert grid.tg -o grid.mtx --quiet
equal "$(fragments grid.mtx --partition random:5)" "$(fragments grid.tg --partition random:5)" 'a text file'
equal "$(fragments grid.tg --partition random:5 --threads 1)" "$(fragments grid.tg --partition random:5 --threads 3)" \
    'one thread and three'

# Graphs with fewer vertices than fragments, without edges, in one direction alone.
printf '1 2\n2 3\n' >tiny.txt
succeeds info tiny.txt --partition seg:16
equal "$(grep -c '^fragment' <<<"$out")" 16 'fragments of a tiny graph'
contains "$out" 'an edge counts in the lists of both of its ends' 'a directed graph'
succeeds info tiny.txt --partition random:3
printf '%%%%MatrixMarket matrix coordinate pattern general\n40 40 0\n' >none.mtx
succeeds info none.mtx --partition seg:2
contains "$out" 'cut 0.00%, balance 1.000' 'a graph without edges'
succeeds convert tiny.txt -o out.tg --out-only --quiet
succeeds info out.tg --partition seg:2

# A damaged file is found, where info alone reads no edge.
succeeds gen rmat --scale 12 -o damaged.tg --quiet
printf '\377\377\377\377' | dd of=damaged.tg bs=1 seek=100000 conv=notrunc status=none
fails 1 'damaged.tg' info damaged.tg --partition seg:4

# METIS, or its package.
t info grid.tg --partition metis:4 --json
if [[ $err == *'built without it'* ]]; then
    contains "$err" 'libmetis-dev' 'the package to install'
    skip 'Tandem was built without METIS'
elif [[ $err == *'cannot be loaded'* ]]; then
    contains "$err" 'libmetis5' 'the package to install'
    skip 'METIS is not installed'
else
    equal "$status" 0 "info --partition metis:4: $err"
    succeeds gen grid --width 64 --shuffle -o shuffled.tg --quiet
    cut() { "$TANDEM" info shuffled.tg --partition "$1" --json | sed -n 's/^    "cut_edges": \([0-9]*\),$/\1/p'; }
    if [ "$(cut metis:4)" -lt $(($(cut seg:4) / 4)) ]; then good; else bad "cut: metis $(cut metis:4), seg $(cut seg:4)"; fi
    equal "$(fragments grid.tg --partition metis:4)" "$(fragments grid.tg --partition metis:4 --threads 3)" 'METIS again'
    succeeds gen rmat --scale 12 -o rmat.tg --quiet
    fails 1 'METIS takes about' info rmat.tg --memory 4M --partition metis:4
fi
finish
