#!/usr/bin/env bash
# The example in docs/programs.md is the header that the tests compile, and every
# program has its paragraph and its parameters there.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$root/docs/programs.md" |
    diff - "$root/examples/programs/bottleneck.h" || { echo 'docs/programs.md and examples/programs/bottleneck.h differ'; exit 1; }
for name in $(sed -n 's/^TD_PROGRAM(\(.*\))$/\1/p' "$root/src/programs/programs.def"); do
    grep -q "^\*\*\`$name\`\*\*\|and \*\*\`$name\`\*\*" "$root/docs/programs.md" || { echo "docs/programs.md does not describe $name"; exit 1; }
    for key in $("$TANDEM" help "$name" | grep -o "^  $name\.[a-z_]*"); do
        grep -q "\`$key" "$root/docs/programs.md" || { echo "docs/programs.md does not describe $key"; exit 1; }
    done
done
echo 'docs/programs.md is complete'
