/* The cpu engine: Garaph's edge-balanced dual-mode engine with CGgraph's two-level stealing, on a graph in memory. The
 * schedules are in src/cpu. */
#include "cpu/cpu.h"
#include "engine/engine.h"
#include "store/checks.h"

static const td_renamed_setting renamed[] = {
    {.formerly = "alone", "serial"}, {.formerly = "heavy", "high_degree"}, {0},
};

/* The widest words that fit the memory; none: every source has a run of its own. */
static td_status plan_group(td_plan *plan)
{
    td_cpu_batch way;
    uint64_t bytes;
    if (!td_plan_may_group(plan)) return TD_OK;
    TD_CHECK(td_cpu_read_batch(plan->program, &plan->options, &way));
    if (way == TD_BATCH_SINGLE) return TD_OK;
    for (uint32_t width = td_group_width(plan->options.source_count); width >= 8; width /= 2) {
        TD_CHECK(td_cpu_group_bytes(plan->program, plan->graph, &plan->options, width, &bytes));
        if (bytes > plan->free_bytes) continue;
        plan->group = width;
        td_plan_count(plan, "batch_at_once", width);
        if (bytes > plan->program_bytes) plan->program_bytes = bytes;
        return TD_OK;
    }
    return TD_OK;
}

/* Iterations on small pages of a mapped file, and their faults, take longer by this share (docs/lab/answer.md). */
static const double MAPPED_SLOWER = 0.15;

/* By cost: what the copy of the lists takes, over what all runs would lose without it. Both depend on the number of
 * threads in the same way. */
static bool mapping_pays(const td_program *program, const td_graph *graph, const td_run_options *options)
{
    td_case of = {.program = program, .graph = graph, .options = options, .rates = &td_rates_default};
    double runs = options->runs > 0 ? (double)options->runs : 1;
    double lists = td_case_edges(&of) * sizeof(uint32_t) + (double)graph->edges * td_weight_bytes(graph->weights);
    return lists / of.rates->load > runs * MAPPED_SLOWER * td_case_processing(&of, of.rates->cpu);
}

static td_maps maps(const td_program *program, const td_graph *graph, const td_run_options *options)
{
    double lists = TD_CPU_LISTS_COPIED;
    bool can = false;
    td_failure before;
    td_failure_keep(&before);
    if (td_cpu_can_map(program, options, &can) == TD_OK && can)
        (void)td_settings_number(options->settings, "cpu", td_cpu_settings, "lists", &lists);
    td_failure_set(&before);
    if (lists == TD_CPU_LISTS_MAPPED) return TD_MAPS_ALWAYS;
    return lists == TD_CPU_LISTS_AUTO && mapping_pays(program, graph, options) ? TD_MAPS_CACHED : TD_MAPS_NEVER;
}

/* The lists were left in the file when the graph was opened, and the run can read them there. */
static bool spares_lists(const td_plan *plan)
{
    const td_graph *graph = plan->graph;
    return td_checks_pending(graph, graph->out.targets) &&
           maps(plan->program, graph, &plan->options) != TD_MAPS_NEVER;
}

static td_status plan_cpu(td_plan *plan)
{
    TD_CHECK(td_cpu_bytes(plan->program, plan->graph, &plan->options, &plan->program_bytes));
    if (spares_lists(plan)) {
        td_plan_spares_weights(plan);
        td_plan_count(plan, "lists_mapped", 1);
        td_plan_add_why(plan, "; lists stay in the file: their checksums are not verified");
    }
    return plan_group(plan);
}

static td_status estimate_cpu(const td_case *of, td_plan_estimate *out)
{
    bool mapped = of->loaded != TD_LOADED_MEMORY && !of->text &&
                  maps(of->program, of->graph, of->options) != TD_MAPS_NEVER;
    TD_CHECK(td_case_host(of, out));
    out->load = td_case_load(of, mapped);
    out->prepare = of->graph->vertices * of->rates->settle;
    out->processing = td_case_processing(of, of->rates->cpu) * (mapped ? 1 + MAPPED_SLOWER : 1);
    out->finish = td_case_finish(of);
    return td_case_check_host(of, out);
}

static td_status run_cpu(const td_plan *plan, td_run *run) { return td_cpu_run(run, &plan->options); }

static td_status run_group(const td_plan *plan, td_run *run, td_group *group)
{
    td_cpu_batch way;
    TD_CHECK(td_cpu_read_batch(plan->program, &plan->options, &way));
    group->may_stop = way == TD_BATCH_AUTO;
    return td_cpu_run_group(run, &plan->options, group);
}

const td_engine td_cpu_engine = {
    .name = "cpu",
    .summary = "all cores on a graph in memory: edge-balanced pull, notify-pull and push, chosen every iteration",
    .device = "cpu",
    .uses_devices = TD_USES_CPU,
    .strict = true,
    .settings = td_cpu_settings,
    .renamed = renamed,
    .uses = td_cpu_uses,
    .estimate = estimate_cpu,
    .plan = plan_cpu,
    .run = run_cpu,
    .run_group = run_group,
    .spares_lists = spares_lists,
    .maps = maps,
};
