#include "run/output.h"

#include "base/lines.h"
#include "base/mapping.h"
#include "run/result.h"
#include "store/formats/print.h"
#include "store/vertex_names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { VALUE_ROOM = 32 };

const td_output_format td_output_formats[] = {
    {"tsv", "tabs between the columns; 'inf' for vertices that were not reached", '\t', "inf", "inf", false},
    {"csv", "the same with commas", ',', "inf", "inf", false},
    {"graphalytics", "as the LDBC Graphalytics benchmark wants it", ' ', "9223372036854775807", "Infinity", true},
    {0},
};

/* The format of that name as a suffix, or the first. */
static const td_output_format *format_of_path(const char *path)
{
    const char *suffix = strrchr(path, '.');
    for (const td_output_format *format = td_output_formats; suffix != NULL && format->name != NULL; format++)
        if (strcasecmp(format->name, suffix + 1) == 0) return format;
    return &td_output_formats[0];
}

td_status td_output_format_find(const char *name, const char *path, const td_output_format **out)
{
    char names[128] = "";
    if (name == NULL) {
        *out = format_of_path(path);
        return TD_OK;
    }
    for (const td_output_format *format = td_output_formats; format->name != NULL; format++) {
        if (strcmp(format->name, name) == 0) {
            *out = format;
            return TD_OK;
        }
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "", format->name);
    }
    return td_fail(TD_USAGE, "unknown output format '%s'; there are %s", name, names);
}

typedef struct printing {
    const td_run *run;
    const td_output_format *format;
} printing;

static char *print_text(char *at, const char *text)
{
    size_t length = strlen(text);
    memcpy(at, text, length);
    return at + length;
}

/* Prints a float with 9 digits, a double with 17, or either as the format says. */
static char *print_real(const printing *self, char *at, double value, bool is_double)
{
    if (!self->format->scientific && !is_double) return td_print_f32(at, (float)value);
    return at + snprintf(at, VALUE_ROOM, self->format->scientific ? "%.15e" : "%.17g", value);
}

static char *print_value(const printing *self, uint32_t vertex, char *at)
{
    const td_run *run = self->run;
    bool whole = td_value_is_whole(run->kind), distance = run->program->info->real_follows_weights;
    double value;
    if (!td_run_value(run, vertex, &value))
        return print_text(at, whole && !distance ? self->format->unreached_whole : self->format->unreached_real);
    if (!whole) return print_real(self, at, value, run->kind == TD_VALUE_F64);
    if (run->kind == TD_VALUE_U64) return td_print_u64(at, ((const uint64_t *)run->values)[vertex]);
    bool named = run->program->info->vertex_values;
    return named ? td_print_vertex(at, run->graph, (uint32_t)value) : td_print_u64(at, (uint64_t)value);
}

static char *print_parent(const td_run *run, uint32_t vertex, char *at)
{
    uint32_t parent = run->parents[vertex];
    return parent == TD_NO_VERTEX ? print_text(at, "-") : td_print_vertex(at, run->graph, parent);
}

static char *print_vertices(const void *context, uint64_t begin, uint64_t end, char *at)
{
    const printing *self = context;
    for (uint64_t v = begin; v < end; v++) {
        at = td_print_vertex(at, self->run->graph, (uint32_t)v);
        *at++ = self->format->separator;
        at = print_value(self, (uint32_t)v, at);
        if (self->run->parents != NULL) {
            *at++ = self->format->separator;
            at = print_parent(self->run, (uint32_t)v, at);
        }
        *at++ = '\n';
    }
    return at;
}

static char *print_edges(const void *context, uint64_t begin, uint64_t end, char *at)
{
    const printing *self = context;
    const td_graph *graph = self->run->graph;
    uint32_t from = 0;
    for (uint64_t i = begin; i < end; i++) {
        td_named_edge edge = td_run_named_edge(self->run, i, &from);
        at = td_print_id(at, graph, edge.source);
        *at++ = self->format->separator;
        at = td_print_id(at, graph, edge.target);
        *at++ = self->format->separator;
        at = td_weight_real(graph->weights) ? print_real(self, at, edge.weight, graph->weights == TD_WEIGHT_F64)
                                             : td_print_u64(at, (uint64_t)edge.weight);
        *at++ = '\n';
    }
    return at;
}

static td_status write_header(td_outfile *file, const printing *self)
{
    const td_run *run = self->run;
    char between = self->format->separator;
    if (run->edges != NULL) return td_outfile_print(file, "source%ctarget%cweight\n", between, between);
    TD_CHECK(td_outfile_print(file, "vertex%c%s", between, run->program->info->result));
    if (run->parents != NULL) TD_CHECK(td_outfile_print(file, "%cparent", between));
    return td_outfile_print(file, "\n");
}

td_status td_run_write(const td_run *run, const char *path, const td_output_format *format, bool header, td_pool *pool)
{
    td_status status = TD_OK;
    td_outfile *file = NULL;
    printing self = {run, format};
    bool edges = run->edges != NULL;
    size_t room = VALUE_ROOM + 4 + 3 * td_print_room(run->graph); /* an id, a parent, a group */
    TD_TRY(td_outfile_create(&file, path, TD_OUT_TEXT));
    if (header) TD_TRY(write_header(file, &self));
    TD_TRY(td_lines_write(file, pool, edges ? run->edge_count : run->graph->vertices, room,
                          edges ? print_edges : print_vertices, &self, "writing results"));
    TD_TRY(td_mapping_check(run->graph->mapping, TD_OK)); /* ids and names are read in it, unless they were copied */
    TD_TRY(td_outfile_commit(file));
done:
    td_outfile_close(file);
    return status;
}
