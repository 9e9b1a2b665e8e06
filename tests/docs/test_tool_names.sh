# Names of the tool in the README, the guide, the design and the page of performance, and in the help itself, exist: every
# command, every option of the command that it is named with, every setting ENGINE.KEY or PROGRAM.KEY, and its value
# where the setting has a choice of words. (test_links has files, functions and links.)
# DOCS_TOP names another tree to check (the last part of this test does that).
top=${DOCS_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
self=$(cd "$(dirname "$0")" && pwd)/test_tool_names.sh
scripts=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/../cli/lib.sh"

# What there is: help.COMMAND, help.ENGINE, help.PROGRAM; their settings as lines "KEY CHOICES", the options of each command.
listed() { "$TANDEM" help $1 | sed -n 's/^  \([a-z]*\)  .*/\1/p'; }
commands=$("$TANDEM" help | sed -n '/^Commands/,/^Topics/s/^  \([a-z]*\)  *[a-z].*/\1/p')
owners="$(listed engines) $(listed programs)"
for topic in $commands $owners; do "$TANDEM" help "$topic" >"help.$topic" 2>/dev/null; done
options_in() { grep -hoE -e '(^|[^a-zA-Z0-9_-])--[a-z][a-z0-9-]*' "$@" | sed 's/.*--/--/' | sort -u; }
for command in $commands; do options_in "help.$command" >"options.$command"; done
cat options.* | sort -u >options
options_in "$scripts"/scripts/*.sh "$scripts"/tests/fuzz/*.c "$scripts"/tests/cli/*.sh >>options
for owner in $owners; do
    awk '/^  [a-z]+\.[a-z0-9_]+/ { if (key != "") print key, text; key = $1; text = "" }
        key != "" { text = text " " $0 }
        END { if (key != "") print key, text }' "help.$owner"
done | sed -E 's/^([^ ]+) .*[ ;]([a-z0-9-]+(\|[a-z0-9-]+)+)[ (].*/\1 \2/; t; s/ .*//' >settings
names=$(tr -s ' \n' '|' <<<"$owners" | sed 's/|$//')

setting_exists() { # NAME=VALUE
    local choices
    grep -qE "^${1%%=*}( |\$)" settings || return 1
    [[ $1 == *=[a-z]* ]] || return 0
    choices=$(sed -n "s/^${1%%=*} //p" settings)
    [ -z "$choices" ] || [[ "|$choices|" == *"|${1#*=}|"* ]]
}

# A former name stands beside the present one, as the tool's message gives it.
was_renamed() { # NAME LINE
    local present
    [ -e g.tg ] || "$TANDEM" gen grid --width 4 -o g.tg --quiet
    present=$("$TANDEM" run bfs g.tg --source 1 --engine "${1%%.*}" --devices cpu,emu@unchecked --set "$1=1" 2>&1 |
        sed -n "s/.*'$1' is now called '\([^']*\)'.*/\1/p")
    [ -n "$present" ] && [[ $2 == *"\`$1\` is \`$present\`"* ]]
}

# Lines "FILE:LINE:what". Settings stand anywhere; stream.c and tandem.h are files.
settings_of() { grep -noE "\\b($names)\\.[a-z][a-z0-9_]*(=[a-z]+)?" "$@" | grep -vE '\.(c|h|cu|py|md|tg|json|tsv)$'; }
# Options between backquotes, alone or behind a command, and behind a command on a line of code.
spans_of() { grep -noE '`(--[a-z]|tandem [a-z])[^`]*`|^    (\$ )?tandem [a-z].*' "$@"; }

check_span() { # PLACE TEXT
    local command='' option known=options
    [[ $2 =~ ^[\`\ \$]*tandem\ ([a-z]+) ]] && command=${BASH_REMATCH[1]}
    if [ -n "$command" ]; then
        if [ ! -s "options.$command" ]; then bad "$1: there is no command 'tandem $command'"; return; fi
        known=options.$command
    fi
    for option in $(options_in <<<"${2%%  \#*}"); do
        if grep -qxF -- "$option" $known; then good; else bad "$1: 'tandem${command:+ $command}' has no option $option"; fi
    done
}

check() { # FILE ...
    local file line text
    while IFS=: read -r file line text; do
        if setting_exists "$text" || was_renamed "${text%%=*}" "$(sed -n "${line}p" "$file")"; then good
        else bad "$file:$line: there is no setting $text"; fi
    done < <(settings_of "$@" /dev/null | sort -u)
    while IFS=: read -r file line text; do check_span "$file:$line" "$text"; done < <(spans_of "$@" /dev/null | sort -u)
}

# shellcheck disable=SC2046
check $(cd "$top" && find README.md docs/performance.md docs/guide docs/design -name '*.md' 2>/dev/null | sed "s|^|$top/|")
[ -n "${DOCS_TOP:-}" ] || check help.*

# The check itself: in a tree with one of each mistake it finds each of them.
if [ -z "${DOCS_TOP:-}" ]; then
    mkdir -p tree/docs/guide
    printf '%s\n' '`stream.rules=paper` `stream.ruler`, `stream.rules=papers`, `pagerank.damping=0.9`, `stream.c`' \
        '`stream.words` is `stream.pack`, and `stream.lists` is `stream.order`.' \
        '`--devices LIST`, `--device LIST`, `tandem run P --top 3 --topp 4`, `tandem fly`, `tandem info --source 3`' \
        '    tandem gen rmat --scale 4 --skale 5  # --nothing' >"tree/docs/guide/a".md
    said=$(DOCS_TOP=$PWD/tree bash "$self")
    contains_all "$said" 'a tree with mistakes' 'there is no setting stream.ruler' 'there is no setting stream.lists' 'no setting stream.order' \
        'there is no setting stream.rules=papers' \
        "'tandem' has no option --device" "'tandem run' has no option --topp" "no command 'tandem fly'" \
        "'tandem info' has no option --source" "'tandem gen' has no option --skale" '9 failed'
fi
finish
