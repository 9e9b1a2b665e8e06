# The multi engine on slices of one emulated GPU: right results and no race, and no traffic over links, because the
# slices have one memory.
. "$(dirname "$0")/lib.sh"

succeeds gen rmat --scale 7 --degree 6 --weights 1:63 -o rmat.tg
succeeds gen grid --width 10 --weights 1:63 -o grid.tg
slices='--engine multi --devices emu:8@slices --quiet --verify'

for graph in rmat grid; do
    for program in 'bfs --source 1' 'sssp --source 1' labels kcore wcc mst pagerank; do
        succeeds run ${program%% *} $graph.tg $(sed 's/^[a-z]* *//' <<<"$program") $slices --json $graph.json
        contains "$(cat $graph.json)" '"name": "emu:0/8#0"' "the device of $program"
        contains "$(cat $graph.json)" '"peer_bytes": 0,' "memory of others accessed by $program"
        contains "$(cat $graph.json)" '"verified": "' "the result of $program on $graph"
    done
done

# An eighth of what is allowed is a slice's.
fails 1 'emu:0/8#' run bfs rmat.tg --source 1 $slices --gpu-memory 64K

finish
