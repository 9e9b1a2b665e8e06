/* Sweeps over survivors (Filter-Kruskal: Osipov, Sanders, Singler, ALENEX'09). The lightest edges, a few for every
 * vertex, are collected from the lists and swept until nothing changes. Then the lists are read once more: edges that
 * still join two components are few, and they are swept in turn. Order is by key (weight, then number), so that equal
 * weights are divided too. If a class of keys has more survivors than there is room for, half of it is tried. */
#include "cpu/cpu.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/machine.h"
#include "run/checkpoint_file.h"
#include "run/sweep.h"

#include <stdlib.h>

enum {
    LIGHT = 2,       /* light edges per vertex that are swept first (docs/lab/cpu.md) */
    ROOM = 3,        /* survivors per vertex that there is room for */
    SAMPLE = 1 << 14 /* keys that are sampled to divide the edges into classes */
};

static uint64_t edges_once(const td_cpu_job *job)
{
    return job->graph->symmetric ? job->graph->edges / 2 + 1 : job->graph->edges;
}

static uint64_t sampled_keys(const td_cpu_job *job)
{
    return job->graph->edges < SAMPLE ? job->graph->edges : SAMPLE;
}

/* Every worker may leave two blocks partly filled. */
static uint64_t blocks_for(const td_cpu_job *job)
{
    uint64_t most = (uint64_t)job->graph->vertices * ROOM, edges = edges_once(job);
    uint64_t workers = job->graph->edges < job->setup.serial ? 1 : (uint64_t)job->workers;
    return (edges < most ? edges : most) / TD_SURVIVOR_BLOCK + 1 + 2 * workers;
}

/* Keys of an edge's number and weight must fit 64 bits. */
static bool keys_fit(const td_graph *graph)
{
    size_t bits = graph->weights == TD_WEIGHT_NONE ? 1 : td_weight_bytes(graph->weights) * 8;
    return graph->edges >> (63 - bits) == 0;
}

td_status td_cpu_declare_survivors(td_cpu_job *job, td_cpu_memory *memory)
{
    td_survivors *self = &job->sweep.survivors;
    self->blocks = blocks_for(job);
    TD_CHECK(td_cpu_declare(memory, &self->keys, sampled_keys(job) + 1, sizeof *self->keys, "keys of a sample"));
    TD_CHECK(td_cpu_declare(memory, &self->counts, self->blocks, sizeof *self->counts, "counts of survivors"));
    return td_cpu_declare(memory, &self->edges, self->blocks * TD_SURVIVOR_BLOCK, sizeof *self->edges, "survivors");
}

bool td_cpu_choose_survivors(td_cpu_job *job, uint64_t bytes)
{
    if (!job->sweep.collects_survivors || !keys_fit(job->graph)) return false;
    td_memory_stats memory = td_memory();
    td_cpu_memory needed = {.measures = true};
    uint64_t left = memory.now < memory.budget ? memory.budget - memory.now : 0;
    if (memory.budget == 0) left = td_machine_memory_free();
    if (td_cpu_declare_survivors(job, &needed) != TD_OK) return false;
    return bytes < left && needed.bytes <= (left - bytes) / 2;
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sampled keys in order, and one above all others. */
static void sample_keys(const td_cpu_job *job)
{
    const td_adjacency *list = &job->view.push[0];
    uint64_t drawn = sampled_keys(job), *keys = job->sweep.survivors.keys;
    double stride = drawn > 0 ? (double)job->graph->edges / (double)drawn : 0;
    for (uint64_t i = 0; i < drawn; i++) {
        uint64_t e = (uint64_t)(stride * (double)i);
        keys[i] = (uint64_t)td_sweep_ordered_weight(job->graph, list->weights, e) << job->context.edge_bits | e;
    }
    qsort(keys, drawn, sizeof *keys, by_key);
    keys[drawn] = UINT64_MAX;
}

/* Collects the survivors with keys below `high`; false in *fits if there is no room for all. Those of earlier classes
 * join nothing any more. */
static td_status collect(td_cpu_job *job, uint64_t high, uint64_t *edges, bool *fits)
{
    td_survivors *self = &job->sweep.survivors;
    td_cpu_tally sum;
    self->used = 0;
    self->high = high;
    job->high.count = 0;
    TD_CHECK(td_cpu_step(job, job->kernels->collect, td_cpu_words(job), TD_WORDS_AT_A_TIME, job->graph->edges, &sum));
    TD_CHECK(td_cpu_high_degree_step(job, job->kernels->collect_high_degree, &sum));
    *edges += sum.edges;
    *fits = self->used <= self->blocks;
    return TD_OK;
}

/* Sweeps the survivors until nothing changes. The first row has the edges that were read to collect them. */
static td_status sweep(td_cpu_job *job, uint64_t read, uint64_t began, bool last)
{
    td_survivors *self = &job->sweep.survivors;
    bool again = true;
    for (uint64_t edges = read; again; edges = 0, began = td_clock_ns()) {
        td_cpu_tally sum;
        uint64_t count = 0;
        for (uint64_t block = 0; block < self->used; block++) count += self->counts[block];
        TD_CHECK(td_cpu_step(job, job->kernels->survivors, self->used, 4, count, &sum));
        td_row row = {.direction = edges > 0 ? "sweep" : "light", .active_vertices = job->graph->vertices,
                      .active_edges = edges + sum.edges, .edges = edges + sum.edges};
        TD_CHECK(td_cpu_end_sweep(job, &row, began, last, &again));
    }
    return TD_OK;
}

/* A round over all edges. If very many have the least weight, the first of them by number are those of a few vertices,
 * and join less than the round does. */
static td_status sweep_round(td_cpu_job *job, bool *again)
{
    do TD_CHECK(td_cpu_sweep_lists(job, again));
    while (*again && !td_state_ends_round(job->run, job->context.iteration));
    return TD_OK;
}

/* One class of keys after the other, from keys[place] on. */
static td_status sweep_classes(td_cpu_job *job, bool *again)
{
    const uint64_t *keys = job->sweep.survivors.keys, count = sampled_keys(job);
    double share = (double)job->graph->vertices * LIGHT / (double)edges_once(job);
    uint64_t place = 0, next = count;
    if (edges_once(job) > (uint64_t)job->graph->vertices * ROOM) next = (uint64_t)(share * (double)count);
    if (next < count && keys[0] >> job->context.edge_bits == keys[next] >> job->context.edge_bits) {
        TD_CHECK(sweep_round(job, again));
        next = count;
    }
    while (*again) {
        uint64_t began = td_clock_ns(), edges = 0;
        bool fits;
        TD_CHECK(collect(job, keys[next], &edges, &fits));
        while (!fits && next > place + 1) {
            next = place + (next - place) / 2;
            TD_CHECK(collect(job, keys[next], &edges, &fits));
        }
        if (!fits) return TD_OK;
        TD_CHECK(sweep(job, edges, began, next == count));
        *again = next < count;
        place = next;
        next = count;
    }
    return TD_OK;
}

td_status td_cpu_sweep_survivors(td_cpu_job *job, bool *again)
{
    if (!td_state_ends_round(job->run, job->context.iteration)) return TD_OK; /* the round needs all edges */
    TD_CHECK(td_cpu_declare_survivors(job, &(td_cpu_memory){0}));
    sample_keys(job);
    return sweep_classes(job, again);
}
