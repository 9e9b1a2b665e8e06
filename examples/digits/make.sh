#!/usr/bin/env bash
# make.sh FOLDER: a network that reads seven-segment digits, and the ten digits.
#
#      a        network.txt: an edge list with weights, "from to weight"
#     ---       digit-0.txt .. digit-9.txt: inputs, "neuron value"
#  f |   | b
#     -g-       neurons 1..7      segments a..g, 1 when lit
#  e |   | c    neuron  8         always 1
#     ---       neurons 100..109  one template for each digit
#      d        neurons 200..209  one answer for each digit
#
# A template adds 1 for each of its digit's segments that is lit, takes 1 away for
# each other segment that is lit, and has 1 - (segments of its digit) as a bias: in
# all 1 - (segments in which the picture and the digit differ). So the template of
# the nearest digit has the largest value. An answer takes twice its own template
# and a fifth of all others away, which keeps their order and widens the distance.
set -eu
folder=${1:?the folder to write to}
mkdir -p "$folder"
awk -v folder="$folder" '
    BEGIN {
        split("abcdef bc abdeg abcdg bcfg acdfg acdefg abc abcdefg abcdfg", lit, " ")
        network = folder "/network.txt"
        for (digit = 0; digit < 10; digit++) {
            segments = lit[digit + 1]
            inputs = folder "/digit-" digit ".txt"
            for (s = 1; s <= 7; s++) {
                on = index(segments, substr("abcdefg", s, 1)) > 0
                print s, 100 + digit, (on ? "1.0" : "-1.0") > network
                print s, on > inputs
            }
            print 8, 1 > inputs
            print 8, 100 + digit, (1 - length(segments)) ".0" > network
            for (other = 0; other < 10; other++)
                print 100 + other, 200 + digit, (other == digit ? "2.0" : "-0.2") > network
            close(inputs)
        }
    }'
