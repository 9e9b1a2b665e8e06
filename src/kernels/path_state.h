/* The state of a run along paths (layout/paths.h), for the kernels of the CPU and of GPUs: plain data, pointers to the
 * memory of the device that computes.
 *
 * A vertex has a master: `sums`, what its in-edges have deposited, and `values`, what program_apply made of it when the
 * vertex was last read. An edge has a mirror of its source (`sent`): the message that it last deposited. An edge whose
 * mirror is the source's message has nothing to do. A path is marked when one of its edges may have; a partition is
 * walked by going along its marked paths. */
#ifndef TD_KERNELS_PATH_STATE_H
#define TD_KERNELS_PATH_STATE_H

#include "kernels/program.h"
#include "layout/paths.h"

#include <stddef.h>

enum {
    TD_PATH_LEVELS = 64,  /* of changes, by powers of two: the last from a half on, the first everything tiny */
    TD_PATH_LATE = 128,   /* GPUs: a vertex with as many edges has its paths marked by a whole block, after the launch */
    TD_PATH_SLOTS = 64,   /* GPUs: proxies of a warp */
    TD_PATH_CLASSES = 64, /* of partitions, by powers of the square root of two of degree times marked paths (GPUs) */
};

/* What a launch or a step did. */
typedef struct td_path_tally {
    uint64_t updates;    /* applies that changed a value */
    uint64_t reads;      /* sources read, of which some were applied */
    uint64_t edges;      /* deposited along */
    uint64_t paths;      /* walked */
    uint64_t loaded;     /* edges of the paths walked, or of the lists of the plain variant */
    uint64_t marks;      /* paths marked */
    uint64_t notices;    /* entries of `places` read to mark them */
    uint64_t counted;    /* words of histograms read (core numbers) */
    uint64_t scanned;    /* vertices scanned for their residual */
    uint64_t wanting;    /* of them those above the threshold */
    double residual;     /* their changes, summed or the largest (PROGRAM_MEASURE); distances: td_path_nearness, the largest */
    double magnitude, moved, value, fresh; /* of scanned vertices: sums of the changes, of the changes with their signs, of
                            * the values, and of the values that they want */
    double share, offset, answer; /* linear programs: program_share, program_offset, and program_answer to a share of 1 */
    struct td_path_tally *block; /* GPUs: the counters of the thread's block, in shared memory */
    struct td_path_proxies *proxies; /* GPUs: those of the thread's warp; 0: none */
    uint64_t listed, ranked; /* GPUs: partitions with marked paths, and those put into classes */
    uint64_t deposits, proxied; /* GPUs: at masters, and at proxies instead */
    uint64_t stolen;     /* GPUs: partitions walked by another warp than the one that would have had them */
    uint64_t lane_slots; /* GPUs: edges that a warp's lanes have time for: 32 times those of the lane with most */
    uint64_t late;       /* GPUs: vertices whose paths were marked by blocks */
    uint64_t messages;   /* several GPUs: received from others */
    uint64_t runs;       /* of them, those whose path has its mark in another word than that of the message before */
    uint64_t early;      /* GPUs: partitions walked before their turn */
    uint64_t far;        /* several GPUs: partitions walked by another GPU than theirs */
    uint64_t reach;      /* scanned vertices above the threshold: entries of `places` that they have */
    uint64_t crossed;    /* packed partitions: bytes that walks read at the host, without weights */
    uint64_t fetched;    /* walks of partitions in the host's memory */
    uint64_t repeats;    /* walks of a partition by the warp that has just walked it */
    double levels[TD_PATH_LEVELS]; /* of scanned vertices: the sum of the changes of each level */
    uint64_t unused[13];
} td_path_tally;

/* The bucket of a distance as a number of which the largest is the nearest: 0 is none. Exact: numbers below 2^53 are. */
#define TD_PATH_FARTHEST 0x1p53
TD_INLINE double td_path_nearness(uint64_t bucket)
{
    return bucket < (uint64_t)TD_PATH_FARTHEST ? TD_PATH_FARTHEST - (double)bucket : 1;
}

/* A bound rises to the nearest vertex that waits. Buckets become twice as wide where one took fewer updates than this part
 * of the vertices: a scan of all of them takes longer than superfluous updates. */
#define TD_PATH_FEW 0.125
TD_INLINE void td_path_raise(double nearness, double updates, double vertices, double *one_over_delta, uint64_t *bound)
{
    *bound = (uint64_t)(TD_PATH_FARTHEST - nearness);
    if (updates >= TD_PATH_FEW * vertices) return;
    *one_over_delta /= 2;
    *bound /= 2;
}

/* The fields that add up. */
#define TD_PATH_COUNTS(X)                                                                                       \
    X(updates) X(reads) X(edges) X(paths) X(loaded) X(marks) X(notices) X(counted) X(scanned) X(wanting) X(listed) X(ranked) \
    X(deposits) X(proxied) X(stolen) X(lane_slots) X(late) X(messages) X(runs) \
    X(early) X(far) X(reach) X(crossed) X(fetched) X(repeats)
#define TD_PATH_SUMS(X) X(magnitude) X(moved) X(value) X(fresh) X(share) X(offset) X(answer)

/* GPUs: the edges of a partition whose paths stay at the host (gpu/path_packed.h), three lists of numbers: the vertices
 * that they leave, ascending; those that they enter, ascending; and of every edge, in the order of the vertices that they
 * enter, the place of its first vertex in the first list. A list is in blocks of 32 numbers: the least numbers of all
 * blocks, their words of flags, the widths of their numbers, a byte each, and then the numbers, less the least of their
 * block, in as many bits. Flags: of vertices, this partition has the home path (a vertex in both lists has it in the
 * second); of edges, the last one into its second vertex.
 *
 * A partition with a long path is a chain instead, one such list: the vertices along its paths, as they are stored, each
 * with the bits below. Flags: this is an entry of the vertex's home path. */
enum {
    TD_PATH_BLOCK = 32,
    TD_PATH_CHAIN = 16,       /* edges of a long path */
    TD_PATH_CHAIN_BEGINS = 1, /* a path begins here */
    TD_PATH_CHAIN_ALONE = 2,  /* no other edge of the partition leaves the vertex than the next of the path */
    TD_PATH_CHAIN_LATER = 4,  /* a later path of the partition is the vertex's home path */
    TD_PATH_CHAIN_BITS = 3,
};
typedef struct td_path_pack {
    const uint32_t *words;            /* the first list is at 0 */
    const void *weights;
    uint32_t sources, targets, edges; /* numbers of the lists */
    uint32_t targets_at, edges_at, end; /* words */
    uint32_t first;                   /* of its mirrors: two for every vertex that edges leave; chains: one for every edge */
    uint32_t far;                     /* the words are in the host's memory */
    uint32_t paths;
    uint32_t entries;                 /* chains: of the list; others: 0 */
} td_path_pack;

typedef struct td_path_state {
    /* The layout. Path i of partition k has bit 32 * first_word[k] + i in `marks`. */
    const uint32_t *entries;            /* vertices along the paths */
    const void *weights;
    uint32_t weight_kind;               /* td_weight_kind; GPUs: kernels of all kinds are one */
    const uint32_t *starts, *lanes;
    const td_path_partition *partition;
    const uint32_t *first_word;         /* partitions + 1 */
    /* Where the edges of a vertex are: bits of their paths, ascending, one for every edge. */
    const uint64_t *place_offsets;
    const uint32_t *places;
    const uint32_t *home;               /* of a vertex: the path whose walk applies it (its bit); 0: plain variant */
    uint32_t *marks;                    /* plain variant: of vertices */

    void *values, *messages, *sums;     /* messages: those of the values; `values` if a vertex sends its value */
    void *sent, *sent_back;             /* by edges; plain variant: sent, by vertices */
    uint32_t *counts;                   /* core numbers: for vertex v, words count_offsets[v] on: how many neighbours have a */
    const uint64_t *count_offsets;      /* bound of 0, 1, ..., its own degree or more */
    const uint64_t *out_offsets;
    uint32_t vertices;
    uint32_t *rounds;                   /* the last round that applied a vertex: once a round is enough; 0: not kept */
    uint32_t round;
    double least;                       /* a change up to it waits for further deposits */
    double one_over_delta;              /* distances (PROGRAM_HAS_PRIORITY): of the width of a bucket; 0: there are none, */
    uint64_t bound;                     /* or the last one whose vertices are applied */
    double scale;                       /* by which rescales multiply values */
    const uint32_t *hubs;               /* GPUs: bitmap of the vertices that have proxies; 0: none */
    uint32_t *late, *late_count;        /* GPUs: vertices of TD_PATH_LATE edges and more that changed; 0: none has as many */
    uint32_t late_room;
    const uint32_t *opens;              /* GPUs: bitmap of the paths that may be the homes of their first vertices; 0: any */
    const td_path_pack *packs;          /* GPUs, coarse marks: of partitions; 0: paths are walked where they are. Mirrors
                                         * are those of a partition and a vertex then: the message before, and the last;
                                         * of chains, those of edges */
    const uint32_t *home_partition;     /* GPUs, coarse marks: of a vertex, the partition of its home path */
    /* Several GPUs: bitmaps of vertices. A vertex has one master, on the GPU of its home path; deposits on another GPU,
     * where it is foreign, wait in `sums` there until they are sent. 0: one GPU has all masters. */
    const uint32_t *foreign;
    const uint32_t *read;               /* those that a path on any GPU reads */
    uint32_t *owed;                     /* foreign ones with deposits to send */
    uint32_t *changed;                  /* those whose masters are here and have a message to send to other GPUs */
    bool coarse;                        /* GPUs: marks are those of partitions, all of whose paths are walked;
                                         * `places` are partitions then */
    bool back;                          /* values flow both ways along an edge: a path is walked back too */
    bool all;                           /* scans measure vertices that nothing reads too */
    bool plain;                         /* no paths: vertices push along their lists */
} td_path_state;

/* GPUs: the partitions that a launch walks, and in which order. */
typedef struct td_path_span {
    uint32_t first_partition, partitions;
    uint8_t *ranks;               /* classes of its partitions; 0: they are walked in the order of storage */
    uint32_t *order;              /* the marked ones, class by class */
    uint32_t *classes;            /* TD_PATH_CLASSES counts of marked partitions, then of those listed */
    uint32_t *next;               /* the next partition that a free warp takes; 0: warps take turns */
    const uint32_t *early;        /* partitions of later groups that are walked behind them, */
    uint32_t early_count;         /* because there are more warps than partitions */
    uint8_t dense;                /* warps that walk together (gpu/path_warp.h): all paths are walked, and none is marked */
    uint8_t pack;                 /* likewise: a free lane takes the next path */
} td_path_span;

/* Rounds inside a launch (kernels/gpu/path_rounds.h). A range: consecutive groups that are processed together. */
typedef struct td_path_range {
    uint32_t group;               /* the first of them */
    uint32_t first_partition, partitions;
    uint32_t first_member, members; /* vertices that it applies */
    uint32_t openers;             /* of them, the first that no path of the range enters; applied before its walks */
    uint64_t edges;
    uint8_t cyclic, ranked, opens;
} td_path_range;

/* The counters of a round. Slots go round: a round reads its own, adds the one before to the total, clears the next. */
typedef struct td_path_slot {
    td_path_tally open, walk, scan[2];
    uint32_t next, late, late_open, pad;
    uint32_t classes[2 * TD_PATH_CLASSES];
} td_path_slot;

enum { TD_PATH_RING = 3 };
typedef struct td_path_loop {
    uint32_t barrier;             /* the word of the grid barrier */
    uint32_t walks;               /* of the launch; the last slot is that of the walk before */
    uint32_t rounds;              /* of them those that had something to walk */
    uint32_t range;               /* to continue with */
    uint32_t round;               /* td_path_state.round */
    uint32_t within;              /* whether the range has been walked */
    uint32_t dense;               /* rounds that walked all paths */
    uint32_t raised;              /* how often the bound of distances has risen */
    double one_over_delta;        /* td_path_state */
    uint64_t bound;
    double least;                 /* the threshold that paths are marked by */
    td_path_tally total;          /* counts of all slots but the last */
    td_path_slot slot[TD_PATH_RING];
} td_path_loop;

/* What ends the rounds of a launch. */
typedef enum td_path_until {
    TD_PATH_STILL,    /* nothing is marked */
    TD_PATH_MEASURED, /* nothing is marked; then vertices are scanned */
    TD_PATH_SETTLED,  /* nothing is marked, and the vertices of a cyclic range want nothing */
    TD_PATH_DECISION, /* real numbers: the range may be final, or the host has to decide (path_decide.h) */
} td_path_until;

#endif
