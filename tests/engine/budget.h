/* A table of programs (table.h) that ends within a budget of seconds: TANDEM_TEST_BUDGET. Programs take turns, and a turn
 * goes to a graph that no run has met, as long as the program has one; so every program runs before any runs again, and
 * few rounds meet every graph. Rows and graphs come by steps of the golden section, ways as they are drawn. What is built
 * or computed for several runs is so once: graphs and references stay until the end. */
#ifndef TD_TEST_BUDGET_H
#define TD_TEST_BUDGET_H

#include "engine/table.h"

#include "base/clock.h"
#include "store/gen.h"

#include <signal.h>

enum { BUDGET_PROGRAMS = 16, BUDGET_LARGER = 8, BUDGET_GRAPHS = TEST_GRAPHS + BUDGET_LARGER };

/* Larger graphs have weights of u8: a row that takes them has them, any other ignores them. */
static inline test_weights larger_kind(int r)
{
    return rows[r].weights & KIND(TEST_U8) ? TEST_U8 : TEST_UNWEIGHTED;
}

static inline bool takes_larger(int r) { return (rows[r].weights & (KIND(TEST_U8) | KIND(TEST_UNWEIGHTED))) != 0; }

/* What is to be run. */
typedef struct budget {
    double seconds;
    const char *programs[BUDGET_PROGRAMS + 1]; /* ends with NULL */
    const char *larger[BUDGET_LARGER + 1];     /* names for td_gen_named, beside the test graphs; ends with NULL */
} budget;

/* A row of a program on a graph. */
typedef struct budget_cell {
    int row, graph;
    test_weights kind;
    int wanted, made; /* runs */
    expected answer;  /* once one is made */
} budget_cell;

typedef struct budget_table {
    const budget *plan;
    const table_ways *ways;
    int programs, graphs, total, runs;
    td_graph *graph[BUDGET_GRAPHS][TEST_WEIGHT_KINDS];
    bool graph_runs[BUDGET_GRAPHS], graph_met[BUDGET_GRAPHS]; /* has runs; has had one */
    budget_cell *cells[BUDGET_PROGRAMS];
    int count[BUDGET_PROGRAMS], made[BUDGET_PROGRAMS];
    table_draws draws[BUDGET_PROGRAMS];
    const td_graph *last; /* of the run before */
    uint64_t began;
} budget_table;

/* What came of it. */
typedef struct budget_outcome {
    int runs, total, programs_met, programs, graphs_met, graphs;
    double seconds;
} budget_outcome;

/* The seconds that TANDEM_TEST_BUDGET gives every table; 0: no limit. */
static inline double budget_seconds(void)
{
    const char *text = getenv("TANDEM_TEST_BUDGET");
    if (text == NULL || text[0] == 0) return 0;
    double seconds = atof(text);
    if (!(seconds > 0)) TEST_FAIL("TANDEM_TEST_BUDGET is '%s', not a number of seconds", text);
    return seconds;
}

static inline const char *budget_graph_name(const budget_table *self, int graph)
{
    return graph < TEST_GRAPHS ? test_graphs[graph].name : self->plan->larger[graph - TEST_GRAPHS];
}

static inline td_graph *budget_graph(budget_table *self, int graph, test_weights kind)
{
    td_gen_spec spec;
    td_build_options build;
    bool larger = graph >= TEST_GRAPHS;
    td_graph **place = &self->graph[graph][larger ? TEST_U8 : kind];
    if (*place != NULL) return *place;
    if (larger) {
        CHECK(td_gen_named(budget_graph_name(self, graph), &spec, &build));
        CHECK_OK(td_graph_generate(place, &spec, &build, self->ways->pool));
    } else {
        *place = test_graph(graph, kind, self->ways->pool);
    }
    return *place;
}

static inline void add_cell(budget_table *self, int program, int row_number, int graph, test_weights kind)
{
    enum { ROOM = ROWS * BUDGET_GRAPHS * TEST_WEIGHT_KINDS };
    const td_graph *built = budget_graph(self, graph, kind);
    if (!row_fits(&rows[row_number], built) || is_thinned(row_number, graph)) return;
    budget_cell cell = {.row = row_number, .graph = graph, .kind = kind,
                        .wanted = self->ways->draws->runs(&rows[row_number], built, kind)};
    if (cell.wanted == 0) return;
    if (self->cells[program] == NULL) CHECK_OK(TD_NEW(&self->cells[program], ROOM, "cells of a table"));
    self->cells[program][self->count[program]++] = cell;
    self->graph_runs[graph] = true;
    self->total += cell.wanted;
}

static inline void add_cells(budget_table *self, int program, int r)
{
    if (strcmp(rows[r].program, self->plan->programs[program]) != 0) return;
    for (int graph = 0; graph < self->graphs; graph++) {
        bool larger = graph >= TEST_GRAPHS;
        for (int kind = 0; kind < TEST_WEIGHT_KINDS && !larger; kind++)
            if (rows[r].weights & KIND(kind)) add_cell(self, program, r, graph, (test_weights)kind);
        if (larger && takes_larger(r)) add_cell(self, program, r, graph, larger_kind(r));
    }
}

/* Cells in which steps of the golden section take them. */
static inline void order_cells(budget_cell **cells, int count)
{
    budget_cell *ordered = NULL;
    if (count == 0) return;
    CHECK_OK(TD_NEW(&ordered, (uint64_t)count, "cells of a table"));
    for (int i = 0; i < count; i++) ordered[i] = (*cells)[drawn_way(i, count)];
    td_free(*cells);
    *cells = ordered;
}

static inline void budget_open(budget_table *self, const budget *plan, const table_ways *ways)
{
    *self = (budget_table){.plan = plan, .ways = ways, .graphs = TEST_GRAPHS, .began = td_clock_ns()};
    while (plan->larger[self->graphs - TEST_GRAPHS] != NULL) self->graphs++;
    for (; plan->programs[self->programs] != NULL; self->programs++) {
        int p = self->programs;
        self->draws[p] = (table_draws){.runs = ways->draws->runs, .next = p * 7};
        for (int r = 0; r < ROWS; r++) add_cells(self, p, r);
        if (self->count[p] == 0) TEST_FAIL("the table has no run of %s", plan->programs[p]);
        order_cells(&self->cells[p], self->count[p]);
    }
}

static inline void budget_close(budget_table *self)
{
    if (self->ways->leave != NULL) self->ways->leave(self->ways->context);
    for (int p = 0; p < self->programs; p++) {
        for (int c = 0; c < self->count[p]; c++) free_expected(&self->cells[p][c].answer);
        td_free(self->cells[p]);
    }
    for (int g = 0; g < self->graphs; g++)
        for (int kind = 0; kind < TEST_WEIGHT_KINDS; kind++) td_graph_destroy(self->graph[g][kind]);
}

/* The program's next: the first with runs left whose graph has not been met, or else the first; NULL: all are made. */
static inline budget_cell *next_cell(budget_table *self, int program)
{
    budget_cell *first = NULL;
    for (int c = 0; c < self->count[program]; c++) {
        budget_cell *cell = &self->cells[program][c];
        if (cell->made >= cell->wanted) continue;
        if (!self->graph_met[cell->graph]) return cell;
        if (first == NULL) first = cell;
    }
    return first;
}

static inline bool budget_left(const budget_table *self) { return td_seconds_since(self->began) < self->plan->seconds; }

/* A run that does not end: its name is written out, and the process with it ends. */
static char budget_under_way[700];

static inline void budget_is_over(int signal_number)
{
    (void)signal_number;
    ssize_t written = write(STDOUT_FILENO, budget_under_way, strlen(budget_under_way));
    _exit(written > 0 ? 1 : 2);
}

static inline unsigned budget_grace(double seconds) { return (unsigned)(2 * seconds) + 30; }

static inline void budget_guard(double seconds)
{
    fflush(stdout);
    signal(SIGALRM, seconds > 0 ? budget_is_over : SIG_DFL);
    alarm(seconds > 0 ? budget_grace(seconds) : 0);
}

/* Up to `most` runs of the cell, while there is time. */
static inline void run_cell(budget_table *self, int program, budget_cell *cell, int most)
{
    td_graph *graph = budget_graph(self, cell->graph, cell->kind);
    subject about = {.row = &rows[cell->row], .graph = graph, .graph_name = budget_graph_name(self, cell->graph),
                     .weights_name = test_weight_names[cell->kind]};
    table_ways ways = *self->ways;
    ways.draws = &self->draws[program];
    if (self->last != graph && ways.leave != NULL) ways.leave(ways.context);
    self->last = graph;
    for (int i = 0; i < most && cell->made < cell->wanted && budget_left(self); i++) {
        snprintf(budget_under_way, sizeof budget_under_way,
                 "    did not end in %u s, with a budget of %g s: %s %s on %s, %s, draw %d or one of the next\n",
                 budget_grace(self->plan->seconds), self->plan->seconds, about.row->program, about.row->settings,
                 about.graph_name, about.weights_name, ways.draws->next);
        if (!check_draw(&about, &ways, &cell->answer, cell->made)) { /* the row has no ways here */
            self->total -= cell->wanted - cell->made;
            cell->wanted = cell->made;
            return;
        }
        cell->made++;
        self->runs++;
        self->made[program]++;
        self->graph_met[cell->graph] = true;
    }
}

/* Draws until all runs are made or the budget is used. */
static inline budget_outcome budget_run(const budget *plan, const table_ways *ways)
{
    budget_table self;
    budget_outcome out = {0};
    budget_guard(plan->seconds);
    budget_open(&self, plan, ways);
    for (int round = 0, left = 1; left > 0 && budget_left(&self); round++) {
        left = 0;
        for (int p = 0; p < self.programs && budget_left(&self); p++) {
            budget_cell *cell = next_cell(&self, p);
            if (cell == NULL) continue;
            run_cell(&self, p, cell, round == 0 ? 1 : cell->wanted);
            left++;
        }
    }
    out = (budget_outcome){.runs = self.runs, .total = self.total, .programs = self.programs,
                           .seconds = td_seconds_since(self.began)};
    for (int p = 0; p < self.programs; p++) out.programs_met += self.made[p] > 0;
    for (int g = 0; g < self.graphs; g++) out.graphs += self.graph_runs[g], out.graphs_met += self.graph_met[g];
    budget_close(&self);
    budget_guard(0);
    return out;
}

/* Says how it ended; returns why that is no result, or NULL. */
static inline const char *budget_verdict(const budget *plan, const budget_outcome *of)
{
    static char words[200];
    printf("     %s: %d of %d runs in %.1f s of %g, %d of %d programs, %d of %d graphs\n",
           of->runs == of->total ? "the whole table" : "ended by its budget", of->runs, of->total, of->seconds,
           plan->seconds, of->programs_met, of->programs, of->graphs_met, of->graphs);
    if (of->programs_met == of->programs) return NULL;
    snprintf(words, sizeof words, "the budget of %g s was used when %d of %d programs had run", plan->seconds,
             of->programs_met, of->programs);
    return words;
}

static inline void check_within(const budget *plan, const table_ways *ways)
{
    budget_outcome outcome = budget_run(plan, ways);
    const char *why = budget_verdict(plan, &outcome);
    if (why != NULL) TEST_FAIL("%s", why);
}

#endif
