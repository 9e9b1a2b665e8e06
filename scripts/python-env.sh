#!/usr/bin/env bash
# python-env.sh FOLDER [PACKAGE ...]: a virtual environment with these packages by name, of the system's Python where they
# are installed, otherwise from PyPI; `--fresh` first makes it anew. Prints the interpreter's path; status 77 and a
# sentence where they are not to be had.
set -u
fresh=no
[ "${1:-}" = --fresh ] && { fresh=yes; shift; }
folder=$1
shift
skip() { echo "skip: $1" >&2; exit 77; }

command -v python3 >/dev/null || skip 'there is no python3'
python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' || skip "$(python3 --version) is older than 3.9"
[ $fresh = yes ] && rm -rf "$folder"
if ! [ -x "$folder/bin/python" ] || ! "$folder/bin/python" -c '' 2>/dev/null; then
    rm -rf "$folder"
    site=(--system-site-packages)
    [ $fresh = yes ] && site=()
    python3 -m venv "${site[@]}" "$folder" >/dev/null 2>&1 || skip 'python3 has no module venv (Debian: python3-venv)'
fi
missing=()
for package in "$@"; do
    name=${package%%[<>=!]*} version=
    case $package in *==*) version=${package#*==} ;; esac
    "$folder/bin/python" -c 'import importlib.metadata, sys
sys.exit(sys.argv[2] not in ("", importlib.metadata.version(sys.argv[1])))' "$name" "$version" \
        2>/dev/null || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --retries 0 --timeout 10 \
        "${missing[@]}" >"$folder/pip.log" 2>&1 ||
        skip "Python lacks ${missing[*]}, and PyPI cannot be reached ($(tail -1 "$folder/pip.log"))"
fi
echo "$folder/bin/python"
