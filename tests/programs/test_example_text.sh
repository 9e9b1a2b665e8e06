#!/usr/bin/env bash
# The example in docs/programs.md is the header that the tests compile, and every
# program has its paragraph and its parameters there.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
page=$root/docs/programs.md
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$page" |
    diff - "$root/examples/programs/bottleneck.h"

described() { # TEXT
    if ! grep -qF "$1" "$page"; then
        echo "docs/programs.md does not have: $1"
        exit 1
    fi
}

for name in $(sed -n 's/^TD_PROGRAM(\(.*\))$/\1/p' "$root/src/programs/programs.def"); do
    described "**\`$name\`**"
    for key in $("$TANDEM" help "$name" | grep -o "^  $name\.[a-z_]*"); do described "\`$key"; done
done
echo 'docs/programs.md is complete'
