/* Minimum spanning forest of the undirected view, by Boruvka's rounds. A round
 * is three sweeps: the least weight that leaves each component, the lowest edge
 * number among edges of that weight (so that the forest is unique), and the
 * component at that edge's other end. Then components hook onto each other
 * along their edges and the trees are flattened. */
#include "programs/program.h"

typedef struct program_value {
    uint32_t component; /* of roots: themselves */
    uint32_t weight;    /* of roots: the lightest leaving edge, in ordered bits; TD_UNREACHED: none */
    uint64_t edge;      /* of roots: its number; MST_NO_EDGE: none */
    uint32_t partner;   /* of roots: the component at its other end */
    uint32_t chosen;    /* of roots: the edge belongs to the forest */
} program_value;

#define PROGRAM_GAS 0
#define PROGRAM_WEIGHTED 1
#define PROGRAM_VIEW TD_VIEW_BOTH
#define PROGRAM_STEPS 3
#define PROGRAM_SAMPLES 0
#define PROGRAM_COLLECTS_EDGES 1 /* program_edge, program_reset */
#define PROGRAM_ONCE 1 /* every undirected edge is seen once */

enum { MST_LIGHTEST, MST_LOWEST, MST_PARTNER, MST_SWEEPS };
#define MST_NO_EDGE UINT64_C(0xffffffffffffffff)

TD_INLINE program_value program_init(const td_context *c, uint32_t v, uint32_t degree)
{
    (void)c, (void)degree;
    program_value fresh = {v, TD_UNREACHED, MST_NO_EDGE, TD_UNREACHED, 0};
    return fresh;
}

TD_INLINE void mst_offer(const td_context *c, program_value *root, uint32_t other, uint32_t weight, uint64_t edge)
{
    uint32_t sweep = c->iteration % MST_SWEEPS;
    if (sweep == MST_LIGHTEST)
        TD_LOWER(&root->weight, weight);
    else if (weight != TD_LOAD(&root->weight))
        return;
    else if (sweep == MST_LOWEST)
        TD_LOWER(&root->edge, edge);
    else if (edge == TD_LOAD(&root->edge))
        TD_STORE(&root->partner, other);
}

/* `weight` comes in ordered bits, below TD_UNREACHED. */
TD_INLINE bool program_visit(const td_context *c, program_value *values, uint32_t u, uint32_t v, uint32_t weight,
                             uint64_t edge)
{
    uint32_t a = values[u].component, b = values[v].component;
    if (a == b) return false; /* and they stay together */
    mst_offer(c, &values[a], b, weight, edge);
    mst_offer(c, &values[b], a, weight, edge);
    return true;
}

/* Of two components that chose the same edge the smaller stays a root. */
TD_INLINE bool mst_hooks(const program_value *values, uint32_t v)
{
    uint32_t partner = values[v].partner;
    return partner != TD_UNREACHED && !(TD_LOAD(&values[partner].partner) == v && v < partner);
}

/* Everyone on the way to the root is hung onto it, so that long chains are walked
 * once and not from each of their vertices. */
TD_INLINE void mst_flatten(program_value *values, uint32_t v)
{
    uint32_t root = v, above;
    while ((above = TD_LOAD(&values[root].component)) != root) root = above;
    while ((above = TD_LOAD(&values[v].component)) != root) {
        TD_STORE(&values[v].component, root);
        v = above;
    }
}

TD_INLINE uint64_t program_between(const td_context *c, program_value *values, uint32_t v, int step)
{
    if (c->iteration % MST_SWEEPS != MST_PARTNER) return 0;
    program_value *mine = &values[v];
    if (step == 0) { /* who hooks: needs everyone's partner as the sweep left it */
        mine->chosen = mst_hooks(values, v);
        return mine->chosen;
    }
    if (step == 1) {
        if (mine->chosen) TD_STORE(&mine->component, mine->partner);
        return 0;
    }
    mst_flatten(values, v);
    return 0;
}

/* After the forest's edges of this round were collected. */
TD_INLINE void program_reset(const td_context *c, program_value *value)
{
    if (c->iteration % MST_SWEEPS != MST_PARTNER) return;
    value->weight = TD_UNREACHED;
    value->edge = MST_NO_EDGE;
    value->partner = TD_UNREACHED;
    value->chosen = 0;
}

TD_INLINE bool program_again(const td_context *c, uint64_t hooked)
{
    return c->iteration % MST_SWEEPS != MST_PARTNER || hooked > 0;
}

TD_INLINE uint32_t program_label(const program_value *values, uint32_t v) { return TD_LOAD(&values[v].component); }

/* The edge that a vertex's hook adds to the forest, or MST_NO_EDGE. */
TD_INLINE uint64_t program_edge(const program_value *value) { return value->chosen ? value->edge : MST_NO_EDGE; }

static const td_program_info program_info = {
    .name = "mst", .summary = "minimum spanning forest of the undirected view", .result = "tree",
    .kind = TD_KIND_SWEEP, .weights = TD_WEIGHTS_NEEDED, .value = TD_VALUE_U32, .vertex_values = true,
    .largest_weight = TD_UNREACHED - 1, .order_free = true,
};
