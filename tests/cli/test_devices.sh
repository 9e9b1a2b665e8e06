#!/usr/bin/env bash
# `tandem devices` from outside: what it shows of real and of emulated devices.
. "$(dirname "$0")/lib.sh"

succeeds devices --largest 1M
contains "$out" 'read and written' 'the cpu is measured'
if [[ $out == *'gpu        none: '* ]]; then
    fails 1 "device 'cuda:0': " devices --devices cuda:0
else
    contains "$out" 'device memory, read' 'the GPU is measured'
fi
succeeds devices --largest 1M --json
contains "$out" '"gpus": [' 'the report lists GPUs'
if is_json <<<"$out"; then good; else bad "this is no JSON: $out"; fi

succeeds devices --devices cpu --largest 1M
if [[ $out == *multiprocessors* ]]; then bad 'only the cpu was asked for'; else good; fi

succeeds devices --devices emu:2
contains "$out" 'emu:0 ' 'emulated devices are listed'
contains "$out" 'emu:1 ' 'emulated devices are listed'
contains "$out" 'modelled' 'emulated devices are not measured'
if [[ $out == *'measured'* ]]; then bad 'only emulated devices were asked for'; else good; fi
succeeds devices --devices emu:2 --json
if is_json <<<"$out"; then good; else bad "this is no JSON: $out"; fi
contains "$out" '"modelled": {' 'the report says that figures are modelled'
succeeds devices --devices emu:2@dgx1
contains "$out" 'link to emu:1' 'links between those in the list are shown'
if [[ $out == *'link to emu:2'* ]]; then bad "links to devices outside the list: $out"; else good; fi
contains "$out" 'links, timed by copies' 'links are measured'
contains "$out" '25.00 2.00*' 'the rate and latency between the two, measured'
contains "$out" '11.00 8.00' 'the rate and latency from the host, measured'
succeeds devices --devices emu:8@dgx1 --json
if is_json <<<"$out"; then good; else bad "this is no JSON: $out"; fi
contains "$out" '"from": "emu:0", "to": "emu:7", "bytes_per_second": 9' 'GPUs without a link copy through the host'
contains "$out" '"from": "emu:0", "to": "emu:4", "bytes_per_second": 50' 'those with one copy over it'
contains "$out" '"from": "host", "to": "emu:7"' 'the host has a place'
succeeds devices --devices cpu --largest 1M
if [[ $out == *'links, timed'* ]]; then bad "links without GPUs: $out"; else good; fi
succeeds devices --devices emu --gpu-memory 64M
contains "$out" '64.0 MiB of its memory may be used' 'a budget is shown'

fails 2 "there is no device 'tpu'" devices --devices tpu
fails 2 "'cpu' and 'cpu' overlap" devices --devices cpu,cpu
fails 2 'the number of emulated devices' devices --devices emu:0
fails 2 '--gpu-memory' devices --gpu-memory lots
fails 2 '--gpu-memory 4K: 1.0 MiB to 4.0 EiB is allowed' devices --gpu-memory 4K
finish
