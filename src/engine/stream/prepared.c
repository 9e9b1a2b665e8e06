/* Prepared lists: which ones a run of a program would read, how they are made, and how a run reads them instead of
 * ordering, packing or compressing the graph's own. */
#include "engine/stream/stream.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "gpu/link_file.h"
#include "store/checks.h"

#include <string.h>

td_lists_form td_streaming_form(const td_graph *graph, const td_streaming_shape *shape, bool second)
{
    bool out = graph->symmetric || (shape->pushes && !second);
    return (td_lists_form){.view = shape->both ? TD_LISTS_BOTH : out ? TD_LISTS_OUT : TD_LISTS_IN, .order = shape->order,
                           .weighted = shape->weighted, .weight_bits = (uint32_t)shape->weight_bits,
                           .compressed = shape->compresses != TD_COMPRESS_NO};
}

/* Lists that are the graph's own need no other copy. Compressed ones replace the targets only where all edges cross
 * whole, and have the graph's order. */
static bool can_prepare(const td_lists_form *form, const td_streaming_shape *shape)
{
    if (form->compressed) return !shape->pushes && form->order == TD_LISTS_STORED;
    return form->order != TD_LISTS_STORED || form->view == TD_LISTS_BOTH;
}

/* Subgraphs must consist of whole groups of compressed targets. */
static bool fits(const td_lists_form *form, const td_streaming_shape *shape)
{
    return can_prepare(form, shape) && (!form->compressed || shape->slot_edges >= TD_COMPRESS_GROUP);
}

void td_streaming_find_prepared(const td_graph *graph, td_streaming_shape *shape)
{
    bool two = td_streaming_has_two(graph, shape);
    shape->prepared = shape->prepared_words = 0;
    for (int i = 0; i < 1 + two; i++) {
        td_lists_form form = td_streaming_form(graph, shape, i == 1);
        td_sidecar *file = NULL;
        if (!fits(&form, shape)) continue;
        td_status status = td_lists_open(&file, graph, &form, &shape->prepared_words);
        if (status == TD_OK) shape->prepared |= UINT64_C(1) << i;
        else if (status == TD_NOT_FOUND) td_debug("%s", td_last_message());
        else td_warn("%s; it is not used", td_last_message());
        td_sidecar_close(file);
    }
}

bool td_streaming_spares_lists(const td_graph *graph, const td_streaming_shape *shape)
{
    return shape->prepared == (td_streaming_has_two(graph, shape) ? 3 : 1);
}

/* Reading. */

static td_status declare_list(td_host_memory *host, td_link_list *list, const td_lists_form *form, uint64_t vertices)
{
    if (form->view == TD_LISTS_BOTH)
        TD_CHECK(td_host_declare(host, &list->own_offsets, vertices + 1, sizeof(uint64_t), "undirected lists"));
    if (!form->compressed)
        TD_CHECK(td_host_declare_pages(host, &list->own_targets, list->edges * sizeof(uint32_t), "prepared lists"));
    if (list->weight_bytes == 0) return TD_OK;
    return td_host_declare_pages(host, &list->own_weights, list->edges * list->weight_bytes, "prepared lists");
}

static void undeclare_list(td_host_memory *host, td_link_list *list, const td_lists_form *form, uint64_t vertices)
{
    if (form->view == TD_LISTS_BOTH) td_host_undeclare(host, &list->own_offsets, vertices + 1, sizeof(uint64_t));
    if (!form->compressed) td_host_undeclare(host, &list->own_targets, list->edges, sizeof(uint32_t));
    if (list->weight_bytes > 0) td_host_undeclare(host, &list->own_weights, list->edges, list->weight_bytes);
    list->offsets = NULL;
    list->targets = NULL;
    list->weights = NULL;
}

typedef struct adding {
    const td_graph *graph;
    uint64_t *offsets;
} adding;

static td_status add_offsets(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const adding *self = context;
    for (uint64_t v = begin; v < end; v++)
        self->offsets[v] = self->graph->in.offsets[v] + self->graph->out.offsets[v];
    return TD_OK;
}

static td_status set_offsets(td_link_list *list, const td_graph *graph, td_lists_view view, td_pool *pool)
{
    adding self = {graph, list->own_offsets};
    list->offsets = view == TD_LISTS_OUT ? graph->out.offsets : graph->in.offsets;
    if (view != TD_LISTS_BOTH) return TD_OK;
    list->offsets = list->own_offsets;
    return td_pool_for(pool, graph->vertices + UINT64_C(1), 1 << 16, add_offsets, &self);
}

typedef struct piecewise {
    const td_graph *graph;
    const td_link_list *list;
    const td_lists_form *form;
    const td_sidecar *file;
} piecewise;

static td_status read_piece(void *context, uint64_t piece, int worker)
{
    (void)worker;
    const piecewise *self = context;
    return td_lists_read_piece(self->file, self->graph, self->form, piece, self->list->own_targets, self->list->own_weights);
}

static td_status read_list(td_streaming_job *self, td_link_list *list, const td_streaming_shape *shape,
                           const td_lists_form *form, td_sidecar *file, uint64_t words)
{
    const td_graph *graph = self->gpu.graph;
    td_pool *pool = self->gpu.options->pool;
    piecewise all = {graph, list, form, file};
    TD_CHECK(set_offsets(list, graph, form->view, pool));
    if (!form->compressed) {
        TD_CHECK(td_streaming_fill(self, list, shape, read_piece, &all));
    } else {
        TD_CHECK(td_link_read_compressed(list, file, words, graph->vertices, &self->gpu.memory.host, self->layout->device,
                                         pool));
        if (list->weight_bytes > 0) TD_CHECK(td_lists_read_weights(file, graph, form, list->own_weights, pool));
    }
    list->targets = list->own_targets;
    list->weights = list->own_weights;
    return TD_OK;
}

td_status td_streaming_read_prepared(td_streaming_job *self, td_link_list *list, const td_streaming_shape *shape,
                                     bool second, bool *done)
{
    td_status status = TD_OK;
    td_host_memory *host = &self->gpu.memory.host;
    const td_graph *graph = self->gpu.graph;
    td_lists_form form = td_streaming_form(graph, shape, second);
    td_sidecar *file = NULL;
    uint64_t words = 0;
    *done = true;
    list->weight_bytes = shape->weighted && shape->weight_bits == 0 ? td_weight_bytes(graph->weights) : 0;
    list->weight_bits = (uint32_t)shape->weight_bits;
    list->useful_bytes = (uint32_t)(sizeof(uint32_t) + (shape->weighted ? td_weight_bytes(graph->weights) : 0));
    TD_CHECK(declare_list(host, list, &form, graph->vertices));
    if (host->measures) {
        return form.compressed ? td_link_read_compressed(list, NULL, shape->prepared_words, graph->vertices, host,
                                                         self->layout->device, NULL)
                               : TD_OK;
    }
    TD_TRY(td_lists_open(&file, graph, &form, &words));
    TD_TRY(read_list(self, list, shape, &form, file, words));
    self->layout->prepared_read++;
done:
    td_sidecar_close(file);
    if (status == TD_OK) return TD_OK;
    td_streaming_unpin(self->layout, list);
    undeclare_list(host, list, &form, graph->vertices);
    if (status == TD_NO_MEMORY || status == TD_CANCELLED) return status;
    td_warn("%s; the lists are made for this run", td_last_message());
    list->weight_bits = 0;
    *done = false;
    return td_streaming_orders_file(graph, shape) ? TD_OK
                                                  : td_checks_lists(graph, shape->weighted, self->gpu.options->pool);
}

/* Making. */

typedef struct making {
    td_streaming_graph layout;
    td_streaming_job job;
    td_run_options options;
} making;

static td_status write_list(const td_graph *graph, const td_link_list *list, const td_lists_form *form,
                            td_prepared_file *out, td_pool *pool)
{
    td_status status = TD_OK;
    td_link_groups groups = {0};
    uint64_t start = td_clock_ns();
    if (form->compressed) TD_TRY(td_link_make_groups(&groups, list, pool));
    td_lists_content content = {list->targets, list->weights, groups.lengths, groups.words, groups.word_count};
    out->make_seconds += td_seconds_since(start);
    start = td_clock_ns();
    TD_TRY(td_lists_save(graph, form, &content, out->path, pool));
    out->write_seconds += td_seconds_since(start);
    out->made = true;
done:
    td_link_free_groups(&groups);
    return status;
}

/* What the runs of the program with default settings would read, whatever the GPU: one list of all that they use. */
td_status td_streaming_layout(const td_program *program, const td_graph *graph, const td_run_options *options,
                              char name[TD_SIDECAR_NAME])
{
    td_streaming_shape shape;
    td_lists_form form;
    TD_CHECK(td_streaming_wanted(program, graph, options, &shape));
    form = td_streaming_form(graph, &shape, false);
    if (!can_prepare(&form, &shape))
        return td_fail(TD_NOT_FOUND, "%s reads the graph's own lists on stream, so there is nothing to prepare",
                       program->info->name);
    td_lists_form_name(name, &form);
    return TD_OK;
}

td_status td_streaming_make_layout(const td_program *program, const td_graph *graph, const td_run_options *options,
                                   td_prepared_file *out)
{
    td_status status = TD_OK;
    td_streaming_shape shape;
    making *self = NULL;
    TD_CHECK(td_streaming_layout(program, graph, options, out->layout));
    TD_CHECK(td_streaming_wanted(program, graph, options, &shape));
    td_lists_form form = td_streaming_form(graph, &shape, false);
    if (td_lists_prepared(graph, &form)) return TD_OK;
    uint64_t start = td_clock_ns();
    TD_CHECK(TD_NEW_ZEROED(&self, 1, "prepared lists"));
    self->options = *options;
    self->job = (td_streaming_job){.layout = &self->layout, .gpu = {.graph = graph, .options = &self->options}};
    td_link_list *list = &self->layout.lists[0];
    list->edges = td_lists_edges(graph, &form);
    TD_TRY(td_streaming_make_host_list(&self->job, list, form.view == TD_LISTS_IN ? &graph->in : &graph->out, &shape));
    out->make_seconds = td_seconds_since(start);
    TD_TRY(write_list(graph, list, &form, out, options->pool));
done:
    td_free(self->layout.lists[0].own_offsets);
    td_free(self->layout.lists[0].own_targets);
    td_free(self->layout.lists[0].own_weights);
    td_free(self);
    return status;
}
