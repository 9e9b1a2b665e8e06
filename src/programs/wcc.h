/* Weakly connected components by union-find, one sweep over the edges (Afforest:
 * Sutton, Ben-Nun, Barak, IPDPS'18). A vertex's value points to a vertex of the
 * same component with a smaller number, roots to themselves; an edge hooks the
 * larger of two roots below the smaller. After the sweep every value is its
 * component's smallest vertex number; for a reordered graph engine/groups.h replaces
 * it by the vertex with the smallest id. The engine may sample a few edges of every
 * vertex first and then skip the vertices of the largest component. */
#include "kernels/program.h"

typedef uint32_t program_value;

#define PROGRAM_GAS 0
#define PROGRAM_WEIGHTED 0
#define PROGRAM_VIEW TD_VIEW_BOTH
#define PROGRAM_STEPS 1 /* vertex functions after a sweep */
#define PROGRAM_SAMPLES 1 /* vertices with the most common label may be skipped */
#define PROGRAM_ONCE 0 /* an undirected edge may be visited from both ends */

TD_INLINE program_value program_init(const td_context *c, uint32_t v, uint32_t degree)
{
    (void)c, (void)degree;
    return v;
}

TD_INLINE bool program_visit(const td_context *c, program_value *parents, uint32_t u, uint32_t v, uint32_t weight,
                             uint64_t edge)
{
    (void)c, (void)weight, (void)edge;
    uint32_t a = TD_LOAD_LAZY(&parents[u]), b = TD_LOAD_LAZY(&parents[v]);
    while (a != b) {
        uint32_t high = a > b ? a : b, low = a > b ? b : a;
        uint32_t above = TD_LOAD_LAZY(&parents[high]);
        if (above == low) return false;
        if (above == high) {
            if (TD_SWAP_IF(&parents[high], high, low)) return false;
            above = TD_LOAD(&parents[high]); /* smaller than `high`, so that the loop ends */
        }
        a = TD_LOAD_LAZY(&parents[above]);
        b = TD_LOAD_LAZY(&parents[low]);
    }
    return false;
}

TD_INLINE uint64_t program_between(const td_context *c, program_value *parents, uint32_t v, int step)
{
    (void)c, (void)step;
    uint32_t root = TD_LOAD_LAZY(&parents[v]); /* no root hooks in this step: a stale ancestor is still one */
    for (uint32_t above; (above = TD_LOAD_LAZY(&parents[root])) != root;) root = above;
    TD_STORE(&parents[v], root);
    return 0;
}

TD_INLINE bool program_again(const td_context *c, uint64_t total)
{
    (void)c, (void)total;
    return false;
}

TD_INLINE uint32_t program_label(const program_value *parents, uint32_t v) { return TD_LOAD_LAZY(&parents[v]); }

static const td_program_info program_info = {
    .name = "wcc", .summary = "weakly connected components (label: lowest id)", .result = "component",
    .kind = TD_KIND_SWEEP, .weights = TD_WEIGHTS_UNUSED, .value = TD_VALUE_U32,
    .rule = TD_RULE_PARENTS, .vertex_values = true,
    .order_free = true,
    .edges = "Direction is ignored; loops and parallel edges change nothing.",
};
