#!/usr/bin/env bash
# Results against references that others computed: the LDBC Graphalytics examples
# under that benchmark's own rules (levels exact, components up to renaming, ranks
# and distances within 1e-4), and the distances of ego-Twitter from vertex 4.
. "$(dirname "$0")/lib.sh"

data=${TANDEM_SHARED_DATA:-}
if [ ! -d "$data/graphalytics" ]; then
    echo 'skip: the folder of real graphs is absent (TANDEM_SHARED_DATA)'
    exit 77
fi

# The value of a parameter in a graph's properties.
property() { sed -n "s/^graph\.$1\.$2 = //p" "$data/graphalytics/$1.properties"; }

# near A B: two files of "id value" agree within 1e-4, relative; infinities are equal.
near() {
    awk 'function infinite(x) { return tolower(x) ~ /^inf/ }
         NR == FNR { wanted[$1] = $2; count++; next }
         !($1 in wanted) { bad = 1; next }
         { seen++; w = wanted[$1]; d = $2 - w; size = w < 0 ? -w : w }
         infinite(w) || infinite($2) { if (infinite(w) != infinite($2)) bad = 1; next }
         (d < 0 ? -d : d) > 1e-4 * size { bad = 1 }
         END { exit bad || seen != count }' "$1" "$2"
}

# renamed A B: the same groups, whatever they are called.
renamed() {
    awk 'NR == FNR { group[$1] = $2; next }
         ($2 in to) && to[$2] != group[$1] { bad = 1 }
         (group[$1] in from) && from[group[$1]] != $2 { bad = 1 }
         { to[$2] = group[$1]; from[group[$1]] = $2; seen++ }
         END { exit bad || seen == 0 }' "$1" "$2"
}

agree() { # RULE REFERENCE SEEN
    if "$1" "$2" "$3"; then good; else bad "${2##*/} differs"; fi
}

# So that the rules themselves can fail.
printf '1 5\n2 5\n3 6\n' >a
printf '1 7\n2 7\n3 7\n' >b
if renamed a b || renamed b a || near a b; then bad 'the comparison sees no difference'; else good; fi

for graph in example-directed example-undirected; do
    input=$data/graphalytics/$graph
    for threads in 1 2 8; do
        for mode in --sync --async; do
            run() {
                succeeds run "$@" "$input.properties" --threads $threads --verify -o out --output-format graphalytics
            }
            run bfs $mode --source "$(property $graph bfs.source-vertex)"
            agree cmp "$input-BFS" out
            run sssp $mode --source "$(property $graph sssp.source-vertex)"
            agree near "$input-SSSP" out
            if [ $mode = --sync ]; then run wcc && agree renamed "$input-WCC" out; fi
            run labels $mode
            agree renamed "$input-WCC" out
        done
        run pagerank --iterations "$(property $graph pr.num-iterations)" \
            --set pagerank.damping="$(property $graph pr.damping-factor)"
        agree near "$input-PR" out
    done
done

# Vertex 0 of the reference is no vertex of the graph; unreached ones are 1.79769e+308 there.
succeeds run sssp "$data/ego-Twitter.tsv.xz" --source 4 --verify -o twitter.tsv
if [ $status -eq 0 ] && xz -dc "$data/reference/ego-Twitter-SSSP-source4.tsv.xz" >reference.tsv 2>/dev/null; then
    awk '$1 != 0 { print $1, ($2 >= 1e308 ? "inf" : $2) }' reference.tsv >wanted
    agree near wanted twitter.tsv
else
    skip 'ego-Twitter: cannot be decompressed here'
fi
finish
