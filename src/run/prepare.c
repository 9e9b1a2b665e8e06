/* Inputs per vertex that some programs need before they run: seeds, fixed voltages, sums of weights. */
#include "base/alloc.h"
#include "base/size.h"
#include "base/names.h"
#include "run/run.h"
#include "store/checks.h"
#include "store/paged.h"
#include "store/vertex_names.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static td_status new_input(td_run *run, int which, double fill)
{
    TD_CHECK(TD_NEW(&run->inputs[which], run->graph->vertices, "program inputs"));
    for (uint32_t v = 0; v < run->graph->vertices; v++) run->inputs[which][v] = fill;
    return TD_OK;
}

/* Ids of a reordered graph are not sorted: an index, for many look-ups. */
typedef struct id_entry {
    uint64_t id;
    uint32_t vertex;
} id_entry;

typedef struct value_file {
    const td_graph *graph;
    const char *path;
    id_entry *index; /* sorted by id; NULL: td_graph can look up ids */
    double largest;  /* largest magnitude that the program's value type can represent */
    double *values;
} value_file;

static int by_id(const void *a, const void *b)
{
    uint64_t x = ((const id_entry *)a)->id, y = ((const id_entry *)b)->id;
    return (x > y) - (x < y);
}

static td_status make_index(value_file *file)
{
    const td_graph *graph = file->graph;
    if (graph->ids == NULL || graph->ids_sorted) return TD_OK;
    TD_CHECK(TD_NEW(&file->index, graph->vertices, "index of ids"));
    for (uint32_t v = 0; v < graph->vertices; v++) file->index[v] = (id_entry){graph->ids[v], v};
    qsort(file->index, graph->vertices, sizeof *file->index, by_id);
    return TD_OK;
}

static td_status find_vertex(const value_file *file, uint64_t id, uint32_t *vertex)
{
    if (file->index == NULL) return td_graph_find(file->graph, id, vertex);
    const id_entry key = {id, 0};
    const id_entry *found = bsearch(&key, file->index, file->graph->vertices, sizeof *file->index, by_id);
    if (found == NULL) return td_fail(TD_NOT_FOUND, "vertex %llu is not in the graph", (unsigned long long)id);
    *vertex = found->vertex;
    return TD_OK;
}

/* A vertex by its name, if the graph has names, otherwise by its id. */
static td_status read_id(const value_file *file, const char *text, uint64_t *id)
{
    bool found = false;
    if (file->graph->names == NULL) return td_parse_u64(text, id);
    *id = td_vertex_names_search(file->graph->names, text, strlen(text), &found);
    return found ? TD_OK : td_fail(TD_NOT_FOUND, "vertex '%s' is not in the graph", text);
}

static td_status read_value_line(const value_file *file, uint64_t number, char *line)
{
    char *save = NULL, *id_text = strtok_r(line, " \t,;\r\n", &save);
    if (id_text == NULL || *id_text == '#' || *id_text == '%') return TD_OK;
    char *value_text = strtok_r(NULL, " \t,;\r\n", &save), *more = strtok_r(NULL, " \t,;\r\n", &save);
    uint64_t id;
    double value = 1;
    uint32_t v;
    if (read_id(file, id_text, &id) != TD_OK || (value_text != NULL && td_parse_double(value_text, &value) != TD_OK))
        return td_fail(TD_FORMAT, "%s:%llu: %s", file->path, (unsigned long long)number, td_last_message());
    if (find_vertex(file, id, &v) != TD_OK)
        return td_fail(TD_NOT_FOUND, "%s:%llu: %s", file->path, (unsigned long long)number, td_last_message());
    if (more != NULL)
        return td_fail(TD_FORMAT, "%s:%llu: more than an id and a value: '%s'", file->path, (unsigned long long)number,
                       more);
    if (fabs(value) > file->largest)
        return td_fail(TD_FORMAT, "%s:%llu: %s is beyond %g, the largest value of this program", file->path,
                       (unsigned long long)number, value_text, file->largest);
    file->values[v] = value;
    return TD_OK;
}

/* "id value" lines; an id alone has the value 1. */
static td_status read_values(const td_run *run, const char *path, double *values)
{
    td_status status = TD_OK;
    char line[512];
    value_file self = {.graph = run->graph, .path = path, .values = values,
                       .largest = run->kind == TD_VALUE_F64 ? DBL_MAX : (double)FLT_MAX};
    FILE *file = fopen(path, "r");
    if (file == NULL) return td_fail_errno(TD_IO, errno, "cannot open %s", path);
    TD_TRY(make_index(&self));
    for (uint64_t number = 1; fgets(line, sizeof line, file) != NULL; number++) {
        if (strchr(line, '\n') == NULL && !feof(file))
            TD_TRY(td_fail(TD_FORMAT, "%s:%llu: the line is too long", path, (unsigned long long)number));
        TD_TRY(read_value_line(&self, number, line));
    }
    if (ferror(file)) status = td_fail_errno(TD_IO, errno, "cannot read %s", path);
done:
    td_free(self.index);
    fclose(file);
    return status;
}

/* Refuses --source beside a file of values, which includes it. */
static td_status one_origin(const td_run_options *options, const char *file, const char *key)
{
    if (file == NULL || !options->has_source) return TD_OK;
    return td_fail(TD_USAGE, "{source} and %s=%s: give one of them", key, file);
}

/* Sums over the edges along which a vertex receives values. */
typedef enum summed { WEIGHTS, CONDUCTANCES, LOOP_CONDUCTANCES, NEIGHBOURS } summed;

typedef struct summing {
    const td_run *run;
    double *sums;
    bool both; /* the undirected view */
    summed what;
} summing;

static double edge_term(summed what, bool loop, double weight)
{
    switch (what) {
    case WEIGHTS: return weight;
    case CONDUCTANCES: return loop ? 0 : 1 / weight;
    case LOOP_CONDUCTANCES: return loop ? 1 / weight : 0;
    case NEIGHBOURS: break; /* count_neighbours */
    }
    return 0;
}

/* Edges to other vertices. Lists are sorted, so that loops are found by bisection: reading all edges would take longer
 * than peeling them on a GPU, and the lists may be in a mapped file, whose numbers lead nowhere here. */
static double count_neighbours(const td_adjacency *list, uint64_t v)
{
    uint64_t low = list->offsets[v], end = list->offsets[v + 1], high = end, degree = end - low;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (list->targets[middle] < v) low = middle + 1;
        else high = middle;
    }
    for (; low < end && list->targets[low] == v; low++) degree--;
    return (double)degree;
}

static double list_sum(const summing *self, const td_adjacency *list, uint64_t v)
{
    const td_graph *graph = self->run->graph;
    double sum = 0;
    bool weighted = graph->weights != TD_WEIGHT_NONE;
    if (self->what == NEIGHBOURS) return count_neighbours(list, v);
    for (uint64_t e = list->offsets[v]; e < list->offsets[v + 1]; e++)
        sum += edge_term(self->what, list->targets[e] == v, weighted ? td_weight_at(graph, list, e) : 1);
    return sum;
}

static td_status sum_vertices(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    summing *self = context;
    const td_graph *graph = self->run->graph;
    for (uint64_t v = begin; v < end; v++) {
        self->sums[v] = list_sum(self, &graph->in, v);
        if (self->both && !graph->symmetric) self->sums[v] += list_sum(self, &graph->out, v);
        bool divides = self->what == WEIGHTS && !self->both && self->sums[v] > 0; /* adsorption takes means */
        if (divides && !(isfinite(self->sums[v]) && isfinite(1 / self->sums[v])))
            return td_fail(TD_LIMIT, "the weights of the edges to vertex %llu add up to %g, by which no double can be "
                           "divided; scale the weights", (unsigned long long)td_graph_id(graph, (uint32_t)v),
                           self->sums[v]);
    }
    td_checks_release(graph, &graph->in, begin, end);
    if (self->both && !graph->symmetric) td_checks_release(graph, &graph->out, begin, end);
    return TD_OK;
}

static td_status fill_sums(td_run *run, int which, td_pool *pool, bool both, summed what)
{
    TD_CHECK(TD_NEW(&run->inputs[which], run->graph->vertices, "sums over edges"));
    summing self = {run, run->inputs[which], both, what};
    unsigned lists = both ? TD_LIST_BOTH : TD_LIST_IN, needs = what == NEIGHBOURS ? 0 : TD_WITH_WEIGHTS;
    return td_graph_for_vertices(run->graph, lists, needs, pool, 4096, sum_vertices, &self);
}

static td_status prepare_pagerank(td_run *run, const char *personal)
{
    if (personal == NULL) return TD_OK;
    TD_CHECK(new_input(run, 0, 0));
    TD_CHECK(read_values(run, personal, run->inputs[0]));
    double sum = 0;
    for (uint32_t v = 0; v < run->graph->vertices; v++) {
        if (run->inputs[0][v] < 0)
            return td_fail(TD_INVALID, "%s: vertex %llu has a negative weight", personal,
                           (unsigned long long)td_graph_id(run->graph, v));
        sum += run->inputs[0][v];
    }
    if (!(sum > 0)) return td_fail(TD_INVALID, "%s: the weights add up to zero", personal);
    for (uint32_t v = 0; v < run->graph->vertices; v++) run->inputs[0][v] /= sum;
    return TD_OK;
}

static td_status prepare_adsorption(td_run *run, const td_run_options *options, const char *seeds)
{
    if (run->context.parameter[0] + run->context.parameter[1] > 1)
        return td_fail(TD_USAGE, "adsorption.injection + adsorption.continuation is above 1");
    TD_CHECK(one_origin(options, seeds, "adsorption.seeds"));
    TD_CHECK(new_input(run, 0, 0));
    if (seeds != NULL) TD_CHECK(read_values(run, seeds, run->inputs[0]));
    else run->inputs[0][run->context.source] = 1;
    return fill_sums(run, 1, options->pool, false, WEIGHTS);
}

static td_status prepare_nn(td_run *run, const char *inputs)
{
    TD_CHECK(new_input(run, 0, NAN));
    for (uint32_t v = 0; v < run->graph->vertices; v++)
        if (td_degree(&run->graph->in, v) == 0) run->inputs[0][v] = inputs == NULL;
    if (inputs == NULL) return TD_OK;
    TD_CHECK(read_values(run, inputs, run->inputs[0]));
    for (uint32_t v = 0; v < run->graph->vertices; v++)
        if (td_degree(&run->graph->in, v) > 0 && !isnan(run->inputs[0][v]))
            return td_fail(TD_INVALID, "%s: vertex %llu cannot be an input: it has %llu in-edges, inputs have none",
                           inputs, (unsigned long long)td_graph_id(run->graph, v),
                           (unsigned long long)td_degree(&run->graph->in, v));
    return TD_OK;
}

static td_status prepare_heat(td_run *run, const td_run_options *options, const char *initial)
{
    TD_CHECK(one_origin(options, initial, "heat.initial"));
    TD_CHECK(new_input(run, 0, 0));
    if (initial != NULL) TD_CHECK(read_values(run, initial, run->inputs[0]));
    else run->inputs[0][run->context.source] = 100;
    TD_CHECK(fill_sums(run, 1, options->pool, true, WEIGHTS));
    double most = 0;
    for (uint32_t v = 0; v < run->graph->vertices; v++) most = fmax(most, run->inputs[1][v]);
    double *step = &run->context.parameter[0];
    if (*step == 0) *step = most > 0 ? 0.5 / most : 0.5;
    if (*step * most > 1)
        return td_fail(TD_INVALID, "heat.step=%g is unstable on this graph; allowed are steps up to %g", *step,
                       1 / most);
    return TD_OK;
}

/* Few networks have loops: the array is freed if there are none. */
static td_status fill_loops(td_run *run, td_pool *pool)
{
    TD_CHECK(fill_sums(run, 2, pool, true, LOOP_CONDUCTANCES));
    for (uint32_t v = 0; v < run->graph->vertices; v++)
        if (run->inputs[2][v] != 0) return TD_OK;
    td_free(run->inputs[2]);
    run->inputs[2] = NULL;
    return TD_OK;
}

/* One pass of a search over lists that are only partly in memory: a vertex with a reached neighbour is reached. */
typedef struct spreading {
    const td_graph *graph;
    uint8_t *reached;
    bool moved;
} spreading;

static td_status spread(void *context, uint64_t begin, uint64_t end, int worker)
{
    spreading *self = context;
    (void)worker;
    for (uint64_t v = begin; v < end; v++)
        for (int l = 0; l < (self->graph->symmetric ? 1 : 2); l++) {
            const td_adjacency *list = l == 0 ? &self->graph->out : &self->graph->in;
            for (uint64_t e = list->offsets[v]; e < list->offsets[v + 1]; e++) {
                uint32_t u = list->targets[e];
                if (self->reached[u] == self->reached[v]) continue;
                self->reached[u] = self->reached[v] = 1;
                self->moved = true;
            }
        }
    return TD_OK;
}

static td_status spread_all(const td_graph *graph, uint8_t *reached)
{
    spreading self = {graph, reached, true};
    while (self.moved) {
        self.moved = false;
        TD_CHECK(td_graph_for_vertices(graph, TD_LIST_BOTH, 0, NULL, UINT32_MAX, spread, &self));
    }
    return TD_OK;
}

/* Nodes without a path to a node of fixed voltage have no defined voltage and stay at 0. */
static td_status silence_unreached(td_run *run)
{
    const td_graph *graph = run->graph;
    uint32_t *stack;
    uint8_t *reached = NULL;
    uint64_t top = 0;
    td_status status = TD_OK;
    TD_CHECK(TD_NEW(&stack, graph->vertices, "search"));
    TD_TRY(TD_NEW_ZEROED(&reached, graph->vertices, "search"));
    for (uint32_t v = 0; v < graph->vertices; v++)
        if (!isnan(run->inputs[0][v])) reached[v] = 1, stack[top++] = v;
    if (graph->paged != NULL) {
        top = 0;
        TD_TRY(spread_all(graph, reached));
    }
    while (top > 0) {
        uint32_t v = stack[--top];
        for (int l = 0; l < (graph->symmetric ? 1 : 2); l++) {
            const td_adjacency *list = l == 0 ? &graph->out : &graph->in;
            for (uint64_t e = list->offsets[v]; e < list->offsets[v + 1]; e++)
                if (!reached[list->targets[e]]) reached[list->targets[e]] = 1, stack[top++] = list->targets[e];
        }
    }
    for (uint32_t v = 0; v < graph->vertices; v++)
        if (!reached[v]) run->inputs[1][v] = 0;
done:
    td_free(stack);
    td_free(reached);
    return status;
}

/* The node at 0 V: the one given, or without a file of sources the last vertex
 * by the graph's own numbering that is not the source. */
static td_status ground_node(const td_run *run, const char *ground, bool *has_ground, uint32_t *node)
{
    *has_ground = true;
    if (ground == NULL) {
        *node = td_graph_last_but(run->graph, run->context.source);
        *has_ground = *node != run->context.source;
        return TD_OK;
    }
    if (td_vertex_of_text(run->graph, ground, node) != TD_OK)
        return td_fail(TD_USAGE, "circuit.ground=%s: %s", ground, td_last_message());
    return TD_OK;
}

static td_status prepare_circuit(td_run *run, const td_run_options *options, const char *sources, const char *ground)
{
    uint32_t node;
    bool has_ground;
    TD_CHECK(one_origin(options, sources, "circuit.sources"));
    TD_CHECK(new_input(run, 0, NAN));
    TD_CHECK(ground_node(run, ground, &has_ground, &node));
    if (sources != NULL) TD_CHECK(read_values(run, sources, run->inputs[0]));
    else run->inputs[0][run->context.source] = 1;
    if (ground != NULL && !isnan(run->inputs[0][node]) && run->inputs[0][node] != 0)
        return td_fail(TD_USAGE, "circuit.ground=%s: the same node is held at %g V; give another %s", ground,
                       run->inputs[0][node], sources == NULL ? td_named("source") : "one");
    if (ground != NULL || (sources == NULL && has_ground)) run->inputs[0][node] = 0;
    TD_CHECK(fill_sums(run, 1, options->pool, true, CONDUCTANCES));
    TD_CHECK(fill_loops(run, options->pool));
    return silence_unreached(run);
}

/* Ranks in the graph's own numbering, where vertices are numbered otherwise. */
static td_status prepare_labels(td_run *run)
{
    uint32_t *order, vertices = run->graph->vertices;
    if (!td_graph_reordered(run->graph)) return TD_OK;
    TD_CHECK(TD_NEW(&run->inputs[0], vertices, "ranks of vertices"));
    TD_CHECK(TD_NEW(&order, vertices, "order of vertices"));
    td_graph_own_order(run->graph, order, (uint32_t *)run->inputs[0]); /* serves as a temporary array */
    for (uint32_t i = 0; i < vertices; i++) run->inputs[0][order[i]] = i;
    td_free(order);
    return TD_OK;
}

uint64_t td_run_input_bytes(const td_program *program, const td_graph *graph, const td_run_options *options)
{
    static const struct {
        const char *program;
        uint64_t inputs;
    } table[] = {{"adsorption", 2}, {"nn", 1}, {"heat", 2}, {"circuit", 3}, {"kcore", 1}};
    uint64_t inputs = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].program, program->info->name) == 0) inputs = table[i].inputs;
    if (strcmp(program->info->name, "labels") == 0 && td_graph_reordered(graph)) inputs = 1;
    for (uint64_t i = 0; options->settings != NULL && i < options->settings->count; i++)
        if (strcmp(options->settings->keys[i], "pagerank.personal") == 0) inputs = 1;
    return graph->vertices * inputs * sizeof(double);
}

td_status td_run_prepare_inputs(td_run *run, const td_run_options *options, const char *const *texts)
{
    const char *name = run->program->info->name;
    if (strcmp(name, "pagerank") == 0) return prepare_pagerank(run, texts[2]);
    if (strcmp(name, "adsorption") == 0) return prepare_adsorption(run, options, texts[2]);
    if (strcmp(name, "nn") == 0) return prepare_nn(run, texts[1]);
    if (strcmp(name, "heat") == 0) return prepare_heat(run, options, texts[1]);
    if (strcmp(name, "circuit") == 0) return prepare_circuit(run, options, texts[0], texts[1]);
    if (strcmp(name, "labels") == 0) return prepare_labels(run);
    run->counts_neighbours = strcmp(name, "kcore") == 0 && options->counts_neighbours;
    if (strcmp(name, "kcore") == 0 && !run->counts_neighbours)
        return fill_sums(run, 0, options->pool, run->context.parameter[0] != 1, NEIGHBOURS);
    return TD_OK;
}
