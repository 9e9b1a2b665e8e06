# Messages of the library name options in words that a program can be told in its own: every option that a text in src
# speaks of, outside of a command in quotes, is in the table of src/api/words.c. Generators are the tool's alone.
. "$(dirname "$0")/lib.sh"
sources=$(cd "$(dirname "$0")/../.." && pwd)/src

known=$(sed -n 's/^ *{"\(--[a-z-]*\)", ".*/\1/p' "$sources/api/words.c")
contains "$known" '--gpu-memory' 'the table of words'

spoken=$(grep -rhE '"[^"]*--[a-z]' "$sources" --include='*.c' --exclude='gen*.c' --exclude=words.c |
    sed "s/'tandem [^']*'//g; s/--out-only//" | grep -oE -e '--[a-z][a-z-]*' | sort -u)
for option in $spoken; do
    grep -qxF -e "$option" <<< "$known" || bad "src speaks of $option, which src/api/words.c does not know"
done
[ "$(wc -w <<< "$spoken")" -gt 10 ] || bad "only these options were found: $spoken"

# And every one that the table has is one of the tool's.
all=$(for command in run convert gen; do "$TANDEM" help $command; done)
for option in $known; do contains "$all" "$option" 'the help'; done
finish
