/* The paths engine (DiGraph): a directed graph as disjoint directed paths, processed in the order of their dependencies.
 *
 *   settings.c   the switches
 *   index.c      from vertices to the paths of their edges, and to the groups that apply them
 *   state.c      masters and mirrors
 *   dispatch.c   the order of work: layers, priorities, thresholds, the test of convergence
 *   finish.c     the end of a pass over all groups: the scale of linear programs, the residual over all vertices
 *   plain.c      the variant without paths
 *   cores.c      the steps on the CPU's cores
 *   gpu.c        a GPU: the decomposition, the arrays, the plan
 *   steps.c      the steps on a GPU
 *   layers.c     whether there are layers, where the settings do not say it
 *   rounds.c     rounds inside a launch
 *   early.c      partitions that are walked before their turn
 *   packed.c     paths that stay at the host: packed partitions, of which walks read the marked ones there
 *   batches.c, batch_walk.c   batches of them, where they cannot be packed
 *   share.c, several.c, post.c   several GPUs: which has what, the steps on all of them, what they send each other
 *   checkpoint.c checkpoints
 *   counters.c   the run's counters
 *   paths.c      the engine's descriptor: plans and runs
 */
#ifndef TD_ENGINE_PATHS_PATHS_H
#define TD_ENGINE_PATHS_PATHS_H

#include "cpu/cpu.h"
#include "engine/engine.h"
#include "kernels/cpu/path_job.h"
#include "layout/paths.h"

typedef enum td_paths_variant { TD_PATHS_FULL, TD_PATHS_W, TD_PATHS_T } td_paths_variant;

/* The switches, after the variant: w has no priority, t no paths. */
typedef struct td_paths_settings {
    td_paths_variant variant;
    td_path_options layout;
    bool layers;     /* groups in the order of their layers, each until it is final */
    bool priority;   /* Pri(p) orders partitions, and small changes wait */
    bool balance;    /* a group whose vertices want changes of one sign is multiplied by a factor */
    bool steal;      /* GPUs: a free warp takes the next partition */
    bool early;      /* GPUs: idle warps walk partitions of later groups */
    uint32_t rounds; /* several GPUs: that a launch walks before they exchange */
    bool affinity;   /* several GPUs: a partition is where most of what it reads is */
    bool copies;     /* several GPUs: messages are copied, although GPUs could read each other's memory */
    bool sort;       /* several GPUs: messages in the order of the paths that they are for */
    bool loop;       /* GPUs: rounds inside a launch */
    uint32_t streams; /* GPUs: batches on the GPU, if paths stay at the host; 0: the memory decides */
    uint64_t batch_edges; /* of a batch; 0: the memory decides */
    bool prefetch, evict_oldest;
    bool near;       /* sssp: vertices up to a bound of distance first */
    bool warp;       /* GPUs: the lanes of a warp walk together */
    double dense;    /* warp: part of the edges from which on a round walks all paths, and marks none */
    uint64_t proxy;  /* GPUs: in-degree from which a vertex has proxies; 0: none */
    double share;    /* of the changes that vertices want: those who hold it are applied, smaller changes wait */
} td_paths_settings;

extern const td_setting td_paths_setting_table[];
td_status td_paths_read_settings(const td_settings *settings, td_paths_settings *out);
bool td_paths_setting_applies(const td_settings *settings, const char *name);
td_status td_paths_check_settings(const td_settings *settings);
td_status td_paths_check_cores(const td_settings *settings); /* of a run without a GPU */
td_status td_paths_check_several(const td_settings *settings, bool several); /* likewise */
td_status td_paths_check_batches(const td_settings *settings, bool batched, bool packed); /* of a run with a GPU */

/* Where a vertex's edges are. Made from the layout; what kernels read of it is in td_path_state. */
typedef struct td_paths_index {
    uint32_t *first_word;     /* partitions + 1 */
    uint64_t *place_offsets;  /* vertices + 1 */
    uint32_t *places;         /* bits of paths */
    uint32_t *owner;          /* vertices: the group that applies it; NULL: all work is one group */
    uint32_t *home;           /* vertices: the path whose walk applies it */
    uint32_t *members;        /* vertices with edges, by their owners */
    uint64_t *member_offsets; /* groups + 1 */
    uint32_t *openers;        /* groups: of its members, the first that no path of the group enters */
    uint64_t words;           /* of marks */
    uint64_t most_places;     /* of a vertex */
} td_paths_index;

/* A group of partitions that is processed until it is final. */
typedef struct td_paths_group {
    uint32_t number, layer;
    uint32_t first_partition, partitions;
    const uint32_t *members;  /* vertices that it applies; NULL: all of the graph */
    uint64_t member_count, openers;
    bool cyclic;
} td_paths_group;

typedef struct td_paths_job {
    td_cpu_job cpu;
    td_cpu_paths steps;       /* what its kernels need beside */
    td_run *run;
    const td_run_options *options;
    td_paths_settings set;
    td_paths paths;
    bool has_paths, prepared;
    bool acquired;            /* the layout on the GPUs */
    bool borrows;             /* paths and index are those of a layout (gpu.c) */
    struct td_paths_gpu *gpu; /* NULL: the CPU's cores compute; of several GPUs the first */
    struct td_paths_several *several; /* NULL: one GPU, or none */
    const td_paths_group *group; /* several GPUs: the group whose members a step is about; NULL: all vertices */
    bool one_group;           /* values flow both ways, or layers are off: nothing is final before everything is */
    bool real;                /* changes are measured against a tolerance */
    td_paths_index index;
    uint32_t *order;          /* partitions in the order in which they are walked */
    double *rank;             /* of partitions: Pri(p) */
    uint64_t *count_offsets;
    double *outside;          /* groups: the sum of the values that their vertices want before any of them has sent */
    double tolerance;         /* that the groups are held to */
    double allowed, left;     /* sums: what the groups so far may leave, and what they left */
    td_path_tally sum;        /* of the run */
    uint64_t rounds, dense_rounds, raised, groups_walked, partitions_walked, sorted, passes, balanced;
    bool resumed;             /* the values are those of a checkpoint */
    bool finished;            /* the checkpoint that it goes on from was the end */
    bool limited;             /* a group reached the limit of rounds before its tolerance */
} td_paths_job;

/* A sum of changes is held to this part of the tolerance at first: the scale of linear programs, known at the end, makes
 * it larger. */
#define TD_PATHS_FIRST 0.85
/* A largest change is held to this part: then the values are as close to the solution as those of an iteration over all
 * vertices whose last change was the tolerance. */
#define TD_PATHS_LARGEST 0.5

/* index.c */
td_status td_paths_make_index(td_paths_job *self);
td_status td_paths_make_places(td_paths_job *self); /* of it: words of marks, and the paths of vertices */
void td_paths_free_index(td_paths_index *index);
uint32_t td_paths_partition_of(const td_paths_job *self, uint32_t bit); /* of a path */

/* state.c */
void td_paths_fill_counts(td_paths_job *self); /* core numbers: count_offsets */
td_status td_paths_declare_state(td_paths_job *self, td_host_memory *memory);
td_status td_paths_start(td_paths_job *self);
void td_paths_free_state(td_paths_job *self);

/* cores.c: steps on all workers, or on the GPU. The tally is that of the step, which the run's has then. */
typedef enum td_paths_step {
    TD_PATHS_WALK, TD_PATHS_PUSH, TD_PATHS_INIT, TD_PATHS_OPEN, TD_PATHS_SCAN, TD_PATHS_FINISH, TD_PATHS_BALANCE, TD_PATHS_TOTAL,
    TD_PATHS_RESCALE,
    TD_PATHS_CLEAR,
} td_paths_step;
td_status td_paths_do(td_paths_job *self, td_paths_step step, uint64_t units, uint64_t work, td_path_tally *out);
void td_paths_add(td_paths_job *self, const td_path_tally *more); /* to the run's */
void td_path_tally_add(td_path_tally *sum, const td_path_tally *more, int measure);

/* dispatch.c, plain.c: a whole run. */
td_status td_paths_dispatch(td_paths_job *self);
td_status td_paths_plain(td_paths_job *self);

/* Whether vertices beyond a bound of distance wait (`near`). */
bool td_paths_has_buckets(const td_paths_job *self);

/* Sends along the marked paths without applying anything: sums are those of the values then. */
td_status td_paths_send_all(td_paths_job *self);

/* A group of the layout; the group and, on a GPU, those behind it in the layer that are cyclic too, and the group
 * behind these: many small launches take longer than a few large ones, and groups of a layer do not depend on each
 * other. Their partitions and members are consecutive (rounds.c). */
td_paths_group td_paths_group_at(const td_paths_job *self, uint32_t g);
td_paths_group td_paths_joined(const td_paths_job *self, uint32_t g, uint32_t *next);
bool td_paths_is_ranked(const td_paths_job *self, const td_paths_group *group);
bool td_paths_loops(const td_paths_job *self); /* whether launches run rounds */

/* The end of a pass over all groups: vertices that nothing reads, the scale of linear programs, the residual over all
 * vertices. */
td_status td_paths_end_pass(td_paths_job *self, bool *converged);

/* The factor by which values of other engines are multiplied: those without what all vertices share. */
td_status td_paths_unscale(td_paths_job *self);

/* Replaces the values by those at their scale. */
td_status td_paths_store_scaled(td_paths_job *self);

/* checkpoint.c: takes the values of a checkpoint; leaves one if it is due, between two rows and at the end. */
td_status td_paths_resume(td_paths_job *self);
td_status td_paths_checkpoint(td_paths_job *self);

/* counters.c */
void td_paths_count(td_paths_job *self);

#endif
