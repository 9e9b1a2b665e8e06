/* The paths engine on a GPU (gpu.c, steps.c). */
#ifndef TD_ENGINE_PATHS_GPU_H
#define TD_ENGINE_PATHS_GPU_H

#include "engine/paths/paths.h"
#include "gpu/launch.h"

enum { TD_PATHS_WORD_NEXT, TD_PATHS_WORD_LATE, TD_PATHS_WORDS }; /* of the counters that every launch finds at 0 */

/* Resident blocks of a launch are at most this many warps on a multiprocessor (gpu/launch.c). */
enum { TD_PATHS_RESIDENT_WARPS = 64 };

/* Counters at the host, pinned if possible. */
typedef struct td_paths_seen {
    td_path_tally tally;
    td_path_loop loop;
    td_path_tally walked;          /* several GPUs, paths at the host: of a round over its batches */
    uint32_t lengths[2][TD_GPU_FRAGMENTS]; /* several GPUs: of the outboxes */
} td_paths_seen;

typedef struct td_paths_gpu {
    td_gpu_job job;
    td_paths_args args;      /* arrays on the GPU */
    uint32_t *members;       /* index.members, on the GPU */
    uint32_t *words;         /* counters that every launch finds at 0 */
    td_paths_seen *seen;
    bool pinned;
    /* rounds.c */
    bool loops;              /* launches run rounds */
    bool warps;              /* the lanes of a warp walk together */
    td_path_loop *loop;      /* their counters, on the GPU */
    td_path_range *ranges, *ranges_seen; /* NULL: all work is one group; ranges_seen: on the GPU */
    uint32_t range_count, most_blocks;
    struct td_paths_batches *batches; /* batches.h; NULL: all paths are on the GPU */
    struct td_paths_post *post;       /* several.h; NULL: one GPU */
    uint32_t *early;         /* early.c: at the host; NULL: none start early */
} td_paths_gpu;

/* Plans: makes the decomposition and states the memory; `host`: bytes of the host besides. */
td_status td_paths_gpu_plan(td_paths_job *self, td_plan *plan, uint64_t host);

/* Takes the decomposition, allocates and fills the arrays. */
td_status td_paths_gpu_open(td_paths_job *self);
void td_paths_gpu_close(td_paths_job *self, bool failed);

/* One step, as td_paths_do; one round over the marked paths of a group, by their ranks or in the order of storage. */
td_status td_paths_gpu_do(td_paths_job *self, td_paths_step step, uint64_t units, td_path_tally *out);
td_status td_paths_gpu_walk(td_paths_job *self, const td_paths_group *group, bool ranks, td_path_tally *out);

uint64_t td_paths_mark_words(const td_paths_job *self); /* of vertices, partitions or paths */
uint64_t td_paths_gpu_warps(const td_paths_job *self); /* that run at once */

/* Of several GPUs: starts the job of one, sets it up and shuts it down; queues a step, or a walk, between an empty tally
 * and its copy in seen->tally. */
td_status td_paths_gpu_start(td_paths_job *self, td_device *device, td_stream *stream);
td_status td_paths_gpu_set_up(td_paths_job *self);
void td_paths_gpu_shut(td_paths_job *self);
td_status td_paths_gpu_queue(td_paths_job *self, td_paths_step step, uint64_t units);
td_status td_paths_gpu_queue_span(td_paths_job *self, const td_paths_group *group, bool ranks);
td_status td_paths_gpu_begin_span(td_paths_job *self, const td_paths_group *group, td_paths_args *args);
td_status td_paths_gpu_end_span(td_paths_job *self, const td_paths_args *args);
td_status td_paths_gpu_clear_words(td_paths_job *self); /* the counters that every launch finds at 0 */
td_status td_paths_gpu_notice(td_paths_job *self, td_path_tally *tally); /* marks paths of vertices with many edges */

/* The arguments of a launch: the run's arrays on the GPU, and what the host has changed since the last. */
td_paths_args td_paths_gpu_args(td_paths_job *self);

/* Queues a walk of a batch on its stream, between an empty tally and its copy in seen->tally. */
td_status td_paths_gpu_queue_walk(td_paths_job *self, td_stream *stream, const td_paths_args *args);

/* rounds.c: rounds inside a launch. td_paths_run_still walks a group until nothing is marked, td_paths_run_ranges
 * several ranges one after the other; td_paths_run_rounds ends when the host has to decide, with the last scan, the
 * partitions of the last walk and the threshold then; td_paths_run_plain are rounds of the variant without paths. */
td_status td_paths_open_rounds(td_paths_job *self);
uint32_t td_paths_count_ranges(const td_paths_job *self);
td_status td_paths_run_still(td_paths_job *self, const td_paths_group *group, double least, td_path_until until,
                             td_path_tally *found);
td_status td_paths_run_ranges(td_paths_job *self, uint32_t first, uint32_t end);
td_status td_paths_run_rounds(td_paths_job *self, const td_paths_group *group, const td_path_rule *rule, bool within,
                              double *least, uint32_t *walked, td_path_tally *found);
td_status td_paths_run_plain(td_paths_job *self, uint32_t most, td_path_tally *found, td_path_tally *done,
                             uint32_t *rounds);

/* Of several GPUs: queues rounds over a group until nothing is marked, or so many; when the launch has ended, adds what
 * it did and returns its rounds. */
td_status td_paths_queue_rounds(td_paths_job *part, const td_paths_group *group, uint32_t most);
uint32_t td_paths_count_rounds(const td_paths_job *part, td_path_tally *out);

/* Of several GPUs, early start of a program of whole numbers: the groups of all layers are walked at once. */
bool td_paths_goes_ahead(const td_paths_job *self);

/* layers.c: the defaults of several GPUs; of one GPU, whether the decomposition decides if there are layers, and its
 * decision: without them all paths are one group. */
void td_paths_set_defaults(td_paths_job *self);
bool td_paths_can_pack(const td_paths_job *self); /* packed.c: paths at the host can be packed partitions */
bool td_paths_chooses_layers(const td_paths_job *self);
void td_paths_choose_layers(td_paths_job *self, const td_device *device);

/* Whether the lanes of a warp walk together (`walk`): not where paths are walked back too, nor for core numbers. */
bool td_paths_walks_by_warps(const td_paths_job *self);

/* Whether deposits at vertices of high in-degree are gathered in shared memory. batched: paths stay at the host. */
bool td_paths_has_proxies(const td_paths_job *self, bool batched);

/* early.c: chooses the partitions that the next walks over a group of the part take early; how many there may be. */
td_status td_paths_start_early(const td_paths_job *self, td_paths_job *part, const td_paths_group *group);
uint32_t td_paths_early_room(const td_device *device);

/* Copies the values into the cpu job. */
td_status td_paths_gpu_result(td_paths_job *self);

#endif
