# The library's texts refer to options by neutral names in braces, never by a flag of the tool or a field of the C API,
# and every option that they refer to has a name in both faces.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cli/lib.sh"

table() { grep -oE '\{"[a-z_]+", "[^"]+"\}' "$1" | sed 's/{"\([a-z_]*\)".*/\1/' | sort -u; }
tool=$(table "$root/cli/names.c") api=$(table "$root/src/api/names.c")
contains "$tool" gpu_memory 'the names of the tool'
contains "$api" gpu_memory 'the names of the API'

# Generators and out_only are the tool's alone; the API knows them by their neutral names.
texts() { grep -rhoE '"([^"\\]|\\.)*"' "$root/src" --include='*.c' --include='*.h' "$@"; }
referred=$(texts | grep -oE '\{[a-z_]+\}' | tr -d '{}' | sort -u)
[ "$(wc -w <<<"$referred")" -gt 15 ] || bad "only these options were found: $referred"
for option in $referred; do
    grep -qxF "$option" <<<"$tool" || bad "src refers to {$option}, which cli/names.c has no name for"
done
for option in memory threads source iterations engine devices gpu_memory gpu_edges checkpoint resume format weights; do
    grep -qxF "$option" <<<"$referred" || bad "nothing refers to {$option} any more"
    grep -qxF "$option" <<<"$api" || bad "src/api/names.c has no name for {$option}"
done

# No text of the library has a flag, except in a command in quotes. Variables of the page's style sheet look like some.
flags=$(texts --exclude=assets.c | sed "s/'tandem [^']*'//g" | grep -E -e '(^|[^-])--[a-z]' || true)
[ -z "$flags" ] || bad "the library speaks of the tool's flags: $flags"

# Every name of the tool is an option of a command.
all=$(for command in run convert gen; do "$TANDEM" help $command; done)
for name in $(grep -oE '"--[a-z-]+"' "$root/cli/names.c" | tr -d '"'); do contains "$all" "$name" 'the help'; done
finish
