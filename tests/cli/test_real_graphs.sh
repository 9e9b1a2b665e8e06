#!/usr/bin/env bash
# Every graph of the folder of real graphs converts to the vertices and edges
# that the folder's own table states.
. "$(dirname "$0")/lib.sh"
need_graphs

# The rows of the table: name, file, vertices, edges.
rows=$(sed -n 's/^| [^|]* | \([^ |]*\) | \([0-9,]*\) | \([0-9,]*\) |.*/\1 \2 \3/p' "$data/README.md" | tr -d ,)
if [ "$(wc -l <<<"$rows")" -ge 20 ]; then good; else bad "the table has few rows: $rows"; fi
while read -r file vertices edges; do
    t convert "$data/$file" -o graph.tg --quiet --json
    if [[ $err == *'built without'* ]]; then
        skip "$file: $err"
        continue
    fi
    equal $status 0 "converting $file"
    equal "$(key vertices <<<"$out")" "$vertices" "vertices of $file"
    equal "$(key edges <<<"$out")" "$edges" "edges of $file"
    succeeds info graph.tg
done <<<"$rows"

# The same graph in several encodings.
digest() { "$TANDEM" convert "$data/formats/$1" -o graph.tg -q --json | key digest; }
equal "$(digest 4.gr)" "$(digest 4w.mtx)" 'DIMACS and Matrix Market'
edges() { "$TANDEM" convert "$data/formats/$1" -o - --to edgelist -q | grep -v '^#' | sort -n; }
shifted() { awk '{ $1++; $2++; print }' | sort -n; } # from 0 to from 1
equal "$(edges 4.el | shifted)" "$(edges 4.mtx)" 'edge list and Matrix Market'
equal "$(edges 4.wel | shifted)" "$(edges 4.gr)" 'weighted edge list and DIMACS'
finish
