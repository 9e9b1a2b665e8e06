# The documentation leads somewhere: every relative link of README.md and docs/ names a file, or a heading of a page,
# that exists; so does every source file that a page names; so does every page that a source file names. The lab book's
# index has every entry.
# DOCS_TOP names another tree to check (the last part of this test does that).
top=${DOCS_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
self=$(cd "$(dirname "$0")" && pwd)/test_links.sh
. "$(dirname "$0")/../cli/lib.sh"

# The anchors of a page, as GitHub makes them from its headings.
anchors() { # PAGE
    awk '/^ *```/ { fenced = !fenced }
        !fenced && /^#+ / {
            sub(/^#+ +/, "")
            text = tolower($0)
            gsub(/[^a-z0-9 _-]/, "", text)
            gsub(/ /, "-", text)
            print text
        }' "$1"
}

# Lines "LINE<tab>link<tab>TARGET", "LINE<tab>path<tab>PATH" (a path from the top of the tree) and
# "LINE<tab>file<tab>NAME" (a source file's name alone, between backquotes). Fenced code is left out.
references() { # PAGE
    local where='[^A-Za-z0-9_./-](src|cli|tests|scripts|examples|include|share|docs)/[A-Za-z0-9_./%*<>-]*'
    awk -v where="$where" '/^ *```/ { fenced = !fenced; next }
        fenced { next }
        {
            text = $0
            while (match(text, /\]\([^)]*\)/)) {
                print FNR "\tlink\t" substr(text, RSTART + 2, RLENGTH - 3)
                text = substr(text, RSTART + RLENGTH)
            }
            text = " " $0
            gsub(/\]\([^)]*\)/, "]", text)
            while (match(text, where)) {
                path = substr(text, RSTART + 1, RLENGTH - 1)
                sub(/[.\/]+$/, "", path)
                print FNR "\tpath\t" path
                text = substr(text, RSTART + RLENGTH)
            }
            text = $0
            while (match(text, /`[a-z_0-9\/]+\.(c|h|cu|cmake|def)`/)) {
                name = substr(text, RSTART + 1, RLENGTH - 2)
                if (name !~ /^(src|cli|tests|scripts|examples|include|share)\//) print FNR "\tfile\t" name
                text = substr(text, RSTART + RLENGTH)
            }
        }' "$1"
}

exists() { # PATH: a file or folder; or a module, without its suffix; or a pattern that matches one
    [[ $1 == *[%\<]* || $1 =~ [A-Z]{3} && $1 != *README* ]] && return 0 # a placeholder
    [ -e "$top/$1" ] || [ -e "$top/$1.h" ] || [ -e "$top/$1.c" ] || compgen -G "$top/$1" >/dev/null
}

sources=$(cd "$top" && find src cli include tests scripts examples share -type f 2>/dev/null)

check_link() { # PAGE LINE TARGET
    local file=${3%%#*} heading='' page=$1
    case $3 in *://* | mailto:*) return ;; esac
    [[ $3 == *'#'* ]] && heading=${3#*#}
    if [ -n "$file" ]; then page=$(realpath -m --relative-to="$top" "$top/$(dirname "$1")/$file"); fi
    if [ ! -e "$top/$page" ]; then
        bad "$1:$2: the link $3 leads to $page, which does not exist"
    elif [ -n "$heading" ] && ! anchors "$top/$page" | grep -qxF -- "$heading"; then
        bad "$1:$2: the link $3 names a heading that $page does not have"
    else
        good
    fi
}

check_page() { # PAGE
    local line kind target
    while IFS=$'\t' read -r line kind target; do
        case $kind in
        link) check_link "$1" "$line" "$target" ;;
        path) if exists "$target"; then good; else bad "$1:$line: $target does not exist"; fi ;;
        file)
            if grep -qE "(^|/)$target\$" <<<"$sources"; then good
            else bad "$1:$line: no source file is called $target"; fi
            ;;
        esac
    done < <(references "$top/$1")
}

pages=$(cd "$top" && echo README.md && find docs -name '*.md' | sort)
for page in $pages; do check_page "$page"; done

# Functions, types and constants that the guide and the design name exist; so do those of the drawing of a run.
words=$(cd "$top" && cat $(find src cli include tests -name '*.[ch]' -o -name '*.cu' 2>/dev/null) /dev/null |
    grep -oE '[A-Za-z_][A-Za-z0-9_]+' | sort -u)
while IFS=: read -r page line name; do
    if grep -qxF -- "${name#\`}" <<<"$words"; then good; else bad "$page:$line: no source has ${name#\`}"; fi
done < <(cd "$top" && grep -rnoE '`(td|TD|PROGRAM)_[A-Za-z0-9_]*[A-Za-z0-9]' docs/guide docs/design 2>/dev/null | sort -u
    awk '/^    .*[└├]/ { sub(/^[^a-z]*/, ""); sub(/  .*/, ""); gsub(/,|->|then/, " "); n = split($0, name)
            for (i = 1; i <= n; i++) if (name[i] ~ /_/) print FILENAME ":" FNR ":" name[i] }' \
        docs/design/architecture.md 2>/dev/null)

# The drawing's files: a line's last function is defined in the file that stands behind it.
while IFS=: read -r line name file; do
    if grep -qsE "^[a-z][A-Za-z0-9_ *]*[ *]$name\\(" "$top/$file"; then good
    else bad "docs/design/architecture.md:$line: $file does not define $name"; fi
done < <(awk '/^    .*[└├]/ && match($0, /  +(src|cli)\/[a-z_\/]+\.c( |$)/) {
        file = substr($0, RSTART, RLENGTH); gsub(/ /, "", file)
        count = split(substr($0, 1, RSTART - 1), word, /[ ,]+/)
        if (word[count] ~ /^[a-z_0-9]+$/) print FNR ":" word[count] ":" file
    }' "$top/docs/design/architecture.md" 2>/dev/null)

# Every entry of the lab book is in its index, with the date and the commit that it names.
for page in $(cd "$top" && find docs/lab -name '*.md' ! -name README.md 2>/dev/null | sort); do
    while IFS=$'\t' read -r anchor dated; do
        entry=$(grep -F "($(basename "$page")#$anchor)" "$top/docs/lab/README.md")
        if [ -z "$entry" ]; then bad "$page: '$anchor' is not in the index, docs/lab/README.md"
        elif [ -z "$dated" ]; then bad "$page: '$anchor' has no line '*DATE, COMMIT. Decision.*' below its title"
        elif [[ $entry != *"| ${dated%% *} | ${dated#* }"* ]]; then
            bad "$page: '$anchor' has another date or commit in the index"
        else good; fi
    done < <(awk '/^## / {
            if (title != "") print title "\t"
            title = tolower(substr($0, 4))
            gsub(/[^a-z0-9 _-]/, "", title)
            gsub(/ /, "-", title)
        }
        title != "" && match($0, /^\*[0-9]+-[0-9]+-[0-9]+, [0-9a-f]+/) {
            dated = substr($0, 2, RLENGTH - 1); sub(/,/, "", dated); print title "\t" dated; title = "" }
        END { if (title != "") print title "\t" }' "$top/$page")
done

# Comments, messages and scripts that name a page.
while IFS=: read -r file line target; do
    if exists "$target"; then good; else bad "$file:$line: $target does not exist"; fi
done < <(cd "$top" && grep -rnoE 'docs/[A-Za-z0-9_./%-]+\.md' --exclude=test_links.sh \
    src cli include scripts share tests Makefile CMakeLists.txt 2>/dev/null)

# The check itself: in a tree with one of each mistake it finds each of them.
if [ -z "${DOCS_TOP:-}" ]; then
    mkdir -p tree/docs/lab tree/docs/guide tree/docs/design tree/src
    printf '# Title\n\n[a](docs/a.md) [b](docs/missing.md) [c](docs/a.md#no-such-part) [d](docs/a.md#a-part-of-it)\n' \
        >tree/README.md
    printf '# A\n\n## A part, of it\n\n`src/there.c` and `src/gone.c`, `there.c` and `lost.c`.\n' >tree/docs/a.md
    printf '/* docs/a.md, docs/b.md */ td_there go_there\n' >tree/src/there.c
    printf '`td_there` `td_gone`\n' >tree/docs/guide/c.md
    printf '    └ %s\n' 'go_there, go_away  src/there.c' 'go_there  src/there.c' >tree/docs/design/architecture.md
    printf 'void go_there(void);\n' >>tree/src/there.c
    printf '%s\n' '| [One](topic.md#one) | 2026-01-02 | abcdef1 |' \
        '| [Three](topic.md#three) | 2026-01-02 | abcdef2 |' >tree/docs/lab/README.md
    printf '## %s\n\n*2026-01-02, %s. Kept.*\n' One abcdef1 Two abcdef1 Three abcdef3 >tree/docs/lab/topic.md
    said=$(DOCS_TOP=$PWD/tree bash "$self")
    contains_all "$said" 'a tree with mistakes' 'docs/missing.md, which does not exist' \
        'names a heading that docs/a.md does not have' 'src/gone.c does not exist' 'no source file is called lost.c' \
        'docs/b.md does not exist' "'two' is not in the index" "'three' has another date or commit" \
        'no source has td_gone' 'no source has go_away' 'src/there.c does not define go_away' '10 failed'
fi
finish
