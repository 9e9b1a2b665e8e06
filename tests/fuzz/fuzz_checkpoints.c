/* fuzz_checkpoints [--seconds S] [--seed N] [--first I] [--attempts K]
 *
 * Forges checkpoints whose checksums are right. Genuine ones of every program, stopped and finished, written by every
 * engine, are the seeds; an attempt changes fields of a state (values, active vertices, edges, numbers, flags) or words
 * of the header, takes the checksums anew, and has an engine go on from it. A run may refuse or finish; a crash, an
 * endless run, a leak or a refusal without words ends the fuzzer, which prints the options that repeat the attempt.
 * What an attempt does depends on (N, I) alone. S is processor time; every second attempt has one worker alone, because
 * threads that wait for each other use little of it. */
#include "deaths.h"
#include "hang.h"

#include "engine/engine.h"
#include "run/checkpoint_file.h"
#include "cpu/cpu.h"
#include "run/result.h"
#include "run/verify_run.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/random.h"
#include "base/size.h"
#include "store/builder.h"
#include "store/gen.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEEDS = 640, HANG_SECONDS = 60, GRAPHS = 3, ENGINES = 6, BUDGET_MIB = 256, MOST_REPLAYED = 10000,
       MOST_ROWS = 300, ENDLESS_ROWS = 100000 };

typedef struct options {
    uint64_t seconds, seed, first, attempts;
} options;

typedef struct engine {
    const char *name, *settings, *devices;
    double gpu_edges;
} engine;

static const engine engines[ENGINES] = {
    {"cpu", NULL, NULL, 0},
    {"resident", NULL, "emu:1@unchecked", 0},
    {"stream", "stream.subgraph=512", "emu:1@unchecked", 0.5},
    {"coop", "coop.invoke=always", "emu:1@unchecked", 0.4},
    {"hybrid", "hybrid.page=64", NULL, 0},
    {"cpu", "cpu.direction=pull", NULL, 0},
};

/* A checkpoint as it was written, and what run it is of. */
typedef struct seed {
    const td_program *program;
    int graph;
    td_mode mode;
    td_identity identity;
    td_state state;
} seed;

/* The header's words as docs/guide/checkpoints.md has them. */
typedef struct header {
    char magic[8];
    uint32_t byte_order, version;
    td_identity identity;
    uint32_t iteration, phase, converged, has_active, by_levels, unused;
    double global, change;
    uint64_t bytes[TD_STATE_PARTS], hashes[TD_STATE_PARTS];
    uint64_t page_hash;
} header;

static char folder[64], state_folder[80], next_folder[80];
static td_graph *graphs[GRAPHS];
static td_pool *pools[2], *pool; /* of one thread and of two; that of the attempt */
static seed seeds[SEEDS];
static int seed_count;

static bool complain(const char *what, td_status status)
{
    fprintf(stderr, "fuzz: %s (%s: %s)\n", what, td_status_name(status), td_last_message());
    return false;
}

/* Folders. */

static bool open_folders(void)
{
    static const char *const places[] = {"/dev/shm", "/tmp"};
    bool made = false;
    for (size_t i = 0; i < sizeof places / sizeof *places && !made; i++) {
        snprintf(folder, sizeof folder, "%s/tandem-fuzz-XXXXXX", places[i]);
        made = mkdtemp(folder) != NULL;
    }
    snprintf(state_folder, sizeof state_folder, "%s/state", folder);
    snprintf(next_folder, sizeof next_folder, "%s/next", folder);
    if (made && mkdir(state_folder, 0700) == 0 && mkdir(next_folder, 0700) == 0) return true;
    perror(folder);
    return false;
}

/* Removes the checkpoints of a folder; the last one's path is left in `newest`, if that is wanted. */
static void empty_folder(const char *path, char newest[512])
{
    char file[512];
    struct dirent **names = NULL;
    int count = scandir(path, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        snprintf(file, sizeof file, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.' && newest != NULL) snprintf(newest, 512, "%s", file);
        else if (strstr(names[i]->d_name, "tdck") != NULL) unlink(file);
        free(names[i]);
    }
    free(names);
}

static void close_folders(void)
{
    empty_folder(state_folder, NULL);
    empty_folder(next_folder, NULL);
    rmdir(state_folder);
    rmdir(next_folder);
    rmdir(folder);
}

/* Runs. */

static uint32_t rows_left;
static bool counting;

static bool count_row(void *context, const td_iteration *row)
{
    (void)context, (void)row;
    return !counting || (rows_left > 0 && --rows_left > 0);
}

/* With the engine's settings where the program has any use for them, otherwise without. */
static td_status run_on(const engine *on, const td_program *program, const td_graph *graph, td_run_options given,
                        td_run **out)
{
    td_settings settings = {0};
    given.pool = pool;
    given.engine = on->name;
    given.devices = on->devices;
    given.gpu_edges = on->gpu_edges;
    given.has_tolerance = program->info->tolerance > 0;
    given.tolerance = 0.01; /* soon */
    given.has_source = program->info->needs_source;
    given.source = given.has_source ? 1 : 0;
    td_status status = on->settings != NULL ? td_settings_add(&settings, on->settings) : TD_OK;
    given.settings = &settings;
    if (status == TD_OK) status = td_run_program(out, program, graph, &given);
    if (status == TD_USAGE || status == TD_NO_MEMORY) {
        td_settings none = {0};
        given.settings = &none;
        given.gpu_edges = 0;
        status = td_run_program(out, program, graph, &given);
    }
    td_settings_clear(&settings);
    return status;
}

static bool open_pools(void)
{
    bool made = td_pool_create(&pools[0], 1) == TD_OK && td_pool_create(&pools[1], 2) == TD_OK;
    pool = pools[1];
    return made;
}

/* Seeds. */

static bool make_graphs(void)
{
    static const char *const weights[GRAPHS] = {"1:20", "0.5:9.5", "1:3"};
    for (int i = 0; i < GRAPHS; i++) {
        td_gen_spec spec = {.kind = i == 2 ? "grid" : "rmat", .seed = 5 + (uint64_t)i, .rewire = -1};
        td_build_options build = {0};
        if (i == 2) spec.width = 9;
        else spec.scale = 6 + (uint64_t)i, spec.degree = 4;
        if (td_parse_weights(weights[i], &build) != TD_OK ||
            td_graph_generate(&graphs[i], &spec, &build, pool) != TD_OK)
            return complain("no graph", TD_INTERNAL);
    }
    td_build_options doubles = {.weights_as = TD_WEIGHT_F64};
    return td_graph_rebuild(&graphs[1], &doubles, pool) == TD_OK || complain("no graph of doubles", TD_INTERNAL);
}

/* A run that ends after so many iterations, 0: by itself, and the last checkpoint that it leaves. */
static bool add_seed(const engine *on, const td_program *program, int graph, td_mode mode, uint32_t iterations)
{
    td_run *run = NULL;
    td_run_options given = {.mode = mode, .checkpoint = state_folder, .every = 1, .each = count_row};
    char newest[512] = "";
    if (seed_count == SEEDS) return complain("too many seeds", TD_INTERNAL);
    rows_left = iterations;
    counting = iterations > 0;
    td_status status = run_on(on, program, graphs[graph], given, &run);
    td_run_destroy(run);
    if (status != TD_OK && status != TD_CANCELLED) {
        empty_folder(state_folder, NULL);
        return status == TD_USAGE || status == TD_UNSUPPORTED || complain("a run that failed", status);
    }
    empty_folder(state_folder, newest);
    seed *made = &seeds[seed_count];
    *made = (seed){.program = program, .graph = graph, .mode = mode};
    if (newest[0] != '\0' && td_checkpoint_read(newest, &made->identity, &made->state) != TD_OK)
        return complain("a seed that cannot be read", TD_CORRUPT);
    seed_count += newest[0] != '\0';
    empty_folder(state_folder, NULL);
    return true;
}

static bool make_seeds(void)
{
    for (int p = 0; td_programs[p] != NULL; p++) {
        for (int e = 0; e < 5; e++) {
            bool async = td_program_has_async(td_programs[p]) && strcmp(engines[e].name, "coop") != 0;
            td_mode mode = (p + e) % 3 == 2 && async ? TD_MODE_ASYNC : TD_MODE_SYNC;
            int graph = (p + e) % GRAPHS;
            for (uint32_t rows = 0; rows < 4; rows++)
                if (!add_seed(&engines[e], td_programs[p], (graph + (int)rows) % GRAPHS, mode, rows)) return false;
        }
    }
    printf("ok   %d checkpoints of genuine runs\n", seed_count);
    fflush(stdout);
    return seed_count > 100 || complain("too few seeds", TD_INTERNAL);
}

/* Mutations. */

typedef struct dice {
    uint64_t seed, next;
} dice;

static uint64_t draw(dice *self, uint64_t below)
{
    return td_random_below(td_random_at(self->seed, self->next++), below);
}

static uint64_t draw_word(dice *self, const td_identity *of)
{
    uint64_t n = of->vertices, m = of->edges;
    const uint64_t words[] = {0, 1, 2, 3, n - 1, n, n + 1, m - 1, m, m + 1, 0x7fffffff, 0x80000000, 0xfffffffe,
                              0xffffffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f7fffff, UINT64_MAX, UINT64_MAX - 1,
                              UINT64_C(1) << 63, UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff8000000000000),
                              UINT64_C(1) << 32, UINT64_C(0xffffffffffff)};
    uint64_t which = draw(self, sizeof words / sizeof *words + 3);
    if (which < sizeof words / sizeof *words) return words[which];
    return which % 3 == 0 ? td_random_at(self->seed, self->next++) : draw(self, n);
}

static void change_values(dice *self, const td_identity *of, td_state *state)
{
    uint32_t *words = state->values;
    uint64_t count = (uint64_t)of->vertices * of->value_bytes / sizeof *words, stride = of->value_bytes / sizeof *words;
    uint64_t a = draw(self, of->vertices) * stride, b = draw(self, of->vertices) * stride;
    switch (draw(self, 7)) {
    case 0: words[draw(self, count)] = (uint32_t)draw_word(self, of); break;
    case 1: /* the two point at each other */
        words[a] = (uint32_t)(b / stride);
        words[b] = (uint32_t)(a / stride);
        break;
    case 2: /* a chain upwards, or a ring of all */
        for (uint64_t i = 0; i < of->vertices; i++) words[i * stride] = (uint32_t)((i + 1) % of->vertices);
        break;
    case 3: {
        uint32_t all = (uint32_t)draw_word(self, of);
        for (uint64_t i = 0; i < of->vertices; i++) words[i * stride] = all;
        break;
    }
    case 4: { /* the same field of many vertices */
        uint64_t field = draw(self, stride);
        for (uint64_t i = draw(self, of->vertices); i < of->vertices; i++)
            words[i * stride + field] = (uint32_t)draw_word(self, of);
        break;
    }
    case 5: /* a key of a forest */
        for (uint64_t i = a + stride / 3; i < a + stride; i++) words[i] = (uint32_t)draw_word(self, of);
        break;
    default: words[a] = words[b];
    }
}

static void change_active(dice *self, const td_identity *of, td_state *state)
{
    uint64_t words = td_bitmap_words(of->vertices);
    switch (draw(self, 4)) {
    case 0: state->active[draw(self, words)] ^= UINT64_C(1) << draw(self, 64); break;
    case 1: memset(state->active, 0xff, words * sizeof *state->active); break;
    case 2: memset(state->active, 0, words * sizeof *state->active); break;
    default: state->active[words - 1] = td_random_at(self->seed, self->next++);
    }
    state->has_active = true;
}

static void change_edges(dice *self, const td_identity *of, td_state *state)
{
    uint64_t before = state->edge_count;
    if (draw(self, 2) == 0) state->edge_count = draw(self, (uint64_t)of->vertices + 1);
    for (uint64_t i = before; i < state->edge_count; i++) state->edges[i] = draw(self, of->edges);
    if (state->edge_count == 0) return;
    uint64_t at = draw(self, state->edge_count);
    state->edges[at] = draw(self, 2) == 0 ? draw_word(self, of) : state->edges[draw(self, state->edge_count)];
}

static void change_numbers(dice *self, const td_identity *of, td_state *state)
{
    uint64_t word = draw_word(self, of);
    switch (draw(self, 7)) {
    case 0: state->iteration = (uint32_t)word; break;
    case 1: state->phase = (uint32_t)word; break;
    case 2: memcpy(&state->global, &word, sizeof word); break;
    case 3: memcpy(&state->change, &word, sizeof word); break;
    case 4: state->converged = !state->converged; break;
    case 5: state->has_active = !state->has_active; break;
    default: state->by_levels = !state->by_levels;
    }
}

/* A word of the header, or lengths that agree with another number of vertices; under a right checksum. */
static bool change_header(dice *self, const td_identity *of, const char *path)
{
    _Alignas(8) char page[TD_OUTFILE_PAGE];
    header *head = (header *)(void *)page;
    FILE *file = fopen(path, "r+b");
    if (file == NULL || fread(page, 1, sizeof page, file) != sizeof page) return false;
    uint64_t word = draw_word(self, of), at = 16 + draw(self, (sizeof *head - 16) / 4) * 4;
    switch (draw(self, 3)) {
    case 0: memcpy(page + at, &word, 4); break;
    case 1: memcpy(page + (at & ~UINT64_C(7)), &word, 8); break;
    default: {
        uint64_t length = sizeof page;
        head->identity.vertices = (uint32_t)(draw(self, 2) == 0 ? word : draw(self, 5000));
        if (draw(self, 2) == 0) head->identity.value_bytes = (uint32_t)draw_word(self, of);
        head->bytes[TD_STATE_VALUES] = (uint64_t)head->identity.vertices * head->identity.value_bytes;
        head->bytes[TD_STATE_ACTIVE] = head->has_active ? td_bitmap_words(head->identity.vertices) * 8 : 0;
        for (int i = 0; i < TD_STATE_PARTS; i++) length += td_state_padded(head->bytes[i]);
        if (length < UINT64_C(1) << 40 && ftruncate(fileno(file), (off_t)length) != 0) length = 0; /* a sparse file */
    }
    }
    head->page_hash = 0;
    head->page_hash = td_hash64(page, sizeof page);
    rewind(file);
    bool written = fwrite(page, 1, sizeof page, file) == sizeof page;
    return fclose(file) == 0 && written;
}

static td_status copy_state(td_state *to, const seed *from)
{
    const td_identity *of = &from->identity;
    uint64_t n = of->vertices, words = td_bitmap_words(n);
    *to = (td_state){0};
    TD_CHECK(td_state_new_part(to, TD_STATE_VALUES, n * of->value_bytes));
    TD_CHECK(td_state_new_part(to, TD_STATE_ACTIVE, words * sizeof(uint64_t)));
    TD_CHECK(td_state_new_part(to, TD_STATE_EDGES, (n + 1) * sizeof(uint64_t)));
    td_state arrays = *to;
    *to = from->state;
    to->values = arrays.values, to->active = arrays.active, to->edges = arrays.edges;
    memcpy(to->sums, arrays.sums, sizeof to->sums);
    memset(to->is_summed, 0, sizeof to->is_summed);
    memcpy(to->values, from->state.values, n * of->value_bytes);
    memset(to->active, 0, words * sizeof(uint64_t));
    if (from->state.has_active) memcpy(to->active, from->state.active, words * sizeof(uint64_t));
    memcpy(to->edges, from->state.edges, from->state.edge_count * sizeof(uint64_t));
    return TD_OK;
}

static bool forge(dice *self, const seed *from, const char *path)
{
    td_state state = {0};
    uint64_t bytes, changes = 1 + draw(self, 3);
    bool in_header = false;
    td_status status = copy_state(&state, from);
    for (uint64_t i = 0; i < changes && status == TD_OK; i++) {
        uint64_t kind = draw(self, 10);
        if (kind < 4) change_values(self, &from->identity, &state);
        else if (kind < 6) change_active(self, &from->identity, &state);
        else if (kind < 7) change_edges(self, &from->identity, &state);
        else if (kind < 9) change_numbers(self, &from->identity, &state);
        else in_header = true;
    }
    if (status == TD_OK) status = td_checkpoint_write(path, &from->identity, &state, &bytes);
    td_state_clear(&state);
    if (status != TD_OK) return complain("a checkpoint that cannot be written", status);
    return !in_header || change_header(self, &from->identity, path);
}

/* Whatever can be asked of a result is asked: its answers may be wrong, reading them may not. */
static void use_result(const td_run *run)
{
    td_run_summary summary;
    td_top *top = NULL;
    uint64_t count = 0;
    const char *claims = NULL;
    (void)td_run_summarise(run, pool, &summary);
    if (td_run_top(run, pool, 5, &top, &count) == TD_OK) td_free(top);
    if (run->iterations < MOST_REPLAYED) (void)td_run_verify(run, pool, &claims); /* some verifiers repeat them all */
}

static bool resume_on(const engine *on, const seed *of, dice *self, const char *path, bool genuine, bool *finished)
{
    td_run *run = NULL;
    td_run_options given = {.mode = of->mode, .resume = state_folder, .each = count_row};
    given.parents = of->program->info->gives_parents && draw(self, 3) == 0;
    if (draw(self, 3) == 0) given.checkpoint = next_folder;
    given.every = 1;
    uint64_t held = td_memory().now;
    td_message_set("");
    td_memory_set_budget(held + ((uint64_t)BUDGET_MIB << 20));
    /* What converges step by step may take thousands of iterations; what ends by itself takes few. */
    bool limited = of->program->info->iterations > 0;
    counting = true;
    rows_left = limited ? MOST_ROWS : ENDLESS_ROWS;
    td_status status = run_on(on, of->program, graphs[of->graph], given, &run);
    bool fine = rows_left > 0 || limited || complain("a run without an end", status);
    *finished = status == TD_OK;
    if (status == TD_OK) use_result(run);
    else if (td_last_message()[0] == '\0') fine = complain("a failure without a message", status);
    else if (status == TD_INTERNAL) fine = complain("an internal error", status);
    else if (status == TD_NO_MEMORY) fine = complain("a forged length that was believed", status);
    else if (status == TD_CORRUPT && strstr(td_last_message(), path) == NULL)
        fine = complain("a message that does not name the file", status);
    bool stopped = limited && rows_left == 0;
    if (genuine && status != TD_OK && !stopped) fine = complain("a genuine checkpoint that was refused", status);
    td_run_destroy(run);
    td_memory_set_budget(0);
    if (td_memory().now != held) fine = complain("memory is still held", status);
    empty_folder(next_folder, NULL);
    return fine;
}

/* Attempts 0 .. seeds - 1 are the checkpoints as they are, which must be taken. */
static bool try_one(const options *given, uint64_t attempt, uint64_t *finished)
{
    dice self = {td_random_at(given->seed, attempt), 0};
    bool genuine = attempt < (uint64_t)seed_count, ended = false;
    const seed *of = &seeds[genuine ? attempt : draw(&self, (uint64_t)seed_count)];
    const engine *on = &engines[genuine ? attempt / 3 % ENGINES : draw(&self, ENGINES)];
    char path[512];
    pool = pools[attempt % 2];
    snprintf(repeat_line, sizeof repeat_line,
             "fuzz: repeat with --seed %" PRIu64 " --first %" PRIu64 " --attempts 1 (%s on %s)\n", given->seed, attempt,
             of->program->info->name, on->name);
    snprintf(path, sizeof path, "%s/checkpoint-00000001.tdck", state_folder);
    fuzz_limit(HANG_SECONDS);
    bool fine;
    if (genuine) {
        td_state state = {0};
        uint64_t bytes;
        td_status status = copy_state(&state, of);
        if (status == TD_OK) status = td_checkpoint_write(path, &of->identity, &state, &bytes);
        td_state_clear(&state);
        fine = status == TD_OK;
    } else {
        fine = forge(&self, of, path);
    }
    fine = fine && resume_on(on, of, &self, path, genuine, &ended);
    *finished += ended;
    fuzz_limit(0);
    empty_folder(state_folder, NULL);
    if (!fine) say_where();
    return fine;
}

static bool fuzz(const options *given)
{
    uint64_t tries = 0, finished = 0;
    double start = fuzz_processor_seconds();
    bool fine = true;
    while (fine && (given->attempts == 0 || tries < given->attempts) &&
           (given->attempts != 0 || fuzz_processor_seconds() - start < (double)given->seconds))
        fine = try_one(given, given->first + tries++, &finished);
    printf("%s checkpoints: %" PRIu64 " attempts, %" PRIu64 " of them finished runs\n", fine ? "ok  " : "FAIL", tries,
           finished);
    return fine;
}

static bool parse(int argc, char **argv, options *given)
{
    *given = (options){.seconds = 1, .seed = 1};
    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t *number = strcmp(argv[i], "--seconds") == 0    ? &given->seconds
                           : strcmp(argv[i], "--seed") == 0     ? &given->seed
                           : strcmp(argv[i], "--first") == 0    ? &given->first
                           : strcmp(argv[i], "--attempts") == 0 ? &given->attempts
                                                                : NULL;
        if (number == NULL || td_parse_u64(argv[i + 1], number) != TD_OK) return false;
    }
    return argc % 2 == 1;
}

int main(int argc, char **argv)
{
    options given;
    if (!parse(argc, argv, &given)) {
        fprintf(stderr, "usage: fuzz_checkpoints [--seconds S] [--seed N] [--first I] [--attempts K]\n");
        return 2;
    }
    td_log_set_level(TD_LOG_QUIET);
    watch_for_death();
    bool fine = open_folders() && open_pools() && make_graphs() && make_seeds() && fuzz(&given);
    for (int i = 0; i < seed_count; i++) td_state_clear(&seeds[i].state);
    for (int i = 0; i < GRAPHS; i++) td_graph_destroy(graphs[i]);
    td_pool_destroy(pools[0]);
    td_pool_destroy(pools[1]);
    close_folders();
    return fine ? 0 : 1;
}
