#!/usr/bin/env bash
# The example in docs/guide/writing-a-program.md is the header that the tests compile, and every
# program has its paragraph and its parameters in docs/guide/programs.md.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
page=$root/docs/guide/programs.md
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$root/docs/guide/writing-a-program.md" |
    diff - "$root/examples/programs/bottleneck.h"

described() { # TEXT
    if ! grep -qF "$1" "$page"; then
        echo "docs/guide/programs.md does not have: $1"
        exit 1
    fi
}

for name in $(sed -n 's/^TD_PROGRAM(\(.*\))$/\1/p' "$root/src/programs/programs.def"); do
    described "**\`$name\`**"
    for key in $("$TANDEM" help "$name" | grep -o "^  $name\.[a-z_]*"); do described "\`$key"; done
done
echo 'docs/guide/programs.md is complete'
