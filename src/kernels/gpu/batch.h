/* What the lanes of a warp have in their hands during a push: a round, and a few edges of it. */

typedef struct push_round {
    const uint32_t *in;
    uint32_t *out;
    uint32_t *map, *next_map; /* bitmaps of the two queues; 0 where a vertex is queued once by nature */
    td_gpu_slot *now, *next;
    uint64_t next_edges;
    uint32_t taken_edges, number;
    uint32_t bound;           /* priorities: those above it are put off */
    uint32_t *far, *far_count;/* and listed, where there is a list; so are those queued in `out` */
    bool puts_off;
} push_round;

/* Edges that a lane has in hand at once, so that their reads are under way together. */
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
