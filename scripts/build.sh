#!/usr/bin/env bash
# build.sh FOLDER [-DNAME=VALUE ...] [TARGET]: configures the folder if it has to be, builds it.
#
# A folder keeps the generator and the options it was configured with; options
# given here are set on top of them. A folder that was configured for another
# place, or for a generator that is gone, is configured anew.
set -eu
cd "$(dirname "$0")/.."
folder=$1
shift
options=() targets=()
for word in "$@"; do
    case $word in
    -D*) options+=("$word") ;;
    *) targets+=(--target "$word") ;;
    esac
done

cached() { sed -n "s/^$1:[A-Z]*=//p" "$folder/CMakeCache.txt" 2>/dev/null; }

if [ -f "$folder/CMakeCache.txt" ]; then
    program=$(cached CMAKE_MAKE_PROGRAM)
    if [ "$(cached CMAKE_HOME_DIRECTORY)" != "$(pwd -P)" ] || ! command -v "$program" >/dev/null; then
        rm -rf "$folder/CMakeCache.txt" "$folder/CMakeFiles"
    fi
fi
generator=()
if [ ! -f "$folder/CMakeCache.txt" ] && [ -z "${CMAKE_GENERATOR:-}" ] && command -v ninja >/dev/null; then
    generator=(-G Ninja)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cmake -S . -B "$folder" "${generator[@]}" "${options[@]}" >"$log" 2>&1; then
    cat "$log"
    exit 1
fi
cmake --build "$folder" --parallel "$(nproc)" "${targets[@]}"
