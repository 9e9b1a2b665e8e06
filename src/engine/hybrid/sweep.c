/* Sweeps by pages: every edge, and so every page, once per sweep. Components need one sweep and no sample, which would
 * read the pages twice. Parents and the weights of a forest's edges are found here too, after the run. */
#include "engine/hybrid/hybrid.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "run/parents.h"
#include "run/sweep.h"

static td_status sweep_page(td_hybrid_job *self, td_page_set *set, uint32_t page, td_cpu_tally *sum)
{
    td_cpu_job *cpu = &self->cpu;
    cpu->high.count = 0;
    TD_CHECK(td_hybrid_step(self, cpu->kernels->sweep, set, page, sum));
    return td_cpu_high_degree_step(cpu, cpu->kernels->sweep_high_degree, sum);
}

static td_status vertex_steps(td_cpu_job *cpu, uint64_t *total)
{
    *total = 0;
    for (cpu->sweep.step = 0; cpu->sweep.step < cpu->kernels->steps; cpu->sweep.step++) {
        td_cpu_tally sum;
        TD_CHECK(td_cpu_step(cpu, cpu->kernels->between, td_cpu_words(cpu), TD_WORDS_AT_A_TIME * 8,
                             cpu->graph->vertices, &sum));
        *total += sum.total;
    }
    return TD_OK;
}

/* A forest stores edge numbers; their ends and weights are noted while the page is in memory. */
static td_status note_page(td_hybrid_job *self, td_page_set *set, uint32_t page, td_cpu_tally *sum)
{
    td_run *run = self->cpu.run;
    const td_graph *graph = self->cpu.graph;
    uint64_t end = graph->out.offsets[set->pages[page].end], low = 0, high = run->edge_count;
    uint32_t source = set->pages[page].begin;
    (void)sum;
    while (low < high) { /* first forest edge in this page */
        uint64_t middle = low + (high - low) / 2;
        if (run->edges[middle] < graph->out.offsets[set->pages[page].begin]) low = middle + 1;
        else high = middle;
    }
    for (; low < run->edge_count && run->edges[low] < end; low++) {
        double weight = td_weight_at(graph, &graph->out, run->edges[low]);
        run->total_weight += weight;
        if (run->forest == NULL) continue;
        source = td_edge_source_from(graph, run->edges[low], source);
        run->forest[low] = (td_forest_edge){source, graph->out.targets[run->edges[low]], weight};
    }
    return TD_OK;
}

/* A forest has fewer edges than vertices. */
td_status td_hybrid_declare_forest(td_cpu_job *cpu, bool on_disk, td_host_memory *memory)
{
    uint64_t n = cpu->graph->vertices;
    TD_CHECK(td_cpu_declare_forest(cpu, memory));
    if (cpu->kernels->edge == NULL || !on_disk) return TD_OK;
    return td_host_declare(memory, &cpu->run->forest, n, sizeof *cpu->run->forest, "edges of the forest");
}

static td_status note_forest(td_hybrid_job *self)
{
    td_cpu_tally sum;
    td_checkpoints_finish(self->cpu.run);
    TD_CHECK(td_sweep_sort_edges(self->cpu.run, self->cpu.pool));
    self->cpu.run->total_weight = 0;
    td_hybrid_order_all(self, self->push);
    td_hybrid_pass pass = {.set = self->push, .needs = TD_WITH_WEIGHTS, .work = note_page};
    return td_hybrid_go(self, &pass, &sum);
}

td_status td_hybrid_sweep(td_hybrid_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    uint32_t vertices = cpu->graph->vertices;
    bool again = true;
    td_cpu_tally sum;
    cpu->sweep.from_above = cpu->graph->symmetric;
    TD_CHECK(td_cpu_make_high_degree_list(cpu));
    TD_CHECK(td_hybrid_declare_forest(cpu, self->paged != NULL, &(td_host_memory){0}));
    TD_CHECK(td_cpu_init(cpu, &sum));
    while (again && !(cpu->setup.has_limit && cpu->context.iteration >= cpu->setup.limit)) {
        uint64_t began = td_clock_ns(), total;
        TD_CHECK(td_hybrid_begin(self));
        td_hybrid_order_all(self, self->push);
        td_hybrid_pass pass = {.set = self->push, .needs = self->needs, .work = sweep_page};
        TD_CHECK(td_hybrid_go(self, &pass, &sum));
        self->row.active_vertices = vertices;
        self->row.active_edges = sum.edges;
        TD_CHECK(vertex_steps(cpu, &total));
        again = cpu->kernels->again(cpu, total);
        if (cpu->kernels->edge != NULL) TD_CHECK(td_cpu_collect_edges(cpu));
        TD_CHECK(td_hybrid_end(self, "sweep", &sum, began));
        cpu->run->converged = !again;
        TD_CHECK(td_hybrid_checkpoint(self, NULL));
    }
    return cpu->run->edges != NULL ? note_forest(self) : TD_OK;
}

td_status td_hybrid_resume_converged(td_hybrid_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    td_cpu_tally sum;
    TD_CHECK(td_hybrid_declare_forest(cpu, self->paged != NULL, &(td_host_memory){0}));
    TD_CHECK(td_cpu_init(cpu, &sum));
    cpu->run->converged = true;
    return cpu->run->edges != NULL ? note_forest(self) : TD_OK;
}

/* Parents. */

static td_status parents_page(td_hybrid_job *self, td_page_set *set, uint32_t page, td_cpu_tally *sum)
{
    return td_hybrid_step(self, self->cpu.kernels->find_parents, set, page, sum);
}

/* Along edges of length 0 a value is copied: solved vertices solve their neighbours, until a pass solves none. */
static td_status solve_page(td_hybrid_job *self, td_page_set *set, uint32_t page, td_cpu_tally *sum)
{
    for (uint32_t u = set->pages[page].begin; u < set->pages[page].end; u++)
        sum->activated += td_run_solve_parents_of(self->cpu.run, &self->cpu.view.push[0], self->cpu.values, u);
    return TD_OK;
}

static bool free_edges(const td_hybrid_job *self)
{
    const td_graph *graph = self->cpu.graph;
    return graph->weights != TD_WEIGHT_NONE && self->cpu.run->program->info->weights != TD_WEIGHTS_UNUSED;
}

td_status td_hybrid_parents(td_hybrid_job *self)
{
    td_cpu_job *cpu = &self->cpu;
    td_cpu_tally sum;
    TD_CHECK(td_cpu_declare_parents(cpu, &(td_host_memory){0}));
    cpu->parents = cpu->run->parents;
    if (cpu->snapshot != NULL) cpu->messages = cpu->next_messages = cpu->values;
    td_hybrid_order_all(self, self->pull);
    td_hybrid_pass finding = {.set = self->pull, .needs = self->needs, .work = parents_page};
    TD_CHECK(td_hybrid_go(self, &finding, &sum));
    if (!free_edges(self)) return TD_OK;
    while (td_run_parents_open(cpu->run, cpu->values) > 0) {
        td_hybrid_order_all(self, self->push);
        td_hybrid_pass solving = {.set = self->push, .needs = self->needs, .work = solve_page};
        TD_CHECK(td_hybrid_go(self, &solving, &sum));
        if (sum.activated == 0) break;
    }
    return TD_OK;
}
