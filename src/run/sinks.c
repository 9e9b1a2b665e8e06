#include "run/sinks.h"

#include "kernels/cpu/job.h"
#include "store/checks.h"
#include "store/sinks.h"

td_status td_run_check_sinks(const char *engine, const td_program *program, const td_run_options *options, bool async)
{
    const td_program_info *info = program->info;
    double numbers[TD_PARAMETERS] = {0};
    TD_CHECK(td_settings_resolve(options->settings, info->name, info->parameters, numbers, NULL));
    bool spreads = info->sinks_choice > 0 && numbers[info->sinks_choice - 1] == 0;
    if (options->checkpoint != NULL || options->resume != NULL)
        return td_fail(TD_USAGE, "%s.sinks=defer: vertices without out-edges lag behind the others, which a "
                       "checkpoint cannot represent", engine);
    if (options->has_iterations)
        return td_fail(TD_USAGE, "%s.sinks=defer needs a run to the end: under an iteration limit vertices without "
                       "out-edges would be an iteration ahead of the others", engine);
    if (program->cpu[TD_WEIGHT_NONE].view == TD_VIEW_BOTH)
        return td_fail(TD_USAGE, "%s.sinks=defer: %s sends values both ways along an edge, so that a vertex without "
                       "out-edges is read by others", engine, info->name);
    if (async)
        return td_fail(TD_USAGE, "%s.sinks=defer: in an asynchronous run there is no moment at which all other values "
                       "are final; leave out {async}", engine);
    if (spreads || info->kind != TD_KIND_GAS)
        return td_fail(TD_USAGE, "%s.sinks=defer: %s needs the values of vertices without out-edges before the end%s",
                       engine, info->name, spreads ? " (unless pagerank.dangling=ignore)" : "");
    return TD_OK;
}

td_status td_run_graph_without_sinks(const td_graph *graph, const td_run_options *options, const td_graph **out)
{
    *out = graph;
    if (graph->out.offsets == NULL || graph->symmetric) return TD_OK;
    TD_CHECK(td_checks_lists(graph, graph->weights != TD_WEIGHT_NONE, options->pool));
    return td_graph_without_sinks(graph, options->pool, out);
}
