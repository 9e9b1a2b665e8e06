#!/usr/bin/env bash
# read.sh TANDEM FOLDER INPUTS: the digit that the network in FOLDER (see make.sh)
# sees in a file of inputs.
set -eu
tandem=$1 folder=$2 inputs=$3
"$tandem" run nn "$folder/network.txt" --set nn.inputs="$inputs" --output - --quiet |
    awk '$1 >= 200 && (best == "" || $2 > largest) { best = $1 - 200; largest = $2 } END { print best }'
