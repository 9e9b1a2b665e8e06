/* The ways the coop engine has of running a row of the table, on whatever device: how much of the edges the device may
 * hold x order x what is hot x who takes whose work x when the GPU takes part. Every iteration's edges add up. */
#ifndef TD_TEST_COOP_WAYS_H
#define TD_TEST_COOP_WAYS_H

#include "engine/coop/coop.h"
#include "engine/table.h"
#include "store/gen.h"

static const double coop_caps[] = {0.05, 0.1, 0.25, 0.5, 0.9};
static const char *const coop_orders[] = {"hot", "none", "indegree", "rcm", "random"};
static const char *const coop_extracts[] = {"vertexedge", "vertex", "random"};
static const char *const coop_hands[] = {
    "coop.on_demand=on coop.link=on coop.piece=1",
    "coop.on_demand=off coop.link=on coop.piece=64",
    "coop.on_demand=on coop.link=off coop.piece=1",
    "coop.on_demand=off coop.link=off",
};
static const char *const coop_invokes[] = {"always", "always", "measured", "paper coop.tau=100 coop.theta=0.1",
                                           "never"};
enum { COOP_WAYS = 5 * 5 * 3 * 4 * 5 * 2 };

/* Whoever did them: all active edges, each once. A first-hit pull looks at fewer. */
static inline void coop_check_edges(const subject *about, const td_run *run)
{
    for (uint32_t i = 0; i < run->row_count; i++) {
        const td_row *row = &run->full_rows[i];
        uint64_t all = row->edges_gpu + row->edges_link + row->edges_cpu + row->edges_on_demand;
        bool whole = strcmp(row->direction, "near") == 0 ||
                     (strcmp(row->direction, "pull") == 0) != run->program->cpu->fused;
        if (strcmp(row->direction, "bucket") == 0 || strcmp(row->direction, "notify") == 0) whole = false;
        if (all != row->edges || (whole && row->edges != row->active_edges))
            SUBJECT_FAIL(about, "iteration %u (%s) has %llu active edges, %llu were done, %llu by somebody",
                         row->number, row->direction, (unsigned long long)row->active_edges,
                         (unsigned long long)row->edges, (unsigned long long)all);
    }
}

static inline td_run *coop_run_way(void *context, subject *about, int number)
{
    table_place *place = context;
    const row *of = about->row;
    const td_program *program = program_of(of->program);
    char settings[320] = "", text[512];
    const char *extract = coop_extracts[number / 25 % 3], *order = coop_orders[number / 5 % 5];
    bool keeps = number / 1500 % 2 == 0, together = td_coop_cooperates(program);
    td_run_options options = table_options(of, about->graph);
    options.pool = place->pool;
    options.engine = "coop";
    options.devices = place->devices;
    options.gpu_edges = coop_caps[number % 5];
    if (together)
        snprintf(settings, sizeof settings, "coop.extract=%s %s coop.invoke=%s", extract, coop_hands[number / 75 % 4],
                 coop_invokes[number / 300 % 5]);
    bool orders = together && strcmp(extract, "random") != 0 &&
                  !(program->info->vertex_values && options.has_iterations);
    if (orders) snprintf(settings + strlen(settings), sizeof settings - strlen(settings), " coop.order=%s", order);
    snprintf(text, sizeof text, "%s %s", settings, of->settings);
    if (of->engine != NULL && strncmp(of->engine, "delta", 5) == 0)
        snprintf(text, sizeof text, "%s %s coop.%s", settings, of->settings, of->engine);
    snprintf(about->how, sizeof about->how, "%s, %.0f%% of the edges, %s%s", place->devices, 100 * options.gpu_edges,
             settings, keeps ? ", kept" : "");
    if (table_named(about)) return NULL;
    options.cache = table_cache(place, keeps);
    td_run *run = run_of(of->program, about->graph, options, text);
    if (strcmp(run->engine, "coop") == 0) coop_check_edges(about, run);
    else if (strcmp(run->engine, "cpu") != 0 && about->graph->edges > 0)
        SUBJECT_FAIL(about, "it ran on the engine %s", run->engine);
    return run;
}

/* One that has room for windows. */
static inline td_graph *large_graph(void)
{
    td_gen_spec spec;
    td_build_options build;
    td_graph *graph = NULL;
    CHECK(td_gen_named("k13", &spec, &build));
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    return graph;
}

#endif
