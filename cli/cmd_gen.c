/* `tandem gen`: generates a graph from a seed. */
#include "build_settings.h"
#include "graph_text.h"
#include "ordering.h"
#include "output.h"
#include "outside.h"
#include "report.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/size.h"
#include "store/formats/format.h"
#include "store/gen.h"

#include <inttypes.h>
#include <string.h>

#define NO_SEED UINT64_MAX
#define LARGEST_SEED 0x1p63
enum { EDGE_BYTES = 8 }; /* two ends */
#define MOST_VERTICES 4294967294.0

typedef struct gen_settings {
    td_build_settings build;
    const char *output, *format, *stripe, *temporary;
    td_gen_spec spec;
} gen_settings;

#define OPTION(...) TD_OPTION(gen_settings, __VA_ARGS__)

static const td_arg_option options[] = {
    OPTION("output", TEXT, output, "FILE", "the file to write; its suffix determines the format", .letter = 'o'),
    OPTION("to", TEXT, format, "F", "format of the output (default: by suffix)", .excludes = "format"),
    OPTION("format", TEXT, format, "F", "the same as --to"),
    OPTION("stripe", TEXT, stripe, "DIRS", "dir1,dir2,...: spread the edges of a .tg over one file in each directory"),
    OPTION("temp", TEXT, temporary, "DIR",
           "folder for temporary files when memory is short (default: that of the output)"),
    OPTION("seed", COUNT, spec.seed, "N", "seed of the random numbers (default: 1)",
           .most = LARGEST_SEED),
    OPTION("scale", COUNT, spec.scale, "N", "2^N vertices", .excludes = "vertices", .least = 1, .most = 31),
    OPTION("vertices", COUNT, spec.vertices, "N", "number of vertices", .least = 1, .most = MOST_VERTICES),
    OPTION("degree", REAL, spec.degree, "D", "edges per vertex, before duplicates and loops are dropped",
           .least = 1e-9, .most = 1e9),
    OPTION("a", REAL, spec.a, "P", "rmat: share of the first quadrant (default: 0.57)", .least = 1e-9, .most = 1),
    OPTION("b", REAL, spec.b, "P", "rmat: share of the second quadrant (default: 0.19)", .least = 1e-9, .most = 1),
    OPTION("c", REAL, spec.c, "P", "rmat: share of the third quadrant (default: 0.19)", .least = 1e-9, .most = 1),
    OPTION("width", COUNT, spec.width, "N", "grid: columns; layered: vertices per layer", .least = 1,
           .most = MOST_VERTICES),
    OPTION("height", COUNT, spec.height, "N", "grid: rows (default: the width)", .least = 1, .most = MOST_VERTICES),
    OPTION("layers", COUNT, spec.layers, "N", "layered: number of layers", .least = 1, .most = MOST_VERTICES),
    OPTION("rewire", REAL, spec.rewire, "P", "smallworld: probability that an edge is rewired at random", .most = 1),
    OPTION("arity", COUNT, spec.arity, "N", "tree: children per vertex", .least = 1, .most = MOST_VERTICES),
    OPTION("hosts", COUNT, spec.hosts, "N", "web: number of hosts", .least = 1, .most = MOST_VERTICES),
    OPTION("shuffle", FLAG, spec.shuffle, NULL, "number the vertices at random"),
    {0},
};

static const gen_settings defaults = {.spec = {.seed = NO_SEED, .rewire = -1}};

/* The kinds of graphs, as candidates for a mistyped one. */
static const char *kind_name(const void *unused, int index)
{
    (void)unused;
    return td_generators[index].kind;
}

/* A named graph has fixed parameters; only the seed, --shuffle and the builder's options may be given. */
static td_status refuse_parameters(const gen_settings *s, const char *name)
{
    for (const td_arg_option *option = options; option->name != NULL; option++) {
        bool number = option->kind == TD_ARG_COUNT || option->kind == TD_ARG_REAL;
        if (!number || strcmp(option->name, "seed") == 0) continue;
        if (memcmp((const char *)s + option->at, (const char *)&defaults + option->at, sizeof(uint64_t)) != 0)
            return td_fail(TD_USAGE, "--%s cannot change the named graph '%s'", option->name, name);
    }
    return TD_OK;
}

static td_status check_spec(const td_gen_spec *spec, td_gen_size *size)
{
    td_status status = td_gen_check(spec, size);
    if (status == TD_INVALID || status == TD_LIMIT) return td_fail(TD_USAGE, "%s", td_last_message());
    return status;
}

/* Refuses a graph whose edge list alone does not fit. */
static td_status make_spec(const gen_settings *s, const char *kind, td_gen_spec *spec, td_build_options *build)
{
    if (td_gen_named(kind, spec, build)) {
        TD_CHECK(refuse_parameters(s, kind));
        spec->shuffle |= s->spec.shuffle;
    } else {
        if (td_generator_named(kind) == NULL)
            return td_fail_unknown("kind of graph", kind, "generators", kind_name, NULL);
        *spec = s->spec;
        spec->kind = kind;
        spec->seed = build->weight_seed = 1;
    }
    if (s->spec.seed != NO_SEED) spec->seed = build->weight_seed = s->spec.seed;
    return td_build_settings_apply(&s->build, build);
}

/* One generation: its data, and the times of its phases. */
typedef struct making {
    const gen_settings *settings;
    const char *kind;
    td_ordering ordering;
    td_pool *pool;
    td_graph *graph;
    uint64_t seed, peak, digest;
    double make_seconds, write_seconds;
    bool is_outside; /* built out of memory, by `outside` */
    td_outside outside;
} making;

static void show(const making *job)
{
    char graph[TD_GRAPH_TEXT], order[TD_ORDERING_TEXT], written[TD_WRITTEN_TEXT], peak[TD_NUMBER_BYTES];
    td_info("%s, seed %" PRIu64 ": %s", job->kind, job->seed, td_graph_text(graph, job->graph));
    if (job->is_outside) td_outside_show(&job->outside);
    else
        td_info("made in %.3f s,%s written in %.3f s, peak memory %s, digest %016" PRIx64, job->make_seconds,
                td_ordering_text(order, &job->ordering), job->write_seconds, td_format_size(peak, job->peak),
                job->digest);
    td_info("%s", td_written_text(written, job->settings->output));
}

static void report(td_json *json, const making *job)
{
    td_json_string(json, "kind", job->kind);
    td_json_u64(json, "seed", job->seed);
    td_written_json(json, job->settings->output);
    td_graph_json(json, job->graph);
    td_json_real(json, "seconds", job->make_seconds + job->ordering.seconds + job->write_seconds);
    td_json_real(json, "make_seconds", job->make_seconds);
    td_ordering_json(json, &job->ordering);
    td_json_real(json, "write_seconds", job->write_seconds);
    td_memory_json(json, job->graph, job->peak);
    if (job->is_outside) td_outside_json(json, &job->outside);
    else td_json_hex(json, "digest", job->digest);
}

static td_status fill_list(void *context, td_edge_list *edges, td_pool *pool)
{
    const td_gen_spec *spec = context;
    return td_generator_named(spec->kind)->fill(spec, edges, pool);
}

/* Whether the graph may be built out of memory: the output is a .tg, and no option needs the whole graph in memory. */
static bool may_go_outside(const making *job)
{
    const td_format *format = NULL;
    const gen_settings *s = job->settings;
    if (job->ordering.order != TD_ORDER_NONE) return false;
    return td_format_for_output(s->output, s->format, &format) == TD_OK && format == &td_format_tg;
}

static td_status make_outside(making *job, const td_gen_spec *spec, td_gen_size size, const td_build_options *build)
{
    const gen_settings *s = job->settings;
    uint64_t start = td_clock_ns();
    job->is_outside = true;
    job->outside = (td_outside){.output = s->output, .stripes = s->stripe,
                                .temporary = s->temporary, .build = build, .expected_edges = size.edges,
                                .pool = job->pool};
    TD_CHECK(td_outside_build(&job->outside, spec->kind, fill_list, (void *)spec));
    job->graph = job->outside.graph;
    job->make_seconds = td_seconds_since(start);
    return TD_OK;
}

static td_status make_inside(making *job, const td_gen_spec *spec, const td_build_options *build)
{
    const gen_settings *s = job->settings;
    uint64_t start = td_clock_ns();
    TD_CHECK(td_graph_generate(&job->graph, spec, build, job->pool));
    job->make_seconds = td_seconds_since(start);
    TD_CHECK(td_ordering_apply(&job->ordering, &job->graph, job->pool));
    TD_CHECK(td_graph_digest(job->graph, job->pool, &job->digest));
    start = td_clock_ns();
    TD_CHECK(td_output_write(job->graph, s->output, s->format, s->stripe, job->pool));
    job->write_seconds = td_seconds_since(start);
    return TD_OK;
}

/* Builds in memory or out of memory; the size is known before the first edge is drawn. */
static td_status make_somewhere(making *job, const td_gen_spec *spec, td_gen_size size, const td_build_options *build)
{
    uint64_t budget = td_memory().budget;
    int threads = td_pool_threads(job->pool);
    bool hopeless = budget != 0 && size.edges > budget / EDGE_BYTES;
    bool possible = td_outside_possible(threads); /* before anything is allocated */
    bool outside = possible && may_go_outside(job) && td_outside_needed(size.vertices, size.edges, true, build);
    td_status status = outside    ? make_outside(job, spec, size, build)
                       : hopeless ? TD_NO_MEMORY
                                  : make_inside(job, spec, build);
    if (status != TD_NO_MEMORY || budget == 0) return status;
    return td_outside_too_small(td_inside_bytes(size.vertices, size.edges, true, build), job->settings->output,
                                threads, may_go_outside(job));
}

static td_status make(making *job, const td_gen_spec *spec, td_gen_size size, const td_build_options *build,
                      td_report *out)
{
    const td_common *common = &job->settings->build.common;
    TD_CHECK(td_common_pool(common, &job->pool));
    TD_CHECK(make_somewhere(job, spec, size, build));
    job->peak = td_memory().peak;
    show(job);
    if (common->json == NULL) return TD_OK;
    TD_CHECK(td_report_begin(out, common->json, "gen", td_pool_threads(job->pool)));
    report(&out->json, job);
    return TD_OK;
}

static td_status run_gen(const td_args *args, void *settings)
{
    const gen_settings *s = settings;
    making job = {.settings = s, .kind = args->words[0]};
    td_gen_spec spec = {0};
    td_build_options build = {0};
    td_gen_size size = {0, 0};
    td_report out = {0};
    TD_CHECK(make_spec(s, job.kind, &spec, &build));
    TD_CHECK(check_spec(&spec, &size));
    TD_CHECK(td_ordering_choose(&job.ordering, s->build.order, spec.seed));
    TD_CHECK(td_output_check(&s->build.common, s->output, s->format));
    TD_CHECK(td_output_check_stripes(s->output, s->format, s->stripe));
    TD_CHECK(td_output_check_temporary(s->temporary));
    job.seed = spec.seed;
    td_status status = make(&job, &spec, size, &build, &out);
    td_graph_destroy(job.graph);
    td_pool_destroy(job.pool);
    return td_report_end(&out, status);
}

const td_command td_cmd_gen = {
    .name = "gen",
    .summary = "generate a graph from a seed",
    .positional = "KIND|NAME",
    .least = 1,
    .most = 1,
    .options = options,
    .shared = td_build_settings_options,
    .settings_bytes = sizeof(gen_settings),
    .defaults = &defaults,
    .run = run_gen,
    .details = "The graph depends on the kind, its parameters and the seed, never on the number of threads. "
               "'tandem help generators' lists the kinds, their parameters and the names of ready-made graphs.",
    .examples = "tandem gen rmat --scale 22 --degree 16 --weights 1:100 --seed 7 -o g.tg\n"
                "tandem gen grid --width 1000 --height 800 -o road.tg\n"
                "tandem gen k20 -o k20.tg",
};
