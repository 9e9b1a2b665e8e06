/* The prepared partition: which one runs of a program read, how it is made, and how a run reads it instead of asking
 * METIS or drawing an order. */
#include "engine/multi/prepared.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/multi/multi.h"
#include "layout/partition_file.h"

#include <stdio.h>
#include <string.h>

static bool may_read(const td_multi_settings *set)
{
    return set->partition != TD_PARTITION_SEG && set->prepared != TD_PREPARED_OFF;
}

bool td_multi_find_prepared(const td_multi_job *self, const td_multi_need *need, td_multi_found *out)
{
    td_partition_wish wish = td_multi_wish(self->graph, need, self->set.partition, self->set.seed, self->count,
                                           &self->division);
    if (!may_read(&self->set)) return false;
    td_status status = td_partition_find(self->graph, &wish, &out->entries, out->first);
    if (status != TD_OK) td_debug("%s", td_last_message()); /* the run warns */
    else td_partition_layout_name(out->name, self->graph, &wish);
    return status == TD_OK;
}

td_status td_multi_cut(const td_multi_job *self, const td_partition_wish *wish, td_partition *out, bool *prepared)
{
    td_pool *pool = self->options->pool;
    *prepared = false;
    if (may_read(&self->set)) {
        td_status status = td_partition_load(out, self->graph, wish, pool);
        *prepared = status == TD_OK;
        if (status == TD_OK || status == TD_NO_MEMORY || status == TD_CANCELLED) return status;
        if (status != TD_NOT_FOUND) td_warn("%s; the graph is cut for this run", td_last_message());
    }
    return td_partition_make(out, self->graph, wish, pool);
}

/* Making. */

static td_status nothing_for_seg(void)
{
    return td_fail(TD_NOT_FOUND, "the partition seg is ranges of the graph's own numbers, which runs find from its offsets "
                   "at once: there is nothing to prepare");
}

/* Makes and writes the partition, unless it is there whole. `made`: one that a run has made already, or NULL. */
static td_status make(const td_graph *graph, const td_partition_wish *wish, const td_partition *made, td_pool *pool,
                      td_prepared_file *out)
{
    td_status status = TD_OK;
    td_partition partition = {0};
    td_partition_layout_name(out->layout, graph, wish);
    uint64_t start = td_clock_ns();
    status = td_partition_load(&partition, graph, wish, pool);
    if (status == TD_OK || status == TD_NO_MEMORY || status == TD_CANCELLED) goto done;
    if (made == NULL) TD_TRY(td_partition_make(&partition, graph, wish, pool));
    out->make_seconds = td_seconds_since(start);
    start = td_clock_ns();
    status = TD_OK;
    TD_TRY(td_partition_save(made != NULL ? made : &partition, graph, wish, out->path, pool));
    out->write_seconds = td_seconds_since(start);
    out->made = true;
done:
    td_partition_free(&partition);
    return status;
}

/* What runs of the program need, without a device. */
static td_status find_need(const td_program *program, const td_graph *graph, const td_run_options *options,
                           const td_multi_settings *set, td_multi_need *out)
{
    td_status status = TD_OK;
    td_multi_job *self = NULL;
    td_run run;
    TD_TRY(TD_NEW_ZEROED(&self, 1, "multi engine"));
    TD_TRY(td_gpu_job_measure(&self->gpu[0].job, &run, program, graph, options));
    td_multi_describe_job(&self->gpu[0], set);
    *out = td_multi_needs(self);
done:
    td_free(self);
    return status;
}

/* A program that cannot run like this reads no partition; the message says why it cannot. */
static td_status check(const td_program *program, const td_run_options *options, const td_multi_settings *set)
{
    char why[TD_MESSAGE_BYTES];
    if (td_multi_check(program, options, set) == TD_OK) return TD_OK;
    snprintf(why, sizeof why, "%s", td_last_message());
    return td_fail(TD_NOT_FOUND, "%s", why);
}

td_status td_multi_prepare(const td_program *program, const td_graph *graph, const td_run_options *options,
                           td_partition_kind kind, int parts, td_prepared_file *out)
{
    td_multi_division equal = {.weighted = false};
    td_multi_settings set;
    td_multi_need need;
    if (kind == TD_PARTITION_SEG) return nothing_for_seg();
    TD_CHECK(td_multi_read_settings(options->settings, &set));
    set.partition = kind;
    TD_CHECK(check(program, options, &set));
    TD_CHECK(find_need(program, graph, options, &set, &need));
    td_partition_wish wish = td_multi_wish(graph, &need, kind, set.seed, parts, &equal);
    return make(graph, &wish, NULL, options->pool, out);
}

/* The partition of the run before, which is cached with its fragments; NULL: it was cut otherwise. */
static const td_partition *cached(const td_multi_graph *layout, const td_partition_wish *wish)
{
    bool same = layout->is_cut && layout->kind == wish->kind && layout->seed == wish->seed && layout->count == wish->parts &&
                layout->counts_out == wish->out && layout->counts_in == wish->in &&
                layout->division.weighted == (wish->weights != NULL);
    if (same && wish->weights != NULL)
        same = memcmp(layout->division.weights, wish->weights, (size_t)wish->parts * sizeof *wish->weights) == 0;
    return same ? &layout->partition : NULL;
}

/* After a run of the plan, for its GPUs and their shares. */
td_status td_multi_make_layout(const td_program *program, const td_graph *graph, const td_run_options *options,
                               td_prepared_file *out)
{
    td_status status = TD_OK;
    td_plan *plan = NULL;
    td_gpu_set *gpus;
    td_multi_graph *layout = NULL;
    td_multi_division division;
    td_multi_settings set;
    td_multi_need need;
    TD_CHECK(td_multi_read_settings(options->settings, &set));
    if (set.partition == TD_PARTITION_SEG) return nothing_for_seg();
    TD_CHECK(find_need(program, graph, options, &set, &need));
    TD_CHECK(td_gpu_set_open(options, "multi", &gpus));
    TD_TRY(TD_NEW_ZEROED(&plan, 1, "plan"));
    plan->program = program;
    plan->graph = graph;
    plan->options = *options;
    TD_TRY(td_multi_divide_memory(plan, gpus, &division));
    TD_TRY(td_gpu_layout_acquire(&td_multi_layout_kind, graph, options, &layout));
    td_partition_wish wish = td_multi_wish(graph, &need, set.partition, set.seed, gpus->count, &division);
    TD_TRY(make(graph, &wish, cached(layout, &wish), options->pool, out));
done:
    if (layout != NULL) td_gpu_layout_release(options, false);
    td_free(plan);
    return status;
}
