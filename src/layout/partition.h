/* A graph cut into fragments, one per GPU, by an edge cut (GUM, section II): every vertex is owned by one fragment,
 * which has the vertex's whole adjacency lists; an edge whose ends have different owners is cut, and the end that
 * another fragment owns is a mirror. A fragment owns a contiguous range of vertex numbers, of the graph's own numbering
 * or of the partition's, which has the form that run/numbering.h takes:
 *
 *     td_numbering numbering = {partition.vertices, partition.order, partition.place};
 *
 * The result does not depend on the number of workers. */
#ifndef TD_LAYOUT_PARTITION_H
#define TD_LAYOUT_PARTITION_H

#include "store/graph.h"

/* name, what it does */
#define TD_PARTITION_LIST(X)                                               \
    X(SEG, "seg", "ranges of the graph's own numbering with equal edges")  \
    X(RANDOM, "random", "vertices at random, from a seed, in equal edges") \
    X(METIS, "metis", "few cut edges, by METIS with degrees as weights")

typedef enum td_partition_kind {
#define TD_PARTITION_CODE(code, name, text) TD_PARTITION_##code,
    TD_PARTITION_LIST(TD_PARTITION_CODE)
#undef TD_PARTITION_CODE
    TD_PARTITIONS,
} td_partition_kind;

enum {
    TD_FRAGMENTS = TD_PARTITION_MOST, /* 16 */
    TD_FRAGMENT_ALIGN = 32,           /* vertices of a word of a GPU's bitmap, which belongs to one fragment */
};

typedef struct td_partition_wish {
    td_partition_kind kind;
    int parts;             /* 1 .. TD_FRAGMENTS */
    const double *weights; /* the edges that each fragment should have, relative to the others; NULL: equal */
    uint64_t seed;         /* of random and metis */
    bool ranges_only;      /* edges, cut, mirrors and balance are not counted, which takes a pass over all edges */
    bool out, in;          /* the lists that the run uses and whose entries count as edges; neither: all that the graph
                            * has */
} td_partition_wish;

/* Fragment k owns the numbers first[k] .. first[k + 1] - 1. All beginnings are multiples of TD_FRAGMENT_ALIGN, so that
 * the last fragment always has the vertices behind the last multiple, and other fragments may be empty.
 *
 * An edge is an entry of a list: with both lists of a directed graph, each edge counts at both of its ends. The one
 * adjacency of a symmetric graph counts once. */
typedef struct td_partition {
    int parts;
    uint32_t vertices;
    uint32_t first[TD_FRAGMENTS + 1];
    uint32_t *order, *place;       /* the vertex of a number, the number of a vertex; NULL: the graph's own numbers */
    uint64_t edges[TD_FRAGMENTS];  /* entries of the owned vertices' lists */
    uint64_t cut[TD_FRAGMENTS];    /* the part of them that refers to another fragment's vertices */
    uint32_t mirrors[TD_FRAGMENTS][TD_FRAGMENTS]; /* distinct vertices of the second fragment that the first one's
                                                   * lists refer to */
    uint64_t all_edges, all_cut;
    double balance;                /* the most edges of a fragment over its share of them; 1 without edges */
} td_partition;

/* Parses "seg:8". Fails with TD_USAGE, or with TD_UNSUPPORTED if METIS is missing. */
td_status td_partition_parse(const char *text, td_partition_kind *kind, int *parts);

const char *td_partition_name(td_partition_kind kind);
const char *td_partition_text(td_partition_kind kind);
td_status td_partition_named(const char *name, td_partition_kind *out);

/* On failure *out is untouched. Allocates 8 bytes per vertex for the numbering, except for SEG, and while it works an
 * eighth of a byte per vertex (bitmap of mirrors) and a quarter (sums of 32 vertices). METIS takes what
 * partition_metis.h states. */
td_status td_partition_make(td_partition *out, const td_graph *graph, const td_partition_wish *wish, td_pool *pool);
void td_partition_free(td_partition *partition);

/* The most that METIS and what it is given take of the host, before there is a numbering; 0 for other partitioners, and
 * where METIS is not asked. */
uint64_t td_partition_metis_bytes(const td_graph *graph, td_partition_kind kind, int parts);

static inline uint64_t td_partition_mirrors(const td_partition *partition, int fragment)
{
    uint64_t sum = 0;
    for (int k = 0; k < partition->parts; k++) sum += partition->mirrors[fragment][k];
    return sum;
}

/* The fragment that owns a number of the partition's numbering. */
static inline int td_partition_owner(const td_partition *partition, uint32_t number)
{
    int owner = 0;
    while (number >= partition->first[owner + 1]) owner++;
    return owner;
}

#endif
