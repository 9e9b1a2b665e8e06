#include "run_plot.h"

#include "base/alloc.h"
#include "base/size.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL = 16, COLUMNS = 40, LETTERS = 26 };

typedef double (*value_fn)(const td_iteration *row);
typedef char *(*text_fn)(char text[TD_NUMBER_BYTES], double value);

static double active(const td_iteration *row) { return (double)row->active_vertices; }
static double edges(const td_iteration *row) { return (double)row->edges; }
static double seconds(const td_iteration *row) { return row->seconds; }

static double moved(const td_iteration *row)
{
    static const char *const names[] = {"bytes_whole", "bytes_extracted", "bytes_direct", "bytes_synchronised",
                                        "bytes_exchanged", "disk_bytes"};
    double sum = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) sum += td_iteration_counter(row, names[i]);
    return sum;
}

static double useful(const td_iteration *row) { return td_iteration_counter(row, "bytes_useful"); }

static char *count_text(char text[TD_NUMBER_BYTES], double value) { return td_format_count(text, (uint64_t)value); }
static char *bytes_text(char text[TD_NUMBER_BYTES], double value) { return td_format_size(text, (uint64_t)value); }

static char *seconds_text(char text[TD_NUMBER_BYTES], double value)
{
    snprintf(text, TD_NUMBER_BYTES, "%.3g ms", value * 1e3);
    return text;
}

/* The recorded iterations; column c has those from c * rows / columns on. */
typedef struct plot {
    const td_result *result;
    uint32_t first, rows, columns;
} plot;

static const td_iteration *row_at(const plot *self, uint32_t i)
{
    return td_result_iteration(self->result, self->first + i);
}

static uint32_t begin_of(const plot *self, uint32_t column)
{
    return (uint32_t)((uint64_t)column * self->rows / self->columns);
}

static double most_of(const plot *self, value_fn value, uint32_t from, uint32_t to, uint32_t *at)
{
    double most = 0;
    *at = from;
    for (uint32_t i = from; i < to; i++) {
        double found = value(row_at(self, i));
        if (found > most) most = found, *at = i;
    }
    return most;
}

/* A cell of eight heights; anything above zero has the lowest at least. */
static void put_cell(double share)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {" ", "_", ".", "-", "=", "+", "*", "%", "#"};
    int level = share <= 0 ? 0 : (int)fmax(1, ceil(share * 8 - 1e-9));
    fputs((td_text_is_utf8() ? blocks : plain)[level < 8 ? level : 8], stderr);
}

static void put_curve(const plot *self, const char *label, value_fn value, text_fn text)
{
    uint32_t at, unused;
    char figure[TD_NUMBER_BYTES];
    double most = most_of(self, value, 0, self->rows, &at);
    if (most <= 0) return;
    fprintf(stderr, "%-*s", LABEL, label);
    for (uint32_t c = 0; c < self->columns; c++)
        put_cell(most_of(self, value, begin_of(self, c), begin_of(self, c + 1), &unused) / most);
    fprintf(stderr, " %s\n", text(figure, most));
}

/* Directions: a letter of the name that no earlier one took. */
typedef struct letters {
    const char *names[LETTERS];
    char letter[LETTERS];
    int count;
} letters;

static char free_letter(const letters *known, const char *name)
{
    for (const char *p = name; *p != '\0'; p++)
        if (*p >= 'a' && *p <= 'z' && memchr(known->letter, *p, (size_t)known->count) == NULL) return *p;
    return '?';
}

static char letter_of(letters *known, const char *name)
{
    for (int i = 0; i < known->count; i++)
        if (strcmp(known->names[i], name) == 0) return known->letter[i];
    if (known->count == LETTERS) return '?';
    char letter = free_letter(known, name);
    known->names[known->count] = name;
    known->letter[known->count++] = letter;
    return letter;
}

/* A column's direction is that of the iteration with most edges in it. */
static void put_directions(const plot *self)
{
    letters known = {.count = 0};
    uint32_t at;
    fprintf(stderr, "%-*s", LABEL, "direction");
    for (uint32_t c = 0; c < self->columns; c++) {
        (void)most_of(self, edges, begin_of(self, c), begin_of(self, c + 1), &at);
        fputc(letter_of(&known, row_at(self, at)->direction), stderr);
    }
    fputc('\n', stderr);
    fprintf(stderr, "%-*s", LABEL, "");
    for (int i = 0; i < known.count; i++)
        fprintf(stderr, "%s%c %s", i > 0 ? ", " : "", known.letter[i], known.names[i]);
    fputc('\n', stderr);
}

static void put_devices(const td_result *result)
{
    td_device_row row = {.size = sizeof row};
    double all = td_result_seconds(result);
    for (int i = 0; td_result_device_row(result, i, &row) == TD_OK; i++) {
        bool emulated = strncmp(row.device, "emu", 3) == 0; /* its clock is virtual */
        char busy[TD_NUMBER_BYTES];
        fprintf(stderr, "%-*s%s busy", LABEL, row.device, seconds_text(busy, row.busy_seconds));
        if (!emulated && all > 0) fprintf(stderr, ", %.0f%% of the run", fmin(1, row.busy_seconds / all) * 100);
        fprintf(stderr, "%s\n", emulated ? " by its virtual clock" : "");
    }
}

static void put_axis(const plot *self)
{
    fprintf(stderr, "%-*s%" PRIu32 " .. %" PRIu32, LABEL, "iteration", self->first, self->first + self->rows - 1);
    if (self->rows > self->columns)
        fprintf(stderr, "; a column has the maximum of up to %" PRIu32,
                (self->rows + self->columns - 1) / self->columns);
    fputc('\n', stderr);
}

td_status td_plot_run(const td_result *result)
{
    td_result_facts facts = {.size = sizeof facts};
    TD_CHECK(td_result_describe(result, &facts));
    plot self = {result, facts.first_row, facts.rows, facts.rows < COLUMNS ? facts.rows : COLUMNS};
    if (self.rows > 0) {
        put_curve(&self, "active vertices", active, count_text);
        put_curve(&self, "edges", edges, count_text);
        put_curve(&self, "bytes moved", moved, bytes_text);
        put_curve(&self, "bytes useful", useful, bytes_text);
        put_curve(&self, "time", seconds, seconds_text);
        put_directions(&self);
        put_axis(&self);
    }
    put_devices(result);
    return TD_OK;
}
