#!/usr/bin/env bash
# The library as others get it: installed into an empty folder, found by
# pkg-config, linked shared and static by a C and by a C++ program; nothing but
# the API is exported.
set -u

build=$(dirname "$TANDEM")
here=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/tandem-install-XXXXXX")
trap 'rm -rf "$folder"' EXIT
failed=0

cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
ok() { echo "ok   $1"; }
fail() { echo "FAIL $1"; failed=1; }
check() { # check WORDS COMMAND...
    local words=$1
    shift
    if "$@" >"$folder/log" 2>&1; then ok "$words"; else
        fail "$words"
        cat "$folder/log"
    fi
}

command -v pkg-config >/dev/null || { echo "skip: there is no pkg-config"; exit 77; }
cc=$(cached CMAKE_C_COMPILER)
sanitize=$(cached TANDEM_SANITIZE)
flags=(-std=c11 -Wall -Wextra -Werror -pedantic -O1)
[ -n "$sanitize" ] && link=("-fsanitize=$sanitize") || link=()

check 'it is installed into the folder asked for' env DESTDIR="$folder/root" cmake --install "$build"
pc=$(find "$folder/root" -name tandem.pc)
libraries=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH=${pc%/*}
export LD_LIBRARY_PATH=$libraries
for file in include/tandem.h bin/tandem; do
    check "$file is there" test -f "$(dirname "$libraries")/$file" -o -f "$(dirname "$(dirname "$libraries")")/$file"
done
check 'the shared library has a version and a soname' \
    test -L "$libraries/libtandem.so" -a -e "$libraries/libtandem.so.0.2"
check 'pkg-config knows the version' \
    test "$(pkg-config --modversion tandem)" = "$("$TANDEM" --version | sed 's/tandem //')"

read -ra cflags <<<"$(pkg-config --cflags tandem)"
read -ra libs <<<"$(pkg-config --libs tandem)"
read -ra private <<<"$(pkg-config --static --libs tandem | sed 's/-ltandem//')"
check 'the header stands alone in C' "$cc" "${flags[@]}" "${cflags[@]}" -fsyntax-only -x c - <<<'#include <tandem.h>'
check 'the example builds with the shared library' \
    "$cc" "${flags[@]}" "${cflags[@]}" "$here/examples/shortest.c" "${libs[@]}" "${link[@]}" -o "$folder/shared"
check 'the example builds with the static library' \
    "$cc" "${flags[@]}" "${cflags[@]}" "$here/examples/shortest.c" "$libraries/libtandem.a" "${private[@]}" \
        "${link[@]}" -o "$folder/static"

check 'the library can be found by a path kept in the program' bash -c "
    '$cc' ${cflags[*]} '$here/examples/shortest.c' ${libs[*]} ${link[*]} -Wl,-rpath,\$(pkg-config --variable=libdir tandem) \
        -o '$folder/kept' && env -u LD_LIBRARY_PATH '$folder/kept'"
check 'the library can be linked as the documentation says, statically' bash -c "
    '$cc' ${cflags[*]} '$here/examples/shortest.c' \$(pkg-config --variable=libdir tandem)/libtandem.a \
        \$(pkg-config --static --libs tandem | sed s/-ltandem//) ${link[*]} -o '$folder/whole' &&
    env -u LD_LIBRARY_PATH '$folder/whole'"

expect() { grep -q -- "$2" "$folder/out" || { fail "$1: no line '$2'"; cat "$folder/out"; }; }
for kind in shared static; do
    if "$folder/$kind" >"$folder/out" 2>"$folder/err"; then ok "the $kind example runs"
    else fail "the $kind example runs"; cat "$folder/err"; fi
    expect "$kind" '^1600 vertices, 6240 edges, weights u8$'
    expect "$kind" '^farthest vertices:$'
    expect "$kind" '^ranks add up to 1.0000 '
    grep -q 'sssp: engine cpu, because' "$folder/err" || fail "$kind: no plan on stderr"
    grep -q 'pagerank: iteration 0' "$folder/err" || fail "$kind: no progress on stderr"
done
check 'both give the same' test "$("$folder/shared" 2>/dev/null)" = "$("$folder/static" 2>/dev/null)"

check 'the example of a graph on disk builds' \
    "$cc" "${flags[@]}" "${cflags[@]}" "$here/examples/large.c" "${libs[@]}" "${link[@]}" -o "$folder/large"
(cd "$folder" && ./large >out 2>err) && ok 'it runs' || { fail 'it runs'; cat "$folder/err"; }
expect 'a graph on disk' '^65536 vertices, 4194304 edges, which stay on disk$'
expect 'a graph on disk' '^pagerank: engine hybrid, '
expect 'a graph on disk' '^the largest component has 65250 vertices; 16 MB read$'

printf '1 2 5\n2 3 5\n1 3 20\n' >"$folder/small.wel"
"$folder/shared" "$folder/small.wel" 1 >"$folder/out" 2>/dev/null || fail 'the example reads a file'
expect 'a file' '^  3	10$'
printf '1 2\n2 3\n' >"$folder/plain.el"
"$folder/shared" "$folder/plain.el" 1 >"$folder/out" 2>/dev/null || fail 'the example attaches weights'
expect 'a file without weights' 'weights u8$'
if "$folder/shared" "$folder/absent.el" >"$folder/out" 2>"$folder/err"; then fail 'an absent file is an error'; fi
grep -q 'absent.el' "$folder/err" || fail 'an absent file is named'
if "$folder/shared" "$folder/small.wel" 99 >"$folder/out" 2>"$folder/err"; then fail 'an unknown source is an error'; fi
grep -q '99' "$folder/err" || fail 'an unknown source is named'

if command -v nm >/dev/null; then
    sed -n 's/^TD_API .*[ *]\(td_[a-z0-9_]*\)(.*/\1/p' "$here/include/tandem.h" | sort >"$folder/declared"
    nm -D --defined-only "$libraries/libtandem.so" | awk '{print $3}' | sed 's/@.*//' | grep -v '^_\|^$' |
        sort >"$folder/exported"
    [ -n "$sanitize" ] && grep '^td_' "$folder/exported" >"$folder/own" && mv "$folder/own" "$folder/exported"
    check 'the API is exported, all of it and nothing else' diff "$folder/declared" "$folder/exported"
fi

if command -v g++ >/dev/null; then
    cat >"$folder/first.cpp" <<'END'
#include <tandem.h>
#include <cstdio>

int main()
{
    td_session *session = nullptr;
    td_graph *graph = nullptr;
    td_result *result = nullptr;
    const uint64_t sources[] = {1, 2}, targets[] = {2, 3};
    td_edges edges{};
    edges.size = sizeof edges;
    edges.count = 2;
    edges.sources = sources;
    edges.targets = targets;
    td_request request{};
    request.size = sizeof request;
    request.has_source = true;
    request.source = 1;
    bool good = td_session_create(1, &session) == TD_OK &&
                td_graph_from_edges(session, &edges, nullptr, &graph) == TD_OK &&
                td_session_run(session, graph, "bfs", &request, &result) == TD_OK && td_result_u32(result)[2] == 2;
    if (!good) std::printf("%s\n", td_last_message());
    td_result_destroy(result);
    td_graph_destroy(graph);
    td_session_destroy(session);
    return good ? 0 : 1;
}
END
    check 'a C++ program builds' g++ -std=c++17 -Wall -Wextra -Werror -pedantic "${cflags[@]}" "$folder/first.cpp" \
        "${libs[@]}" "${link[@]}" -o "$folder/first"
    check 'a C++ program runs' "$folder/first"
fi
exit $failed
