#!/usr/bin/env bash
# What a plan must not lose when an engine hands it over, or uses one GPU of several: wrong settings are refused whether
# or not the graph fits on the GPU, and the plan says why another engine runs. And a benchmark of a graph whose two
# directions differ in weights alone, with ids of its own.
source "$(dirname "$0")/lib.sh"
succeeds gen rmat --scale 8 --degree 8 --weights 1:50 --seed 3 -o g.tg
gpu="--devices emu@unchecked"
fails 2 'coop.invoke=paper' run pagerank g.tg --engine coop $gpu --quiet --set coop.tau=5
fails 2 'uses a random order' run pagerank g.tg --engine coop $gpu --quiet --set coop.order=hot \
    --set coop.extract=random
fails 2 'limit on iterations' run sssp g.tg --source 1 --iterations 3 --engine coop $gpu --quiet --set coop.delta=5
fails 2 'limit on iterations' run sssp g.tg --source 1 --iterations 3 --engine stream $gpu --quiet --set stream.delta=5
succeeds run kcore g.tg --engine coop $gpu
contains "$err" 'coop cannot divide its iterations' 'why the CPU runs it'
succeeds run pagerank g.tg --iterations 2 --engine coop $gpu
contains "$err" 'the resident engine runs it' 'why the resident engine runs it'
succeeds run pagerank g.tg --iterations 2 --engine hybrid --devices emu:2@unchecked --set hybrid.use=gpu
contains "$err" 'the hybrid engine uses one GPU' 'one GPU of two'
for ((v = 0; v < 60; v++)); do printf '%d %d 3\n%d %d 7\n' $((v * 5 + 2)) $((v * 5 + 7)) $((v * 5 + 7)) $((v * 5 + 2)); done >pattern.txt
succeeds convert pattern.txt -o pattern.tg
TANDEM_TEST_SECONDS=120 succeeds bench cpu pattern.tg --trials 1
finish
