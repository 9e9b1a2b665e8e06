# Orders of vertices on the command line: `tandem reorder`, and --order of gen, convert and run.
. "$(dirname "$0")/lib.sh"

# What is wrong is said before any work, with what is allowed.
list='allowed are none, hot, indegree, random, rcm, gorder and bisect'
fails 2 "unknown order 'warm'; $list" reorder a -o b.tg --by warm
fails 2 "unknown order 'HOT'; $list" convert a -o b.tg --order HOT
fails 2 "unknown order 'ho'; $list" gen path --vertices 3 -o b.tg --order ho
fails 2 "unknown order 'degree'; $list" run bfs a --source 1 --order degree
fails 2 'option -o FILE is missing' reorder a
fails 2 "--seed has no effect without --weights or --order" run wcc a --seed 3
fails 1 'nowhere.tg' reorder nowhere.tg -o b.tg
fails 2 "the graph and --json cannot both go to" reorder a.tg -o b.tg --json b.tg
fails 2 "would overwrite" reorder a.tg -o b.tg --json a.tg
only_files

# The edges, sorted: what an order must not change.
edges() { "$TANDEM" convert "$1" -o - --to edgelist --quiet | grep -v '^#' | sort; }
checksum() { "$TANDEM" info "$1" --json - --quiet | key checksum; }

printf '%s\n' '10 20 5' '20 30 1' '40 20 2' '30 20 7' '20 50 3' '40 50 1' '50 50 1' >hand.txt
succeeds convert hand.txt -o plain.tg
for order in none hot indegree random rcm gorder bisect; do
    succeeds reorder plain.tg -o $order.tg --by $order --seed 5
    succeeds info $order.tg --check
    equal "$(edges $order.tg)" "$(edges plain.tg)" "edges by $order"
    succeeds convert hand.txt -o converted.tg --order $order --seed 5
    equal "$(checksum converted.tg)" "$(checksum $order.tg)" "convert --order $order and reorder"
done
equal "$(checksum none.tg)" "$(checksum plain.tg)" 'the order none'
for order in hot indegree random rcm gorder; do
    if [ "$(checksum $order.tg)" != "$(checksum plain.tg)" ]; then good; else bad "$order changes nothing"; fi
done
succeeds reorder plain.tg -o default.tg
equal "$(checksum default.tg)" "$(checksum hot.tg)" 'the default order'
succeeds reorder plain.tg -o plain.tg --by hot
equal "$(checksum plain.tg)" "$(checksum hot.tg)" 'a file reordered in its place'

# Results are by original id, in whatever order; lines come in the file's.
succeeds gen rmat --scale 10 --weights 1:100 -o g.tg
for program in 'bfs --source 3' 'sssp --source 3'; do
    succeeds run $program g.tg --verify -o plain.tsv
    for order in hot indegree random rcm gorder bisect; do
        succeeds run $program g.tg --order $order --seed 9 --verify -o ordered.tsv
        equal "$(sort ordered.tsv | cksum)" "$(sort plain.tsv | cksum)" "$program --order $order"
    done
done

# Nor does an order choose other defaults or names: the first and last vertex, components and ties go by the ids.
digest() { "$TANDEM" run "$@" --quiet --json - | key digest; }
table() { "$TANDEM" run "$@" --quiet --top 9; }
printf '%s\n' '907 31 4' '31 560 9' '560 907 2' '560 12 7' '880 45 3' '45 777 6' '777 880 8' '31 12 5' >names.txt
for program in wcc labels kcore mst; do
    wanted=$(digest $program names.txt) top=$(table $program names.txt)
    for order in hot indegree random rcm gorder bisect; do
        equal "$(digest $program names.txt --order $order)" "$wanted" "the digest of $program --order $order"
        equal "$(table $program names.txt --order $order)" "$top" "$program --top --order $order"
        succeeds reorder names.txt -o names.tg --by $order
        equal "$(digest $program names.tg)" "$wanted" "the digest of $program on a file ordered by $order"
    done
done
for program in adsorption heat circuit; do
    "$TANDEM" run $program names.txt --quiet --iterations 7 -o - | sort | sed 's/\(\.[0-9]\{5\}\)[0-9]*/\1/' >plain.tsv
    for order in hot indegree random rcm gorder bisect; do
        "$TANDEM" run $program names.txt --quiet --iterations 7 --order $order -o - | sort |
            sed 's/\(\.[0-9]\{5\}\)[0-9]*/\1/' >ordered.tsv
        equal "$(cat ordered.tsv)" "$(cat plain.tsv)" "$program --order $order"
    done
done

# Programs that do not look at weights do not care that they differ between the directions.
printf '%s\n' '1 2 5' '2 1 6' '2 3 1' '3 2 2' '3 1 9' '1 3 8' '3 4 1' '4 3 7' '1 2 3' '2 1 3' >apart.txt
wanted=$(digest kcore apart.txt --drop-weights)
equal "$(digest kcore apart.txt)" "$wanted" 'cores of a text'
succeeds convert apart.txt -o inside.tg
equal "$(digest kcore inside.tg)" "$wanted" 'cores of a .tg'
equal "$(digest kcore inside.tg --engine hybrid)" "$wanted" 'cores of a .tg on hybrid'
for engine in resident stream coop; do
    equal "$(digest kcore apart.txt --engine $engine --devices emu)" "$wanted" "cores on $engine"
done

succeeds run pagerank g.tg --order hot --verify --json
contains "$out" '"order": "hot"' 'the order in the report'
if [[ $err == *'prepare '*' s of it to reorder)'* ]]; then good; else bad "run --order tells: $err"; fi
if [ -n "$(key reorder_seconds <<<"$out")" ]; then good; else bad 'run --json has no reorder_seconds'; fi
contains "$out" '"reorder":' 'the time to reorder among the times'
succeeds run wcc g.tg --order indegree --trace trace.json
contains "$(cat trace.json)" '"reorder"' 'reordering in the trace'

# gen orders what it made; all say so in their reports.
succeeds gen rmat --scale 10 --weights 1:100 -o ordered.tg --order indegree --json
equal "$(key order <<<"$out")" indegree 'the order of gen'
succeeds reorder g.tg -o again.tg --by indegree --json
equal "$(key order <<<"$out")" indegree 'the order of reorder'
equal "$(checksum again.tg)" "$(checksum ordered.tg)" 'gen --order and reorder'
succeeds convert g.tg -o out.tg --out-only --order hot --json
equal "$(key order <<<"$out")" hot 'the order of convert'
equal "$(edges out.tg)" "$(edges g.tg)" 'a reordered graph without in-adjacency'
succeeds info out.tg --check

# The random order depends on the seed, not on the threads.
succeeds reorder g.tg -o one.tg --by random --seed 1 --threads 1
succeeds reorder g.tg -o two.tg --by random --seed 1 --threads 2
succeeds reorder g.tg -o other.tg --by random --seed 2
equal "$(checksum two.tg)" "$(checksum one.tg)" 'one seed, two numbers of threads'
if [ "$(checksum other.tg)" != "$(checksum one.tg)" ]; then good; else bad 'another seed, the same order'; fi

# Nor does any other order.
succeeds gen rmat --scale 13 --degree 16 -o big.tg --quiet
for order in hot indegree rcm; do
    succeeds reorder big.tg -o one.tg --by $order --threads 1
    succeeds reorder big.tg -o two.tg --by $order --threads 3
    equal "$(checksum two.tg)" "$(checksum one.tg)" "$order by one thread and by three"
done

finish
