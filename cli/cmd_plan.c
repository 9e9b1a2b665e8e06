/* `tandem plan`: the engines that could run a program on a graph file, with the time and the memory that each would
 * take, the choice, and what would change it. Nothing is loaded, and no device is opened. */
#include "command.h"
#include "gpu_edges.h"
#include "info_paths.h"
#include "output.h"
#include "plan_text.h"
#include "report.h"
#include "run_text.h"
#include "standard_input.h"

#include "base/alloc.h"
#include "base/log.h"

#include <stdio.h>

typedef struct plan_settings {
    td_common common;
    const char *source, *engine, *devices, *gpu_edges;
    uint64_t gpu_memory, iterations, repeat;
    double tolerance;
    td_arg_pairs set;
} plan_settings;

static const plan_settings defaults = {.tolerance = -1, .repeat = 1};

#define OPTION(...) TD_OPTION(plan_settings, __VA_ARGS__)

static const td_arg_option options[] = {
    OPTION("engine", TEXT, engine, "E", "the engine: {} (default: auto)", .names = td_engine_name),
    OPTION("devices", TEXT, devices, "LIST", "the devices that the run may use (default: cpu and cuda:0)"),
    OPTION("gpu-memory", SIZE, gpu_memory, "SIZE", "limit on a GPU's memory: 4G, 512M", .least = 1, .most = 0x1p62),
    OPTION("gpu-edges", TEXT, gpu_edges, "SHARE", "limit on edges in a GPU's memory: 25% of what the engine keeps of them, or a size"),
    OPTION("source", TEXT, source, "ID", "the vertex to start from; any if it is left out", .letter = 's'),
    OPTION("iterations", COUNT, iterations, "N", "upper limit on iterations", .least = 1, .most = 1e9),
    OPTION("tolerance", REAL, tolerance, "T", "converged when an iteration changes the values by no more", .most = 1e9),
    OPTION("repeat", COUNT, repeat, "N", "runs that share loading and preparing", .least = 1, .most = 1e6),
    OPTION("set", PAIRS, set, "KEY=VALUE", "a parameter of the program or the engine; may be repeated"),
    {0},
};

typedef struct planning {
    const plan_settings *settings;
    const char *program, *path;
    const char **set;
    td_session *session;
    td_estimates *estimates;
} planning;

/* A search is planned from any vertex: its estimate depends on the graph. */
static td_status fill_request(planning *self, td_request *out)
{
    const plan_settings *s = self->settings;
    td_program_facts facts = {.size = sizeof facts};
    if (td_program_describe(self->program, &facts) != TD_OK) return td_unknown_program(self->program, self->path);
    TD_CHECK(td_settings_list(&s->set, &self->set));
    *out = (td_request){.size = sizeof *out, .has_iterations = s->iterations > 0, .iterations = (uint32_t)s->iterations,
                        .has_tolerance = s->tolerance >= 0, .tolerance = s->tolerance, .engine = s->engine,
                        .settings = self->set, .devices = s->devices, .gpu_memory = s->gpu_memory,
                        .source_name = s->source, .runs = s->repeat};
    if (s->source == NULL && facts.needs_source) out->has_source = true;
    return td_gpu_edges_parse(s->gpu_edges, &out->gpu_edges);
}

static td_status plan(planning *self, td_report *out)
{
    const td_common *common = &self->settings->common;
    td_request request;
    TD_CHECK(td_common_session(common, &self->session));
    TD_CHECK(fill_request(self, &request));
    TD_CHECK(td_report_check_target(common, self->path));
    TD_CHECK(td_file_estimate(self->session, self->path, self->program, &request, &self->estimates));
    if (td_report_leaves_stdout(common)) td_estimates_print(self->estimates);
    if (common->json == NULL) return TD_OK;
    TD_CHECK(td_report_begin(out, common->json, "plan", td_session_threads(self->session)));
    td_json_string(&out->json, "program", self->program);
    td_json_string(&out->json, "input", td_shown_path(self->path));
    td_json_u64(&out->json, "runs", self->settings->repeat);
    td_estimates_json(&out->json, self->estimates);
    return TD_OK;
}

static td_status run_plan(const td_args *args, void *settings)
{
    planning self = {.settings = settings, .program = args->words[0], .path = args->words[1]};
    td_report out = {0};
    td_status status = plan(&self, &out);
    td_estimates_destroy(self.estimates);
    td_session_destroy(self.session);
    td_free(self.set);
    return td_report_end(&out, status);
}

const td_command td_cmd_plan = {
    .name = "plan",
    .summary = "which engine would run a program, how long and in how much memory",
    .positional = "PROGRAM FILE",
    .least = 2,
    .most = 2,
    .options = options,
    .settings_bytes = sizeof(plan_settings),
    .defaults = &defaults,
    .run = run_plan,
    .details =
        "Prints every engine with the expected time to the answer and its phases, memory of the host and of the GPU, "
        "or the reason why it cannot run; the star marks the engine that 'tandem run' would choose. The lines below state "
        "the reason, and what would change the choice. Only the file's header and a few lists are read, and no device is "
        "opened.\n"
        "Times are estimated from rates of this machine, which 'tandem calibrate' measures once (without it: those of "
        "a machine with 16 cores and an H200, converted to the number of threads), and from earlier runs on the same "
        "file. docs/guide/planning.md describes the model.",
    .examples = "tandem plan sssp g.tg\n"
                "tandem plan pagerank g.tg --repeat 10 --gpu-memory 8G\n"
                "tandem plan bfs g.tg --devices cpu --json",
};
