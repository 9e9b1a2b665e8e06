#!/usr/bin/env bash
# The coop engine through the tool, with an emulated GPU: what it reports, what it says and what it refuses.
. "$(dirname "$0")/lib.sh"

succeeds gen rmat --scale 8 --degree 8 --weights 1:50 --seed 3 -o g.tg
coop='--engine coop --devices emu@unchecked --gpu-edges 25%'

succeeds run sssp g.tg --source 1 $coop --set coop.invoke=always --set coop.piece=1 --verify --json one.json --quiet
for word in '"engine": "coop"' '"edges_gpu"' '"edges_link"' '"edges_cpu"' '"edges_on_demand"' '"bytes_synchronised"' \
    '"gpu_idle_seconds"' '"cpu_idle_seconds"' '"coop.order": "auto"' '"coop.invoke": "always"' '"verified": "'; do
    contains "$(cat one.json)" "$word" 'the report'
done
succeeds run pagerank g.tg $coop --set coop.invoke=always --set coop.piece=1 --iterations 3
contains "$err" 'GPU over the link' 'who did what'
contains "$err" '3 of 3 iterations with the GPU' 'who did what'

# Checkpoints go from engine to engine.
mkdir saved saved2 saved3
succeeds run pagerank g.tg $coop --set coop.invoke=always --iterations 4 --checkpoint saved --every 1 --quiet
succeeds run pagerank g.tg --engine cpu --iterations 9 --resume saved --quiet --verify
succeeds run sssp g.tg --source 1 --engine cpu --iterations 2 --checkpoint saved2 --every 1 --quiet
succeeds run sssp g.tg --source 1 $coop --iterations 50 --set coop.invoke=always --resume saved2 --quiet --verify

# Without the GPU, and with sinks put off.
succeeds run sssp g.tg --source 1 $coop --iterations 50 --verify --quiet
succeeds run sssp g.tg --source 1 $coop --iterations 6 --set coop.invoke=never --quiet
for program in nn adsorption 'pagerank --set pagerank.dangling=ignore'; do
    succeeds run $program g.tg $coop --set coop.invoke=always --set coop.sinks=defer --verify --quiet
done
fails 2 'which a checkpoint cannot represent' run adsorption g.tg $coop --quiet --set coop.sinks=defer --checkpoint saved3
for memory in 48K 50K 52K 56K 60K 70K; do
    succeeds run sssp g.tg --source 1 --engine coop --devices emu@unchecked --gpu-memory $memory \
        --set coop.invoke=always --verify --quiet
done

# Who runs instead.
succeeds run mst g.tg $coop
contains "$err" 'the CPU runs it alone' 'mst'
succeeds run bfs g.tg --source 1 --engine coop --devices emu@unchecked
contains "$err" 'the resident engine runs it' 'a graph that fits'
# 8K are the lists of one direction.
succeeds run bfs g.tg --source 1 --engine coop --devices emu@unchecked --gpu-edges 8K --json --quiet
contains "$out" '"engine": "coop"' 'a cap that the resident engine, with both directions, would not keep'
succeeds run bfs g.tg --source 1 --engine coop --devices emu@unchecked --gpu-edges 0.001%
contains "$err" 'the CPU runs it alone' 'a cap that fits nothing'
succeeds gen k14 -o k14.tg
succeeds run pagerank k14.tg --engine coop --devices emu@unchecked --gpu-edges 97% --iterations 2 --set coop.link=off
contains "$err" '2 of 2 iterations with the GPU' 'without the link, by rates that are not known yet'
succeeds run pagerank g.tg $coop --set coop.invoke=never --json --quiet
contains "$out" '"engine": "cpu"' 'who ran'
contains "$out" '"coop.invoke": "never"' 'whose settings they were'

# What is refused.
fails 2 'vertexedge|vertex|random' run bfs g.tg --source 1 $coop --quiet --set coop.extract=some
fails 2 'coop.invoke=paper' run bfs g.tg --source 1 $coop --quiet --set coop.tau=5
fails 2 'needs a GPU' run bfs g.tg --source 1 --engine coop --devices cpu --quiet
succeeds help coop
for word in order extract on_demand link compress invoke tau theta piece delta sinks; do
    contains "$out" "coop.$word" 'help coop'
done
finish
