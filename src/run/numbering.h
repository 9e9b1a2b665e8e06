/* A run whose engine numbers vertices in another order than the graph (coop). Ids are translated once at either end of
 * the run: source, inputs and a resumed state into the numbering; values, active vertices and names of groups out of
 * it. Kernels see one numbering. */
#ifndef TD_RUN_NUMBERING_H
#define TD_RUN_NUMBERING_H

#include "run/checkpoint.h"

typedef struct td_numbering {
    uint32_t vertices;
    const uint32_t *order, *place; /* vertex of every number, number of every vertex; NULL: the same */
} td_numbering;

static inline uint32_t td_numbering_number(const td_numbering *numbering, uint32_t vertex)
{
    return numbering->place != NULL ? numbering->place[vertex] : vertex;
}

static inline uint32_t td_numbering_vertex(const td_numbering *numbering, uint32_t number)
{
    return numbering->order != NULL ? numbering->order[number] : number;
}

/* The run's source and inputs in the graph's numbering, saved while the run is inside the numbering. */
typedef struct td_renumbered {
    bool inside;
    uint32_t source;
    double *inputs[TD_INPUTS];
} td_renumbered;

/* Translates the run's source, inputs and resumed state. After success or failure, td_numbering_leave restores the
 * graph's source and inputs. */
td_status td_numbering_enter(const td_numbering *numbering, td_run *run, size_t value_bytes, td_renumbered *saved,
                             td_pool *pool);
void td_numbering_leave(td_run *run, td_renumbered *saved);

/* Copies one value of so many bytes per vertex, from the graph's order into the numbering's (in), or back (out). */
td_status td_numbering_values_in(const td_numbering *numbering, void *to, const void *from, size_t bytes,
                                 td_pool *pool);
td_status td_numbering_values_out(const td_numbering *numbering, void *to, const void *from, size_t bytes,
                                  td_pool *pool);

/* Adds the bits of a bitmap in the numbering to one in the graph's order. */
void td_numbering_bits_out(const td_numbering *numbering, uint64_t *to, const uint64_t *from);

/* Copies the result from values in the numbering. Groups named by its numbers are renamed to their lowest vertices;
 * ranks (labels with inputs) are not numbers and stay. */
td_status td_numbering_copy_result(const td_numbering *numbering, td_run *run, const void *values, size_t bytes,
                                 td_pool *pool);

#endif
