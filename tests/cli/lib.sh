# What the shell tests share: a folder of their own, checks that name what they
# saw, a skip that is visible. Source it; end with `finish`.
set -u
: "${TANDEM:?the path of the tool}"
folder=$(mktemp -d "${TMPDIR:-/tmp}/tandem-cli-XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
passed=0 failed=0 skipped=0

good() { passed=$((passed + 1)); }

bad() { # MESSAGE
    failed=$((failed + 1))
    printf 'FAIL line %s: %s\n' "${BASH_LINENO[1]}" "$1"
}

skip() { # WHY
    skipped=$((skipped + 1))
    printf 'skip %s\n' "$1"
}

# t ARGUMENTS: runs the tool, never longer than a minute (or $TANDEM_TEST_SECONDS); $status, $out, $err.
t() {
    timeout "${TANDEM_TEST_SECONDS:-240}" "$TANDEM" "$@" >"$folder/.out" 2>"$folder/.err" </dev/null
    status=$?
    out=$(cat "$folder/.out")
    err=$(cat "$folder/.err")
}

# decodes TOOL: whether the tool was built with the library that reads what TOOL (gzip, zstd, xz) compresses; else a skip.
decodes() {
    printf '0 1\n' | $1 -c >"$folder/.packed.$1"
    t convert "$folder/.packed.$1" -o "$folder/.packed.tg" --quiet
    rm -f "$folder/.packed.$1" "$folder/.packed.tg"
    [[ $err == *'was built without'* ]] || return 0
    skip "tandem was built without the library that reads $1"
    return 1
}

# succeeds ARGUMENTS
succeeds() {
    t "$@"
    if [ $status -eq 0 ]; then good; else bad "'tandem $*' ends with $status: $err"; fi
}

# fails STATUS WORDS ARGUMENTS: that status, and one line on stderr that holds the words.
fails() {
    local wanted=$1 words=$2
    shift 2
    t "$@"
    if [ $status -ne "$wanted" ]; then
        bad "'tandem $*' ends with $status, not $wanted: $err"
    elif [ "$(wc -l <"$folder/.err")" -ne 1 ] || [[ $err != 'tandem: '*"$words"* ]]; then
        bad "'tandem $*' says: $err (not: $words)"
    elif [ -n "$out" ]; then
        bad "'tandem $*' fails, but prints: $out"
    else
        good
    fi
}

equal() { # SEEN WANTED WHAT
    if [ "$1" = "$2" ]; then good; else bad "$3: '$1', not '$2'"; fi
}

contains() { # TEXT PART WHAT
    if [[ $1 == *"$2"* ]]; then good; else bad "$3: no '$2' in: $1"; fi
}

lacks() { # TEXT PART WHAT
    if [[ $1 != *"$2"* ]]; then good; else bad "$3: there is '$2' in: $1"; fi
}

contains_all() { # TEXT WHAT PARTS
    local text=$1 what=$2 part
    shift 2
    for part in "$@"; do contains "$text" "$part" "$what"; done
}

narrow() { # TEXT WHAT: it fits a terminal
    if [ "$(awk 'length > 80' <<<"$1" | wc -l)" -eq 0 ]; then good; else bad "$2 is wider than 80 columns: $1"; fi
}

absent() { # FILES: none of them is there
    local file
    for file in "$@"; do
        if [ -e "$file" ]; then bad "$file is left behind"; else good; fi
    done
}

# Nothing but the files named (and the tests' own) is in this folder or the one given.
only_files() { # FILES
    local seen wanted
    seen=$(find . -mindepth 1 -maxdepth 1 ! -name .out ! -name .err -printf '%f\n' | sort | tr '\n' ' ')
    wanted=$([ $# -eq 0 ] || printf '%s\n' "$@" | sort | tr '\n' ' ')
    if [ "$seen" = "$wanted" ]; then good; else bad "files here: $seen, not: $wanted"; fi
}

# The bytes of the --memory that the last error names as enough.
memory_named() { sed 's/.*--memory \([0-9.]*\) MiB.*/\1/' <<<"$err" | awk '{ printf "%d", $1 * 1048576 }'; }

# The value of a key of a flat report on standard input.
key() { sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p"; }

# Whether standard input is JSON; needs python3 or perl.
is_json() {
    if command -v python3 >/dev/null; then
        python3 -c 'import json, sys; json.load(sys.stdin)' 2>/dev/null
    else
        perl -MJSON::PP -e 'local $/; JSON::PP->new->decode(<STDIN>)' 2>/dev/null
    fi
}

# Real graphs: the folder that TANDEM_SHARED_DATA names, the graphs in it, every program on one of them.

need_graphs() { # ends the test, as skipped, where they are absent; $data
    data=${TANDEM_SHARED_DATA:-}
    [ -r "$data/README.md" ] && return
    echo 'skip: the folder of real graphs is absent (TANDEM_SHARED_DATA)'
    exit 77
}

graph_names() { # DEFAULT: those that TANDEM_TEST_GRAPHS names, or these; `all` is every one, the smaller first
    local names=${TANDEM_TEST_GRAPHS:-$1}
    if [ "$names" != all ]; then
        echo "$names"
    else
        (cd "$data" && ls -Sr -- *.xz | sed 's/\.xz$//')
        [ ! -e "$data/cnr-2000/cnr-2000.graph" ] || echo cnr-2000/cnr-2000.graph
    fi
}

# Converts one into graph.tg, with weights; $source is a vertex in the thick of it. False if it does not, which is
# a failure unless the tool was built without what the file needs.
take_graph() { # NAME
    local input=$data/$1
    [ -e "$input" ] || input=$data/$1.xz
    t convert "$input" -o graph.tg --weights 1:100 --seed 3
    if [[ $err == *'built without'* ]]; then
        skip "$1: $err"
        return 1
    fi
    if [ $status -ne 0 ]; then
        bad "converting $1 ends with $status: $err"
        return 1
    fi
    source=$("$TANDEM" run kcore graph.tg --top 1 --quiet | awk 'NR == 2 { print $1 }')
}

all_programs='bfs sssp wcc labels pagerank mst kcore adsorption nn heat circuit'

modes() { # PROGRAM
    case $1 in nn | heat | wcc | mst | kcore) echo --sync ;; *) echo --sync --async ;; esac
}

# Voltages settle slowly on long graphs, and a network with cycles need not settle at all: both are limited.
arguments() { # PROGRAM
    case $1 in
    bfs | sssp) echo "--source $source" ;;
    nn) echo '--iterations 10' ;;
    circuit) echo "--tolerance 1e-4 --iterations ${circuit_iterations:-300}" ;;
    esac
}

finish() {
    printf '%d passed, %d failed, %d skipped\n' $passed $failed $skipped
    [ $failed -eq 0 ]
    exit
}
