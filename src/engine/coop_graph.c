/* What stays from run to run: the graph cut in two, its hot part on the device, the rest in pinned memory. */
#include "engine/coop.h"

#include "base/alloc.h"
#include "base/log.h"

#include <string.h>

/* Giving back. */

static void *own(const void *memory) { return (void *)(uintptr_t)memory; }

static void free_lists(td_coop_graph *held)
{
    const td_adjacency *rest = held->cut != NULL ? &held->cut->rest : NULL;
    if (held->pinned[0]) td_device_unpin(held->device, rest->targets);
    if (held->pinned[1]) td_device_unpin(held->device, rest->weights);
    td_stream_free_narrow(held->device, &held->link);
    held->link = (td_link_list){0};
    for (int i = 0; i < TD_COOP_WINDOWS; i++) {
        td_device_free(held->device, held->narrow[i]);
        td_device_free(held->device, held->window[i]);
        if (held->freed[i] != NULL) td_mark_destroy(held->device, held->freed[i]);
        held->narrow[i] = held->window[i] = NULL;
        held->freed[i] = NULL;
    }
    td_device_free(held->device, own(held->hot.offsets));
    td_device_free(held->device, own(held->hot.targets));
    td_device_free(held->device, own(held->hot.weights));
    td_device_free(held->device, own(held->rest.offsets));
    td_device_free(held->device, held->out);
    for (int i = 0; i < TD_POTS; i++) {
        td_device_free(held->device, held->heads[i].bits);
        td_device_free(held->device, held->heads[i].lists);
        td_device_free(held->device, held->heads[i].before);
        held->heads[i] = (td_coop_heads){0};
    }
    held->hot = held->rest = (td_gpu_list){0};
    held->out = NULL;
    held->cut = NULL;
    held->pinned[0] = held->pinned[1] = held->readable = false;
    td_split_free(&held->split);
}

void td_coop_release(void *state)
{
    td_coop_graph *held = state;
    if (held == NULL) return;
    if (held->stream != NULL) (void)td_stream_finish(held->stream);
    if (held->copies != NULL) (void)td_stream_finish(held->copies);
    if (held->incoming != NULL) (void)td_stream_finish(held->incoming);
    if (held->hot_stream != NULL) (void)td_stream_finish(held->hot_stream);
    if (held->device != NULL) free_lists(held);
    td_stream_close(held->incoming);
    td_stream_close(held->hot_stream);
    td_stream_close(held->copies);
    td_stream_close(held->stream);
    td_devices_close(held->first);
    td_loop_destroy(held->loop);
    td_free(held);
}

/* Bringing it there. */

static td_status pin_rest(td_coop_graph *held)
{
    const td_adjacency *rest = &held->cut->rest;
    uint64_t edges = rest->offsets[held->split.vertices];
    void *targets = NULL, *weights = NULL;
    if (edges == 0) return TD_OK;
    held->pinned[0] = td_device_pin(held->device, rest->targets, edges * sizeof(uint32_t), &targets) == TD_OK;
    if (held->pinned[0] && rest->weights != NULL)
        held->pinned[1] = td_device_pin(held->device, rest->weights, edges * held->split.weight_bytes, &weights) == TD_OK;
    bool all = held->pinned[0] && (rest->weights == NULL || held->pinned[1]);
    if (!all) td_warn("%s; the GPU cannot help the CPU with the rest of the edges", td_last_message());
    held->readable = all && td_device_supports(held->device, TD_FEATURE_HOST_READS);
    held->rest.targets = targets;
    held->rest.weights = weights;
    return TD_OK;
}

static uint64_t offset_of(const void *offsets, uint64_t v) { return ((const uint64_t *)offsets)[v]; }

static td_status send_heads(td_coop_graph *held, const uint64_t *offsets, td_coop_heads *to)
{
    td_status status = TD_OK;
    td_gpu_heads found = {0};
    TD_TRY(td_gpu_find_heads(&found, offset_of, offsets, held->split.vertices));
    TD_TRY(td_gpu_send(held->stream, &to->bits, found.bits, found.words, sizeof(uint32_t), "begins of lists"));
    TD_TRY(td_gpu_send(held->stream, &to->lists, found.lists, found.count, sizeof(uint32_t), "vertices with lists"));
    TD_TRY(td_gpu_send(held->stream, &to->before, found.before, found.pieces, sizeof(uint32_t), "begins of lists"));
    TD_TRY(td_stream_finish(held->stream));
done:
    if (status != TD_OK) (void)td_stream_finish(held->stream);
    td_gpu_free_heads(&found);
    return status;
}

/* How fast the link is: the second of two copies of the begin of the rest counts. */
static td_status measure_copies(td_coop_graph *held)
{
    enum { MOST = 32 << 20 };
    const td_adjacency *rest = &held->cut->rest;
    uint64_t bytes = rest->offsets[held->split.vertices] * sizeof(uint32_t), began = 0;
    void *room = NULL;
    if (bytes > MOST) bytes = MOST;
    held->copy_rate = 10;
    if (bytes == 0 || td_device_left(held->device) < bytes) return TD_OK;
    TD_CHECK(td_device_new(held->device, &room, bytes, 1, "a measurement"));
    td_status status = TD_OK;
    for (int i = 0; i < 2 && status == TD_OK; i++) {
        began = td_device_clock(held->device);
        status = td_stream_copy(held->copies, room, rest->targets, bytes, TD_TO_DEVICE);
        if (status == TD_OK) status = td_stream_finish(held->copies);
    }
    uint64_t took = td_device_clock(held->device) - began;
    if (status == TD_OK) held->copy_rate = (double)bytes / (double)(took == 0 ? 1 : took);
    td_device_free(held->device, room);
    return status;
}

static td_status send_lists(td_coop_graph *held, bool adds_up)
{
    uint64_t n = held->split.vertices, hot_edges = held->cut->hot.offsets[n];
    const td_adjacency *hot = &held->cut->hot;
    size_t weight = held->split.weight_bytes;
    TD_CHECK(td_gpu_send(held->stream, &held->hot.offsets, hot->offsets, n + 1, sizeof(uint64_t), "the hot part's offsets"));
    TD_CHECK(td_gpu_send(held->stream, &held->hot.targets, hot->targets, hot_edges, sizeof(uint32_t), "the hot part"));
    if (weight > 0) TD_CHECK(td_gpu_send(held->stream, &held->hot.weights, hot->weights, hot_edges, weight, "the hot part's weights"));
    TD_CHECK(td_gpu_send(held->stream, &held->rest.offsets, held->cut->rest.offsets, n + 1, sizeof(uint64_t), "the rest's offsets"));
    TD_CHECK(td_gpu_send(held->stream, &held->out, held->split.out, n + 1, sizeof(uint64_t), "out-degrees"));
    TD_CHECK(td_stream_finish(held->stream));
    if (!adds_up) return TD_OK;
    TD_CHECK(send_heads(held, hot->offsets, &held->heads[TD_POT_HOT]));
    return send_heads(held, held->cut->rest.offsets, &held->heads[TD_POT_REST]);
}

/* The rest in windows that cross in fewer bits, if they do. */
static td_status make_windows(td_coop_graph *held, uint32_t shift, td_pool *pool)
{
    const td_adjacency *rest = &held->cut->rest;
    uint64_t edges = rest->offsets[held->split.vertices], size = UINT64_C(1) << shift;
    held->link = (td_link_list){.offsets = rest->offsets, .targets = rest->targets, .edges = edges, .shift = shift,
                                .subgraphs = (uint32_t)((edges + size - 1) >> shift)};
    TD_CHECK(td_stream_narrow(&held->link, held->device, pool));
    if (held->link.narrow == NULL || held->link.narrow_most > size) { /* no fewer bits */
        td_stream_free_narrow(held->device, &held->link);
        held->link = (td_link_list){0};
        return TD_OK;
    }
    for (int i = 0; i < TD_COOP_WINDOWS; i++) {
        TD_CHECK(td_device_new(held->device, &held->narrow[i], held->link.narrow_most, sizeof(uint32_t), "a window in fewer bits"));
        TD_CHECK(td_device_new(held->device, &held->window[i], size, sizeof(uint32_t), "a window"));
    }
    return TD_OK;
}

static void find_longest(td_coop_graph *held)
{
    held->longest = 0;
    for (uint64_t v = 0; v < held->split.vertices; v++)
        for (int i = 0; i < TD_POTS; i++) {
            const td_adjacency *list = i == TD_POT_HOT ? &held->cut->hot : &held->cut->rest;
            uint64_t length = list->offsets[v + 1] - list->offsets[v];
            if (length > held->longest) held->longest = length;
        }
}

static void make_shadow(td_coop_graph *held)
{
    const td_graph *graph = held->graph;
    held->shadow = (td_graph){.vertices = graph->vertices, .edges = held->split.edges, .symmetric = graph->symmetric || held->wish.both,
                              .weights = graph->weights, .weight_min = graph->weight_min, .weight_max = graph->weight_max,
                              .out = {.offsets = held->split.out}, .in = {.offsets = held->split.out}, .name = graph->name};
}

static td_status make_lists(td_coop_job *self, const td_split_wish *wish, uint32_t shift)
{
    td_coop_graph *held = self->held;
    TD_CHECK(td_split_make(&held->split, held->graph, wish, self->gpu.options->pool));
    held->wish = *wish;
    held->cut = wish->pushes ? &held->split.push : &held->split.pull;
    make_shadow(held);
    if (held->split.inside == 0) return TD_OK; /* nothing for the GPU */
    find_longest(held);
    TD_CHECK(pin_rest(held));
    TD_CHECK(send_lists(held, !wish->pushes));
    if (self->compress && !wish->pushes && !wish->weighted && shift > 0) TD_CHECK(make_windows(held, shift, self->gpu.options->pool));
    return measure_copies(held);
}

/* Windows take a small part of the room for edges; 0: there is none for them. */
static uint32_t window_shift(uint64_t room)
{
    enum { LEAST = 10, MOST = 22, PART = 16 };
    uint32_t shift = MOST;
    while (shift >= LEAST && (TD_COOP_WINDOWS * 2 * sizeof(uint32_t) << shift) > room / PART) shift--;
    return shift >= LEAST ? shift : 0;
}

td_status td_coop_hold(td_coop_job *self, uint64_t room)
{
    td_coop_graph *held = self->held;
    const td_cpu_kernels *k = self->gpu.traits;
    td_split_wish wish;
    memset(&wish, 0, sizeof wish); /* compared byte by byte */
    wish.order = self->order;
    wish.extract = self->extract;
    wish.weighted = self->gpu.run->program->info->weights != TD_WEIGHTS_UNUSED && held->graph->weights != TD_WEIGHT_NONE;
    wish.both = self->gpu.both;
    wish.pushes = k->fused;
    wish.pulls = !k->fused || !self->gpu.prioritised; /* distances by steps only push */
    uint32_t shift = wish.pulls && !wish.pushes && !wish.weighted && self->compress ? window_shift(room) : 0;
    wish.room = shift > 0 ? room - (TD_COOP_WINDOWS * 2 * sizeof(uint32_t) << shift) : room;
    if (held->split.out != NULL && memcmp(&held->wish, &wish, sizeof wish) == 0 && held->compress == self->compress) return TD_OK;
    free_lists(held);
    held->compress = self->compress;
    td_status status = make_lists(self, &wish, shift);
    if (status == TD_OK) return TD_OK;
    (void)td_stream_finish(held->stream);
    free_lists(held);
    return status;
}

/* Opening. */

static td_status open_device(td_coop_graph *held, const td_run_options *options)
{
    const char *devices = td_gpu_wanted(options);
    if (strlen(devices) >= sizeof held->devices) return td_fail(TD_USAGE, "--devices %s: too long", devices);
    memcpy(held->devices, devices, strlen(devices) + 1);
    held->gpu_memory = options->gpu_memory;
    TD_CHECK(td_loop_create(&held->loop));
    TD_CHECK(td_gpu_open(options, "coop", held->loop, &held->first, &held->device));
    TD_CHECK(td_stream_open(held->device, &held->stream));
    TD_CHECK(td_stream_open(held->device, &held->hot_stream));
    TD_CHECK(td_stream_open(held->device, &held->copies));
    return td_stream_open(held->device, &held->incoming);
}

td_status td_coop_open(td_coop_job *self)
{
    const td_run_options *options = self->gpu.options;
    td_kept *kept = options->kept;
    td_coop_graph *held = kept != NULL && kept->release == td_coop_release ? kept->state : NULL;
    if (held != NULL && (held->graph != self->gpu.run->graph || held->gpu_memory != options->gpu_memory ||
                         strcmp(held->devices, td_gpu_wanted(options)) != 0)) {
        td_kept_release(kept);
        held = NULL;
    }
    if (held == NULL) {
        TD_CHECK(TD_NEW_ZEROED(&held, 1, "device and lists"));
        held->graph = self->gpu.run->graph;
        td_status status = open_device(held, options);
        if (status != TD_OK) {
            td_coop_release(held);
            return status;
        }
        if (kept != NULL) {
            td_kept_release(kept);
            *kept = (td_kept){held, td_coop_release};
        }
    }
    self->held = held;
    return TD_OK;
}
