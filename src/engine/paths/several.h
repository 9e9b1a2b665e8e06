/* The paths engine on several GPUs. Every GPU has the state of all vertices and a share of the paths (share.h), with a job
 * of its own; a step is done on all of them, and behind every walk they exchange what changed.
 *
 *   several.c   the jobs, steps and walks of all GPUs, the result
 *   post.c      messages: deposits for masters on other GPUs, and messages of masters that changed */
#ifndef TD_ENGINE_PATHS_SEVERAL_H
#define TD_ENGINE_PATHS_SEVERAL_H

#include "engine/paths/batches.h"
#include "engine/paths/share.h"
#include "gpu/route.h"

/* A GPU's mail of one kind. */
typedef struct td_paths_box {
    uint32_t *list;                 /* td_paths_list.vertices, on the GPU */
    uint32_t *vertices, *in_vertices; /* outboxes and, if it cannot read others' memory, the inbox */
    void *values, *in_values;
    uint64_t room[TD_GPUS + 1];     /* where the outbox of a receiver begins */
    uint64_t in_room;               /* messages that the inbox has room for */
    uint64_t value_bytes;
} td_paths_box;

typedef struct td_paths_post {
    struct td_paths_several *all;
    const td_paths_share *share;
    int number;                     /* of the GPU */
    td_paths_box box[TD_PATHS_MAILS];
    uint32_t *foreign, *read;       /* td_path_state's, before they are sent; NULL afterwards */
    uint32_t *lengths;              /* of the outboxes, on the GPU: TD_PATHS_MAILS x TD_GPUS */
    td_path_tally *tally;           /* of all messages taken, on the GPU */
    td_path_peer *peers;            /* of all GPUs with one memory, on the GPU; NULL: none steal */
    td_event *taken;                /* the others' outboxes have been read */
} td_paths_post;

typedef struct td_paths_several {
    int count;
    td_paths_job *part;
    td_paths_post post[TD_GPUS];
    td_gpu_exchange exchange;
    bool steals;                    /* they have one memory: warps take partitions of other GPUs */
    td_set *set;                    /* of their joint walks */
    uint64_t walked[TD_GPUS];       /* partitions of a GPU's last walk */
    uint64_t joint;                 /* walks in which they stole */
    const td_paths_index *index;    /* of the whole decomposition */
    uint64_t edges[TD_GPUS];        /* that a GPU sent along */
    uint64_t messages, bytes, exchanges;  /* sent in all */
    uint64_t link_bytes[TD_GPUS][TD_GPUS]; /* from, to */
} td_paths_several;

/* post.c. Declares a GPU's arrays; sends what they hold from the start. */
void td_paths_shape_post(td_paths_job *part);
td_status td_paths_declare_post(td_paths_job *part);
td_status td_paths_fill_post(td_paths_job *part);
void td_paths_close_post(td_paths_job *part);

/* Queues packing behind a GPU's walk; when all GPUs have ended it, carries and takes what they packed. *sent: messages. */
td_status td_paths_pack(td_paths_job *part);
td_status td_paths_deliver(td_paths_job *self, uint64_t *sent);

/* several.c: the same as of one GPU (gpu.h). */
td_status td_paths_several_open(td_paths_job *self, const td_paths_share *share, td_device *const *devices,
                                td_stream *const *streams);
void td_paths_several_close(td_paths_job *self);
td_status td_paths_several_do(td_paths_job *self, td_paths_step step, td_path_tally *out);
td_status td_paths_several_walk(td_paths_job *self, const td_paths_group *group, td_path_tally *out);
td_status td_paths_several_values(td_paths_job *self, void *values); /* those of the masters */
td_status td_paths_several_end(td_paths_job *self);          /* adds what messages did to the run's tally */
void td_paths_several_count(const td_paths_job *self);

/* The parts alone, without devices: for the plan; whether GPUs may walk each other's partitions. */
td_status td_paths_several_parts(td_paths_job *self, const td_paths_share *share);
td_status td_paths_choose_steals(td_paths_job *self);
void td_paths_several_free(td_paths_job *self);

#endif
