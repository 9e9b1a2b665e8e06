/* The time to the answer on the coop engine (engine/estimate.h). */
#include "engine/coop/coop.h"

#include "base/size.h"

/* Ordering and splitting the lists, seconds for an edge by 16 threads of machine B; renumbering results, for a vertex
 * (docs/lab/answer.md, k25 at 25%). */
static const double ORDER = 6.4e-9, RENUMBER = 18e-9;

/* Processing over that of the cpu engine, for programs that push: the order of the vertices saves as much as the GPU
 * does. Sums are divided by the edges on either side and cross compressed; the cores take a part
 * (docs/performance.md). */
static const double PUSH = 0.55, CROSS = 0.35;

static double processing(const td_case *of, double missing)
{
    double cpu = td_case_processing(of, of->rates->cpu), resident = td_case_processing(of, of->rates->gpu);
    double crosses = td_case_passes(of) * missing * CROSS / of->rates->link;
    if (td_workload_of(of->program) != TD_WORKLOAD_GATHER) return PUSH * cpu > resident ? PUSH * cpu : resident;
    return crosses > resident ? crosses : resident;
}

static td_status count_device(const td_case *of, td_gpu_bytes *need, td_plan_estimate *out, double *missing)
{
    char a[TD_NUMBER_BYTES], b[TD_NUMBER_BYTES];
    TD_CHECK(td_gpu_count_bytes(of->program, of->graph, of->options, &td_gpu_default_choice, need));
    uint64_t besides = need->graph - need->edges + need->program;
    if (besides > of->gpu_room)
        return td_fail(TD_NO_MEMORY, "needs %s of vertex arrays on the GPU, which has %s", td_format_size(a, besides),
                       td_format_size(b, of->gpu_room));
    double cap = of->options->gpu_edges, edges = (double)need->edges, room = (double)(of->gpu_room - besides);
    double allowed = cap <= 0 ? edges : cap <= 1 ? cap * edges : cap;
    if (room > allowed) room = allowed;
    if (room >= edges) return td_fail(TD_UNSUPPORTED, "the graph fits on the GPU, so the resident engine runs it");
    out->device = besides + (uint64_t)room;
    *missing = edges - room;
    return TD_OK;
}

/* The lists lie beside the graph, so that its own are not loaded. */
static bool is_prepared(const td_case *of)
{
    return td_prepared_has(of->graph, &td_coop_engine, of->program, of->options);
}

/* Reading a split beside the graph, cutting and pinning it, over loading as many bytes (docs/lab/answer.md). */
static const double PREPARED = 4.4;

/* What goes to the GPU is counted as if all edges did, so that more room on the GPU is never worse. */
static double prepare(const td_case *of, const td_gpu_bytes *need)
{
    if (of->cached(of, "coop")) return 0;
    double lists = is_prepared(of) ? PREPARED * (double)need->edges / of->rates->load
                                                : td_case_edges(of) * ORDER * td_case_slower(of);
    return lists + (double)(need->graph + need->program) / of->rates->upload +
           of->graph->vertices * of->rates->tables[td_workload_of(of->program)];
}

td_status td_coop_estimate(const td_case *of, td_plan_estimate *out)
{
    td_gpu_bytes need;
    double missing = 0;
    if (!td_coop_cooperates(of->program))
        return td_fail(TD_UNSUPPORTED, "iterations of %s cannot be divided, so the cpu engine runs it",
                       of->program->info->name);
    TD_CHECK(td_gpu_check_vertices(of->graph, "coop"));
    TD_CHECK(count_device(of, &need, out, &missing));
    TD_CHECK(td_case_host(of, out));
    out->host_program += need.edges; /* the lists in their order */
    bool prepared = is_prepared(of);
    if (prepared) out->host_graph = of->graph->vertices * sizeof(uint64_t);
    out->load = td_case_load(of, prepared);
    out->prepare = prepare(of, &need);
    out->processing = processing(of, missing);
    out->finish = td_case_finish(of) + of->graph->vertices * RENUMBER * td_case_slower(of);
    td_case_gpu(of, out);
    return td_case_check_host(of, out);
}
