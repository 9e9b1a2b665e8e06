#!/usr/bin/env bash
# show.sh TANDEM: makes the network, draws the ten digits, and shows what it reads.
set -eu
tandem=${1:-}
if [ ! -f "$tandem" ] || [ ! -x "$tandem" ]; then
    echo "usage: show.sh TANDEM, the path of the tool (build/tandem)${tandem:+; '$tandem' is no program}" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/tandem-digits-XXXXXX")
trap 'rm -rf "$folder"' EXIT
"$here/make.sh" "$folder"

draw() { # INPUTS ANSWER
    awk -v answer="$2" '
        { on[$1] = $2 }
        function cell(s, mark) { return on[s] ? mark : " " }
        END {
            print "   " cell(1, "_")
            print "  " cell(6, "|") cell(7, "_") cell(2, "|") "   reads " answer
            print "  " cell(5, "|") cell(4, "_") cell(3, "|")
        }' "$1"
}

for digit in 0 1 2 3 4 5 6 7 8 9; do
    draw "$folder/digit-$digit.txt" "$("$here/read.sh" "$tandem" "$folder" "$folder/digit-$digit.txt")"
done
echo
echo 'A 2 whose bottom segment is broken:'
sed 's/^4 .*/4 0/' "$folder/digit-2.txt" >"$folder/broken.txt"
draw "$folder/broken.txt" "$("$here/read.sh" "$tandem" "$folder" "$folder/broken.txt")"
