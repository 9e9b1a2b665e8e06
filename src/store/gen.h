/* Graphs from a seed. An edge depends only on (seed, edge number), so a graph does not
 * depend on the number of threads. Generators fill a declared edge list with ids from
 * 0; the builder's options apply to it as to any other. Random kinds draw with
 * repetition: loops and parallel edges stay unless the builder's options drop them. */
#ifndef TD_STORE_GEN_H
#define TD_STORE_GEN_H

#include "store/builder.h"

typedef struct td_gen_spec {
    const char *kind;   /* "rmat", "grid", ... */
    uint64_t seed;
    uint64_t scale;     /* log2 of the vertices, where the kind has it; 0: not given */
    uint64_t vertices;  /* instead of scale; 0: not given */
    double degree;      /* edges per vertex before cleaning; 0: the kind's default */
    double a, b, c;     /* rmat; 0: Graph500's .57 .19 .19 */
    uint64_t width, height; /* grid (height 0: the width); layered: vertices per layer */
    uint64_t layers;    /* layered */
    double rewire;      /* smallworld: a probability; below 0: not given (.1) */
    uint64_t arity;     /* tree; 0: 2 */
    uint64_t hosts;     /* web; 0: a host per 128 pages */
    bool shuffle;       /* number the vertices at random: a bijection keyed by the seed */
} td_gen_spec;

typedef struct td_gen_size {
    uint64_t vertices;
    uint64_t edges; /* edges of the list (approximate for web); a mirrored edge counts once */
} td_gen_size;

typedef struct td_generator {
    const char *kind, *description, *parameters; /* "scale degree a b c" */
    td_status (*size)(const td_gen_spec *spec, td_gen_size *size); /* fails if a value is invalid */
    td_status (*fill)(const td_gen_spec *spec, td_edge_list *edges, td_pool *pool);
} td_generator;

extern const td_generator td_generators[]; /* ends with a NULL kind */

const td_generator *td_generator_named(const char *kind); /* NULL if there is none */

/* Refuses an unknown kind, a parameter that the kind does not have, two that exclude
 * each other, and values beyond the limits. *size may be NULL. */
td_status td_gen_check(const td_gen_spec *spec, td_gen_size *size);

/* Named benchmark graphs (k23, k25, u23, grid3000, and kN, uN, gridN for other
 * sizes): fills spec and build options, a fixed seed among them. False if `name`
 * is none of them. A size out of range is left to td_gen_check. */
bool td_gen_named(const char *name, td_gen_spec *spec, td_build_options *build);

td_status td_graph_generate(td_graph **out, const td_gen_spec *spec, const td_build_options *build, td_pool *pool);

#endif
