/* The table of generators, the check of parameters, and the named benchmark
 * graphs. */
#include "store/gen.h"

#include "base/names.h"
#include "store/gen_fill.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define KIND(kind) td_gen_##kind##_size, td_gen_##kind##_fill

const td_generator td_generators[] = {
    {"rmat", "skewed: recursive quadrants, degree 16, a b c .57 .19 .19 as in Graph500", "scale degree a b c",
     KIND(rmat)},
    {"uniform", "random pairs of vertices (Erdos-Renyi), degree 16", "scale vertices degree", KIND(uniform)},
    {"grid", "road-like: 4 neighbours in both directions, distances between jittered crossings as weights",
     "width height", KIND(grid)},
    {"web", "copying model with hosts: links near home, skewed in-degrees, sinks, long tails; degree 16 on average",
     "scale vertices degree hosts", KIND(web)},
    {"smallworld", "Watts-Strogatz ring in both directions, degree 8, each edge rewired with probability .1",
     "scale vertices degree rewire", KIND(smallworld)},
    {"path", "0 -> 1 -> 2 ...", "scale vertices", KIND(path)},
    {"star", "vertex 0 -> every other", "scale vertices", KIND(star)},
    {"tree", "parent -> child in level order, arity 2", "scale vertices arity", KIND(tree)},
    {"complete", "every pair in both directions", "scale vertices", KIND(complete)},
    {"layered", "neural network: every vertex -> all of the next layer, or `degree` of them; weights in [-1,1]",
     "layers width degree", KIND(layered)},
    {0},
};

const td_generator *td_generator_named(const char *kind)
{
    for (const td_generator *generator = td_generators; generator->kind != NULL; generator++)
        if (strcmp(generator->kind, kind) == 0) return generator;
    return NULL;
}

/* A parameter that only some kinds have; all have seed and shuffle. */
typedef struct parameter {
    const char *name;
    size_t at;
    enum { WHOLE, REAL, REAL_FROM_0 } type;
} parameter;

#define AT(field) offsetof(td_gen_spec, field)

static const parameter parameters[] = {
    {"scale", AT(scale), WHOLE},   {"vertices", AT(vertices), WHOLE}, {"degree", AT(degree), REAL},
    {"a", AT(a), REAL},            {"b", AT(b), REAL},                {"c", AT(c), REAL},
    {"width", AT(width), WHOLE},   {"height", AT(height), WHOLE},     {"layers", AT(layers), WHOLE},
    {"rewire", AT(rewire), REAL_FROM_0}, {"arity", AT(arity), WHOLE}, {"hosts", AT(hosts), WHOLE},
};
enum { PARAMETERS = sizeof parameters / sizeof *parameters };

static bool given(const td_gen_spec *spec, const parameter *which)
{
    const char *at = (const char *)spec + which->at;
    double real;
    uint64_t whole;
    if (which->type == WHOLE) {
        memcpy(&whole, at, sizeof whole);
        return whole != 0;
    }
    memcpy(&real, at, sizeof real);
    return which->type == REAL ? real != 0 : !(real <= 0);
}

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) return true;
    return false;
}

/* The names of the options "scale degree", separated by blanks. */
static void name_options(const char *words, char *text, size_t room)
{
    size_t used = 0;
    for (const char *at = words; *at != '\0' && used < room; at += strspn(at, " ")) {
        char option[TD_OPTION_BYTES];
        size_t length = strcspn(at, " ");
        snprintf(option, sizeof option, "%.*s", (int)length, at);
        used += (size_t)snprintf(text + used, room - used, "%s%s", used > 0 ? " " : "", td_named(option));
        at += length;
    }
}

static td_status unknown_kind(const char *kind)
{
    char known[256] = "";
    size_t used = 0;
    for (const td_generator *generator = td_generators; generator->kind != NULL; generator++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : "", generator->kind);
    return td_fail(TD_USAGE, "there is no generator '%s'; there are %s, and the named graphs kN, uN and gridN", kind,
                   known);
}

td_status td_gen_check(const td_gen_spec *spec, td_gen_size *size)
{
    td_gen_size checked;
    const td_generator *generator = td_generator_named(spec->kind);
    if (generator == NULL) return unknown_kind(spec->kind);
    for (int i = 0; i < PARAMETERS; i++) {
        if (!given(spec, &parameters[i]) || has_word(generator->parameters, parameters[i].name)) continue;
        char takes[256] = "";
        name_options(generator->parameters, takes, sizeof takes);
        return td_fail(TD_USAGE, "%s has no %s; it takes %s", spec->kind, td_named(parameters[i].name), takes);
    }
    TD_CHECK(generator->size(spec, &checked));
    if (size != NULL) *size = checked;
    return TD_OK;
}

/* The number, or 0 if `digits` has other characters. */
static uint64_t number_in(const char *digits)
{
    uint64_t value = 0;
    if (*digits == '0' || strlen(digits) > 9) return 0;
    for (; *digits != '\0'; digits++) {
        if (*digits < '0' || *digits > '9') return 0;
        value = value * 10 + (uint64_t)(*digits - '0');
    }
    return value;
}

bool td_gen_named(const char *name, td_gen_spec *spec, td_build_options *build)
{
    td_gen_spec named = {.seed = 1, .rewire = -1, .shuffle = true};
    if (name[0] == 'k' && (named.scale = number_in(name + 1)) != 0) named.kind = "rmat";
    else if (name[0] == 'u' && (named.scale = number_in(name + 1)) != 0) named.kind = "uniform";
    else if (strncmp(name, "grid", 4) == 0 && (named.width = number_in(name + 4)) != 0) named.kind = "grid";
    else return false;
    *spec = named;
    *build = (td_build_options){.symmetrize = true, .dedup = true, .drop_loops = true, .attach_weights = true,
                                .weight_low = 1, .weight_high = 100, .weight_seed = 1};
    return true;
}

td_status td_graph_generate(td_graph **out, const td_gen_spec *spec, const td_build_options *build, td_pool *pool)
{
    td_status status = TD_OK;
    td_edge_list *edges = NULL;
    TD_TRY(td_gen_check(spec, NULL));
    TD_TRY(td_edges_create(&edges, spec->kind));
    if (build != NULL) TD_TRY(td_edges_prepare(edges, build));
    TD_TRY(td_generator_named(spec->kind)->fill(spec, edges, pool));
    TD_TRY(td_graph_build(out, edges, build, pool));
done:
    td_edges_destroy(edges);
    return status;
}
