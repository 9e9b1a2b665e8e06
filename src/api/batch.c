/* Batches in the API: runs from many sources by one plan, in groups where the engine searches from several at once. */
#include "api/request.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/mapping.h"
#include "base/random.h"
#include "run/group.h"

#include <inttypes.h>

struct td_batch {
    td_plan *plan;
    uint64_t next;      /* source of the next result */
    td_run *run;        /* of the last result; or NULL */
    td_group group;     /* of the run, if `grouped` */
    bool grouped;
    bool apart;         /* searches share too little: every further source has a run of its own */
    uint64_t first;     /* the group's first source */
    uint32_t *levels[TD_GROUP_MOST / 8]; /* a window of results of the group, read at once */
    uint32_t window;    /* sources of a window */
    td_batch_facts facts;
};

td_status td_taken_find_sources(td_taken *self, const td_graph *graph)
{
    const td_request *request = &self->request;
    uint64_t count = request->source_count;
    TD_CHECK(TD_NEW(&self->sources, count, "sources"));
    for (uint64_t i = 0; i < count; i++) {
        td_status status = td_graph_find(graph, request->sources[i], &self->sources[i]);
        if (status != TD_OK)
            return td_fail_context(status, "{sources}, number %" PRIu64 " of %" PRIu64, i + 1, count);
    }
    self->options.sources = self->sources;
    self->options.source_count = count;
    self->options.source = self->sources[0];
    return TD_OK;
}

td_status td_batch_create(td_session *session, td_plan *plan, td_batch **out)
{
    td_batch *batch = NULL;
    TD_CHECK(td_need(plan, "the plan"));
    TD_CHECK(td_need(out, "the place for the batch"));
    TD_CHECK(td_session_enter(session));
    td_status status = TD_OK;
    if (plan->options.cache != &session->cache) status = td_fail(TD_INVALID, "the plan is another session's");
    else if (!td_options_are_batch(&plan->options))
        status = td_fail(TD_USAGE, "the plan has no batch: give {sources}, or run it with td_plan_run");
    else status = TD_NEW_ZEROED(&batch, 1, "batch");
    td_session_leave(session);
    TD_CHECK(status);
    batch->plan = plan;
    batch->facts.sources = plan->options.source_count;
    batch->facts.at_once = plan->group;
    *out = batch;
    return TD_OK;
}

static void drop_run(td_batch *batch)
{
    if (batch->run != NULL && batch->grouped) batch->run->values = NULL; /* a window's */
    td_run_destroy(batch->run);
    batch->run = NULL;
    td_group_free(&batch->group);
    for (int i = 0; i < TD_GROUP_MOST / 8; i++) {
        td_free(batch->levels[i]);
        batch->levels[i] = NULL;
    }
}

void td_batch_destroy(td_batch *batch)
{
    if (batch == NULL) return;
    drop_run(batch);
    td_free(batch);
}

static void count_run(td_batch *batch)
{
    const td_run *run = batch->run;
    td_batch_facts *facts = &batch->facts;
    facts->searches++;
    facts->edges_processed += run->edges_processed;
    facts->words += batch->grouped ? batch->group.words : 0;
    facts->prepare_seconds += run->prepare_seconds;
    facts->seconds += run->seconds;
    facts->finish_seconds += run->finish_seconds;
}

/* Runs from the next source, or searches from the next group of them. The last group may need narrower words. A search
 * that ended early, because its sources share too little, has no results. */
static td_status run_some(td_batch *batch)
{
    td_plan *plan = batch->plan;
    const td_run_options *options = &plan->options;
    uint64_t left = options->source_count - batch->next;
    uint32_t most = batch->apart ? 1 : plan->group, count = left < most ? (uint32_t)left : most;
    drop_run(batch);
    batch->grouped = count > 1;
    batch->first = batch->next;
    plan->options.source = options->sources[batch->next]; /* the one that a run of its own starts from */
    uint32_t width = td_group_width(count), least = plan->engine->least_width;
    batch->group = (td_group){.sources = options->sources + batch->next, .count = count,
                              .width = width < least ? least : width};
    batch->window = td_group_window(batch->group.width);
    TD_CHECK(td_plan_run_inside(plan, batch->grouped ? &batch->group : NULL, &batch->run));
    count_run(batch);
    batch->run->seconds /= count; /* a result's share of the search */
    batch->run->lent = true;
    return TD_OK;
}

static td_status run_next(td_batch *batch)
{
    TD_CHECK(run_some(batch));
    if (!batch->group.stopped) return TD_OK;
    batch->apart = true;
    batch->facts.at_once = 1;
    return run_some(batch);
}

/* Points the run to the levels of one of its sources. */
static td_status show_source(td_batch *batch)
{
    td_run *run = batch->run;
    const td_group *group = &batch->group;
    const td_run_options *options = &batch->plan->options;
    uint32_t at = (uint32_t)(batch->next - batch->first), place = at % batch->window;
    uint32_t count = group->count - at < batch->window ? group->count - at : batch->window;
    uint64_t began = td_clock_ns();
    for (uint32_t i = 0; i < count && place == 0; i++)
        if (batch->levels[i] == NULL) TD_CHECK(TD_NEW(&batch->levels[i], run->graph->vertices, "levels"));
    if (place == 0) TD_CHECK(td_group_read(group, at, count, run->graph->vertices, batch->levels, options->pool));
    batch->facts.finish_seconds += td_seconds_since(began);
    run->values = batch->levels[place];
    run->context.source = options->sources[batch->next];
    return TD_OK;
}

static td_status next(td_batch *batch)
{
    bool within = batch->run != NULL && batch->grouped && batch->next < batch->first + batch->group.count &&
                  batch->next > batch->first;
    if (!within) TD_CHECK(run_next(batch));
    td_status status = batch->grouped ? show_source(batch) : TD_OK;
    if (status != TD_OK) {
        drop_run(batch);
        return status;
    }
    batch->next++;
    batch->facts.done++;
    return TD_OK;
}

td_status td_batch_next(td_session *session, td_batch *batch, td_result **result)
{
    td_status status = TD_OK;
    TD_CHECK(td_need(batch, "the batch"));
    TD_CHECK(td_need(result, "the place for the result"));
    TD_CHECK(td_session_enter(session));
    if (batch->plan->options.cache != &session->cache) status = td_fail(TD_INVALID, "the batch is another session's");
    else if (batch->next == batch->plan->options.source_count) drop_run(batch);
    else status = next(batch);
    td_session_leave(session);
    TD_CHECK(status);
    *result = batch->run;
    return TD_OK;
}

td_status td_batch_describe(const td_batch *batch, td_batch_facts *out)
{
    TD_CHECK(td_need(batch, "the batch"));
    return td_struct_give(out, &batch->facts, sizeof batch->facts, "td_batch_facts");
}

/* Drawing sources: those with the lowest random numbers, which depend on seed and id alone. */

typedef struct drawn {
    uint64_t key, id;
} drawn;

/* The lowest so far, a heap with the highest on top. */
typedef struct lowest {
    drawn *rows;
    uint64_t count;
} lowest;

typedef struct drawing {
    const td_graph *graph;
    uint64_t most, seed;
    lowest *heaps; /* one per worker */
} drawing;

static bool above(drawn a, drawn b) { return a.key != b.key ? a.key > b.key : a.id > b.id; }

static void sink(lowest *heap)
{
    drawn row = heap->rows[0];
    uint64_t at = 0;
    for (uint64_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && above(heap->rows[child + 1], heap->rows[child])) child++;
        if (!above(heap->rows[child], row)) break;
        heap->rows[at] = heap->rows[child];
    }
    heap->rows[at] = row;
}

static void offer(lowest *heap, uint64_t most, drawn row)
{
    if (heap->count == most) {
        if (!above(heap->rows[0], row)) return;
        heap->rows[0] = row;
        sink(heap);
        return;
    }
    uint64_t at = heap->count++;
    for (; at > 0 && above(row, heap->rows[(at - 1) / 2]); at = (at - 1) / 2) heap->rows[at] = heap->rows[(at - 1) / 2];
    heap->rows[at] = row;
}

static td_status offer_part(void *context, uint64_t begin, uint64_t end, int worker)
{
    const drawing *self = context;
    for (uint64_t v = begin; v < end; v++) {
        if (td_degree(&self->graph->out, (uint32_t)v) == 0) continue;
        uint64_t id = td_graph_id(self->graph, (uint32_t)v);
        offer(&self->heaps[worker], self->most, (drawn){td_random_at(self->seed, id), id});
    }
    return TD_OK;
}

static td_status draw(drawing *self, td_pool *pool, uint64_t *ids)
{
    td_status status = TD_OK;
    drawn *rows = NULL;
    int workers = td_pool_threads(pool);
    uint64_t count = self->most;
    TD_TRY(TD_NEW_ZEROED(&self->heaps, (uint64_t)workers, "drawn sources"));
    TD_TRY(TD_NEW(&rows, count * (uint64_t)workers, "drawn sources"));
    for (int w = 0; w < workers; w++) self->heaps[w].rows = rows + count * (uint64_t)w;
    TD_TRY(td_pool_for(pool, self->graph->vertices, 1 << 14, offer_part, self));
    lowest *all = &self->heaps[0];
    for (int w = 1; w < workers; w++)
        for (uint64_t i = 0; i < self->heaps[w].count; i++) offer(all, count, self->heaps[w].rows[i]);
    if (all->count < count) {
        status = td_fail(TD_INVALID, "%" PRIu64 " sources are to be drawn, and %" PRIu64 " vertices have out-edges",
                         count, all->count);
        goto done;
    }
    while (all->count > 0) { /* the highest last */
        ids[all->count - 1] = all->rows[0].id;
        all->rows[0] = all->rows[--all->count];
        sink(all);
    }
done:
    td_free(self->heaps);
    td_free(rows);
    return status;
}

td_status td_graph_draw(td_session *session, const td_graph *graph, uint64_t count, uint64_t seed, uint64_t *ids)
{
    TD_CHECK(td_need(graph, "the graph"));
    TD_CHECK(td_need(ids, "the array of ids"));
    if (count > graph->vertices)
        return td_fail(TD_INVALID, "%" PRIu64 " sources are to be drawn, and the graph has %" PRIu32 " vertices", count,
                       graph->vertices);
    TD_CHECK(td_session_enter(session));
    drawing self = {.graph = graph, .most = count, .seed = seed};
    td_status status = td_mapping_check(graph->mapping, count > 0 ? draw(&self, session->pool, ids) : TD_OK);
    td_session_leave(session);
    return status;
}
