/* fuzz_runs [--seconds S] [--seed N] [--first I] [--attempts K] [--engine NAME] [--verbose]
 *
 * Runs drawn at random: a graph, a row of the table of programs (engine/table.h), an engine with devices, budgets and
 * any of its settings, threads and mode; three of them one after the other, often on the devices and layouts that the
 * run before left. A run may be refused, in words, and is repeated without what the refusal names. Every result is
 * compared with the serial reference. A wrong result, a crash, an endless run or a refusal without words ends the
 * fuzzer, which prints the run and the options that repeat the attempt. What an attempt does depends on (N, I) and NAME
 * alone. S is processor time. */
#include "deaths.h"
#include "hang.h"

#include "engine/table.h"

#include "run/result.h"
#include "store/packed.h"
#include "store/paged.h"


enum { HANG_SECONDS = 100, RUNS = 3, MOST_SETTINGS = 40, POOLS = 3 };

typedef struct options {
    uint64_t seconds, seed, first, attempts;
    const char *engine;
    bool verbose;
} options;

typedef struct dice {
    uint64_t seed, next;
} dice;

static uint64_t draw(dice *self, uint64_t below) { return td_random_below(td_random_at(self->seed, self->next++), below); }

static bool one_in(dice *self, uint64_t many) { return draw(self, many) == 0; }

#define DRAW_OF(self, list) ((list)[draw(self, sizeof(list) / sizeof *(list))])

static td_pool *workers[POOLS];
static const options *current;
static uint64_t current_attempt, ran, refused;

/* Graphs: the kinds of programs/graphs.h, with other numbers of vertices, random edges, directions and ids. */

static uint64_t drawn_vertices(dice *self, const test_graph_kind *kind)
{
    uint64_t most = one_in(self, 4) ? 3000 : 200, n = 1 + draw(self, most);
    if (kind->fill == test_fill_rmat) return UINT64_C(16) << draw(self, 9);
    if (kind->fill == test_fill_layers) return 16 * (1 + n / 16);
    if (kind->fill == test_fill_grid) return kind->vertices;
    if (kind->fill == test_fill_complete) return 1 + n % 60;
    if (kind->fill == test_fill_two_components) return 2 * (1 + n / 2);
    return n + 13; /* enough for a lollipop's ball, for the hubs of stars */
}

static td_build_options drawn_build(dice *self)
{
    uint64_t how = draw(self, 4);
    return (td_build_options){.symmetrize = how >= 2, .dedup = how == 3, .drop_loops = how == 3 || one_in(self, 8)};
}

static td_graph *drawn_graph(dice *self, test_weights weights, const char **name)
{
    const test_graph_kind *kind = &test_graphs[1 + draw(self, TEST_GRAPHS - 1)];
    td_build_options build = drawn_build(self);
    td_graph *graph = NULL;
    test_sketch sketch = {.weights = weights, .seed = draw(self, UINT64_C(1) << 40), .id_factor = 1};
    CHECK_OK(td_edges_create(&sketch.edges, kind->name));
    if (weights == TEST_F64) CHECK_OK(td_edges_use_doubles(sketch.edges));
    CHECK_OK(td_edges_chunk(sketch.edges, 0, &sketch.chunk));
    sketch.edges->weighted = weights != TEST_UNWEIGHTED;
    sketch.edges->vertices = drawn_vertices(self, kind);
    sketch.edges->declared = !one_in(self, 4) || kind->fill == test_fill_web; /* which reads its own edges */
    if (sketch.edges->declared) sketch.edges->id_base = draw(self, 3);
    else sketch.id_base = 1000000007, sketch.id_factor = 99999999977;
    CHECK_OK(td_chunk_reserve(sketch.chunk, 64, sketch.edges->weighted));
    kind->fill(&sketch);
    CHECK_OK(td_graph_build(&graph, sketch.edges, &build, workers[1]));
    td_edges_destroy(sketch.edges);
    *name = kind->name;
    return graph;
}

/* The same graph with its edges in a file. */
static td_graph *on_disk(const td_graph *graph)
{
    td_graph *paged = NULL;
    CHECK_OK(td_packed_write(graph, test_path("fuzz.tg"), NULL));
    CHECK_OK(td_paged_open(&paged, test_path("fuzz.tg"), NULL, NULL));
    return paged;
}

/* Devices and settings. */

static const char *const single[] = {"emu:1@unchecked", "emu:1@unchecked", "emu", "emu:1@pcie3"};
static const char *const several[] = {"emu:2@unchecked", "emu:3@slices", "emu:2@slices", "emu:4@dgx1", "emu:8@dgx1", "emu:2@late",
                                      "emu:4@pcie4", "emu:8@hgx"};

static const char *drawn_devices(dice *self, const td_engine *engine)
{
    if (!(engine->uses_devices & TD_USES_GPU)) return NULL;
    if (!engine->needs_gpu && one_in(self, 3)) return NULL;
    if (engine->several_gpus && !one_in(self, 3)) return DRAW_OF(self, several);
    return DRAW_OF(self, single);
}

/* A value anywhere in the setting's range, small ones and the ends most often. */
static double drawn_number(dice *self, const td_setting *of)
{
    static const double wholes[] = {0, 1, 2, 3, 4, 7, 8, 16, 31, 32, 33, 64, 100, 128, 1000, 4096, 65536, 1e6, 1e9};
    static const double reals[] = {-1, 0, 1e-9, 0.001, 0.01, 0.1, 0.3, 0.5, 0.9, 1, 2, 10, 100, 1e6};
    uint64_t how = draw(self, 12);
    double number = of->kind == TD_SETTING_WHOLE ? DRAW_OF(self, wholes) : DRAW_OF(self, reals);
    if (how == 0) number = of->lowest;
    if (how == 1) number = of->highest;
    /* Minutes on the emulator: a launch for each edge; hundreds of buckets by thousands of threads on each of 8 GPUs. */
    if (strcmp(of->name, "batch_edges") == 0) number = fmax(number, 64);
    if (strcmp(of->name, "loop_blocks") == 0) number = fmin(number, 4);
    return fmax(of->lowest, fmin(of->highest, number));
}

static bool drawn_setting(dice *self, char *text, size_t room, const char *engine, const td_setting *of)
{
    char value[TD_SETTING_BYTES];
    double number = 0;
    if (of->kind == TD_SETTING_TEXT) return false;
    if (of->kind == TD_SETTING_CHOICE) {
        uint64_t words = 1;
        for (const char *at = of->choices; *at != 0; at++) words += *at == '|';
        number = (double)draw(self, words);
    } else {
        number = drawn_number(self, of);
    }
    snprintf(text, room, "%s.%s=%s", engine, of->name, td_setting_print(value, of, number, NULL));
    return true;
}

static void drop_setting(td_settings *settings, uint64_t i)
{
    uint64_t last = --settings->count;
    td_free(settings->keys[i]);
    td_free(settings->values[i]);
    settings->keys[i] = settings->keys[last];
    settings->values[i] = settings->values[last];
}

/* Any of the engine's settings that the program takes beside those before them. */
static void draw_settings(dice *self, td_settings *settings, const td_engine *engine, const td_program *program)
{
    char text[200];
    uint64_t share = DRAW_OF(self, ((const uint64_t[]){2, 4, 8, 1000}));
    for (const td_setting *of = engine->settings; of != NULL && of->name != NULL; of++) {
        if (!one_in(self, share) || !drawn_setting(self, text, sizeof text, engine->name, of)) continue;
        CHECK_OK(td_settings_add(settings, text));
        if (td_plan_check_settings(engine, program, settings) != TD_OK) drop_setting(settings, settings->count - 1);
    }
}

static void add_settings(td_settings *settings, const char *prefix, const char *words)
{
    char copy[200], text[260], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        snprintf(text, sizeof text, "%s%s", prefix, word);
        CHECK_OK(td_settings_add(settings, text));
    }
}

/* One run. */

typedef struct drawn_run {
    const row *row;
    const td_engine *engine;
    td_settings settings;
    uint64_t given; /* of them, settings of the row */
    td_run_options options;
    bool on_disk;
    int threads;
} drawn_run;

/* Circuits are solved to a tolerance of the last change, which leaves larger errors on long paths than on short ones; sums
 * of many signed terms lose more digits than the bound of nn allows. */
static bool row_is_exact(const row *of, const td_graph *graph)
{
    if (strcmp(of->program, "circuit") == 0 && graph->vertices > TINY) return false;
    if (strcmp(of->program, "nn") == 0 && graph->edges > 16 * (uint64_t)graph->vertices) return false;
    return row_fits(of, graph);
}

static const row *drawn_row(dice *self, const td_graph *graph, test_weights weights)
{
    for (int tries = 0; tries < 200; tries++) {
        const row *one = &DRAW_OF(self, rows);
        if ((one->weights & KIND(weights)) && row_is_exact(one, graph)) return one;
    }
    return NULL;
}

static const td_engine *drawn_engine(dice *self, const char *name)
{
    int count = 0;
    while (td_engines[count] != NULL) count++;
    const td_engine *any = td_engines[draw(self, (uint64_t)count)];
    return name != NULL ? td_engine_named(name) : any;
}

static void draw_run(dice *self, drawn_run *out, const td_graph *graph, td_cache *cache)
{
    const td_program *program = program_of(out->row->program);
    td_mode mode = out->row->sync_only || !td_program_has_async(program) ? (td_mode)draw(self, 2) : (td_mode)draw(self, 3);
    add_settings(&out->settings, "", out->row->settings);
    if (out->row->engine != NULL) {
        char prefix[40];
        snprintf(prefix, sizeof prefix, "%s.", out->engine->name);
        add_settings(&out->settings, prefix, out->row->engine);
    }
    out->given = out->settings.count;
    draw_settings(self, &out->settings, out->engine, program);
    out->options = table_options(out->row, graph);
    out->threads = (int)draw(self, POOLS);
    out->options.pool = workers[out->threads];
    out->options.mode = mode;
    out->options.engine = out->engine->name;
    out->options.settings = &out->settings;
    out->options.cache = cache;
    out->options.devices = drawn_devices(self, out->engine);
    if (out->options.devices != NULL && out->engine->limits_edges && !one_in(self, 4))
        out->options.gpu_edges = DRAW_OF(self, ((const double[]){0.01, 0.1, 0.25, 0.5, 0.9, 1, 5000, 20000}));
    if (out->options.devices != NULL && one_in(self, 4)) out->options.gpu_memory = UINT64_C(1) << (16 + draw(self, 9));
    if (program->info->needs_source && one_in(self, 2)) out->options.source = (uint32_t)draw(self, graph->vertices);
    if (one_in(self, 3)) out->options.parents = false;
    out->on_disk = out->engine->takes_disk && one_in(self, 3);
}

static void print_run(const drawn_run *self, const subject *about)
{
    static const char *const modes[] = {"", ", sync", ", async"};
    const td_run_options *options = &self->options;
    int at = snprintf(run_line, sizeof run_line,
                      "%s on %s (%u vertices, %" PRIu64 " edges, %s, %s) by %s%s%s, %d threads%s%s, gpu-edges %g, "
                      "gpu-memory %" PRIu64 ", source %u%s, %s:",
                      self->row->program, about->graph_name, about->graph->vertices, about->graph->edges,
                      about->graph->symmetric ? "symmetric" : "directed", about->weights_name, self->engine->name,
                      options->devices != NULL ? " on " : "", options->devices != NULL ? options->devices : "",
                      way_threads[self->threads], modes[options->mode], self->on_disk ? ", from disk" : "",
                      options->gpu_edges, options->gpu_memory, options->source, options->resume != NULL ? ", resumed" : "",
                      options->cache != NULL ? "kept" : "alone");
    for (uint64_t i = 0; i < self->settings.count && (size_t)at < sizeof run_line - 100; i++)
        at += snprintf(run_line + at, sizeof run_line - (size_t)at, " %s=%s", self->settings.keys[i],
                       self->settings.values[i]);
    snprintf(run_line + at, sizeof run_line - (size_t)at, "\n");
}

/* A refusal has a reason, and is one of these. */
static void check_refusal(td_status status)
{
    if (status != TD_USAGE && status != TD_UNSUPPORTED && status != TD_NO_MEMORY && status != TD_NOT_FOUND)
        TEST_FAIL("failed: %s: %s", td_status_name(status), td_last_message());
    if (strlen(td_last_message()) < 10) TEST_FAIL("refused without a reason: %s", td_status_name(status));
}

/* Takes back something that a refusal names; false if it names nothing that was drawn. */
static bool take_back(drawn_run *self, const char *refusal)
{
    td_run_options *options = &self->options;
    for (uint64_t i = self->given; i < self->settings.count; i++)
        if (strstr(refusal, self->settings.keys[i]) != NULL) {
            drop_setting(&self->settings, i);
            return true;
        }
    if (strstr(refusal, "sync") != NULL && options->mode != TD_MODE_DEFAULT) {
        options->mode = TD_MODE_DEFAULT;
        return true;
    }
    bool limited = options->gpu_edges > 0 || options->gpu_memory > 0;
    options->gpu_edges = 0;
    options->gpu_memory = 0;
    return limited;
}

static td_status run_drawn(drawn_run *self, const subject *about, const td_graph *taken, td_run **out)
{
    td_status status;
    do {
        print_run(self, about);
        fuzz_limit(HANG_SECONDS);
        status = td_run_program(out, program_of(self->row->program), taken, &self->options);
        fuzz_limit(0);
        if (status == TD_OK) return status;
        check_refusal(status);
        if (current->verbose) printf("refused: %s\n", td_last_message());
    } while (take_back(self, td_last_message()));
    return status;
}

static void check_drawn(drawn_run *self, subject *about, const td_graph *taken)
{
    td_run *run = NULL;
    if (run_drawn(self, about, taken, &run) != TD_OK) {
        refused++;
        return;
    }
    ran++;
    expected answer = self->row->expect(about->graph, run);
    if (self->options.resume != NULL) check_answer(about, run, &answer); /* rows of the stopped run are not its own */
    else check_result(about, run, &answer);
    free_expected(&answer);
    check_claims(about, run, workers[0]);
    td_run_destroy(run);
}

static void check_and_clear(drawn_run *self, subject *about)
{
    td_graph *paged = self->on_disk ? on_disk(about->graph) : NULL;
    check_drawn(self, about, paged != NULL ? paged : about->graph);
    if (current->verbose) printf("%s", run_line);
    td_graph_destroy(paged);
    td_settings_clear(&self->settings);
}

/* Checkpoints: a run is stopped after an iteration, and another one, on any engine, goes on from there. */

static uint32_t iterations_left;

static bool count_iteration(void *context, const td_iteration *row)
{
    (void)context, (void)row;
    return iterations_left > 0 && --iterations_left > 0;
}

/* False if it left no checkpoint. */
static bool stop_early(dice *self, drawn_run *stopped, const subject *about, const char *folder)
{
    char command[1200];
    td_run *run = NULL;
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir '%s'", folder, folder);
    CHECK_EQ(system(command), 0);
    stopped->options.checkpoint = folder;
    stopped->options.every = 1 + (uint32_t)draw(self, 3);
    stopped->options.each = count_iteration;
    iterations_left = 1 + (uint32_t)draw(self, 6);
    td_status status = td_run_program(&run, program_of(stopped->row->program), about->graph, &stopped->options);
    if (status != TD_OK && status != TD_CANCELLED) check_refusal(status);
    td_run_destroy(run);
    snprintf(command, sizeof command, "ls '%s' | grep -q .", folder);
    return system(command) == 0;
}

static void go_on_elsewhere(dice *self, drawn_run *stopped, subject *about, td_cache *cache)
{
    char folder[512];
    snprintf(folder, sizeof folder, "%s", test_path("state"));
    print_run(stopped, about);
    if (stop_early(self, stopped, about, folder)) {
        drawn_run next = {.row = stopped->row, .engine = drawn_engine(self, NULL)};
        if (current->verbose) printf("stopped: %s", run_line);
        draw_run(self, &next, about->graph, cache);
        next.options.source = stopped->options.source;
        next.options.mode = stopped->options.mode;
        next.options.resume = folder;
        next.on_disk = false; /* a graph that came from a file is another one to a checkpoint */
        check_and_clear(&next, about);
    }
    td_settings_clear(&stopped->settings);
}

static void one_run(dice *self, const td_graph *graph, const char *name, test_weights weights, td_cache *cache)
{
    drawn_run drawn = {.row = drawn_row(self, graph, weights), .engine = drawn_engine(self, current->engine)};
    subject about = {.row = drawn.row, .graph = graph, .graph_name = name, .weights_name = test_weight_names[weights]};
    if (drawn.row == NULL) return;
    draw_run(self, &drawn, graph, cache);
    if (one_in(self, 6)) go_on_elsewhere(self, &drawn, &about, cache);
    else check_and_clear(&drawn, &about);
}

TEST(attempt)
{
    dice self = {.seed = td_random_at(current->seed, current_attempt)};
    test_weights weights = (test_weights)draw(&self, TEST_WEIGHT_KINDS);
    td_cache cache = {0};
    const char *name;
    snprintf(repeat_line, sizeof repeat_line, "fuzz_runs --seed %" PRIu64 " --first %" PRIu64 " --attempts 1%s%s\n",
             current->seed, current_attempt, current->engine != NULL ? " --engine " : "",
             current->engine != NULL ? current->engine : "");
    td_graph *graph = drawn_graph(&self, weights, &name);
    bool keeps = one_in(&self, 2);
    for (int i = 0; i < RUNS && graph->vertices > 0; i++)
        one_run(&self, graph, name, weights, keeps ? &cache : NULL);
    td_cache_release(&cache);
    td_graph_destroy(graph);
}

static options read_options(int count, char **texts)
{
    options read = {.seed = 1};
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? texts[i + 1] : "";
        if (strcmp(texts[i], "--verbose") == 0) {
            read.verbose = true;
            continue;
        }
        if (strcmp(texts[i], "--seconds") == 0) read.seconds = strtoull(value, NULL, 10);
        else if (strcmp(texts[i], "--seed") == 0) read.seed = strtoull(value, NULL, 10);
        else if (strcmp(texts[i], "--first") == 0) read.first = strtoull(value, NULL, 10);
        else if (strcmp(texts[i], "--attempts") == 0) read.attempts = strtoull(value, NULL, 10);
        else if (strcmp(texts[i], "--engine") == 0 && td_engine_named(value) != NULL) read.engine = value;
        else fprintf(stderr, "fuzz_runs: no such option or engine: %s %s\n", texts[i], value), exit(2);
        i++;
    }
    if (read.seconds == 0 && read.attempts == 0) read.attempts = 100;
    return read;
}

int main(int count, char **texts)
{
    options given = read_options(count, texts);
    current = &given;
    watch_for_death();
    td_log_set_level(TD_LOG_QUIET);
    for (int i = 0; i < POOLS; i++)
        if (td_pool_create(&workers[i], way_threads[i]) != TD_OK) return 1;
    for (current_attempt = given.first; given.attempts == 0 || current_attempt < given.first + given.attempts;
         current_attempt++) {
        if (given.seconds > 0 && fuzz_processor_seconds() >= (double)given.seconds) break;
        if (test_run(test_first) != 0) {
            fflush(stdout);
            say_where();
            return 1;
        }
    }
    printf("ok   %" PRIu64 " attempts, %" PRIu64 " runs compared with references, %" PRIu64 " refused\n",
           current_attempt - given.first, ran, refused);
    for (int i = 0; i < POOLS; i++) td_pool_destroy(workers[i]);
    return test_remove_folder() && ran > refused / 4 ? 0 : 1;
}
