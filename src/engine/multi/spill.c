/* Fragments that do not fit their GPU: the first edges of every fragment are on its GPU, the rest stays in pinned host
 * memory, where kernels read them. A launch along lists becomes two, one for each section; a thief reads the rest over its
 * own link to the host. Offsets, list starts and all arrays of vertices are on the GPUs. */
#include "engine/multi/multi.h"

#include "base/alloc.h"

#include <string.h>

/* Gather-sums read four edges at once, whose address in the graph's arrays would be any. */
bool td_multi_copies_rest(const td_multi_need *need, bool renumbered)
{
    return renumbered || need->both || need->heads;
}

/* All GPUs may read it: thieves, too. */
static td_status pin_for_all(const td_gpu_set *gpus, void *host, uint64_t bytes, void **slot, void **seen)
{
    for (int i = 0; i < gpus->count; i++) {
        void *address;
        td_status status = td_device_pin(gpus->gpu[i], host, bytes, &address);
        if (status == TD_OK && i > 0 && address != *seen) {
            td_device_unpin(gpus->gpu[i], host);
            status = td_fail(TD_UNSUPPORTED, "%s: its address of host memory is not that of the other GPUs",
                             gpus->gpu[i]->name);
        }
        if (status == TD_OK) {
            *seen = address;
            continue;
        }
        while (i-- > 0) td_device_unpin(gpus->gpu[i], host);
        return td_fail_context(status, "edges that do not fit the GPUs' memory");
    }
    *slot = host;
    return TD_OK;
}

static void unpin_for_all(const td_gpu_set *gpus, void *host)
{
    for (int i = 0; i < gpus->count && host != NULL; i++) td_device_unpin(gpus->gpu[i], host);
}

void td_multi_free_rest(const td_gpu_set *gpus, td_multi_lists *lists)
{
    for (int i = 0; i < 2; i++) unpin_for_all(gpus, lists->pinned[i]);
    td_free(lists->own_targets);
    td_free(lists->own_weights);
}

static td_status copy_rest(void **out, const void *from, uint64_t edges, size_t bytes)
{
    TD_CHECK(td_new_pages(out, edges * bytes, "edges that stay at the host"));
    memcpy(*out, from, edges * bytes);
    return TD_OK;
}

/* One of the arrays; *view: where its element number 0 would be. */
static td_status keep_array(const td_gpu_set *gpus, td_multi_lists *lists, int which, const void *graphs, uint64_t all,
                            const void *fragments, size_t bytes, bool copies, void *view)
{
    void **own = which == 0 ? &lists->own_targets : &lists->own_weights, *seen = NULL;
    uint64_t rest = lists->edges - lists->resident, before = lists->base + lists->resident;
    const char *start = (const char *)fragments + lists->resident * bytes;
    if (copies) {
        TD_CHECK(copy_rest(own, start, rest, bytes));
        TD_CHECK(pin_for_all(gpus, *own, rest * bytes, &lists->pinned[which], &seen));
    } else {
        void *host = (void *)(uintptr_t)graphs;
        TD_CHECK(pin_for_all(gpus, host, all * bytes, &lists->pinned[which], &seen));
        seen = (char *)seen + (start - (const char *)graphs);
    }
    uintptr_t zero = (uintptr_t)seen - before * bytes;
    memcpy(view, &zero, sizeof zero);
    return TD_OK;
}

td_status td_multi_keep_rest(td_multi_job *self, td_multi_lists *lists, const td_adjacency *from, const uint32_t *targets,
                             const void *weights, size_t weight_bytes, bool copies)
{
    const td_gpu_set *gpus = self->layout->gpu.set;
    uint64_t all = from->offsets[self->graph->vertices];
    if (lists->resident == lists->edges) return TD_OK;
    lists->rest.offsets = lists->view.offsets;
    TD_CHECK(keep_array(gpus, lists, 0, from->targets, all, targets, sizeof *targets, copies, &lists->rest.targets));
    if (weight_bytes == 0) return TD_OK;
    return keep_array(gpus, lists, 1, from->weights, all, weights, weight_bytes, copies, &lists->rest.weights);
}

bool td_multi_section(const td_multi_lists *lists, const td_multi_part *which, bool at_host, td_gpu_part *part,
                      td_gpu_list *view)
{
    bool spills = lists->resident < lists->edges;
    uint64_t split = lists->base + lists->resident, end = which->end_edge > 0 ? which->end_edge : UINT64_MAX;
    if (at_host && !spills) return false;
    *view = at_host ? lists->rest : lists->view;
    *part = (td_gpu_part){.first_edge = which->first_edge, .end_edge = end, .first_vertex = which->first,
                          .end_vertex = which->end, .from_host = at_host};
    if (at_host && part->first_edge < split) part->first_edge = split;
    if (spills && !at_host && part->end_edge > split) part->end_edge = split;
    return true;
}

size_t td_multi_edge_bytes(const td_multi_job *self)
{
    return sizeof(uint32_t) + td_gpu_weight_bytes(&self->gpu[0].job);
}

uint64_t td_multi_host_bytes(const td_multi_gpu *gpu, size_t edge_bytes)
{
    return gpu->job.control->tally.host_edges * edge_bytes;
}
