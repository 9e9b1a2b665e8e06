/* The state of a push: its round, and the batch of edges that a warp processes at once. */

typedef struct push_round {
    const uint32_t *in;
    uint32_t *out;
    uint32_t *map, *next_map; /* bitmaps of the two queues; 0 where the program activates a vertex only once */
    td_gpu_slot *now, *next;
    uint64_t next_edges;
    uint32_t taken_edges, number;
    uint32_t bound;           /* priorities above it are deferred */
    uint32_t *far, *far_count;/* the list of deferred vertices; far 0: no list, like `out` */
    bool defers;
    const td_gpu_fragments *fragments; /* several GPUs: the vertices that this one owns; 0, known to the compiler, in
                                        * loops of one GPU, whose inner code has no room for the question */
    bool lean;                /* td_push_args.lean, likewise */
#if PROGRAM_PEELS
    const td_cores_args *cores; /* core numbers (cores.h), and what they push: known to the compiler like fragments */
    uint32_t cores_push, taken_vertices;
    const uint64_t *skip;       /* prefix sums over vertices of the leading edges that are in another place; 0: none */
#define PUSH_NO_CORES , 0, 0, 0, 0
#else
#define PUSH_NO_CORES
#endif
} push_round;

/* The edges of a vertex that a round processes. */
TD_DEVICE list_part list_in(const td_push_args *a, const push_round *r, uint32_t u)
{
    list_part part = {a->list.offsets[u], a->list.offsets[u + 1]};
    (void)r;
#if PROGRAM_PEELS
    if (r->skip != 0) part.begin += r->skip[u + 1] - r->skip[u];
#endif
    return part;
}

/* What an edge carries: its source's message, or for core numbers the source itself. */
TD_DEVICE program_message message_from(const td_push_args *a, const push_round *r, uint32_t u)
{
#if PROGRAM_PEELS
    if (r->cores != 0) return u;
#endif
    (void)r;
    return message_of(&a->state, u);
}

/* Edges per lane in a batch: their reads overlap. */
#ifndef PUSH_BATCH
#define PUSH_BATCH 4
#endif
#ifndef PUSH_BLOCKS
#define PUSH_BLOCKS 2
#endif
typedef struct push_batch {
    uint64_t edge[PUSH_BATCH];
    program_message message[PUSH_BATCH];
    bool is[PUSH_BATCH];
} push_batch;
