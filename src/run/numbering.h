/* A run whose engine numbers the vertices in another order than the graph does: coop by heat, engines with fragments by
 * owner. Ids are translated once at the edges of the run: what the program starts from goes over (source, inputs, a
 * resumed state), and what it found comes back (values, active vertices, names of groups). Kernels see one numbering. */
#ifndef TD_RUN_NUMBERING_H
#define TD_RUN_NUMBERING_H

#include "run/checkpoint.h"

typedef struct td_numbering {
    uint32_t vertices;
    const uint32_t *order, *place; /* the vertex that has a number, the number that a vertex has; NULL: its own */
} td_numbering;

static inline uint32_t td_numbering_number(const td_numbering *numbering, uint32_t vertex)
{
    return numbering->place != NULL ? numbering->place[vertex] : vertex;
}

static inline uint32_t td_numbering_vertex(const td_numbering *numbering, uint32_t number)
{
    return numbering->order != NULL ? numbering->order[number] : number;
}

/* What the run had by the graph's own numbers while it is inside the numbering. */
typedef struct td_renumbered {
    bool inside;
    uint32_t source;
    double *inputs[TD_INPUTS];
} td_renumbered;

/* Takes the run's source, inputs and resumed state into the numbering. Whatever becomes of it, td_numbering_leave puts
 * the graph's own source and inputs back. */
td_status td_numbering_enter(const td_numbering *numbering, td_run *run, size_t value_bytes, td_renumbered *saved,
                             td_pool *pool);
void td_numbering_leave(td_run *run, td_renumbered *saved);

/* One value of so many bytes per vertex, from the graph's own order into the numbering's (in), or back (out). */
td_status td_numbering_values_in(const td_numbering *numbering, void *to, const void *from, size_t bytes,
                                 td_pool *pool);
td_status td_numbering_values_out(const td_numbering *numbering, void *to, const void *from, size_t bytes,
                                  td_pool *pool);

/* Adds the bits of a bitmap to another one, out of the numbering. */
void td_numbering_bits_out(const td_numbering *numbering, uint64_t *to, const uint64_t *from);

/* The run's result from values in the numbering. Groups that are named by numbers of it are renamed to their lowest
 * vertices; ranks (labels with inputs) name no numbers and stay. */
td_status td_numbering_copy_result(const td_numbering *numbering, td_run *run, const void *values, size_t bytes,
                                 td_pool *pool);

#endif
