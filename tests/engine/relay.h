/* Checkpoints of every program on every engine, in a relay: a run is stopped after an iteration or a few, the next
 * engine goes on from what it left, is stopped in turn, and so on to the end. The answer is the reference's, so every
 * engine's states have been every other's beginning. TANDEM_TEST_ALL=1 in the environment takes larger graphs too. */
#ifndef TD_TEST_RELAY_H
#define TD_TEST_RELAY_H

#include "engine/resident/resident.h"
#include "engine/stream_ways.h"

#include "device/emulator/sanitizer.h"
#include "engine/coop/coop.h"
#include "engine/hybrid/hybrid.h"
#include "store/packed.h"
#include "store/paged.h"

#include <dirent.h>
#include <sys/stat.h>

enum { MANY = TD_ADDRESS_CHECKED || TD_THREADS_CHECKED ? 130 : 600, MOST_LEGS = 4000 };

/* Syncing costs nothing in memory, and hundreds of checkpoints are synced here. */
__attribute__((constructor)) static void choose_folder(void)
{
    if (getenv("TMPDIR") == NULL && access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1);
}

/* Who carries on, and in what way. */
typedef struct runner {
    const char *engine, *settings;
    double gpu_edges;
} runner;

static const runner runners[] = {
    {"cpu", "cpu.delta=2", 0},
    {"hybrid", "hybrid.page=64 hybrid.rounds=2", 0},
    {"resident", "resident.delta=2 resident.kcore=peel resident.window=2", 0},
    {"stream", "stream.subgraph=128 stream.small=0 stream.prefix=0.5 stream.list_order=hot stream.delta=2", 0.3},
    {"coop", "coop.invoke=always", 0.4},
    {"cpu", "cpu.direction=pull", 0},
    {"stream", "stream.subgraph=128 stream.variant=lbase stream.delta=2", 0.4},
    {"resident", "resident.direction=push resident.high_degree=32", 0},
    {"coop", "coop.invoke=always coop.order=indegree coop.extract=vertex coop.delta=2", 0.3},
    {"cpu", "cpu.direction=notify cpu.serial=0", 0},
    {"stream", "stream.subgraph=128 stream.small=64 stream.prefix=0.5 stream.delta=2 stream.kcore=peel", 0.25},
    {"resident", "resident.direction=pull resident.gather=shards", 0},
    {"hybrid", "hybrid.page=200 hybrid.use=both", 0},
    {"multi", "multi.t1=0 multi.t2=0 multi.delta=2", 0},
    {"multi", "multi.direction=push multi.exchange=copies multi.partition=random", 0},
};
enum { RUNNERS = sizeof runners / sizeof *runners };

typedef struct relay {
    subject about;
    td_graph *paged; /* the same graph with its edges on disk, for the hybrid engine */
    td_pool *pool;
    const char *devices;
    td_mode mode;
    uint32_t every, leg_rows, rows; /* a leg ends after so many rows */
    char folder[300];
} relay;

static inline bool ends_leg(void *context, const td_iteration *row)
{
    relay *self = context;
    (void)row;
    return ++self->rows < self->leg_rows;
}

/* The settings of the runner that the program has any use for. */
static inline void settings_of(char *out, size_t room, const td_program *program, const runner *one, td_mode mode,
                               const row *of)
{
    char words[320], *rest = NULL;
    bool fused = program->info->kind == TD_KIND_GAS && program->cpu[0].fused;
    snprintf(out, room, "%s", of->settings);
    snprintf(words, sizeof words, "%s", one->settings);
    for (char *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        const char *name = strchr(word, '.') + 1;
        char key[64];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(name, "="), name);
        const td_engine *engine = td_engine_named(one->engine);
        bool uses = engine == &td_stream_engine ? td_streaming_uses_in(program, mode, key) : engine->uses(program, key);
        if (!uses || (strstr(word, "=push") != NULL && !fused)) continue;
        if (strcmp(key, "partition") == 0 && (!program->info->renumbers || program->info->vertex_values)) continue;
        size_t used = strlen(out);
        snprintf(out + used, room - used, " %s", word);
        if (engine == &td_stream_engine && !stream_takes(program, &(td_run_options){.mode = mode}, out)) out[used] = 0;
    }
}

/* A graph that came from a file, and so is known by its id wherever its edges are. */
static inline void open_graph(relay *self, int number, test_weights kind)
{
    td_graph *made = test_graph(number, kind, self->pool), *graph = NULL;
    const char *path = test_path("relay.tg");
    CHECK_OK(td_packed_write(made, path, self->pool));
    td_graph_destroy(made);
    CHECK_OK(td_packed_load(&graph, path, self->pool));
    CHECK_OK(td_paged_open(&self->paged, path, self->pool, NULL));
    self->about = (subject){.graph = graph, .graph_name = test_graphs[number].name,
                            .weights_name = test_weight_names[kind]};
}

static inline void close_graph(relay *self)
{
    td_graph_destroy((td_graph *)self->about.graph);
    td_graph_destroy(self->paged);
}

/* One leg: NULL if it was stopped. */
static inline td_run *run_leg(relay *self, const runner *one, bool first)
{
    td_run *run = NULL;
    char text[512], both[128], several[128];
    const td_program *program = program_of(self->about.row->program);
    bool ranked = self->about.graph->weights == TD_WEIGHT_F64 && program->info->kind == TD_KIND_SWEEP; /* in memory */
    const td_graph *graph = strcmp(one->engine, "hybrid") == 0 && !ranked ? self->paged : self->about.graph;
    td_run_options options = table_options(self->about.row, self->about.graph);
    settings_of(text, sizeof text, program, one, self->mode, self->about.row);
    options.pool = self->pool;
    options.mode = self->mode;
    options.engine = one->engine;
    bool emulated_ones = strncmp(self->devices, "emu", 3) == 0;
    snprintf(both, sizeof both, "cpu,%s", self->devices);
    snprintf(several, sizeof several, emulated_ones ? "emu:3@unchecked" : "%s/2", self->devices);
    options.devices = strcmp(one->engine, "cpu") == 0                  ? NULL
                      : strcmp(one->engine, "multi") == 0              ? several
                      : strstr(one->settings, "use=both") != NULL      ? both
                      : strcmp(one->engine, "hybrid") == 0             ? NULL
                                                                       : self->devices;
    options.gpu_edges = one->gpu_edges;
    options.checkpoint = self->folder;
    options.every = self->every;
    options.resume = first ? NULL : self->folder;
    options.each = ends_leg;
    options.each_context = self;
    if (strcmp(one->engine, "stream") == 0) stream_raise_cap(program, self->about.graph, &options, text);
    self->rows = 0;
    td_status status = try_run(&run, self->about.row->program, graph, options, text);
    if (status == TD_OK) return run;
    if (status != TD_CANCELLED)
        SUBJECT_FAIL(&self->about, "%s: %s: %s", one->engine, td_status_name(status), td_last_message());
    CHECK_CONTAINS(td_last_message(), "go on with resume");
    return NULL;
}

static inline void check_relay_answer(const relay *self, td_run *run)
{
    expected answer = self->about.row->expect(self->about.graph, run);
    if (answer.whole != NULL) check_whole(&self->about, run, answer.whole);
    if (answer.groups != NULL) check_groups(&self->about, run, answer.groups);
    if (answer.real != NULL) check_real(&self->about, run, answer.real);
    if (answer.edges != NULL) check_forest(&self->about, run, &answer);
    if (self->about.row->iterations == 0 && !run->converged) SUBJECT_FAIL(&self->about, "%s", "it did not end");
    run->graph = self->about.graph; /* with edges in memory, which claims are about */
    check_claims(&self->about, run, self->pool);
    td_free(answer.whole);
    td_free(answer.groups);
    td_free(answer.real);
    td_free(answer.edges);
}

static inline int run_relay(relay *self, int first_runner)
{
    char command[400];
    td_run *run = NULL;
    int legs = 0;
    CHECK(mkdir(self->folder, 0700) == 0);
    for (; run == NULL && legs < MOST_LEGS; legs++)
        run = run_leg(self, &runners[(first_runner + legs) % RUNNERS], legs == 0);
    if (run == NULL) SUBJECT_FAIL(&self->about, "%s", "it does not end");
    if (legs > 1 && run->checkpoint_stats.resumed_from == NULL) SUBJECT_FAIL(&self->about, "%s", "it did not go on");
    check_relay_answer(self, run);
    td_run_destroy(run);
    snprintf(command, sizeof command, "rm -rf '%s'", self->folder);
    CHECK(system(command) == 0);
    return legs;
}

/* Programs that hear everyone in every iteration have little state: a graph in three is enough for a row of theirs. */
static inline bool is_for(const row *of, const td_graph *graph, test_weights kind, int turn)
{
    bool simple = program_of(of->program)->info->kind == TD_KIND_GAS && !program_of(of->program)->cpu[0].fused;
    if (simple && strcmp(of->program, "circuit") != 0 && turn % 3 != 0 && getenv("TANDEM_TEST_ALL") == NULL)
        return false;
    bool circuit = strcmp(of->program, "circuit") == 0; /* thousands of iterations */
    test_weights awkward = of->weights & KIND(TEST_TIES) ? TEST_TIES : (test_weights)__builtin_ctz(of->weights);
    if (of->engine != NULL) return false; /* an engine's own setting */
    if (!(of->weights & KIND(kind)) || !row_fits(of, graph)) return false;
    if (graph->vertices > (circuit ? VERY_TINY : MANY)) return false;
    bool weighs = strcmp(of->program, "sssp") == 0 || strcmp(of->program, "mst") == 0;
    return kind == awkward || (kind == TEST_U16 && weighs) || getenv("TANDEM_TEST_ALL") != NULL;
}

/* Who begins and how long a leg is differ from relay to relay. */
static inline int run_numbered(relay *self, const row *of, int number)
{
    bool circuit = strcmp(of->program, "circuit") == 0;
    self->about.row = of;
    self->mode = number % 3 == 0 && !of->sync_only ? TD_MODE_ASYNC : TD_MODE_SYNC;
    self->every = (uint32_t)(number % 4);
    self->leg_rows = circuit ? (uint32_t)(20 + number % 7) : (uint32_t)(1 + number % 5);
    snprintf(self->folder, sizeof self->folder, "%s/relay%d", test_folder(), number);
    snprintf(self->about.how, sizeof self->about.how, "%s, legs of %u rows from runner %d, every %u",
             self->mode == TD_MODE_ASYNC ? "async" : "sync", self->leg_rows, number % RUNNERS, self->every);
    return run_relay(self, number % RUNNERS);
}

static inline void check_relays(const char *program, const char *devices)
{
    static int number;
    int legs = 0, relays = 0;
    relay self = {.devices = devices};
    CHECK_OK(td_pool_create(&self.pool, 2));
    for (int g = 0; g < TEST_GRAPHS; g++)
        for (int kind = 0; kind < TEST_WEIGHT_KINDS; kind++) {
            if (!program_takes(program, kind)) continue;
            open_graph(&self, g, (test_weights)kind);
            const td_graph *graph = self.about.graph;
            for (int r = 0; r < ROWS; r++) {
                if (strcmp(rows[r].program, program) != 0 || !is_for(&rows[r], graph, (test_weights)kind, g + r))
                    continue;
                legs += run_numbered(&self, &rows[r], ++number);
                relays++;
            }
            close_graph(&self);
        }
    td_pool_destroy(self.pool);
    printf("     %s: %d relays, %d legs\n", program, relays, legs);
}

/* Stopped early and later, and taken over by the cpu engine: for engines that are ahead in some places and behind in
 * others. */
static inline void check_stops(const runner *stopped, const char *program, test_weights kind, const char *graph_name,
                               const char *devices)
{
    static const runner cpu = {"cpu", "cpu.direction=pull", 0};
    relay self = {.mode = TD_MODE_SYNC, .devices = devices};
    td_run *run = NULL;
    char command[400];
    int g = 0, r = 0, stops = 0;
    while (strcmp(test_graphs[g].name, graph_name) != 0) g++;
    while (strcmp(rows[r].program, program) != 0) r++;
    CHECK_OK(td_pool_create(&self.pool, 2));
    open_graph(&self, g, kind);
    self.about.row = &rows[r];
    for (uint32_t stop = 1; stop < 24; stop += 1 + stop / 3) {
        self.leg_rows = stop;
        snprintf(self.folder, sizeof self.folder, "%s/aside-%s-%u", test_folder(), program, self.leg_rows);
        snprintf(self.about.how, sizeof self.about.how, "stopped after %u rows", self.leg_rows);
        CHECK(mkdir(self.folder, 0700) == 0);
        run = run_leg(&self, stopped, true);
        self.leg_rows = UINT32_MAX;
        stops += run == NULL;
        if (run == NULL) run = run_leg(&self, &cpu, false);
        check_relay_answer(&self, run);
        td_run_destroy(run);
        snprintf(command, sizeof command, "rm -rf '%s'", self.folder);
        CHECK(system(command) == 0);
    }
    printf("     %s: %d stops\n", program, stops);
    close_graph(&self);
    td_pool_destroy(self.pool);
}

/* States of engines that are ahead in some places and behind in others. */
/* Who puts the ends of lists aside, and who goes ahead within a page. */
static const runner puts_aside = {"stream", "stream.subgraph=256 stream.small=0 stream.prefix=0.6", 0.6};
static const runner shares_out = {"multi", "multi.t1=0 multi.t2=0 multi.delta=200", 0};
static const runner goes_ahead = {"hybrid", "hybrid.page=1000", 0};

#endif
