/* Graphs from a seed. What is drawn depends on (seed, edge number) alone, so a
 * graph is the same whatever the number of threads. Generators fill an edge
 * list; the builder's options apply to it as to any other. */
#ifndef TD_STORE_GEN_H
#define TD_STORE_GEN_H

#include "store/builder.h"

typedef struct td_gen_spec {
    const char *kind;   /* "rmat", "grid", ... */
    uint64_t seed;
    uint32_t scale;     /* log2 of the vertices, where the kind has it; 0: not given */
    uint64_t vertices;  /* instead of scale; 0: not given */
    double degree;      /* edges per vertex before cleaning; 0: the kind's default */
    double a, b, c;     /* rmat; 0: Graph500's .57 .19 .19 */
    uint64_t width, height; /* grid */
    uint64_t layers;    /* layered */
    double rewire;      /* smallworld */
    uint64_t arity;     /* tree */
    uint64_t hosts;     /* web */
    bool shuffle;       /* number the vertices at random */
} td_gen_spec;

typedef struct td_generator {
    const char *kind, *description, *parameters; /* "scale degree a b c" */
    td_status (*fill)(const td_gen_spec *spec, td_edge_list *edges, td_pool *pool);
} td_generator;

extern const td_generator td_generators[]; /* ends with a NULL kind */

/* Named benchmark graphs (k23, k25, u23, grid3000, and kN, uN, gridN for other
 * sizes): fills spec and build options. False if `name` is none of them. */
bool td_gen_named(const char *name, td_gen_spec *spec, td_build_options *build);

td_status td_graph_generate(td_graph **out, const td_gen_spec *spec, const td_build_options *build, td_pool *pool);

#endif
