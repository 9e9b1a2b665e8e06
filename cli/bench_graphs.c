/* Shared by the benchmarks of engines: graphs by name or from files, the comparison of results
 * on differently ordered graphs, and the loop over graphs. */
#include "bench.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/random.h"
#include "base/size.h"
#include "run/result.h"
#include "store/formats/format.h"
#include "store/gen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STAR_SCALE = 20, HUBS = 64 };

/* Two runs that stop at a change of 1e-6 (L1) are at most 2 * 1e-6 * .85 / .15 apart; the rest is for rounding. */
#define RANKS_APART 1e-4

/* Graphs. */

/* Half of all vertices hang on hub 0, a quarter on hub 1, ...; the hubs are a ring. */
static td_status make_stars(td_graph **out, td_pool *pool)
{
    td_status status = TD_OK;
    td_edge_list *edges = NULL;
    td_edge_chunk *chunk = NULL;
    uint64_t vertices = UINT64_C(1) << STAR_SCALE;
    td_build_options build = {.attach_weights = true, .weight_low = 1, .weight_high = 100, .weight_seed = 1};
    TD_TRY(td_edges_create(&edges, "stars"));
    edges->declared = edges->mirror = true;
    edges->vertices = vertices;
    TD_TRY(td_edges_chunk(edges, 0, &chunk));
    TD_TRY(td_chunk_reserve(chunk, vertices, false));
    for (uint64_t v = 0; v < HUBS; v++) TD_TRY(td_chunk_put(chunk, v, (v + 1) % HUBS));
    for (uint64_t v = HUBS; v < vertices; v++) {
        uint64_t random = td_random_at(1, v);
        TD_TRY(td_chunk_put(chunk, v, random == 0 ? HUBS - 1 : (uint64_t)__builtin_ctzll(random)));
    }
    TD_TRY(td_graph_build(out, edges, &build, pool));
done:
    td_edges_destroy(edges);
    return status;
}

static td_status make_web(td_graph **out, uint64_t scale, td_pool *pool)
{
    td_gen_spec spec = {.kind = "web", .scale = scale, .seed = 1, .rewire = -1};
    td_build_options build = {.dedup = true, .drop_loops = true, .attach_weights = true, .weight_low = 1,
                              .weight_high = 100, .weight_seed = 1};
    TD_CHECK(td_gen_check(&spec, NULL));
    return td_graph_generate(out, &spec, &build, pool);
}

/* Vertices are called by their numbers here: a reordered graph's ids then are numbers in the first one. */
static td_status forget_ids(td_graph *graph)
{
    if (graph->mapping == NULL) td_free(graph->ids);
    graph->ids = NULL;
    graph->id_base = 0;
    graph->ids_sorted = true;
    return td_graph_share_pattern(graph); /* which has a copy of the pointer */
}

td_status td_bench_make_graph(td_graph **out, const char *name, td_pool *pool)
{
    td_gen_spec spec;
    td_build_options build;
    uint64_t scale;
    if (strcmp(name, "stars") == 0) TD_CHECK(make_stars(out, pool));
    else if (strncmp(name, "web", 3) == 0 && td_parse_u64(name + 3, &scale) == TD_OK) TD_CHECK(make_web(out, scale, pool));
    else if (td_gen_named(name, &spec, &build)) TD_CHECK(td_graph_generate(out, &spec, &build, pool));
    else TD_CHECK(td_graph_read(out, name, NULL, NULL, pool));
    TD_CHECK(forget_ids(*out));
    return TD_OK;
}

uint32_t td_bench_busiest(const td_graph *graph)
{
    uint32_t best = 0;
    for (uint32_t v = 1; v < graph->vertices; v++)
        if (td_degree(&graph->out, v) > td_degree(&graph->out, best)) best = v;
    return best;
}

/* Answers. */

static uint32_t number_in_first(const td_run *run, uint32_t v) { return (uint32_t)td_graph_id(run->graph, v); }

static uint64_t whole_value(const td_run *run, uint32_t v)
{
    return run->kind == TD_VALUE_U64 ? ((const uint64_t *)run->values)[v] : ((const uint32_t *)run->values)[v];
}

static bool same_numbers(const td_run *first, const td_run *run)
{
    if (first->kind != run->kind) return false;
    for (uint32_t v = 0; v < run->graph->vertices; v++)
        if (whole_value(run, v) != whole_value(first, number_in_first(run, v))) return false;
    return true;
}

/* The name of a group is a vertex number, which depends on the order: checks that the names
 * correspond one to one. `names` has room for twice the vertices. */
static bool same_groups(const td_run *first, const td_run *run, uint32_t *names)
{
    uint32_t count = run->graph->vertices, *back = names + count;
    const uint32_t *wanted = first->values, *seen = run->values;
    memset(names, 0xff, 2 * (size_t)count * sizeof *names);
    for (uint32_t v = 0; v < count; v++) {
        uint32_t mine = wanted[number_in_first(run, v)], theirs = seen[v];
        if (names[mine] == TD_NO_VERTEX) names[mine] = theirs;
        if (back[theirs] == TD_NO_VERTEX) back[theirs] = mine;
        if (names[mine] != theirs || back[theirs] != mine) return false;
    }
    return true;
}

static double real_value(const td_run *run, uint32_t v)
{
    return run->kind == TD_VALUE_F32 ? (double)((const float *)run->values)[v] : ((const double *)run->values)[v];
}

/* Both runs must reach the same vertices; the sum of the differences decides. */
static bool same_reals(const td_run *first, const td_run *run)
{
    double apart = 0, sum = 0;
    for (uint32_t v = 0; v < run->graph->vertices; v++) {
        double wanted = real_value(first, number_in_first(run, v)), seen = real_value(run, v);
        if (wanted == seen) continue;
        if (!isfinite(wanted) || !isfinite(seen)) return false;
        apart += fabs(wanted - seen);
        sum += fabs(wanted);
    }
    return apart <= RANKS_APART * (sum > 1 ? sum : 1);
}

td_status td_bench_compare(const char *graph, const td_run *first, const td_run *run, const char *name)
{
    bool same;
    if (first->program->info->vertex_values && first->graph != run->graph) {
        uint32_t *names = NULL;
        TD_CHECK(TD_NEW(&names, 2 * (uint64_t)run->graph->vertices, "names of groups"));
        same = same_groups(first, run, names);
        td_free(names);
    } else {
        same = td_value_is_whole(run->kind) ? same_numbers(first, run) : same_reals(first, run);
    }
    if (same) return TD_OK;
    return td_fail(TD_VERIFY, "%s on %s: the result of '%s' differs from the defaults'", first->program->info->name,
                   graph, name);
}

void td_bench_begin_figure(const td_bench_base *base, const char *program, const char *variant, double seconds,
                           double ratio)
{
    td_json_row(base->json, NULL);
    td_json_string(base->json, "graph", base->name);
    td_json_string(base->json, "program", program);
    td_json_string(base->json, "variant", variant);
    td_json_real(base->json, "seconds", seconds);
    td_json_real(base->json, "ratio", ratio);
}

void td_bench_print_payoff(double runs)
{
    if (runs == 0) printf(" %10s", "never");
    else if (runs > 9999) printf(" %10s", "> 9999");
    else printf(" %*.0f run%s", runs == 1 ? 6 : 5, runs, runs == 1 ? "" : "s");
}

static void show(const td_bench_page *page, const void *bench)
{
    const td_bench_base *base = bench;
    const td_common *common = &base->settings->common;
    td_progress_end();
    if (td_report_leaves_stdout(common)) {
        if (base->first) page->heading(bench);
        page->table(bench);
        fflush(stdout);
    }
    for (int program = 0; common->json != NULL && program < page->programs; program++)
        for (int variant = 0; variant < page->variants; variant++) page->figure(bench, variant, program);
}

static td_status measure_all(const td_bench_page *page, td_bench_base *base, const char *const *names, int count)
{
    td_status status = TD_OK;
    if (base->json != NULL) td_json_array(base->json, "figures");
    for (int i = 0; i < count && status == TD_OK; i++) {
        base->name = names[i];
        base->first = i == 0;
        status = page->measure(base);
        if (status == TD_OK) show(page, base);
        page->drop(base);
    }
    if (base->json != NULL) td_json_end_array(base->json);
    return status;
}

td_status td_bench_run(const td_bench_page *page, const td_bench_settings *settings, td_report *report)
{
    td_status status = TD_OK;
    td_bench_base *base = NULL;
    void *bench = NULL;
    int usual = 0;
    while (page->graphs[usual] != NULL) usual++;
    TD_CHECK(td_new_zeroed_bytes(&bench, 1, page->bytes, "benchmark"));
    base = bench;
    *base = (td_bench_base){.settings = settings, .json = report->json.file != NULL ? &report->json : NULL};
    TD_TRY(td_pool_create(&base->pool, (int)settings->common.threads));
    if (page->begin != NULL) TD_TRY(page->begin(bench));
    if (settings->graph_count > 0) status = measure_all(page, base, settings->graphs, settings->graph_count);
    else status = measure_all(page, base, page->graphs, usual);
done:
    td_progress_end();
    td_pool_destroy(base->pool);
    td_free(bench);
    return status;
}
