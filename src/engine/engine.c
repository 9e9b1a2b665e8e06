/* The engines, and what every run of one has in common. */
#include "engine/engine.h"

#include "base/alloc.h"
#include "base/words.h"
#include "cpu/cpu.h"
#include "engine/coop/coop.h"
#include "engine/hybrid/hybrid.h"
#include "engine/stream/stream.h"
#include "engine/resident/resident.h"
#include "run/checkpoint.h"
#include "store/paged.h"

#include <string.h>

static const struct {
    const char *name;
    td_status (*run)(td_run *run, const td_run_options *options);
    bool checkpoints; /* it begins with run->resumed, and asks td_checkpoint_due between iterations */
} engines[] = {
    {"cpu", td_cpu_run, true},
    {"resident", td_resident_run, true},
    {"stream", td_streaming_run, true},
    {"hybrid", td_hybrid_run, true},
    {"coop", td_coop_run, true},
};

static td_status run_engine(td_run *run, const td_run_options *options)
{
    const char *name = options->engine != NULL ? options->engine : engines[0].name;
    size_t i = 0;
    while (i + 1 < sizeof engines / sizeof *engines && strcmp(engines[i].name, name) != 0) i++;
    if (!engines[i].checkpoints && (options->checkpoint != NULL || options->resume != NULL))
        return td_fail(TD_UNSUPPORTED,
                       "the %s engine has no checkpoints; --engine cpu, resident, stream, coop and hybrid do", name);
    if (run->graph->paged != NULL && engines[i].run != td_hybrid_run)
        return td_fail(TD_USAGE,
                       "the edges of %s stay on disk, and the engine %s needs them in memory; --engine hybrid does not",
                       run->graph->name, name);
    if (options->begins != NULL) options->begins(options->each_context);
    return engines[i].run(run, options);
}

static td_status run_program(td_run **out, const td_program *program, const td_graph *graph,
                             const td_run_options *options)
{
    td_status status = TD_OK;
    td_run *run = NULL;
    TD_CHECK(td_run_create(&run, program, graph, options));
    TD_TRY(td_checkpoints_open(run, options));
    TD_TRY(run_engine(run, options));
    TD_TRY(td_run_check_overflow(run, options->pool));
    td_checkpoints_close(run);
    *out = run;
    run = NULL;
done:
    if (run != NULL) td_checkpoints_close(run);
    td_run_destroy(run);
    return status;
}

/* The size of pages is the run's choice, or the user's: then that may be why they do not fit. */
static td_status name_page(const td_run_options *options, td_status status)
{
    double page;
    if (status != TD_NO_MEMORY || !td_settings_given(options->settings, "hybrid.page")) return status;
    TD_CHECK(td_settings_number(options->settings, "hybrid", td_hybrid_settings, "page", &page));
    return td_fail(TD_NO_MEMORY, "%s; hybrid.page=%.0f is the size of its pages, and smaller ones need less",
                   td_last_message(), page);
}

td_status td_run_program(td_run **out, const td_program *program, const td_graph *graph, const td_run_options *options)
{
    td_status status = run_program(out, program, graph, options);
    bool limited = graph->paged != NULL && td_memory().budget > 0 &&
                   strstr(td_last_message(), "needs at least") == NULL &&
                   !td_message_names("--gpu-memory");
    if (status == TD_NO_MEMORY && limited)
        status = td_hybrid_too_small(program, graph, td_paged_describe(graph->paged), options,
                                     td_hybrid_use_of(options->settings) >= TD_USE_GPU);
    return graph->paged != NULL ? name_page(options, status) : status;
}
