/* Shared by the generators: the work is divided into pieces of fixed size, piece i fills
 * chunk i, and its edges are a function of its item numbers. */
#ifndef TD_STORE_GEN_FILL_H
#define TD_STORE_GEN_FILL_H

#include "base/random.h"
#include "store/gen.h"

typedef struct td_gen_job td_gen_job;
struct td_gen_job {
    const td_gen_spec *spec;
    uint64_t vertices;
    uint64_t items; /* edges; or vertices, if a vertex's edges are drawn together */
    uint64_t grain; /* items per chunk; 0: TD_GEN_GRAIN */
    bool weighted;
    bool mirror;       /* each edge represents both directions */
    const void *model; /* data prepared by the kind */
    uint64_t (*room)(const td_gen_job *job, uint64_t begin, uint64_t end); /* edges of these items; NULL: one each */
    void (*emit)(const td_gen_job *job, uint64_t begin, uint64_t end, td_edge_chunk *chunk);
};

enum { TD_GEN_GRAIN = 1 << 18 }; /* 2 MiB of edges: one huge page */

td_status td_gen_fill(const td_gen_job *job, td_edge_list *edges, td_pool *pool);

/* There is room, and ids of declared vertices never need 64 bits. */
static inline void td_gen_put(td_edge_chunk *chunk, uint64_t source, uint64_t target)
{
    chunk->ends[2 * chunk->count] = (uint32_t)source;
    chunk->ends[2 * chunk->count + 1] = (uint32_t)target;
    chunk->count++;
}

/* Different uses of one seed draw from different streams. */
static inline uint64_t td_gen_stream(const td_gen_spec *spec, uint64_t use)
{
    return td_mix64(spec->seed + use * UINT64_C(0x9fb21c651e98df25));
}

/* For the kinds' size functions. */
td_status td_gen_vertices(const td_gen_spec *spec, uint64_t *vertices); /* from scale or vertices */
td_status td_gen_edges(const td_gen_spec *spec, uint64_t vertices, double degree, uint64_t *edges);
td_status td_gen_whole_degree(const td_gen_spec *spec, uint64_t default_degree, uint64_t *degree);
td_status td_gen_area(const td_gen_spec *spec, const char *names, uint64_t a, uint64_t b, uint64_t *a_times_b);
td_status td_gen_edge_limit(const td_gen_spec *spec, const char *names, uint64_t edges);

/* gen_random.c, gen_regular.c, gen_web.c */
#define TD_GENERATOR(kind)                                         \
    td_status td_gen_##kind##_size(const td_gen_spec *spec, td_gen_size *size); \
    td_status td_gen_##kind##_fill(const td_gen_spec *spec, td_edge_list *edges, td_pool *pool)
TD_GENERATOR(rmat);
TD_GENERATOR(uniform);
TD_GENERATOR(grid);
TD_GENERATOR(web);
TD_GENERATOR(smallworld);
TD_GENERATOR(path);
TD_GENERATOR(star);
TD_GENERATOR(tree);
TD_GENERATOR(complete);
TD_GENERATOR(layered);
#undef TD_GENERATOR

#endif
