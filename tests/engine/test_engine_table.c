/* Every program of the table in every way the cpu engine has of running it.
 *
 * Tiny graphs go through all ways (threads x mode x direction x stealing), the
 * others through some that differ from row to row; TANDEM_TEST_ALL=1 in the
 * environment runs all ways on all graphs. Pieces and heavy vertices are made
 * small and nothing is left to one worker, so that cuts, merges and thefts
 * happen on small graphs too.
 */
#include "engine/table.h"

static bool way_allowed(const row *of, const way *one)
{
    const td_program *program = program_of(of->program);
    if (of->sync_only && one->mode == TD_MODE_ASYNC) return false;
    bool bucketed = of->engine != NULL && strncmp(of->engine, "delta", 5) == 0; /* with a direction: rounds */
    if (program->info->kind == TD_KIND_SWEEP || bucketed) return strcmp(one->direction, "auto") == 0;
    return program->cpu[0].fused || strcmp(one->direction, "push") != 0;
}

static td_run *run_way(void *context, subject *about, int number)
{
    const pools *threads = context;
    const row *of = about->row;
    way one = way_number(number);
    char settings[256], text[320];
    if (!way_allowed(of, &one)) return NULL;
    /* Thousands of iterations. */
    bool patient = strcmp(of->program, "circuit") == 0 && about->graph->vertices > VERY_TINY;
    snprintf(settings, sizeof settings, "cpu.direction=%s cpu.stealing=%s cpu.high_degree=8 cpu.piece=%u%s",
             one.direction, one.stealing, about->graph->edges > 10000 ? 512 : 5, patient ? "" : " cpu.serial=0");
    snprintf(about->how, sizeof about->how, "%d threads, %s, %s", way_threads[one.threads],
             one.mode == TD_MODE_ASYNC ? "async" : "sync", settings);
    td_run_options options = table_options(of, about->graph);
    options.pool = threads->of[one.threads];
    options.mode = one.mode;
    return run_of(of->program, about->graph, options, table_settings(text, sizeof text, of, "cpu", settings));
}

/* How many ways a row goes on a graph: tiny ones all of them, with the row's most awkward weights. */
static int way_stride(const row *of, const td_graph *graph, test_weights kind)
{
    uint32_t tiny = strcmp(of->program, "circuit") == 0 ? VERY_TINY : TINY;
    test_weights awkward = of->weights & KIND(TEST_TIES) ? TEST_TIES : (test_weights)__builtin_ctz(of->weights);
    if (getenv("TANDEM_TEST_ALL") != NULL || (graph->vertices <= tiny && kind == awkward)) return 1;
    return graph->vertices < LARGE ? 23 : 43; /* without a factor in common with the ways */
}

static void check(const char *program)
{
    pools threads = make_pools();
    check_program(program, &(table_ways){WAYS, run_way, way_stride, NULL, &threads, threads.of[1], NULL});
    destroy_pools(&threads);
}

TEST(bfs_in_every_way) { check("bfs"); }
TEST(sssp_in_every_way) { check("sssp"); }
TEST(wcc_in_every_way) { check("wcc"); }
TEST(labels_in_every_way) { check("labels"); }
TEST(kcore_in_every_way) { check("kcore"); }
TEST(mst_in_every_way) { check("mst"); }
TEST(pagerank_in_every_way) { check("pagerank"); }
TEST(adsorption_in_every_way) { check("adsorption"); }
TEST(nn_in_every_way) { check("nn"); }
TEST(heat_in_every_way) { check("heat"); }
TEST(circuit_in_every_way) { check("circuit"); }

TEST(no_program_is_missing_from_the_table)
{
    for (int p = 0; td_programs[p] != NULL; p++) {
        bool found = false;
        for (int r = 0; r < ROWS; r++) found |= strcmp(rows[r].program, td_programs[p]->info->name) == 0;
        if (!found) TEST_FAIL("%s has no row", td_programs[p]->info->name);
    }
}

TEST_MAIN
