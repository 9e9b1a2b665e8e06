#include "run/numbering.h"

#include "base/alloc.h"
#include "base/bitmap.h"

#include <stdatomic.h>
#include <string.h>

enum { GRAIN = 1 << 16 };

/* Values. */

typedef struct moving {
    const td_numbering *numbering;
    bool out;
    char *to;
    const char *from;
    size_t bytes;
} moving;

static td_status move_some(void *context, uint64_t begin, uint64_t end, int worker)
{
    const moving *self = context;
    size_t bytes = self->bytes;
    (void)worker;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t v = td_numbering_vertex(self->numbering, (uint32_t)i);
        memcpy(self->to + (self->out ? v : i) * bytes, self->from + (self->out ? i : v) * bytes, bytes);
    }
    return TD_OK;
}

td_status td_numbering_values_in(const td_numbering *numbering, void *to, const void *from, size_t bytes,
                                 td_pool *pool)
{
    moving self = {numbering, false, to, from, bytes};
    return td_pool_for(pool, numbering->vertices, GRAIN, move_some, &self);
}

td_status td_numbering_values_out(const td_numbering *numbering, void *to, const void *from, size_t bytes,
                                  td_pool *pool)
{
    moving self = {numbering, true, to, from, bytes};
    return td_pool_for(pool, numbering->vertices, GRAIN, move_some, &self);
}

void td_numbering_bits_out(const td_numbering *numbering, uint64_t *to, const uint64_t *from)
{
    for (uint32_t i = 0; i < numbering->vertices; i++)
        if (td_bit_get(from, i)) td_bit_set(to, td_numbering_vertex(numbering, i));
}

static void bits_in(const td_numbering *numbering, uint64_t *to, const uint64_t *from)
{
    for (uint32_t i = 0; i < numbering->vertices; i++)
        if (td_bit_get(from, td_numbering_vertex(numbering, i))) td_bit_set(to, i);
}

/* Into the numbering. */

static td_status enter_inputs(const td_numbering *numbering, td_run *run, td_renumbered *saved, td_pool *pool)
{
    for (int i = 0; i < TD_INPUTS; i++) {
        double *fresh;
        if (run->inputs[i] == NULL || numbering->order == NULL) continue;
        TD_CHECK(TD_NEW(&fresh, numbering->vertices, "inputs"));
        saved->inputs[i] = run->inputs[i];
        run->inputs[i] = fresh;
        run->context.input[i] = fresh;
        TD_CHECK(td_numbering_values_in(numbering, fresh, saved->inputs[i], sizeof *fresh, pool));
    }
    return TD_OK;
}

static td_status enter_state(const td_numbering *numbering, td_state *state, size_t bytes, td_pool *pool)
{
    void *values = NULL;
    uint64_t *active = NULL;
    td_status status = TD_OK;
    if (state == NULL || numbering->order == NULL) return TD_OK;
    TD_TRY(td_new_bytes(&values, numbering->vertices, bytes, "vertex values"));
    TD_TRY(TD_NEW_ZEROED(&active, td_bitmap_words(numbering->vertices), "active vertices"));
    TD_TRY(td_numbering_values_in(numbering, values, state->values, bytes, pool));
    if (state->has_active) bits_in(numbering, active, state->active);
    void *own_values = state->values;
    state->values = values;
    values = own_values;
    if (state->has_active) {
        uint64_t *own_active = state->active;
        state->active = active;
        active = own_active;
    }
done:
    td_free(values);
    td_free(active);
    return status;
}

td_status td_numbering_enter(const td_numbering *numbering, td_run *run, size_t value_bytes, td_renumbered *saved,
                             td_pool *pool)
{
    *saved = (td_renumbered){.inside = true, .source = run->context.source};
    run->context.source = td_numbering_number(numbering, run->context.source);
    TD_CHECK(enter_inputs(numbering, run, saved, pool));
    return enter_state(numbering, run->resumed, value_bytes, pool);
}

void td_numbering_leave(td_run *run, td_renumbered *saved)
{
    if (!saved->inside) return;
    run->context.source = saved->source;
    for (int i = 0; i < TD_INPUTS; i++) {
        if (saved->inputs[i] == NULL) continue;
        td_free(run->inputs[i]);
        run->inputs[i] = saved->inputs[i];
        run->context.input[i] = saved->inputs[i];
    }
    *saved = (td_renumbered){0};
}

/* Out of the numbering. */

typedef struct naming {
    uint32_t *values, *lowest; /* for every label: the lowest vertex with that label */
} naming;

static td_status find_lowest(void *context, uint64_t begin, uint64_t end, int worker)
{
    const naming *self = context;
    (void)worker;
    for (uint64_t v = begin; v < end; v++) {
        uint32_t *lowest = &self->lowest[self->values[v]];
        uint32_t now = __atomic_load_n(lowest, __ATOMIC_RELAXED);
        while ((uint32_t)v < now && !__atomic_compare_exchange_n(lowest, &now, (uint32_t)v, true, __ATOMIC_RELAXED,
                                                                 __ATOMIC_RELAXED)) {}
    }
    return TD_OK;
}

static td_status take_lowest(void *context, uint64_t begin, uint64_t end, int worker)
{
    const naming *self = context;
    (void)worker;
    for (uint64_t v = begin; v < end; v++) self->values[v] = self->lowest[self->values[v]];
    return TD_OK;
}

static td_status name_groups(const td_numbering *numbering, uint32_t *values, td_pool *pool)
{
    naming self = {.values = values};
    td_status status = TD_OK;
    TD_CHECK(TD_NEW(&self.lowest, numbering->vertices, "lowest vertices of groups"));
    memset(self.lowest, 0xff, numbering->vertices * sizeof *self.lowest);
    TD_TRY(td_pool_for(pool, numbering->vertices, GRAIN, find_lowest, &self));
    TD_TRY(td_pool_for(pool, numbering->vertices, GRAIN, take_lowest, &self));
done:
    td_free(self.lowest);
    return status;
}

td_status td_numbering_copy_result(const td_numbering *numbering, td_run *run, const void *values, size_t bytes,
                                 td_pool *pool)
{
    bool ranks = run->inputs[0] != NULL; /* labels of a reordered graph are ranks, not numbers */
    TD_CHECK(td_new_bytes(&run->values, numbering->vertices, bytes, "vertex values"));
    TD_CHECK(td_numbering_values_out(numbering, run->values, values, bytes, pool));
    if (!run->program->info->vertex_values || ranks || numbering->order == NULL) return TD_OK;
    return name_groups(numbering, run->values, pool);
}
