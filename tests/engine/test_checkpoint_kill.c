/* Runs that are killed (SIGKILL) at random moments, or at a step of writing a checkpoint, and then go on: the answer is
 * that of a run nobody killed. A run is killed several times on its way, and every process that goes on may be on
 * another engine. TANDEM_TEST_ALL=1 in the environment: several hundred kills instead of some forty. */
#include "engine/ways.h"

#include "base/clock.h"
#include "base/outfile.h"
#include "base/random.h"
#include "store/gen.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

__attribute__((constructor)) static void choose_folder(void)
{
    if (getenv("TMPDIR") == NULL && access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1);
}

typedef struct victim {
    const char *program, *settings;
    const char *generator; /* of the graph */
    uint64_t size;         /* width of a grid, scale of an rmat */
    uint32_t iterations;   /* 0: to the end */
    double tolerance;      /* of reals */
    const char *engine;    /* NULL: cpu */
} victim;

static const victim victims[] = {
    {"sssp", "", "grid", 250, 0, 0, NULL},
    {"bfs", "", "grid", 250, 0, 0, NULL},
    {"labels", "", "grid", 100, 0, 0, NULL},
    {"kcore", "", "rmat", 14, 0, 0, NULL},
    {"mst", "", "rmat", 14, 0, 0, NULL},
    {"wcc", "", "rmat", 14, 0, 0, NULL},
    {"pagerank", "", "rmat", 13, 60, 1e-5, NULL},
    {"heat", "", "grid", 100, 100, 1e-5, NULL},
    {"circuit", "", "grid", 60, 150, 1e-9, NULL},
    {"sssp", "", "grid", 16, 0, 0, "resident"},
    {"kcore", "", "rmat", 9, 0, 0, "stream"},
    {"pagerank", "", "rmat", 10, 12, 1e-5, "stream"},
    {"mst", "", "rmat", 8, 0, 0, "resident"},
    {"mst", "", "rmat", 9, 0, 0, "stream"},
    {"bfs", "", "grid", 40, 0, 0, "hybrid"},
    {"labels", "", "grid", 30, 0, 0, "coop"},
    {"pagerank", "", "rmat", 10, 20, 1e-5, "coop"},
    {"adsorption", "", "rmat", 10, 40, 1e-5, "hybrid"},
    {"sssp", "", "grid", 16, 0, 0, "multi"},
    {"kcore", "", "rmat", 9, 0, 0, "multi"},
    {"mst", "", "rmat", 8, 0, 0, "multi"},
    {"pagerank", "", "rmat", 10, 12, 1e-5, "multi"},
};
enum { VICTIMS = sizeof victims / sizeof *victims };

typedef struct crime {
    const victim *victim;
    td_graph *graph;
    char folder[300];
    double seconds; /* of a run that nobody kills */
    td_run *wanted;
    uint64_t seed, drawn;
    int kills, in_writing, ends; /* processes killed, of them with a file half written, and those that were too late */
} crime;

static uint64_t draw(crime *self, uint64_t below)
{
    return td_random_below(td_random_at(self->seed, self->drawn++), below);
}

static td_run_options options_of(const crime *self, td_pool *pool)
{
    const td_program_info *info = program_of(self->victim->program)->info;
    return (td_run_options){.pool = pool, .has_source = info->needs_source, .source = 0, .parents = info->gives_parents,
                            .has_iterations = self->victim->iterations > 0, .iterations = self->victim->iterations};
}

static void choose_engine(td_run_options *options, const char *engine)
{
    options->engine = engine;
    bool gpu = engine != NULL && strcmp(engine, "hybrid") != 0;
    bool several = engine != NULL && strcmp(engine, "multi") == 0;
    if (gpu) options->devices = several ? "emu:3@unchecked" : "emu:1@unchecked";
    if (gpu && !several && strcmp(engine, "resident") != 0) options->gpu_edges = 0.5;
}

/* What a process that is to be killed does. */
static void live(const crime *self, uint64_t kill_step)
{
    td_pool *pool = NULL;
    td_run *run = NULL;
    if (td_pool_create(&pool, 2) != TD_OK) _exit(3);
    td_run_options options = options_of(self, pool);
    options.checkpoint = options.resume = self->folder;
    options.every = 1;
    choose_engine(&options, self->victim->engine);
    if (kill_step > 0) td_outfile_fail_at(kill_step, TD_OUTFILE_KILL);
    td_status status = try_run(&run, self->victim->program, self->graph, options, self->victim->settings);
    if (status != TD_OK) fprintf(stderr, "%s: %s\n", self->victim->program, td_last_message());
    _exit(status == TD_OK ? 0 : 4);
}

static int count_files(const char *folder, const char *ending)
{
    int count = 0;
    DIR *open = opendir(folder);
    CHECK(open != NULL);
    for (const struct dirent *entry; (entry = readdir(open)) != NULL;) {
        size_t length = strlen(entry->d_name), tail = strlen(ending);
        count += length > tail && strcmp(entry->d_name + length - tail, ending) == 0;
    }
    closedir(open);
    return count;
}

/* Half of the kills fall anywhere in a run's time, half at a step of writing. */
static void kill_one(crime *self)
{
    bool at_step = draw(self, 2) == 0;
    uint64_t step = at_step ? 1 + draw(self, 40) : 0, after = 1 + draw(self, (uint64_t)(self->seconds * 1.5e6) + 1);
    int status;
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) live(self, step);
    if (!at_step) {
        usleep((useconds_t)after);
        kill(child, SIGKILL);
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) TEST_FAIL("%s fails", self->victim->program);
    self->kills += WIFSIGNALED(status);
    self->ends += WIFEXITED(status);
    self->in_writing += WIFSIGNALED(status) && count_files(self->folder, ".tmp") > 0;
    if (count_files(self->folder, ".tdck") > 3)
        TEST_FAIL("%s: more than two checkpoints are kept", self->victim->program);
}

static void check_same(const crime *self, const td_run *run)
{
    const td_run *wanted = self->wanted;
    CHECK_EQ(run->converged, wanted->converged);
    for (uint32_t v = 0; v < self->graph->vertices; v++) {
        bool same = run->kind == TD_VALUE_U32 ? ((uint32_t *)run->values)[v] == ((uint32_t *)wanted->values)[v]
                    : run->kind == TD_VALUE_F32
                        ? fabsf(((float *)run->values)[v] - ((float *)wanted->values)[v]) <=
                              self->victim->tolerance * fabsf(((float *)wanted->values)[v]) + 1e-9
                        : fabs(((double *)run->values)[v] - ((double *)wanted->values)[v]) <= self->victim->tolerance;
        if (!same) TEST_FAIL("%s: vertex %u differs from the run that nobody killed", self->victim->program, v);
    }
    CHECK_EQ(run->edge_count, wanted->edge_count);
    for (uint64_t i = 0; i < run->edge_count; i++) CHECK_EQ(run->edges[i], wanted->edges[i]);
    if (run->iterations != wanted->iterations && self->victim->iterations > 0)
        TEST_FAIL("%s: %u iterations, not %u", self->victim->program, run->iterations, wanted->iterations);
}

/* To the end: on the cpu, where the graph is small also on others. */
static void survive(crime *self, int turn)
{
    static const char *const engines[] = {NULL, "resident", "stream", "hybrid", "coop", "multi"};
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    td_run_options options = options_of(self, pool);
    options.checkpoint = options.resume = self->folder;
    if (self->victim->engine != NULL) choose_engine(&options, engines[turn % 6]);
    td_run *run = run_of(self->victim->program, self->graph, options, self->victim->settings);
    check_same(self, run);
    CHECK_EQ(count_files(self->folder, ".tmp"), 0);
    td_run_destroy(run);
    td_pool_destroy(pool);
}

/* How long a run takes with nobody after it, and what it finds. */
static void observe(crime *self)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 2));
    uint64_t began = td_clock_ns();
    td_run_options options = options_of(self, pool);
    choose_engine(&options, self->victim->engine);
    self->wanted = run_of(self->victim->program, self->graph, options, self->victim->settings);
    self->seconds = td_seconds_since(began) + 0.003;
    td_pool_destroy(pool); /* no thread is there when the process is copied */
}

static void make_graph(crime *self)
{
    td_pool *pool = NULL;
    td_gen_spec spec = {.kind = self->victim->generator, .seed = 5, .rewire = -1};
    td_build_options build = {0};
    if (strcmp(spec.kind, "grid") == 0) spec.width = self->victim->size;
    else spec.scale = self->victim->size, spec.degree = 8;
    CHECK_OK(td_parse_weights("1:100", &build));
    CHECK_OK(td_pool_create(&pool, 2));
    CHECK_OK(td_graph_generate(&self->graph, &spec, &build, pool));
    td_pool_destroy(pool);
}

/* One process after another takes the run on and is killed; then one is left alone. */
static void chase(crime *self, int rounds)
{
    char command[400];
    make_graph(self);
    observe(self);
    for (int i = 0; i < rounds; i++) {
        CHECK(mkdir(self->folder, 0700) == 0);
        uint64_t times = 1 + draw(self, 4);
        for (uint64_t k = 0; k < times; k++) kill_one(self);
        survive(self, i);
        snprintf(command, sizeof command, "rm -rf '%s'", self->folder);
        CHECK(system(command) == 0);
    }
    td_run_destroy(self->wanted);
    td_graph_destroy(self->graph);
}

TEST(a_killed_run_goes_on_to_the_same_answer)
{
    bool all = getenv("TANDEM_TEST_ALL") != NULL;
    int kills = 0, in_writing = 0, ends = 0;
    td_log_set_level(TD_LOG_WARN);
    for (int i = 0; i < VICTIMS; i++) {
        crime self = {.victim = &victims[i], .seed = 100 + (uint64_t)i};
        snprintf(self.folder, sizeof self.folder, "%s/victim%d", test_folder(), i);
        chase(&self, all ? 20 : 3);
        kills += self.kills;
        in_writing += self.in_writing;
        ends += self.ends;
    }
    printf("     %d processes killed, %d of them in the middle of writing; %d were through before\n", kills, in_writing,
           ends);
    CHECK(kills >= (all ? 200 : 20));
    CHECK(in_writing >= (all ? 50 : 5));
}

TEST_MAIN
