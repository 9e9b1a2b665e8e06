# `tandem bench multi` on the emulator: every variant finds what the defaults and the cpu engine find, or the benchmark
# fails; virtual times are the same every time.
. "$(dirname "$0")/lib.sh"

fails 1 'nowhere.tg' bench multi nowhere.tg --devices emu:2 --quiet --json figures.json
fails 2 'and there is one' bench multi k7 --devices emu --quiet
only_files
succeeds bench multi k6 web6 --devices emu:3@dgx1 --trials 1 --threads 2 --json figures.json
for word in bfs sssp wcc pagerank 'resident, one of the GPUs' '1 GPU ' '2 GPUs' stealing=off ownership=off cost=uniform cost=model \
    loop_edges=0 'operations of the host' computing 'communication and starvation' packing 'deciding on the GPUs' \
    partition=random 'GPUs idle' 'edges stolen' '(virtual)' 'deciding, us'; do
    contains "$out" "$word" 'the table'
done
equal "$(grep -c '"variant": "defaults"' figures.json)" 8 'figures of the defaults'
equal "$(grep -c '"devices": "emu:2@dgx1"' figures.json)" 8 'figures of two GPUs'
equal "$(grep -c '"variant": "ownership=off"' figures.json)" 4 'figures of ownership=off, for bfs and sssp'
if command -v python3 >/dev/null || perl -MJSON::PP -e 1 2>/dev/null; then
    if is_json <figures.json; then good; else bad "no JSON: $(cat figures.json)"; fi
fi
narrow "$out" 'the table'
finish
