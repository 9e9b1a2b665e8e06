/* The example of docs/guide/writing-a-program.md, compiled as the build compiles a program, and
 * run: against a search that tries every threshold. */
#include "engine/engine.h"
#include "../../examples/programs/bottleneck.h"
#define PROGRAM_SYMBOL td_program_bottleneck
#include "kernels/cpu/instance.h"

#include "../engine/running.h"

#include "run/result.h"

#include "store/gen.h"

enum { SCALE = 9, HEAVIEST = 40 };

static td_graph *random_graph(bool real)
{
    td_graph *graph = NULL;
    td_gen_spec spec = {.kind = "rmat", .seed = 5, .scale = SCALE, .degree = 3, .rewire = -1};
    td_build_options build = {.attach_weights = true, .weight_real = real, .weight_low = 1, .weight_high = HEAVIEST,
                              .weight_seed = 3};
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    return graph;
}

/* Whether `target` can be reached over edges of at most that weight. */
static void reach(const td_graph *graph, uint32_t source, double most, bool *reached)
{
    uint32_t *stack = NULL;
    uint64_t top = 0;
    CHECK_OK(TD_NEW(&stack, graph->vertices, "stack"));
    memset(reached, 0, graph->vertices * sizeof *reached);
    reached[source] = true;
    stack[top++] = source;
    while (top > 0) {
        uint32_t u = stack[--top];
        for (uint64_t e = graph->out.offsets[u]; e < graph->out.offsets[u + 1]; e++) {
            uint32_t v = graph->out.targets[e];
            if (reached[v] || td_weight_at(graph, &graph->out, e) > most) continue;
            reached[v] = true;
            stack[top++] = v;
        }
    }
    td_free(stack);
}

/* A value is right if the vertex is reached over edges up to it, and not over lighter ones. */
static void check_values(const td_run *run, uint32_t source)
{
    const td_graph *graph = run->graph;
    bool *within = NULL, *below = NULL;
    CHECK_OK(TD_NEW(&within, graph->vertices, "reached"));
    CHECK_OK(TD_NEW(&below, graph->vertices, "reached"));
    for (uint32_t v = 0; v < graph->vertices; v += 7) {
        double value;
        bool has = td_run_value(run, v, &value);
        reach(graph, source, has ? value : 1e30, within);
        reach(graph, source, has ? value * (1 - 1e-6) : 1e30, below);
        CHECK(has == within[v]);
        CHECK(!has || v == source || !below[v]);
    }
    td_free(within);
    td_free(below);
}

static uint32_t busiest(const td_graph *graph)
{
    uint32_t best = 0;
    for (uint32_t v = 1; v < graph->vertices; v++)
        if (td_degree(&graph->out, v) > td_degree(&graph->out, best)) best = v;
    return best;
}

static void check_program(bool real)
{
    static const char *const directions[] = {"cpu.direction=auto", "cpu.direction=pull", "cpu.direction=notify",
                                             "cpu.direction=push"};
    td_graph *graph = random_graph(real);
    uint32_t source = busiest(graph);
    for (int threads = 1; threads <= 4; threads *= 4)
        for (int d = 0; d < 4; d++)
            for (int async = 0; async < 2; async++) {
                td_settings set = SET(directions[d]);
                td_pool *pool;
                CHECK_OK(td_pool_create(&pool, threads));
                td_run_options options = {.pool = pool, .has_source = true, .source = source, .settings = &set,
                                          .mode = async ? TD_MODE_ASYNC : TD_MODE_SYNC};
                td_run *run = NULL;
                CHECK_OK(td_run_program(&run, &td_program_bottleneck, graph, &options));
                CHECK(run->converged);
                check_values(run, source);
                td_run_destroy(run);
                td_pool_destroy(pool);
                td_settings_clear(&set);
            }
    td_graph_destroy(graph);
}

TEST(the_example_is_right_on_integer_weights) { check_program(false); }

TEST(the_example_is_right_on_real_weights) { check_program(true); }

TEST(the_example_refuses_what_it_says_it_refuses)
{
    td_graph *graph = graph_of("1 2\n");
    td_run *run = NULL;
    td_run_options options = {.has_source = true};
    CHECK_STATUS(td_run_program(&run, &td_program_bottleneck, graph, &options), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "bottleneck needs edge weights");
    td_graph_destroy(graph);
    graph = graph_of("1 2 -0.5\n");
    CHECK_STATUS(td_run_program(&run, &td_program_bottleneck, graph, &options), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "has weight -0.5");
    td_graph_destroy(graph);
}

TEST_MAIN
