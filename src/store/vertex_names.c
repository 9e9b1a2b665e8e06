#include "store/vertex_names.h"

#include "base/alloc.h"
#include "base/size.h"
#include "store/formats/print.h"

#include <string.h>

static td_status refuse_name(const char *path, uint64_t number, const char *why)
{
    return td_fail(TD_CORRUPT, "%s: number %llu of its names %s", path, (unsigned long long)number, why);
}

/* Compares a name with `length` bytes of another, by bytes. */
static int compare(const char *name, const char *other, size_t length)
{
    int order = strncmp(name, other, length);
    return order != 0 ? order : name[length] != '\0';
}

static td_status find_names(td_vertex_names *names, const char *path)
{
    const char *at = names->text, *end = names->text + names->bytes;
    for (uint64_t i = 0; i < names->count; i++) {
        const char *zero = at < end ? memchr(at, '\0', (size_t)(end - at)) : NULL;
        if (zero == NULL) return refuse_name(path, i, "is missing");
        if (zero == at || (size_t)(zero - at) > TD_NAME_BYTES) return refuse_name(path, i, "is empty or too long");
        names->offsets[i] = (uint64_t)(at - names->text);
        if ((uint64_t)(zero - at) > names->longest) names->longest = (uint64_t)(zero - at);
        if (i > 0 && strcmp(names->text + names->offsets[i - 1], at) >= 0)
            return refuse_name(path, i, "does not follow the one before");
        at = zero + 1;
    }
    names->offsets[names->count] = names->bytes;
    return at == end ? TD_OK : refuse_name(path, names->count, "has no vertex");
}

td_status td_vertex_names_take(td_vertex_names **out, char *text, uint64_t bytes, uint64_t count, bool mapped,
                               const char *path)
{
    td_vertex_names *names = NULL;
    td_status status = TD_NEW_ZEROED(&names, 1, "names of vertices");
    if (status != TD_OK) {
        if (!mapped) td_free(text);
        return status;
    }
    *names = (td_vertex_names){.count = count, .bytes = bytes, .text = text, .mapped = mapped};
    TD_TRY(TD_NEW(&names->offsets, count + 1, "places of names"));
    TD_TRY(find_names(names, path));
    *out = names;
    names = NULL;
done:
    td_vertex_names_destroy(names);
    return status;
}

void td_vertex_names_destroy(td_vertex_names *names)
{
    if (names == NULL) return;
    if (!names->mapped) td_free(names->text);
    td_free(names->offsets);
    td_free(names);
}

td_status td_vertex_names_hand_over(td_graph *from, td_vertex_names **out)
{
    td_vertex_names *names = from->names;
    if (names != NULL && names->mapped) { /* the mapping ends with the graph */
        char *text = NULL;
        TD_CHECK(TD_NEW(&text, names->bytes, "names of vertices"));
        memcpy(text, names->text, names->bytes);
        names->text = text;
        names->mapped = false;
    }
    from->names = NULL;
    *out = names;
    return TD_OK;
}

uint64_t td_vertex_names_bytes(const td_vertex_names *names)
{
    return names != NULL ? sizeof *names + names->bytes + (names->count + 1) * sizeof *names->offsets : 0;
}

uint64_t td_vertex_names_search(const td_vertex_names *names, const char *name, size_t length, bool *found)
{
    uint64_t low = 0, high = names->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (compare(names->text + names->offsets[middle], name, length) < 0) low = middle + 1;
        else high = middle;
    }
    *found = low < names->count && compare(names->text + names->offsets[low], name, length) == 0;
    return low;
}

/* A mapped file may be forged: an id beyond the names has none. */
static const char *name_of_id(const td_vertex_names *names, uint64_t id)
{
    return id < names->count ? names->text + names->offsets[id] : "?";
}

const char *td_vertex_name(const td_graph *graph, uint32_t vertex)
{
    if (graph->names == NULL || vertex >= graph->vertices) return NULL;
    return name_of_id(graph->names, td_graph_id(graph, vertex));
}

static bool needs_quotes(const char *name)
{
    return name[0] == '#' || name[0] == '%' || strpbrk(name, " \t\r,;\"") != NULL;
}

static char *print_name(char *at, const char *name)
{
    bool quotes = needs_quotes(name);
    if (!quotes) return stpcpy(at, name);
    *at++ = '"';
    for (; *name != '\0'; *at++ = *name++)
        if (*name == '"') *at++ = '"';
    *at++ = '"';
    return at;
}

char *td_print_id(char *at, const td_graph *graph, uint64_t id)
{
    return graph->names != NULL ? print_name(at, name_of_id(graph->names, id)) : td_print_u64(at, id);
}

char *td_print_vertex(char *at, const td_graph *graph, uint32_t vertex)
{
    return td_print_id(at, graph, td_graph_id(graph, vertex));
}

size_t td_print_room(const td_graph *graph)
{
    return graph->names != NULL ? 2 * (size_t)graph->names->longest + 3 : TD_PRINT_U64;
}

td_status td_vertex_named(const td_graph *graph, const char *name, uint32_t *vertex)
{
    bool found = false;
    uint64_t id = graph->names != NULL ? td_vertex_names_search(graph->names, name, strlen(name), &found) : 0;
    if (found) return td_graph_find(graph, id, vertex);
    return td_fail(TD_NOT_FOUND, "vertex '%s' is not in %s%s", name, graph->name != NULL ? graph->name : "the graph",
                   graph->names != NULL ? "" : ", whose vertices have no names");
}

td_status td_vertex_of_text(const td_graph *graph, const char *text, uint32_t *vertex)
{
    uint64_t id;
    if (graph->names != NULL) return td_vertex_named(graph, text, vertex);
    TD_CHECK(td_parse_u64(text, &id));
    return td_graph_find(graph, id, vertex);
}
