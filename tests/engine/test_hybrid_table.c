/* Every program of the table on the hybrid engine: from a packed file under memory for a tenth, a quarter, half or all of
 * its edges, and in memory. */
#include "engine/table.h"

#include "engine/hybrid.h"
#include "store/packed.h"
#include "store/paged.h"

static const double shares[] = {0.1, 0.25, 0.5, 1, 0}; /* of the edges' bytes; 0: in memory */
static const char *const pages[] = {"hybrid.page=64", "hybrid.page=1000", ""};
static const char *const rounds[] = {"", "hybrid.rounds=1", "hybrid.rounds=3"};
static const char *const directions[] = {"", "hybrid.direction=notify", "hybrid.direction=pull"};
static const char *const ratios[] = {"", "hybrid.k=1", "hybrid.k=50"};
static const td_reader_options readers[] = {{0}, {.threads = true, .depth = 1}};
enum { WAYS_OF_HYBRID = 5 * 3 * 3 * 3 * 3 * 2 * 2 * 2 };

typedef struct place {
    td_pool *pools[2];
    bool written; /* the graph under way, to the file */
} place;

static void leave(void *context) { ((place *)context)->written = false; }

/* The words of the settings that the program looks at. */
static void add_used(char *text, size_t room, const td_program *program, const char *word)
{
    char name[64];
    size_t used = strlen(text);
    if (word[0] == 0) return;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 7, "="), word + 7);
    if (td_hybrid_uses(program, name)) snprintf(text + used, room - used, " %s", word);
}

/* Edges on disk, with room for a share of them, or for what a run needs at least. */
static td_graph *open_paged(place *where, const td_graph *graph, td_pool *pool, const td_reader_options *reader)
{
    td_graph *paged = NULL;
    const char *path = test_path("table.tg");
    if (!where->written) CHECK_OK(td_packed_write(graph, path, pool));
    where->written = true;
    CHECK_OK(td_paged_open(&paged, path, pool, reader));
    return paged;
}

static td_status run_within(td_run **run, const subject *about, const td_graph *paged, td_run_options options, const char *text, double share)
{
    uint64_t edges = td_graph_bytes(about->graph), now = td_memory().now;
    td_status status = TD_NO_MEMORY;
    for (int i = 0; i < 40 && status == TD_NO_MEMORY; i++, share *= 1.5) { /* small graphs: blocks are large beside them */
        td_memory_set_budget(now + (uint64_t)(share * (double)edges) + 100000);
        status = try_run(run, about->row->program, paged, options, text);
        td_memory_set_budget(0);
    }
    return status;
}

static td_run *run_way(void *context, subject *about, int number)
{
    place *where = context;
    const row *of = about->row;
    const td_program *program = program_of(of->program);
    double share = shares[number % 5];
    td_mode mode = number / 405 % 2 == 0 ? TD_MODE_SYNC : TD_MODE_ASYNC;
    char text[512] = "", settings[256] = "";
    if (of->engine != NULL || (of->sync_only && mode == TD_MODE_ASYNC)) return NULL;
    add_used(settings, sizeof settings, program, pages[number / 5 % 3]);
    add_used(settings, sizeof settings, program, rounds[number / 15 % 3]);
    add_used(settings, sizeof settings, program, directions[number / 45 % 3]);
    add_used(settings, sizeof settings, program, ratios[number / 135 % 3]);
    table_settings(text, sizeof text, of, "hybrid", settings);
    td_run_options options = table_options(of, about->graph);
    options.pool = where->pools[number / 810 % 2];
    options.mode = mode;
    options.engine = "hybrid";
    snprintf(about->how, sizeof about->how, "%.0f%%, %s,%s, %d threads", 100 * share, mode == TD_MODE_ASYNC ? "async" : "sync", settings,
             td_pool_threads(options.pool));
    if (share == 0) return run_of(of->program, about->graph, options, text);
    td_graph *paged = open_paged(where, about->graph, options.pool, &readers[number / 1620 % 2]);
    td_run *run = NULL;
    td_status status = run_within(&run, about, paged, options, text, share);
    if (status != TD_OK) SUBJECT_FAIL(about, "%s: %s", td_status_name(status), td_last_message());
    run->graph = about->graph; /* for the verifiers: the same one */
    td_graph_destroy(paged);
    return run;
}

static int way_stride(const row *of, const td_graph *graph, test_weights kind)
{
    bool circuit = strcmp(of->program, "circuit") == 0; /* thousands of iterations */
    (void)kind;
    if (graph->vertices > (circuit ? VERY_TINY : LARGE)) return 0;
    if (getenv("TANDEM_TEST_ALL") != NULL) return 7;
    return circuit ? 1301 : graph->vertices <= TINY ? 709 : 1409;
}

static void check(const char *program)
{
    place where = {0};
    CHECK_OK(td_pool_create(&where.pools[0], 1));
    CHECK_OK(td_pool_create(&where.pools[1], 4));
    check_program(program, &(table_ways){WAYS_OF_HYBRID, run_way, way_stride, leave, &where, where.pools[1]});
    for (int i = 0; i < 2; i++) td_pool_destroy(where.pools[i]);
}

TEST(bfs_by_pages) { check("bfs"); }
TEST(sssp_by_pages) { check("sssp"); }
TEST(wcc_by_pages) { check("wcc"); }
TEST(labels_by_pages) { check("labels"); }
TEST(kcore_by_pages) { check("kcore"); }
TEST(mst_by_pages) { check("mst"); }
TEST(pagerank_by_pages) { check("pagerank"); }
TEST(adsorption_by_pages) { check("adsorption"); }
TEST(nn_by_pages) { check("nn"); }
TEST(heat_by_pages) { check("heat"); }
TEST(circuit_by_pages) { check("circuit"); }

TEST_MAIN
