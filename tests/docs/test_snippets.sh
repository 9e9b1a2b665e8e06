# The C snippets of the API page, as pasted: each compiles without a warning, is linked with the library, and runs.
here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/tests/cli/lib.sh"
build=$(dirname "$TANDEM")
page=$here/docs/guide/c-api.md
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
cc=$(cached CMAKE_C_COMPILER)
sanitize=$(cached TANDEM_SANITIZE)
flags=(-std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$here/include" -L"$build")
[ -z "$sanitize" ] || flags+=("-fsanitize=$sanitize")
[ -e "$build/libtandem.so" ] || { echo 'skip: the shared library is not built'; exit 77; }

# Blocks that begin with an include or a static function, one file each: 1.c is the program, the others functions.
awk '/^    (#include|static )/ && !inside { n++; inside = 1 }
     inside && /^[^ ]/ { inside = 0 }
     inside { print substr($0, 5) > n ".c" }' "$page"
count=$(ls [0-9]*.c | wc -l)
equal "$count" 8 'snippets on the page'

compile() { # FILE
    if "$cc" "${flags[@]}" "$1.c" -ltandem -o "$1" 2>log; then good; else bad "$1.c: $(cat log)"; fi
}
export LD_LIBRARY_PATH=$build
printf 'a b\nb c\na c\nc d\n' >names.txt
"$TANDEM" convert names.txt -o g.tg --format names --quiet
"$TANDEM" gen rmat --scale 8 -o numbers.tg --quiet

compile 1
equal "$(./1 g.tg a)" "$(printf '0 0\n1 1\n2 1\n3 2')" 'the program'
equal "$(./1 numbers.tg 0 | wc -l)" "$("$TANDEM" run bfs numbers.tg -s 0 -o - -q | grep -vc inf)" 'the program on ids'
./1 g.tg nobody 2>log && bad 'the program finds a vertex that is not there'
contains "$(cat log)" "vertex 'nobody' is not in g.tg" 'its message'
./1 absent.tg a 2>log && bad 'the program opens a file that is not there'
contains "$(cat log)" 'absent.tg' 'its message'

# The functions above a program that calls them; their result is what they print.
use() { # NUMBER CALL
    { printf '#include <inttypes.h>\n#include <stdio.h>\n#include <tandem.h>\n\n'; cat $1.c
      printf 'int main(void)\n{\n    td_session *session = NULL;\n    td_graph *graph = NULL;\n    td_result *result = NULL;\n'
      printf '    td_status status = td_session_create(2, &session);\n'
      printf '    if (status == TD_OK) status = td_graph_open(session, "g.tg", NULL, &graph);\n'
      printf '    if (status == TD_OK) status = %s;\n' "$2"
      printf '    if (status != TD_OK) printf("%%s\\n", td_last_message());\n    td_result_destroy(result);\n'
      printf '    td_graph_destroy(graph);\n    td_session_destroy(session);\n    return status != TD_OK;\n}\n'; } >use$1.c
    compile use$1
    seen=$(./use$1) || bad "$1.c fails: $seen"
}
for number in $(seq 2 "$count"); do
    case $(sed -n '1s/.* \([a-z_]*\)(.*/\1/p' $number.c) in
    run_if_it_fits) use $number 'run_if_it_fits(session, graph, &result)'; contains "$seen" ' bytes' "$seen" ;;
    print_estimates) use $number 'print_estimates(session, graph)'; contains "$seen" 's, chosen' "$seen" ;;
    print_cut) use $number 'print_cut(session, graph)'; contains "$seen" '% cut, balance' "$seen" ;;
    print_reached) use $number 'print_reached(session, graph)'; equal "$(grep -c ' reaches ' <<<"$seen")" 2 "$seen" ;;
    run_within) use $number 'td_session_set_budget(session, 1000) == TD_OK ? run_within(session, graph, 1 << 30, &result) : TD_INTERNAL' ;;
    print_neighbours) use $number 'print_neighbours(graph, "a")'; equal "$seen" "$(printf 'a -> b\na -> c')" 'neighbours' ;;
    open_with_names)
        use $number '(td_session_destroy(session), session = NULL, open_with_names(&session))' ;;
    *) bad "an unknown function: $(head -1 $number.c)" ;;
    esac
done
finish
