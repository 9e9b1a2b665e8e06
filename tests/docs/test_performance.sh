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

# A run that fails leaves no table.
TANDEM=/bin/false performance run graphs emu@unchecked both && bad 'a failed run is taken for a table' || good
absent graphs/results/both.md graphs/results/both.md.new
performance run graphs emu@unchecked nosuch && bad 'an unknown table is measured' || good
contains "$(cat .err)" "there is no table 'nosuch'" 'an unknown table'
finish
