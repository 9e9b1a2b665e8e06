/* The exchange between the GPUs that share a graph. Every GPU has an outbox per fragment: vertices that it updated and
 * does not own, with one value each (kernels/gpu/fragments.h). Owners read the outboxes in the other GPUs' memory where
 * their kernels can follow its pointers; elsewhere the entries are copied into the owner's inbox. */
#ifndef TD_GPU_EXCHANGE_H
#define TD_GPU_EXCHANGE_H

#include "gpu/launch.h"

typedef struct td_gpu_mailbox {
    td_gpu_job *job;
    td_gpu_fragments fragments;  /* and which of them this GPU owns */
    td_gpu_fragments *on_device; /* the same for kernels */
    uint32_t *vertices;          /* outboxes: that of fragment k begins at its first vertex */
    void *values;
    uint32_t *in_vertices;       /* inbox for one other GPU's entries of one fragment */
    void *in_values;
    uint32_t *in_length;
    td_event *packed;            /* the outboxes are full */
    td_event *brought;           /* entries that this GPU relays have arrived */
    bool reads[TD_GPU_FRAGMENTS]; /* kernels of this GPU may follow that GPU's pointers */
} td_gpu_mailbox;

enum { TD_GPU_LANES = 8 }; /* streams into a GPU, so that several links carry copies to it at the same time */

/* A GPU through which others copy that have no link (route.h). */
typedef struct td_gpu_relay {
    void *buffer;
    td_stream *stream;
} td_gpu_relay;

/* Boxes that relays have copied into an owner's inbox. */
typedef struct td_gpu_carried {
    bool all;                    /* those of all GPUs whose memory the owner cannot read */
    uint32_t by;                 /* the relays, a bit each */
    uint32_t count;
    uint64_t entries;
    td_gpu_box box[TD_GPU_FRAGMENTS];
} td_gpu_carried;

typedef struct td_gpu_exchange {
    int count;                   /* GPUs */
    bool linked[TD_GPU_FRAGMENTS][TD_GPU_FRAGMENTS]; /* [from][to]: by a link, or by one memory */
    double rate[TD_GPU_FRAGMENTS][TD_GPU_FRAGMENTS]; /* [from][to]: bytes per second of a copy; 0: no route */
    int relay_of[TD_GPU_FRAGMENTS][TD_GPU_FRAGMENTS]; /* [from][to]: the relay, from 1 on; 0: none */
    td_gpu_relay relay[TD_GPU_FRAGMENTS];
    td_stream *lane[TD_GPU_FRAGMENTS][TD_GPU_LANES]; /* [to]; opened when they are first used */
    td_gpu_carried carried[TD_GPU_FRAGMENTS]; /* of this iteration, by owner */
    uint64_t relayed;            /* bytes copied through relays since the counters were cleared */
    td_gpu_mailbox box[TD_GPU_FRAGMENTS];
    size_t entry_bytes;          /* of a value */
    uint64_t messages, bytes;    /* sent since the counters were cleared */
} td_gpu_exchange;

/* Finds out which GPUs can follow whose pointers, and allows it. With `copies` no GPU does. */
td_status td_gpu_exchange_open(td_gpu_exchange *exchange, bool copies);
void td_gpu_exchange_close(td_gpu_exchange *exchange);

void td_gpu_exchange_forget(td_gpu_mailbox *box); /* that it packed anything */

/* Declares the arrays of one GPU: its outboxes and, unless it reads all others' memory, its inbox. */
td_status td_gpu_exchange_declare(td_gpu_mailbox *box, td_gpu_job *job, size_t entry_bytes, bool inbox);

/* Makes the GPU the owner of these fragments (a bit each). */
td_status td_gpu_exchange_own(td_gpu_mailbox *box, uint32_t owned);

/* Queues packing on one GPU, then on every owner the application of what the others packed. Counters of all GPUs must
 * have been read in between (lengths of outboxes) if td_gpu_exchange_copies. */
td_status td_gpu_pack(td_gpu_exchange *exchange, int gpu, uint32_t *far_map);
td_status td_gpu_carry(td_gpu_exchange *exchange); /* between the two: entries of GPUs without a link */
td_status td_gpu_take(td_gpu_exchange *exchange, int gpu, uint32_t *far_map);
bool td_gpu_exchange_copies(const td_gpu_exchange *exchange);

/* Whether kernels of both GPUs may follow the other's pointers. */
static inline bool td_gpu_are_direct(const td_gpu_exchange *exchange, int a, int b)
{
    return a == b || (exchange->box[a].reads[b] && exchange->box[b].reads[a]);
}

#endif
