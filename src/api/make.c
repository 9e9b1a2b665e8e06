/* Making graph files, in memory or, where the budget is too small for that, out of it. */
#include "api/open.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mapping.h"
#include "base/size.h"
#include "layout/reorder.h"
#include "store/build_bytes.h"
#include "store/external.h"
#include "store/gen.h"
#include "store/packed.h"

#include <string.h>

enum { EDGE_BYTES = 8 }; /* two ends of a generated edge */

/* One file that is made. */
typedef struct making {
    td_session *session;
    td_pool *pool;
    const char *output;
    td_graph_options options;
    td_build_options build;
    td_file_options file;
    td_order order;
    const td_format *to;
    td_made made;
    td_graph *graph;
    /* the input file */
    const char *input;
    const td_format *format;
    td_edge_list *edges;
    td_packed *packed; /* or NULL */
    uint64_t decoder_bytes; /* of a compressed input */
    td_decoding decoding;
    /* or the generator */
    td_gen_spec spec;
    td_gen_size drawn;
} making;

static td_status take(making *self, td_session *session, const char *output, const td_graph_options *options,
                      const td_file_options *file)
{
    self->session = session;
    self->pool = session->pool;
    self->output = output;
    TD_CHECK(td_graph_options_take(options, &self->options, &self->build));
    TD_CHECK(td_struct_take(&self->file, sizeof self->file, file, "td_file_options"));
    if (self->options.check || self->options.edges == TD_PLACE_MAPPED)
        return td_fail(TD_USAGE, "td_graph_options: `check` and TD_PLACE_MAPPED are for opening a graph");
    if (self->file.order != NULL) TD_CHECK(td_order_named(self->file.order, &self->order));
    TD_CHECK(td_format_for_output(output, self->file.to, &self->to));
    if (self->file.stripes != NULL && self->to != &td_format_tg)
        return td_fail(TD_USAGE, "only a .tg can be striped; %s is %s", output, self->to->description);
    return TD_OK;
}

/* Whether the file may be built out of memory: a .tg, and no option needs the whole graph in memory. */
static bool may_go_outside(const making *self) { return self->order == TD_ORDER_NONE && self->to == &td_format_tg; }

/* The minimum of memory to build this file out of memory. */
static uint64_t outside_bytes(const making *self)
{
    return td_outside_bytes(td_pool_threads(self->pool)) + self->decoder_bytes;
}

static bool outside_possible(const making *self) { return td_memory().limit >= outside_bytes(self); }

/* TD_NO_MEMORY with the minimum of memory: for building in memory or, if allowed, out of it. */
static td_status too_small(const making *self, double inside_bytes, bool may_go_outside)
{
    char given[TD_NUMBER_BYTES], least[TD_NUMBER_BYTES];
    int threads = td_pool_threads(self->pool);
    double inside = td_inside_with_buffers(inside_bytes, threads), outside = (double)outside_bytes(self);
    bool smaller = may_go_outside && outside < inside, fewer = smaller && threads > 1;
    double needs = smaller ? outside : inside;
    td_format_size(given, td_memory().limit);
    if (needs >= 0x1p62) return TD_NO_MEMORY; /* unknown; the message of the failed request stays */
    td_format_least(least, (uint64_t)needs);
    td_refusal refusal = td_memory_refusal((uint64_t)needs);
    td_refuse(&refusal, "making %s with %d thread%s needs at least {memory} %s",
              strcmp(self->output, "-") == 0 ? "the graph" : self->output, threads, threads == 1 ? "" : "s", least);
    if (fewer) td_fail_add(TD_NO_MEMORY, " (less with fewer {threads})");
    return td_fail_add(TD_NO_MEMORY, "; %s given", given);
}

/* `whole`, if not NULL, receives the edges if they can be built in memory after all. */
static td_status build_outside(making *self, const char *name, td_edge_source_fn source, td_edge_list **whole)
{
    td_made *made = &self->made;
    td_external_report report = {0};
    td_external_settings settings = {.path = self->output, .stripes = self->file.stripes,
                                     .temporary = self->file.temporary, .build = &self->build,
                                     .memory = td_memory().budget, .expected_edges = self->drawn.edges,
                                     .ids_of = self->packed, .pool = self->pool, .whole = whole};
    uint64_t start = td_clock_ns();
    TD_CHECK(td_external_build(&settings, name, source, self, &report));
    if (whole != NULL && *whole != NULL) {
        made->read_seconds = td_seconds_since(start);
        return TD_OK;
    }
    made->out_of_memory = true;
    made->memory = td_memory().limit;
    made->edges_read = report.edges_read;
    made->temporary_bytes = report.temporary_bytes;
    made->fill_seconds = report.fill_seconds;
    made->out_seconds = report.out_seconds;
    made->in_seconds = report.in_seconds;
    made->finish_seconds = report.finish_seconds;
    TD_CHECK(td_packed_map(&self->graph, self->output));
    made->build_seconds = td_seconds_since(start);
    if (self->format != NULL && self->packed == NULL)
        td_graph_note_reading(self->graph, self->format, &(td_edge_list){.decoding = self->decoding}, 0, 0);
    return TD_OK;
}

static td_status put_in_order(making *self)
{
    if (self->order == TD_ORDER_NONE) return TD_OK;
    td_progress_text("reordering: %s", td_order_name(self->order));
    uint64_t start = td_clock_ns();
    td_status status = td_graph_reorder(&self->graph, self->order, self->file.order_seed, self->pool);
    self->made.order_seconds = td_seconds_since(start);
    td_progress_end();
    return status;
}

static td_status write_graph(making *self)
{
    uint64_t start = td_clock_ns();
    TD_CHECK(self->file.stripes != NULL
                 ? td_packed_write_striped(self->graph, self->output, self->file.stripes, self->pool)
                 : td_graph_write(self->graph, self->output, self->file.to, self->pool));
    self->made.write_seconds = td_seconds_since(start);
    return TD_OK;
}

/* From a file. */

/* A packed file is loaded as a graph, any other file as edges. */
static td_status read_input(making *self)
{
    uint64_t start = td_clock_ns();
    if (self->packed != NULL) {
        TD_CHECK(td_packed_load(&self->graph, self->input, self->pool));
    } else {
        TD_CHECK(td_edges_create(&self->edges, self->input));
        TD_CHECK(td_edges_prepare(self->edges, &self->build));
        TD_CHECK(td_format_read(self->format, self->input, self->options.format == NULL, self->edges, self->pool));
    }
    self->made.read_seconds = td_seconds_since(start);
    return TD_OK;
}

static td_status build_graph(making *self)
{
    uint64_t start = td_clock_ns();
    if (self->graph == NULL) TD_CHECK(td_graph_build(&self->graph, self->edges, &self->build, self->pool));
    else if (td_build_options_change(&self->build)) TD_CHECK(td_graph_rebuild(&self->graph, &self->build, self->pool));
    self->made.build_seconds = td_seconds_since(start);
    if (self->packed == NULL)
        td_graph_note_reading(self->graph, self->format, self->edges, self->made.read_seconds,
                              self->made.build_seconds);
    return TD_OK;
}

static td_status convert_inside(making *self)
{
    TD_CHECK(read_input(self));
    TD_CHECK(build_graph(self));
    TD_CHECK(put_in_order(self));
    return write_graph(self);
}

static td_status deliver_packed(const making *self, td_edge_list *edges, td_pool *pool)
{
    td_graph *graph = NULL;
    TD_CHECK(td_packed_verify_all(self->input, pool));
    TD_CHECK(td_packed_map(&graph, self->input));
    td_status status = td_mapping_check(graph->mapping, td_graph_deliver(graph, edges, pool));
    td_graph_destroy(graph);
    return status;
}

static td_status deliver_input(void *context, td_edge_list *edges, td_pool *pool)
{
    making *self = context;
    if (self->packed != NULL) return deliver_packed(self, edges, pool);
    td_status status = td_format_read(self->format, self->input, self->options.format == NULL, edges, pool);
    self->decoding = edges->decoding;
    return status;
}

/* A packed file whose graph does not change is copied without building. */
static td_status copy_packed(making *self)
{
    uint64_t start = td_clock_ns();
    self->made.copied = true;
    TD_CHECK(td_packed_copy(self->input, self->output, self->file.stripes, self->pool));
    self->made.write_seconds = td_seconds_since(start);
    return td_packed_map(&self->graph, self->output);
}

/* Upper estimate of the memory to build the graph in memory, or to load a packed one. */
static double inside_bytes(const making *self)
{
    if (self->packed == NULL) return td_inside_bytes(0, td_most_edges(self->input, self->format), true, &self->build);
    const td_packed_info *info = td_packed_describe(self->packed);
    if (self->order == TD_ORDER_NONE && !td_build_options_change(&self->build)) return (double)info->file_bytes;
    return td_inside_rebuilt(info, &self->build);
}

/* TD_NO_MEMORY with the memory needed; for formats that are read into memory whole, with a way around. */
static td_status conversion_too_small(const making *self, bool may_go_outside)
{
    if (self->file.in_memory) return td_fail_add(TD_NO_MEMORY, "; {memory} SIZE builds a .tg out of memory");
    if (!self->format->streams && self->packed == NULL)
        return td_fail_add(TD_NO_MEMORY, "; %s files need about %.1f times their length in memory: convert without "
                           "{memory} or to another text format first", self->format->name, 8.0);
    td_failure failed;
    td_failure_keep(&failed);
    double inside = self->packed != NULL ? inside_bytes(self) : td_inside_measured(self->input, self->format, &self->build);
    td_failure_set(&failed);
    return too_small(self, td_inside_with_decoder(inside, self->decoder_bytes), may_go_outside);
}

/* Reads edges into memory as long as they can be built there; from then on, and if building fails for lack of memory
 * nevertheless, builds out of memory. */
static td_status build_either_way(making *self)
{
    TD_CHECK(build_outside(self, self->input, deliver_input, &self->edges));
    if (self->edges == NULL) return TD_OK;
    td_status status = build_graph(self);
    if (status == TD_OK) status = write_graph(self);
    if (status != TD_NO_MEMORY) return status;
    td_graph_destroy(self->graph);
    td_edges_destroy(self->edges);
    self->graph = NULL;
    self->edges = NULL;
    return build_outside(self, self->input, deliver_input, NULL);
}

/* Builds out of memory or in memory. With less memory than the former needs, a small graph may still fit the latter. */
static td_status convert(making *self)
{
    if (self->build.columns != NULL && !self->format->columns) return td_columns_unused(self->format, self->input);
    if (self->format == &td_format_tg) TD_CHECK(td_packed_open(&self->packed, self->input));
    else self->decoder_bytes = td_decoder_needs(self->input);
    bool possible = outside_possible(self); /* before any file is mapped */
    bool packs = may_go_outside(self), can = packs && (self->format->streams || self->packed != NULL);
    if (self->packed != NULL && packs && !td_build_options_change(&self->build)) return copy_packed(self);
    bool exceeds = !self->file.in_memory && inside_bytes(self) > (double)td_memory().budget;
    bool outside = can && exceeds && possible;
    if (!outside) td_memory_apply_limit(false);
    td_status status = !outside             ? convert_inside(self)
                       : self->packed != NULL ? build_outside(self, self->input, deliver_input, NULL)
                                              : build_either_way(self);
    return status == TD_NO_MEMORY && !outside ? conversion_too_small(self, can) : status;
}

/* A decoder that does not fit: the minimum is that of a build out of memory, and what the decoder needs. */
static td_status too_small_to_decode(making *self, td_status status)
{
    const td_refusal *refused = td_last_refusal();
    if (status != TD_NO_MEMORY || td_memory().budget == 0 || refused->needed == 0) return status;
    self->decoder_bytes = refused->needed;
    return too_small(self, 0x1p61, true);
}

static td_status find_input(making *self, const char *input)
{
    td_file_facts facts = {.size = sizeof facts};
    self->input = input;
    TD_CHECK(too_small_to_decode(self, td_file_describe(input, self->options.format, &facts)));
    self->format = td_format_named(facts.format);
    self->made.format = facts.format;
    self->made.input_bytes = facts.bytes;
    return TD_OK;
}

/* Hands over what was made. */
static td_status finish(making *self, td_status status, td_made *made, td_graph **graph)
{
    status = td_mapping_settle(status);
    self->made.peak = td_memory_peak();
    td_edges_destroy(self->edges);
    td_packed_close(self->packed);
    td_session_leave(self->session);
    if (status == TD_OK && made != NULL) status = td_struct_give(made, &self->made, sizeof *made, "td_made");
    if (status == TD_OK && graph != NULL) *graph = self->graph;
    else td_graph_destroy(self->graph);
    return status;
}

td_status td_file_convert(td_session *session, const char *input, const char *output, const td_graph_options *options,
                          const td_file_options *file, td_made *made, td_graph **graph)
{
    making self = {0};
    TD_CHECK(td_need(input, "the input's path"));
    TD_CHECK(td_need(output, "the output's path"));
    TD_CHECK(td_session_enter(session));
    td_status status = take(&self, session, output, options, file);
    if (status == TD_OK) status = find_input(&self, input);
    if (status == TD_OK) status = convert(&self);
    self.session = session;
    return finish(&self, status, made, graph);
}

/* From a generator. */

const char *td_generator_kind(int index)
{
    for (int i = 0; i <= index; i++)
        if (td_generators[i].kind == NULL) return NULL;
    return index >= 0 ? td_generators[index].kind : NULL;
}

td_status td_generator_describe(const char *kind, td_generator_facts *out)
{
    const td_generator *found = kind != NULL ? td_generator_named(kind) : NULL;
    if (found == NULL) return td_fail(TD_NOT_FOUND, "there is no generator '%s'", kind != NULL ? kind : "NULL");
    td_generator_facts facts = {.description = found->description, .parameters = found->parameters};
    return td_struct_give(out, &facts, sizeof facts, "td_generator_facts");
}

bool td_generator_fixed(const char *kind)
{
    td_gen_spec spec = {0};
    td_build_options build = {0};
    return kind != NULL && td_gen_named(kind, &spec, &build);
}

/* Fills the parameters, and for a graph with fixed ones what it asks of the builder. */
static td_status take_generation(const td_generation *given, td_gen_spec *spec, td_build_options *build)
{
    td_generation from = {0};
    TD_CHECK(td_need(given, "td_generation"));
    TD_CHECK(td_struct_take(&from, sizeof from, given, "td_generation"));
    TD_CHECK(td_need(from.kind, "td_generation.kind"));
    if (td_gen_named(from.kind, spec, build)) {
        spec->shuffle |= from.shuffle;
    } else {
        *spec = (td_gen_spec){.kind = from.kind, .seed = 1, .scale = from.scale, .vertices = from.vertices,
                              .degree = from.degree, .a = from.a, .b = from.b, .c = from.c, .width = from.width,
                              .height = from.height, .layers = from.layers, .arity = from.arity, .hosts = from.hosts,
                              .rewire = from.has_rewire ? from.rewire : -1, .shuffle = from.shuffle};
        build->weight_seed = 1;
    }
    if (from.has_seed) spec->seed = build->weight_seed = from.seed;
    return TD_OK;
}

uint64_t td_generation_seed(const td_generation *generation)
{
    td_gen_spec spec = {0};
    td_build_options build = {0};
    return take_generation(generation, &spec, &build) == TD_OK ? spec.seed : 0;
}

td_status td_generation_check(td_session *session, const td_generation *generation)
{
    td_gen_spec spec = {0};
    td_build_options build = {0};
    td_gen_size size;
    TD_CHECK(td_session_enter(session));
    td_status status = take_generation(generation, &spec, &build);
    if (status == TD_OK) status = td_gen_check(&spec, &size);
    td_session_leave(session);
    return status;
}

static td_status deliver_drawn(void *context, td_edge_list *edges, td_pool *pool)
{
    const making *self = context;
    return td_generator_named(self->spec.kind)->fill(&self->spec, edges, pool);
}

static td_status generate_inside(making *self)
{
    uint64_t start = td_clock_ns();
    TD_CHECK(td_graph_generate(&self->graph, &self->spec, &self->build, self->pool));
    self->made.build_seconds = td_seconds_since(start);
    TD_CHECK(put_in_order(self));
    return write_graph(self);
}

/* Builds in memory or out of memory; the size is known before the first edge is drawn. Refuses a graph whose edge list
 * alone does not fit. */
static td_status generate(making *self)
{
    uint64_t budget = td_memory().budget;
    double needs = td_inside_bytes(self->drawn.vertices, self->drawn.edges, true, &self->build);
    bool hopeless = budget != 0 && self->drawn.edges > budget / EDGE_BYTES;
    bool possible = outside_possible(self); /* before anything is allocated */
    bool outside = !self->file.in_memory && possible && may_go_outside(self) && budget != 0 && needs > (double)budget;
    td_status status = outside    ? build_outside(self, self->spec.kind, deliver_drawn, NULL)
                       : hopeless ? TD_NO_MEMORY
                                  : generate_inside(self);
    return status != TD_NO_MEMORY || budget == 0 ? status : too_small(self, needs, may_go_outside(self));
}

/* The builder's options of a graph with fixed parameters hold unless the caller's replace them. */
static void join_options(making *self, const td_build_options *fixed)
{
    td_build_options *build = &self->build;
    build->symmetrize |= fixed->symmetrize;
    build->dedup |= fixed->dedup;
    build->drop_loops |= fixed->drop_loops;
    build->weight_seed = fixed->weight_seed;
    if (build->attach_weights || build->drop_weights) return;
    build->attach_weights = fixed->attach_weights;
    build->weight_low = fixed->weight_low;
    build->weight_high = fixed->weight_high;
}

td_status td_file_generate(td_session *session, const td_generation *generation, const char *output,
                           const td_graph_options *options, const td_file_options *file, td_made *made,
                           td_graph **graph)
{
    making self = {0};
    td_build_options fixed = {0};
    TD_CHECK(td_need(output, "the output's path"));
    TD_CHECK(td_session_enter(session));
    td_status status = take(&self, session, output, options, file);
    if (status == TD_OK) status = take_generation(generation, &self.spec, &fixed);
    if (status == TD_OK) status = td_gen_check(&self.spec, &self.drawn);
    if (status == TD_OK) {
        join_options(&self, &fixed);
        status = generate(&self);
    }
    self.session = session;
    return finish(&self, status, made, graph);
}
