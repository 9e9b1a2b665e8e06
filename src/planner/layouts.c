/* Layouts that a run leaves beside the graph for the runs to come (docs/guide/prepared.md): made when the earlier runs,
 * of which as many again are expected, would have saved more time than making and writing it takes. Runs of one process
 * share what they prepare, so that only runs of several processes count. */
#include "planner/layouts.h"

#include "planner/choose.h"
#include "planner/history.h"
#include "planner/plan.h"
#include "planner/rates.h"
#include "store/checks.h"
#include "store/sidecar.h"

#include <stdio.h>

/* Bytes per second of machine B: writing a layout, and reading one, with pinning (docs/lab/answer.md). */
static const double WRITE = 1.2e9, READ = 3.3e9;

bool td_layout_pays(const td_layout_costs *costs)
{
    double make = costs->prepare + costs->bytes / WRITE;
    double saved = costs->prepare + costs->load - costs->bytes / READ * costs->slower;
    return costs->runs * saved > make;
}

/* The setting of the plan's engine; TD_PREPARED_OFF if it has none, or the run no layout. */
static double wish_of(const td_plan *plan)
{
    double wish = TD_PREPARED_OFF;
    const td_engine *engine = plan->engine;
    bool possible = engine->make_layout != NULL && plan->prepared_count == 0 && plan->graph->build_id != 0 &&
                    plan->graph->name != NULL;
    if (!possible) return wish;
    (void)td_settings_number(plan->options.settings, engine->name, engine->settings, "prepared", &wish);
    return wish;
}

/* By the history of runs like this one, if the layout stands for the graph's lists: what it saves is not known otherwise.
 * An emulated GPU's times say nothing. */
td_status td_plan_check_layout(const td_plan *plan)
{
    const td_graph *graph = plan->graph;
    const td_run_options *options = &plan->options;
    td_rates rates;
    td_past like = {.build_id = graph->build_id, .machine = td_rates_machine(td_pool_threads(options->pool)),
                    .how = td_question_how(options)};
    td_case of = {.program = plan->program, .graph = graph, .options = options, .rates = &rates};
    uint64_t edge = sizeof(uint32_t) + td_weight_bytes(graph->weights); /* the weights that the program uses */
    td_layout_costs costs = {.bytes = td_case_edges(&of) * (double)edge};
    if (plan->engine->spares_lists == NULL)
        return td_fail(TD_NOT_FOUND, "%s makes no layout without being asked to", plan->engine->name);
    if (plan->emulated_bytes > 0 || !td_history_wants(graph->edges))
        return td_fail(TD_NOT_FOUND, "there is no history of such runs");
    snprintf(like.program, sizeof like.program, "%s", plan->program->info->name);
    snprintf(like.engine, sizeof like.engine, "%s", plan->engine->name);
    td_rates_find(&rates, td_pool_threads(options->pool));
    costs.runs = (double)td_history_prepares(&like, &costs.prepare);
    bool loaded = td_checks_pending_targets(graph) == 0; /* otherwise the lists were read while the run prepared */
    costs.load = loaded ? (double)td_graph_bytes(graph) / rates.load : 0;
    costs.slower = td_case_slower(&of);
    if (!td_layout_pays(&costs))
        return td_fail(TD_NOT_FOUND, "a layout would not pay after %.0f runs", costs.runs);
    if (td_sidecar_has_room(graph->name, (uint64_t)costs.bytes)) return TD_OK;
    return td_fail(TD_NOT_FOUND, "the folder of %s has no room for a layout, or cannot be written", graph->name);
}

td_status td_plan_make_layout(const td_plan *plan, td_prepared_file *out)
{
    double wish = wish_of(plan);
    if (wish != TD_PREPARED_AUTO && wish != TD_PREPARED_MAKE)
        return td_fail(TD_NOT_FOUND, "no layout is to be made for runs like this one");
    if (wish == TD_PREPARED_AUTO) TD_CHECK(td_plan_check_layout(plan));
    if (plan->engine->spares_lists != NULL) /* the lists that the run has made are as large as the new ones */
        td_cache_release_layouts(plan->options.cache);
    return plan->engine->make_layout(plan->program, plan->graph, &plan->options, out);
}
