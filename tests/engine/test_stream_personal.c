/* PageRank with personal restarts on the stream engine: random graphs, restart vertices, dangling rules and shares of
 * edges on the device, by changes and by values, against a power iteration in doubles. */
#include "engine/stream_ways.h"

#include "base/random.h"
#include "run/verify_run.h"

#include <math.h>

enum { CASES = 60, MOST_VERTICES = 160, LEAST_EDGES = 1200, MOST_EDGES = 2 * LEAST_EDGES };
static const double TOLERANCE = 1e-6;

typedef struct drawing {
    uint64_t seed, drawn;
    uint32_t n, edges, from[MOST_EDGES], to[MOST_EDGES];
    double restart[MOST_VERTICES];
    double damping;
    bool spread;
} drawing;

static uint32_t draw(drawing *self, uint32_t below)
{
    return (uint32_t)td_random_below(td_random_at(self->seed, self->drawn++), below);
}

static void put(drawing *self, uint32_t from, uint32_t to)
{
    self->from[self->edges] = from;
    self->to[self->edges++] = to;
}

/* Every edge as often as it takes to have more of them than the device holds: the ranks stay as they are. */
static void repeat_edges(drawing *self)
{
    for (uint32_t once = self->edges; self->edges < LEAST_EDGES;)
        for (uint32_t i = 0; i < once; i++) put(self, self->from[i], self->to[i]);
}

/* Random edges with loops and parallel ones, a cycle, a star, a tree that leads nowhere back, two parts. */
static void draw_edges(drawing *self)
{
    uint32_t n = self->n, kind = draw(self, 6);
    for (uint32_t v = 1; kind == 0 && v < n; v++) put(self, v - 1, v);
    for (uint32_t v = 1; kind == 1 && v < n; v++) put(self, 0, v), put(self, v, 0);
    for (uint32_t v = 1; kind == 2 && v < n; v++) put(self, (v - 1) / 2, v);
    for (uint32_t v = 0; kind == 3 && v < n; v++)
        put(self, v, v < n / 2 ? draw(self, n / 2) : n / 2 + draw(self, n - n / 2));
    for (uint32_t i = 0; kind >= 4 && i < 4 * n; i++) {
        uint32_t from = draw(self, 1 + draw(self, n)), to = draw(self, 1 + draw(self, n));
        put(self, from, draw(self, 8) == 0 ? from : to);
        if (draw(self, 4) == 0) put(self, self->from[self->edges - 1], self->to[self->edges - 1]);
    }
    if (kind < 2) put(self, n - 1, 0);
    repeat_edges(self);
}

static void draw_restarts(drawing *self)
{
    static const double dampings[] = {0.85, 0.85, 0.85, 0.5, 0, 0.95};
    uint32_t choice = draw(self, 5), count = choice < 2 ? 1 : choice < 4 ? 1 + draw(self, 4) : self->n;
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        self->restart[count == self->n ? i : draw(self, self->n)] = 1 + draw(self, 3) * (draw(self, 4) == 0 ? 1e4 : 1);
    for (uint32_t v = 0; v < self->n; v++) sum += self->restart[v];
    for (uint32_t v = 0; v < self->n; v++) self->restart[v] /= sum;
    self->damping = dampings[draw(self, 6)];
    self->spread = draw(self, 2) == 0;
}

static td_graph *build(const drawing *self)
{
    td_graph *graph = NULL;
    td_edge_list *list = NULL;
    td_edge_chunk *chunk = NULL;
    CHECK_OK(td_edges_create(&list, "drawn graph"));
    CHECK_OK(td_edges_chunk(list, 0, &chunk));
    list->declared = true;
    list->vertices = self->n;
    CHECK_OK(td_chunk_reserve(chunk, self->edges, false));
    for (uint32_t i = 0; i < self->edges; i++) CHECK_OK(td_chunk_put(chunk, self->from[i], self->to[i]));
    CHECK_OK(td_graph_build(&graph, list, &(td_build_options){0}, NULL));
    td_edges_destroy(list);
    return graph;
}

static void write_restarts(const drawing *self)
{
    FILE *file = fopen(test_path("restarts.txt"), "w");
    CHECK(file != NULL);
    for (uint32_t v = 0; v < self->n; v++)
        if (self->restart[v] > 0) fprintf(file, "%u %.17g\n", v, self->restart[v]);
    CHECK(fclose(file) == 0);
}

static void solve(const drawing *self, double *ranks)
{
    double sums[MOST_VERTICES], degree[MOST_VERTICES] = {0}, change = 1;
    for (uint32_t i = 0; i < self->edges; i++) degree[self->from[i]]++;
    memcpy(ranks, self->restart, sizeof self->restart);
    while (change > 1e-13) {
        double dangling = 0;
        memset(sums, 0, sizeof sums);
        for (uint32_t i = 0; i < self->edges; i++) sums[self->to[i]] += ranks[self->from[i]] / degree[self->from[i]];
        for (uint32_t v = 0; v < self->n; v++) dangling += degree[v] == 0 && self->spread ? ranks[v] : 0;
        change = 0;
        for (uint32_t v = 0; v < self->n; v++) {
            double p = self->restart[v];
            double fresh = (1 - self->damping) * p + self->damping * (sums[v] + dangling * p);
            change += fabs(fresh - ranks[v]);
            ranks[v] = fresh;
        }
    }
}

static void check_case(uint64_t seed)
{
    static const double caps[] = {0.05, 0.25, 0.4, 0.6};
    drawing self = {.seed = seed};
    double ranks[MOST_VERTICES], away = 0, least = 0;
    const char *claims;
    char settings[512];
    self.n = 2 + draw(&self, draw(&self, 3) == 0 ? 6 : MOST_VERTICES - 2);
    draw_edges(&self);
    draw_restarts(&self);
    write_restarts(&self);
    solve(&self, ranks);
    td_graph *graph = build(&self);
    td_run_options options = {.engine = "stream", .devices = small_machine_path(), .gpu_edges = caps[draw(&self, 4)],
                              .mode = draw(&self, 5) == 0 ? TD_MODE_SYNC : TD_MODE_ASYNC, .has_tolerance = true,
                              .tolerance = TOLERANCE, .has_iterations = true, .iterations = 3000};
    snprintf(settings, sizeof settings, "pagerank.personal=%s pagerank.damping=%g pagerank.dangling=%s "
             "stream.subgraph=128", test_path("restarts.txt"), self.damping, self.spread ? "spread" : "ignore");
    stream_raise_cap(program_of("pagerank"), graph, &options, settings);
    td_run *run = run_of("pagerank", graph, options, settings);
    CHECK_STR(run->engine, "stream");
    CHECK_STR(run->rows[0].direction, options.mode == TD_MODE_ASYNC ? "changes" : "pull");
    for (uint32_t v = 0; v < self.n; v++) {
        away += fabs((double)((const float *)run->values)[v] - ranks[v]);
        least = fmin(least, (double)((const float *)run->values)[v]);
    }
    if (!run->converged || !(run->final_change >= 0) || least < 0 || !(away <= 2 * TOLERANCE / (1 - self.damping)))
        TEST_FAIL("case %" PRIu64 ": %u vertices, damping %g, %s, %s: change %g, least rank %g, ranks %g away", seed,
                  self.n, self.damping, self.spread ? "spread" : "ignore",
                  options.mode == TD_MODE_SYNC ? "sync" : "async", run->final_change, least, away);
    CHECK_OK(td_run_verify(run, NULL, &claims));
    td_run_destroy(run);
    td_graph_destroy(graph);
}

TEST(ranks_are_right_for_every_restart_and_rule)
{
    for (uint64_t seed = 1; seed <= CASES; seed++) check_case(seed);
}

TEST_MAIN
