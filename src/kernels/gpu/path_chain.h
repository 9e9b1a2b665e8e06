/* Walks of packed partitions with long paths (engine/paths/packed.c): a list of the vertices along the paths, so that a new
 * value goes on to the end of its path in one walk.
 *
 * Lanes have 32 successive entries, each with the edge into it. An edge has something to send if its mirror is not the
 * message of the vertex before. In a step, the first lane of every path that has something to send, or a vertex to apply,
 * does that, and the next lane takes the new message. So paths are walked in their order, and a step is taken for edges
 * alone that have something to do.
 *
 * A mirror is one of an edge, and accessed by one lane of the warp alone that has the partition. */

/* The lane's entry of a block, and the edge into it. */
typedef struct path_link {
    bool on, edge;      /* whether there is an entry; whether an edge enters it */
    bool here;          /* the entry is on the vertex's home path */
    uint32_t bits;      /* TD_PATH_CHAIN_BEGINS, ... */
    uint32_t from, v;   /* of the edge */
    uint32_t number;    /* of the edge, in the partition */
} path_link;

/* Whether the walk of its home path has to apply a vertex. */
TD_DEVICE bool path_is_due(const td_path_state *s, const td_context *c, uint32_t v, td_path_tally *t)
{
    if (s->rounds != 0 && PATH_PEEK(&s->rounds[v]) == s->round) return false;
    PATH_COLLECT(s, c, v, t);
    program_value old = PATH_PEEK(&((program_value *)s->values)[v]);
    return path_wants(s, c, path_fresh(s, c, v, old, t), old);
}

/* Deposits a message; true: the vertex is to be triggered. */
TD_DEVICE bool path_send_link(const td_path_state *s, const td_context *c, const path_link *at, program_message before,
                              program_message message, td_path_tally *t)
{
    bool ends = !at->here && (at->bits & TD_PATH_CHAIN_LATER) == 0;
    program_accum brought;
    t->edges++;
    if (path_is_idle(at->from, at->v) || !path_brings(s, c, at->v, at->number, before, message, &brought)) return false;
    if (!at->here && path_takes_proxy(s, c, at->v, brought, t)) return false;
    return path_put(s, c, at->v, brought, ends, t);
}

/* The lanes that are the first of their paths among some. `starts`: lanes where a path begins. */
TD_DEVICE bool path_is_first(uint32_t among, uint32_t starts)
{
    uint32_t head = 0, rest = starts & (td_lanes_below() | 1u << td_lane());
    for (uint32_t by = 16; by > 0; by /= 2)
        if (rest >> by != 0) rest >>= by, head += by;
    return (among >> td_lane() & 1u) != 0 && (among & td_lanes_below()) >> head == 0;
}

/* Walks 32 entries. All lanes call. */
TD_DEVICE void path_walk_links(const td_path_state *s, const td_context *c, uint32_t k, uint32_t first, const path_link *at,
                               td_path_tally *t)
{
    program_message *mirror = (program_message *)s->sent + first + at->number, before = 0, message = 0;
    uint32_t starts = TD_BALLOT(TD_ALL_LANES, at->on && !at->edge);
    bool due = at->on && at->here && path_is_due(s, c, at->v, t);
    if (at->edge) {
        before = *mirror;
        message = path_message_at(s, at->from);
        t->loaded++;
        t->reads++;
    }
    for (bool waits = false;;) {
        bool sends = at->edge && before != message, renewed = false, triggers = false;
        bool acts = path_is_first(TD_BALLOT(TD_ALL_LANES, sends || due), starts);
        if (TD_BALLOT(TD_ALL_LANES, acts) == 0) {
            if (TD_BALLOT(TD_ALL_LANES, waits) == 0) break;
            waits = false; /* lanes of other paths have deposited */
            due = at->on && at->here && path_is_due(s, c, at->v, t);
            continue;
        }
        if (acts && sends) {
            triggers = path_send_link(s, c, at, before, message, t);
            waits |= (at->bits & TD_PATH_CHAIN_LATER) != 0;
            *mirror = before = message;
        }
        TD_WARP_BARRIER(TD_ALL_LANES); /* a vertex is applied behind the deposits of all lanes */
        if (acts && at->here) renewed = path_renew(s, c, at->v, t);
        due &= !acts;
        if (triggers) path_trigger(s, at->v, t);
        path_spread(s, at->v, renewed, (at->bits & TD_PATH_CHAIN_ALONE) != 0 ? k : PATH_NO_VERTEX, t);
        TD_WARP_BARRIER(TD_ALL_LANES);
        uint32_t moved = TD_BALLOT(TD_ALL_LANES, renewed) << 1;
        if (at->edge && (moved >> td_lane() & 1u) != 0) message = path_message_at(s, at->from);
        if (td_lane() == 0) t->lane_slots += TD_WARP;
    }
}

/* All lanes call. */
TD_DEVICE void path_walk_chain(const td_path_state *s, const td_context *c, uint32_t k, const td_path_pack *of,
                               td_path_tally *t)
{
    path_reader reader = path_open_list(of->words, 0, of->end, of->entries);
    uint32_t last = PATH_NO_VERTEX, edges = 0;
    td_path_state along = *s;
    along.weights = of->weights;
    for (uint32_t base = 0; base < of->entries; base += TD_WARP) {
        path_number entry = path_read_block(&reader);
        path_link at = {.on = base + td_lane() < of->entries, .here = entry.flag, .v = entry.value >> TD_PATH_CHAIN_BITS};
        at.bits = entry.value;
        at.edge = at.on && (entry.value & TD_PATH_CHAIN_BEGINS) == 0;
        uint32_t all = TD_BALLOT(TD_ALL_LANES, at.edge), lower = TD_SHUFFLE_UP(TD_ALL_LANES, at.v, 1);
        at.from = td_lane() == 0 ? last : lower;
        at.number = edges + TD_POPCOUNT(all & td_lanes_below());
        last = TD_SHUFFLE(TD_ALL_LANES, at.v, TD_WARP - 1);
        edges += TD_POPCOUNT(all);
        path_walk_links(&along, c, k, of->first, &at, t);
    }
}
