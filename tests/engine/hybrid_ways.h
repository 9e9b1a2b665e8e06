/* The ways the hybrid engine has of running a row of the table: memory for a part of the edges x size of pages x rounds
 * on them x direction x k x mode x threads x how the disk is read x who works x how a GPU gathers. */
#ifndef TD_TEST_HYBRID_WAYS_H
#define TD_TEST_HYBRID_WAYS_H

#include "engine/table.h"

#include "engine/hybrid/hybrid.h"
#include "store/packed.h"
#include "store/paged.h"

static const double hybrid_shares[] = {0.1, 0.25, 0.5, 1, 0}; /* of the edges' bytes; 0: in memory */
static const char *const hybrid_pages[] = {"hybrid.page=64", "hybrid.page=1000", ""};
static const char *const hybrid_rounds[] = {"", "hybrid.rounds=1", "hybrid.rounds=3"};
static const char *const hybrid_directions[] = {"", "hybrid.direction=notify", "hybrid.direction=pull"};
static const char *const hybrid_ratios[] = {"", "hybrid.k=1", "hybrid.k=50"};
static const td_reader_options hybrid_readers[] = {{0}, {.threads = true, .depth = 1}};
enum { HYBRID_WAYS = 5 * 3 * 3 * 3 * 3 * 2 * 2 * 2 * 2 };

/* Where the runs of a graph take place. */
typedef struct hybrid_place {
    const char *devices; /* NULL: the processor alone */
    td_pool *pools[2];
    bool written;        /* the graph under way, to the file */
    bool stays_open;     /* the GPU */
    td_cache open;
} hybrid_place;

static inline void hybrid_leave(void *context)
{
    hybrid_place *where = context;
    where->written = false;
    td_cache_release_layouts(&where->open);
}

/* The words of the settings that the program looks at. */
static inline void add_used(char *text, size_t room, const td_program *program, const char *word)
{
    char name[64];
    size_t used = strlen(text);
    if (word[0] == 0) return;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 7, "="), word + 7);
    if (td_hybrid_uses(program, name)) snprintf(text + used, room - used, " %s", word);
}

/* Edges on disk, with room for a share of them, or for what a run needs at least. */
static inline td_graph *open_paged(hybrid_place *where, const td_graph *graph, td_pool *pool,
                                   const td_reader_options *reader)
{
    td_graph *paged = NULL;
    const char *path = test_path("table.tg");
    if (!where->written) CHECK_OK(td_packed_write(graph, path, pool));
    where->written = true;
    CHECK_OK(td_paged_open(&paged, path, pool, reader));
    return paged;
}

static inline td_status run_within(td_run **run, const subject *about, const td_graph *paged, td_run_options options,
                                   const char *text, double share)
{
    uint64_t edges = td_graph_bytes(about->graph), now = td_memory().now;
    td_status status = TD_NO_MEMORY;
    /* Blocks are large beside small graphs. */
    for (int i = 0; i < 40 && status == TD_NO_MEMORY; i++, share *= 1.5) {
        td_memory_set_budget(now + (uint64_t)(share * (double)edges) + 100000);
        status = try_run(run, about->row->program, paged, options, text);
        td_memory_set_budget(0);
    }
    return status;
}

static inline td_run *hybrid_run_way(void *context, subject *about, int number)
{
    hybrid_place *where = context;
    const row *of = about->row;
    const td_program *program = program_of(of->program);
    double share = hybrid_shares[number % 5];
    td_mode mode = number / 405 % 2 == 0 ? TD_MODE_SYNC : TD_MODE_ASYNC;
    char text[512] = "", settings[256] = "";
    if (of->engine != NULL || (of->sync_only && mode == TD_MODE_ASYNC)) return NULL;
    add_used(settings, sizeof settings, program, hybrid_pages[number / 5 % 3]);
    add_used(settings, sizeof settings, program, hybrid_rounds[number / 15 % 3]);
    add_used(settings, sizeof settings, program, hybrid_directions[number / 45 % 3]);
    add_used(settings, sizeof settings, program, hybrid_ratios[number / 135 % 3]);
    if (where->devices != NULL)
        add_used(settings, sizeof settings, program, number / 3240 % 2 == 0 ? "hybrid.use=gpu" : "hybrid.use=both");
    static const char *const gathers[] = {"hybrid.gather=shards", "", "hybrid.gather=shards hybrid.replication=8", ""};
    if (where->devices != NULL) add_used(settings, sizeof settings, program, gathers[number % 7 % 4]);
    table_settings(text, sizeof text, of, "hybrid", settings);
    td_run_options options = table_options(of, about->graph);
    options.devices = where->devices;
    options.pool = where->pools[number / 810 % 2];
    options.mode = mode;
    options.engine = "hybrid";
    snprintf(about->how, sizeof about->how, "%s, %.0f%%, %s,%.400s, %d threads",
             where->devices != NULL ? where->devices : "cpu", 100 * share, mode == TD_MODE_ASYNC ? "async" : "sync",
             text, td_pool_threads(options.pool));
    if (table_named(about)) return NULL;
    if (where->stays_open) td_cache_release_layouts(&where->open);
    options.cache = where->stays_open ? &where->open : NULL;
    if (share == 0) return run_of(of->program, about->graph, options, text);
    td_graph *paged = open_paged(where, about->graph, options.pool, &hybrid_readers[number / 1620 % 2]);
    td_run *run = NULL;
    td_status status = run_within(&run, about, paged, options, text, share);
    bool ranked = strcmp(of->program, "mst") == 0 && about->graph->weights == TD_WEIGHT_F64; /* in memory only */
    if (status != (ranked ? TD_UNSUPPORTED : TD_OK))
        SUBJECT_FAIL(about, "%s: %s", td_status_name(status), td_last_message());
    if (ranked) {
        td_graph_destroy(paged);
        return NULL;
    }
    run->graph = about->graph; /* for the verifiers: the same one */
    td_graph_destroy(paged);
    return run;
}

typedef int (*hybrid_stride)(const row *of, const td_graph *graph, test_weights kind);

static inline void hybrid_open(hybrid_place *where, const char *devices, bool stays_open)
{
    *where = (hybrid_place){.devices = devices, .stays_open = stays_open};
    CHECK_OK(td_pool_create(&where->pools[0], 1));
    CHECK_OK(td_pool_create(&where->pools[1], 4));
}

static inline void hybrid_close(hybrid_place *where)
{
    td_cache_release(&where->open);
    for (int i = 0; i < 2; i++) td_pool_destroy(where->pools[i]);
}

static inline table_ways hybrid_ways(hybrid_place *where, hybrid_stride stride, table_draws *draws)
{
    return (table_ways){HYBRID_WAYS, hybrid_run_way, stride, hybrid_leave, where, where->pools[1], draws};
}

/* `draws`: instead of strides, on a GPU that stays open; or NULL. */
static inline void hybrid_check(const char *program, const char *devices, hybrid_stride stride, table_draws *draws)
{
    hybrid_place where;
    hybrid_open(&where, devices, draws != NULL);
    table_ways ways = hybrid_ways(&where, stride, draws);
    check_program(program, &ways);
    if (draws != NULL) check_rest(program, &ways);
    hybrid_close(&where);
}

#endif
