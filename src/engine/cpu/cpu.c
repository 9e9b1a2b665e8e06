/* The cpu engine: Garaph's edge-balanced dual-mode engine with CGgraph's two-level stealing, on a graph in memory. The
 * schedules are in src/cpu. */
#include "cpu/cpu.h"
#include "engine/engine.h"

static const td_renamed_setting renamed[] = {
    {.formerly = "alone", "serial"}, {.formerly = "heavy", "high_degree"}, {0},
};

static td_status plan_cpu(td_plan *plan)
{
    return td_cpu_bytes(plan->program, plan->graph, &plan->options, &plan->program_bytes);
}

static td_status estimate_cpu(const td_case *of, td_plan_estimate *out)
{
    TD_CHECK(td_case_host(of, out));
    out->load = td_case_load(of, false);
    out->prepare = of->graph->vertices * of->rates->settle;
    out->processing = td_case_processing(of, of->rates->cpu);
    out->finish = td_case_finish(of);
    return td_case_check_host(of, out);
}

static td_status run_cpu(const td_plan *plan, td_run *run) { return td_cpu_run(run, &plan->options); }

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
};
