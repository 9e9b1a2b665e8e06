#!/usr/bin/env bash
# What users read (README, guide, help, messages of the tool and of the scripts) has the words of the field: values are
# pushed, sent or received and edges processed, none of them told, heard or gone over.
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/cli/lib.sh"
words='tell|tells|told|whoever|hear|hears|gone over|bytes of use|edges of use|patient stream'

# found FILE...: the lines with one of the words.
found() { grep -nEiw "$words" "$@" /dev/null | sed "s|^$top/||"; }

printf 'Edges are Gone over.\nEdges are processed.\n' >sample
equal "$(found sample)" 'sample:1:Edges are Gone over.' 'a word that must not be there is found'
equal "$(found "$top/README.md" "$top"/docs/guide/*.md "$top"/cli/*.[ch] "$top"/scripts/*.sh)" '' 'words of the field'
finish
