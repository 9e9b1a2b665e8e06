# scripts/performance.sh: it has every table of docs/performance.md, keeps what it measured, measures nothing twice from
# one commit, and puts tables into the page without touching the text around them.
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/../cli/lib.sh"

performance() {
    SMALL=1 REPEAT=1 MACHINE='a test' PAGE=$folder/page.md timeout 240 bash "$top/scripts/performance.sh" "$@" 2>.err
}

listed=$(performance list | awk '{ print $1 }' | sort)
marked=$(sed -n 's/^<!-- table \(.*\) -->$/\1/p' "$top/docs/performance.md" | sort)
equal "$marked" "$listed" 'the tables of the page and of the script'
ends=$(grep -c '^<!-- end of table -->$' "$top/docs/performance.md")
equal "$ends" "$(wc -l <<<"$listed" | tr -d ' ')" 'ends of tables'

export COMMIT=1234567
performance run graphs emu@unchecked cpu variants
equal $? 0 'measuring two tables'
contains "$(cat graphs/results/cpu.md)" 'commit 1234567.' 'a table names its commit'
contains "$(cat graphs/results/variants.md)" '| sssp |' 'a table has its programs'
equal "$(awk -F'|' '/^\|/ && NF != 9' graphs/results/cpu.md | wc -l | tr -d ' ')" 0 'rows of another length'
equal "$(grep -c '| *|' graphs/results/variants.md)" 0 'empty cells of the variants'

cp graphs/results/cpu.md before
performance run graphs emu@unchecked cpu
contains "$(cat .err)" 'cpu is there already' 'a second run from the same commit'
if cmp -s before graphs/results/cpu.md; then good; else bad 'a table was measured twice'; fi
COMMIT=7654321 performance run graphs emu@unchecked cpu
contains "$(cat graphs/results/cpu.md)" 'commit 7654321.' 'another commit is measured'

cp "$top/docs/performance.md" page.md
performance update graphs
equal $? 0 'updating the page'
contains "$(sed -n '/^<!-- table cpu -->$/,/^<!-- end/p' page.md)" 'commit 7654321.' 'the page has the new table'
outside() { awk '/^<!-- table / { print; inside = 1 } /^<!-- end of table/ { inside = 0 } !inside' "$1"; }
equal "$(outside page.md | cksum)" "$(outside "$top/docs/performance.md" | cksum)" 'the text around the tables'

# Tables that need no GPU are measured where there is none, and name no GPU; where files cannot be read past the page
# cache (a folder in memory), those about the disk fail.
alone='input disk_bytes checkpoints cpu_ablation'
if dd if=graphs/k25.tg of=/dev/null bs=1M iflag=direct 2>/dev/null; then alone+=' external disk'
else skip "tables about the disk: $folder has no direct input"; fi
# shellcheck disable=SC2086
SMALL=1 REPEAT=1 timeout 240 bash "$top/scripts/performance.sh" run graphs cuda:0 $alone 2>.err
equal $? 0 "measuring $alone without a GPU: $(cat .err)"
for table in $alone; do
    line=$(head -n 1 "graphs/results/$table.md")
    case $line in
    '`'*'`; '*' cores of '*"; commit $COMMIT.") good ;;
    *) bad "$table does not name its command, machine and commit: $line" ;;
    esac
    lacks "$line" cuda:0 "the machine of $table"
done
contains "$(SMALL=1 COMMIT=3333333 bash "$top/scripts/performance.sh" run graphs emu@unchecked variants 2>&1
    head -n 1 graphs/results/variants.md)" ', emu@unchecked; commit 3333333' 'the machine of a table about a GPU'

# A table in rounds goes on where an interrupted measurement of the same commit stopped.
COMMIT=2222222
"$TANDEM" bench cpu graphs/k23.tg --trials 1 --resume rounds >/dev/null 2>&1
awk -F'\t' -v OFS='\t' '$2 == "bfs" { $4 = "7.125"; print }' rounds >graphs/results/cpu_ablation.2222222.rounds
performance run graphs emu@unchecked cpu_ablation
contains "$(cat graphs/results/cpu_ablation.md)" '7125.000' 'the round that was measured before'
absent graphs/results/cpu_ablation.2222222.rounds
COMMIT=2222222+
cp rounds graphs/results/cpu_ablation.2222222+.rounds
sed -i 's/\t[0-9.]*$/\t99/; s/bfs\t1\t[0-9.]*/bfs\t1\t7.125/' graphs/results/cpu_ablation.2222222+.rounds
performance run graphs emu@unchecked cpu_ablation
lacks "$(cat graphs/results/cpu_ablation.md)" '7125.000' 'a round of another tree'

# A run that fails leaves no table.
printf '#!/bin/sh\n[ "$1" != bench ] || { echo half; exit 1; }\nexec "%s" "$@"\n' "$TANDEM" >broken
chmod +x broken
TANDEM=$PWD/broken COMMIT=4444444 performance run graphs emu@unchecked input && bad 'half a table is taken' || good
lacks "$(cat graphs/results/input.md 2>/dev/null)" half 'half a table'
TANDEM=/bin/false performance run graphs emu@unchecked both && bad 'a failed run is taken for a table' || good
absent graphs/results/both.md graphs/results/both.md.new
performance run graphs emu@unchecked nosuch && bad 'an unknown table is measured' || good
contains "$(cat .err)" "there is no table 'nosuch'" 'an unknown table'
finish
