/* Minimum spanning forest of the undirected view, by Boruvka's rounds. In a round
 * every component finds the first edge that leaves it, by weight and then by number,
 * which makes the forest unique. Weight, number and the component at the other end
 * are one key. If a key fits a word, one sweep finds the smallest; otherwise one sweep
 * finds the smallest upper half, and a second one the smallest lower half among the
 * edges with that upper half. Then components hook onto each other along the edges
 * found, and the trees are flattened. */
#include "kernels/program.h"

typedef td_forest_value program_value;

#define PROGRAM_GAS 0
#define PROGRAM_WEIGHTED 1
#define PROGRAM_VIEW TD_VIEW_BOTH
#define PROGRAM_STEPS 3
#define PROGRAM_SAMPLES 0
#define PROGRAM_COLLECTS_EDGES 1 /* program_edge, program_reset */
#define PROGRAM_ONCE 1 /* every undirected edge is visited once */
#define PROGRAM_LIGHT_FIRST 1 /* the forest of the light edges is a part of that of all (Filter-Kruskal) */

#define MST_NONE TD_NO_KEY

/* At most 63 bits, so that no key equals MST_NONE. */
TD_INLINE bool mst_fits_word(const td_context *c)
{
    return c->weight_bits + c->edge_bits + c->vertex_bits < 64;
}

TD_INLINE uint32_t mst_sweeps(const td_context *c) { return mst_fits_word(c) ? 1 : 2; }
TD_INLINE bool mst_ends_round(const td_context *c) { return c->iteration % mst_sweeps(c) == mst_sweeps(c) - 1; }

TD_INLINE uint64_t mst_upper(const td_context *c, uint32_t weight, uint64_t edge, uint32_t partner)
{
    if (!mst_fits_word(c)) return (uint64_t)weight << 32 | edge >> 32;
    return ((uint64_t)weight << c->edge_bits | edge) << c->vertex_bits | partner;
}

TD_INLINE uint64_t mst_lower(uint64_t edge, uint32_t partner) { return edge << 32 | partner; }

/* The component at the other end, from the key of a root. */
TD_INLINE uint32_t mst_partner(const td_context *c, const uint64_t best[2])
{
    uint64_t mask = ((uint64_t)1 << c->vertex_bits) - 1;
    return (uint32_t)(mst_fits_word(c) ? best[0] & mask : best[1]);
}

TD_INLINE uint64_t mst_edge(const td_context *c, const uint64_t best[2])
{
    uint64_t mask = ((uint64_t)1 << c->edge_bits) - 1;
    return mst_fits_word(c) ? best[0] >> c->vertex_bits & mask : (best[0] & UINT64_C(0xffffffff)) << 32 | best[1] >> 32;
}

TD_INLINE program_value program_init(const td_context *c, uint32_t v, uint32_t degree)
{
    (void)c, (void)degree;
    program_value fresh = {v, 0, {MST_NONE, MST_NONE}};
    return fresh;
}

/* Reads before the atomic: nearly all edges of a large component are no improvement. */
TD_INLINE void mst_offer(const td_context *c, program_value *root, uint32_t other, uint32_t weight, uint64_t edge)
{
    uint64_t upper = mst_upper(c, weight, edge, other);
    if (c->iteration % mst_sweeps(c) == 0) {
        if (upper < TD_LOAD_LAZY(&root->best[0])) TD_LOWER(&root->best[0], upper);
    } else if (upper == TD_LOAD_LAZY(&root->best[0]) && mst_lower(edge, other) < TD_LOAD_LAZY(&root->best[1])) {
        TD_LOWER(&root->best[1], mst_lower(edge, other));
    }
}

/* `weight` comes in ordered bits, below TD_UNREACHED. */
TD_INLINE bool program_visit(const td_context *c, program_value *values, uint32_t u, uint32_t v, uint32_t weight,
                             uint64_t edge)
{
    uint32_t a = values[u].component, b = values[v].component;
    if (a == b) return false; /* no later sweep needs the edge: components only grow */
    mst_offer(c, &values[a], b, weight, edge);
    mst_offer(c, &values[b], a, weight, edge);
    return true;
}

/* The component that the best edge of a root leads to. A component that hooked within the round names another root. */
TD_INLINE uint32_t mst_other(const td_context *c, const program_value *values, uint32_t root)
{
    return values[mst_partner(c, values[root].best)].component;
}

/* If two components chose the same edge, the one with the smaller number stays a root. An edge to the component itself
 * was the best one before a hook within the round: there may be a better one, so the component waits for a round. */
TD_INLINE bool mst_hooks(const td_context *c, const program_value *values, uint32_t v)
{
    if (values[v].best[0] == MST_NONE) return false;
    uint32_t partner = mst_other(c, values, v);
    if (partner == v) return false;
    return !(values[partner].best[0] != MST_NONE && mst_other(c, values, partner) == v && v < partner);
}

/* Path compression: hangs every vertex on the path directly onto the root, so that long
 * chains are walked once and not from each of their vertices. */
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
    if (!mst_ends_round(c)) return 0;
    program_value *mine = &values[v];
    if (step == 0) { /* decides which roots hook, while no component has changed yet */
        mine->chosen = mst_hooks(c, values, v);
        return mine->chosen;
    }
    if (step == 1) {
        if (mine->chosen) TD_STORE(&mine->component, TD_LOAD(&values[mst_partner(c, mine->best)].component));
        return 0;
    }
    mst_flatten(values, v);
    return 0;
}

/* Called after the edges of the round were collected. */
TD_INLINE void program_reset(const td_context *c, program_value *value)
{
    if (!mst_ends_round(c)) return;
    value->best[0] = value->best[1] = MST_NONE;
    value->chosen = 0;
}

TD_INLINE bool program_again(const td_context *c, uint64_t hooked) { return !mst_ends_round(c) || hooked > 0; }

TD_INLINE uint32_t program_label(const program_value *values, uint32_t v) { return TD_LOAD(&values[v].component); }

/* The edge that a vertex's hook adds to the forest, or UINT64_MAX. */
TD_INLINE uint64_t program_edge(const td_context *c, const program_value *value)
{
    return value->chosen ? mst_edge(c, value->best) : UINT64_MAX;
}

static const td_program_info program_info = {
    .name = "mst", .summary = "minimum spanning forest of the undirected view", .result = "tree",
    .kind = TD_KIND_SWEEP, .weights = TD_WEIGHTS_NEEDED, .value = TD_VALUE_U32,
    .rule = TD_RULE_FOREST, .vertex_values = true,
    .any_member = true, .largest_weight = TD_UNREACHED - 1, .order_free = true,
    .edges = "Direction is ignored; of parallel edges, u -> v and v -> u included, the lightest counts. "
             "Loops are never taken.",
};
