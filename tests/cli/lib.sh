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
    timeout "${TANDEM_TEST_SECONDS:-60}" "$TANDEM" "$@" >"$folder/.out" 2>"$folder/.err" </dev/null
    status=$?
    out=$(cat "$folder/.out")
    err=$(cat "$folder/.err")
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

finish() {
    printf '%d passed, %d failed, %d skipped\n' $passed $failed $skipped
    [ $failed -eq 0 ]
    exit
}
