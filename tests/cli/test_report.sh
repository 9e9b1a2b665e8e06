# Pages about runs: `tandem report`, and `--report` of `run`. A browser looks at them in tests/python/test_browser.py.
. "$(dirname "$0")/lib.sh"

succeeds gen rmat --scale 8 --degree 6 --weights 1:63 -o g.tg
succeeds run bfs g.tg --source 1 --json run.json --report page.html --quiet
succeeds run sssp g.tg --source 1 --engine stream --devices emu:1 --gpu-edges 25% --json other.json --quiet
succeeds report run.json -o run.html
succeeds report run.json other.json -o both.html

# cell KEY: the exact figures of a key in the page on standard input.
cell() { grep -o "data-key=\"$1\" data-value=\"[^\"]*\"" | sed 's/.*value="//; s/"//'; }
equal "$(cell edges_processed <run.html)" "$(key edges_processed <run.json)" 'edges processed on the page'
number() { awk '{ printf "%.15g", $1 }'; }
equal "$(cell seconds <run.html | head -1 | number)" "$(key seconds <run.json | number)" 'seconds on the page'
equal "$(cell iterations <both.html | tr '\n' ' ')" "$(cat run.json other.json | key iterations | tr '\n' ' ')" \
    'iterations of both runs'
equal "$(grep -o '"active_vertices": [0-9]*' run.json | sed 's/.* //' | tr '\n' ' ')" \
    "$(sed -n '/class="rows"/,$p' run.html | cell active_vertices | tr '\n' ' ')" 'the frontier of every iteration'
contains_all "$(cat both.html)" 'the page' '<!doctype html>' 'lang="en"' 'data-chart="frontier"' 'data-chart="moved"' \
    'data-chart="timeline"' 'class="plan"' 'data-key="why"' 'data-tier="emu:0"' 'prefers-color-scheme:dark' \
    'name="viewport"' 'role="img" aria-label="' 'data-key="useful_in_all"'
equal "$(grep -c '<article>' both.html)" 2 'runs side by side'

# Every phase of the report is on the page; of `processing` the last one, which is `seconds`.
succeeds run sssp g.tg --source 1 --engine resident --devices emu:1 --order indegree --repeat 2 --verify --top 3 \
    --json phases.json --quiet
succeeds report phases.json -o phases.html
phases=$(awk '/"times": \{/ { on = 1; next } on && /\}/ { exit } on' phases.json |
    sed -n 's/^ *"\([a-z]*\)": \([0-9].*[0-9]\),\{0,1\}$/\1 \2/p')
equal "$(echo "$phases" | cut -d ' ' -f 1 | tr '\n' ' ')" \
    'start load open plan prepare reorder earlier finish verify write ' 'phases of the report'
while read -r phase seconds; do
    equal "$(cell "$phase" <phases.html | number)" "$(echo "$seconds" | number)" "the phase $phase on the page"
done <<<"$phases"
for phase in report close; do
    equal "$(cell wall_$phase <phases.html | grep -c '[0-9]')" 1 "$phase on the page"
done

# The resident engine measures nothing inside of its iterations: none of it is drawn as computing.
states=$(sed -n '/class="states"/,$p' phases.html)
equal "$(cell compute <<<"$states")" '' 'seconds of computing that nobody measured'
equal "$(cell undivided <<<"$states" | awk '{ print ($1 > 0) }')" 1 'seconds that are not divided'

# Nothing is loaded, and one script may run.
equal "$(grep -oE '(https?:|[^-]src=|href=|url\(|@import|<link|<base)' both.html | wc -l)" 0 'references on the page'
if command -v openssl >/dev/null; then
    digest=$(perl -0777 -ne 'print $1 if /<script>(.*?)<\/script>/s' both.html | openssl dgst -sha256 -binary | base64)
    contains "$(cat both.html)" "script-src 'sha256-$digest'" "the script's digest, which src/page/assets.c states"
else
    skip 'there is no openssl to compute a digest'
fi

# --report writes the page of the same run.
equal "$(cell edges_processed <page.html)" "$(key edges_processed <run.json)" 'edges processed on the page of run'
succeeds run bfs g.tg --source 1 --quiet --report -
contains "$out" '</html>' 'a page on standard output'
succeeds report run.json -o -
contains "$out" '</html>' 'a page of report on standard output'

# --plot: the same curves small in the terminal. The levels are computed here from the report.
export LC_ALL=C
succeeds run bfs g.tg --source 1 --quiet --plot --json plot.json
levels() { # KEY: eight heights, at least the lowest for anything above zero
    grep -o "\"$1\": [0-9]*" plot.json | sed 's/.* //' | awk '{ v[NR] = $1; if ($1 > m) m = $1 } END {
        for (i = 1; i <= NR; i++) { n = v[i] * 8 / m; c = int(n); if (c < n) c++
            printf "%s", substr(" _.-=+*%#", c + 1, 1) }
        print "" }'
}
rows=$(sed -n '/"rows"/,$p' plot.json)
echo "$rows" >plot.json
contains "$err" "active vertices $(levels active_vertices) " 'the plotted frontier'
contains "$err" "edges           $(levels edges) " 'the plotted edges'
equal "$out" '' 'standard output of a plot'
narrow "$err" 'a plot'
succeeds run circuit g.tg --quiet --plot --iterations 500
contains "$err" 'iteration       0 .. 499; a column has the maximum of up to 13' 'a long plot'
narrow "$err" 'a long plot'
succeeds run sssp g.tg --source 1 --engine multi --devices emu:2 --quiet --plot
contains_all "$err" 'the plot of two GPUs' 'bytes moved' 'emu:0' 'emu:1' 'by its virtual clock' 'n near'
unset LC_ALL

# Wrong usage, and files that are no reports: one line, and no page.
rm -f run.html page.html both.html
fails 2 '-o FILE is missing' report run.json
fails 2 '--report would overwrite --output' run bfs g.tg --source 1 --output x.html --report x.html
mkdir folder
ln -s . here
fails 2 "--report would overwrite --output 'x.html'" run bfs g.tg --source 1 --output x.html --report ./x.html
fails 2 "--trace would overwrite --output 'here/x.html'" run bfs g.tg --source 1 --output here/x.html --trace x.html
fails 2 "--report would overwrite --trace './folder/x'" run bfs g.tg --source 1 --trace ./folder/x --report "$PWD/folder/x"
succeeds run bfs g.tg --source 1 --quiet --output folder/one --report one --trace folder/two
succeeds run bfs g.tg --source 1 --quiet --output - --report ./-
contains "$(cat ./-)" '</html>' 'a page in a file named -'
fails 2 "would overwrite" run bfs g.tg --source 1 --json x.html --report x.html
fails 2 'only one of' run bfs g.tg --source 1 --report - --top 3
fails 2 'run.json' report run.json -o run.json
fails 1 "cannot read 'absent.json'" report absent.json -o x.html
fails 1 'is not a file' report . -o x.html
fails 1 'is not a file' report /dev/null -o x.html
echo '{"program": "bfs", "engine": "cpu", "rows": [' >cut.json
fails 1 'cut.json, line 2' report run.json cut.json -o x.html
: >empty.json
fails 1 'empty.json, line 1' report empty.json -o x.html
name=$'<img src=x onerror=alert(1)>\e[31m.json'
cp run.json "$name"
succeeds report "$name" -o hostile.html
lacks "$(cat hostile.html)" '<img' 'a file name on the page'
absent x.html
finish
