#!/usr/bin/env bash
# The example network reads every digit, and every picture with one wrong segment
# that only one digit is nearest to.
example=$(cd "$(dirname "$0")/../../examples/digits" && pwd)
. "$(dirname "$0")/lib.sh"
"$example/make.sh" net

reads() { # INPUTS WANTED WHAT
    equal "$("$example/read.sh" "$TANDEM" net "$1")" "$2" "$3"
}

pattern() { awk '$1 <= 7 { printf "%d", $2 }' "$1"; }

# How many digits differ from a pattern in fewer than two segments.
near() { # PATTERN
    local digit s differ count=0
    for digit in {0..9}; do
        differ=0
        for s in {0..6}; do [ "${1:s:1}" = "${patterns[digit]:s:1}" ] || differ=$((differ + 1)); done
        [ $differ -ge 2 ] || count=$((count + 1))
    done
    echo $count
}

patterns=()
for digit in {0..9}; do patterns+=("$(pattern net/digit-$digit.txt)"); done
equal "$(printf '%s\n' "${patterns[@]}" | sort -u | wc -l)" 10 'different pictures'

noisy=0
for digit in {0..9}; do
    reads net/digit-$digit.txt $digit "digit $digit"
    for segment in {1..7}; do
        awk -v s=$segment '$1 == s { $2 = 1 - $2 } { print }' net/digit-$digit.txt >noisy.txt
        [ "$(near "$(pattern noisy.txt)")" -eq 1 ] || continue
        noisy=$((noisy + 1))
        reads noisy.txt $digit "digit $digit without or with segment $segment"
    done
done
if [ $noisy -gt 20 ]; then good; else bad "only $noisy noisy pictures"; fi

succeeds run nn net/network.txt --set nn.inputs=net/digit-7.txt --verify
contains "$err" '28 vertices, 180 edges' 'the network'
sed 's/^8 .*/&\n100 1/' net/digit-3.txt >wrong.txt
fails 1 'vertex 100 cannot be an input' run nn net/network.txt --quiet --set nn.inputs=wrong.txt
equal "$("$example/show.sh" "$TANDEM" | grep -c 'reads')" 11 'pictures shown'

# Without the tool it says what it needs.
said=$("$example/show.sh" 2>&1)
equal $? 2 'show.sh without the tool'
contains "$said" 'usage: show.sh TANDEM' 'show.sh without the tool'
said=$("$example/show.sh" nowhere/tandem 2>&1)
equal $? 2 'show.sh with a wrong path'
contains "$said" "'nowhere/tandem' is no program" 'show.sh with a wrong path'
finish
