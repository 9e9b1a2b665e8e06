/* `tandem gen`: generates a graph from a seed. */
#include "build_settings.h"
#include "graph_text.h"
#include "made_text.h"
#include "ordering.h"
#include "output.h"
#include "report.h"

#include "base/log.h"
#include "base/size.h"

#include <inttypes.h>
#include <string.h>

#define NO_SEED UINT64_MAX
#define LARGEST_SEED 0x1p63
#define MOST_VERTICES 4294967294.0

typedef struct gen_settings {
    td_build_settings build;
    const char *output, *format, *stripe, *temporary;
    td_generation spec;
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
    return td_generator_kind(index);
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

/* One generation: the request, and what was done. */
typedef struct making {
    const gen_settings *settings;
    td_generation spec;
    td_graph_options options;
    td_ordering ordering;
    td_session *session;
    td_graph *graph;
    td_made made;
    uint64_t seed, digest;
} making;

static td_status make_spec(making *job)
{
    const gen_settings *s = job->settings;
    td_generator_facts facts = {.size = sizeof facts};
    const char *kind = job->spec.kind;
    if (td_generator_fixed(kind)) TD_CHECK(refuse_parameters(s, kind));
    else if (td_generator_describe(kind, &facts) != TD_OK)
        return td_fail_unknown("kind of graph", kind, "generators", kind_name, NULL);
    job->spec.has_seed = s->spec.seed != NO_SEED;
    job->spec.has_rewire = s->spec.rewire != -1;
    td_status status = td_generation_check(job->session, &job->spec);
    if (status == TD_INVALID || status == TD_LIMIT) status = TD_USAGE;
    if (status != TD_OK) return status;
    job->seed = td_generation_seed(&job->spec);
    return td_build_settings_apply(&s->build, &job->options);
}

static void show(const making *job)
{
    const td_made *made = &job->made;
    char graph[TD_GRAPH_TEXT], order[TD_ORDERING_TEXT], written[TD_WRITTEN_TEXT], peak[TD_NUMBER_BYTES];
    td_info("%s, seed %" PRIu64 ": %s", job->spec.kind, job->seed, td_graph_text(graph, job->graph));
    if (made->out_of_memory) td_show_out_of_memory(made);
    else
        td_info("made in %.3f s,%s written in %.3f s, peak memory %s, digest %016" PRIx64, made->build_seconds,
                td_ordering_text(order, &job->ordering), made->write_seconds, td_format_size(peak, made->peak),
                job->digest);
    td_info("%s", td_written_text(written, job->settings->output));
}

static void report(td_json *json, const making *job)
{
    const td_made *made = &job->made;
    td_json_string(json, "kind", job->spec.kind);
    td_json_u64(json, "seed", job->seed);
    td_written_json(json, job->settings->output);
    td_graph_json(json, job->graph);
    td_json_real(json, "seconds", made->build_seconds + made->order_seconds + made->write_seconds);
    td_json_real(json, "make_seconds", made->build_seconds);
    td_ordering_json(json, &job->ordering);
    td_json_real(json, "write_seconds", made->write_seconds);
    td_memory_json(json, job->graph, made->peak);
    if (made->out_of_memory) td_json_out_of_memory(json, made);
    else td_json_hex(json, "digest", job->digest);
}

static td_status make(making *job, td_report *out)
{
    const gen_settings *s = job->settings;
    td_file_options file = {.size = sizeof file, .to = s->format, .stripes = s->stripe, .temporary = s->temporary,
                            .order = job->ordering.order, .order_seed = job->seed};
    job->made.size = sizeof job->made;
    TD_CHECK(td_file_generate(job->session, &job->spec, s->output, &job->options, &file, &job->made, &job->graph));
    job->ordering.seconds = job->made.order_seconds;
    if (!job->made.out_of_memory) TD_CHECK(td_graph_digest_of(job->session, job->graph, &job->digest));
    show(job);
    if (s->build.common.json == NULL) return TD_OK;
    TD_CHECK(td_report_begin(out, s->build.common.json, "gen", td_session_threads(job->session)));
    report(&out->json, job);
    return TD_OK;
}

static td_status check_line(making *job)
{
    const gen_settings *s = job->settings;
    TD_CHECK(make_spec(job));
    TD_CHECK(td_ordering_choose(&job->ordering, s->build.order, job->seed));
    TD_CHECK(td_output_check(&s->build.common, s->output, s->format));
    TD_CHECK(td_output_check_stripes(s->output, s->format, s->stripe));
    return td_output_check_temporary(s->temporary);
}

static td_status run_gen(const td_args *args, void *settings)
{
    const gen_settings *s = settings;
    making job = {.settings = s, .spec = s->spec};
    td_report out = {0};
    job.spec.size = sizeof job.spec;
    job.spec.kind = args->words[0];
    td_status status = td_common_session(&s->build.common, &job.session);
    if (status == TD_OK) status = check_line(&job);
    if (status == TD_OK) status = make(&job, &out);
    td_graph_destroy(job.graph);
    td_session_destroy(job.session);
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
