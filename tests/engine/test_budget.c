/* Tables within a budget of seconds (engine/budget.h): the order of the runs, what a budget that is used says, what fails.
 * The cpu engine runs them, which takes microseconds. */
#include "engine/budget.h"

#include <sys/wait.h>

enum { MOST_RUNS = 4000 };
static const char *run_program[MOST_RUNS], *run_graph[MOST_RUNS];
static int run_count;
static td_pool *own_pool;

static td_run *run_on_cpu(void *context, subject *about, int way)
{
    (void)context, (void)way;
    td_run_options options = table_options(about->row, about->graph);
    options.pool = own_pool;
    options.engine = "cpu";
    CHECK(run_count < MOST_RUNS);
    run_program[run_count] = about->row->program;
    run_graph[run_count++] = about->graph_name;
    td_run *run = run_of(about->row->program, about->graph, options, about->row->settings);
    if (getenv("TEST_WRONG") != NULL && run_count == 40) ((uint32_t *)run->values)[0] ^= 1;
    return run;
}

static int two_runs(const row *of, const td_graph *graph, test_weights kind)
{
    (void)kind;
    return of->engine == NULL && graph->vertices <= LARGE ? 2 : 0;
}

static const budget plenty = {.seconds = 1000, .programs = {"bfs", "labels", "kcore", "wcc"}, .larger = {"k10"}};

static budget_outcome run_budget(const budget *plan, table_draws *draws)
{
    table_ways ways = {.count = 100, .run = run_on_cpu, .pool = own_pool, .draws = draws};
    run_count = 0;
    return budget_run(plan, &ways);
}

static budget_outcome outcome_of(const budget *plan)
{
    table_draws draws = {.runs = two_runs};
    CHECK_OK(td_pool_create(&own_pool, 1));
    td_log_set_level(TD_LOG_WARN); /* it says how directed graphs are read */
    budget_outcome out = run_budget(plan, &draws);
    td_pool_destroy(own_pool);
    return out;
}

static int distinct(const char *const *names, int count)
{
    int different = 0;
    for (int i = 0; i < count; i++) {
        bool before = false;
        for (int j = 0; j < i; j++) before = before || strcmp(names[i], names[j]) == 0;
        different += !before;
    }
    return different;
}

TEST(every_program_runs_before_any_runs_again)
{
    (void)outcome_of(&plenty);
    CHECK_EQ(distinct(run_program, 4), 4);
}

/* 29 test graphs have vertices and are not large, and one is generated. A turn after the first is of two runs. */
TEST(every_graph_is_met_within_few_rounds)
{
    enum { GRAPHS = 29 };
    budget_outcome of = outcome_of(&plenty);
    CHECK_EQ(of.graphs, GRAPHS);
    CHECK_EQ(of.graphs_met, GRAPHS);
    CHECK_EQ(distinct(run_graph, 4 + 2 * (GRAPHS - 4)), GRAPHS);
}

TEST(the_whole_table_runs_where_there_is_time)
{
    budget_outcome of = outcome_of(&plenty);
    CHECK(of.total > 0);
    CHECK_EQ(of.runs, of.total);
    CHECK_EQ(of.runs, run_count);
    CHECK_EQ(of.total % 2, 0);
    CHECK_EQ(of.programs_met, 4);
    CHECK(budget_verdict(&plenty, &of) == NULL);
}

TEST(a_budget_ends_the_table_and_says_how_much_was_run)
{
    budget plan = plenty;
    plan.seconds = 0.2;
    budget_outcome of = outcome_of(&plan);
    for (int tries = 0; tries < 5 && of.runs == of.total; tries++) { /* a fast machine */
        plan.seconds /= 4;
        of = outcome_of(&plan);
    }
    CHECK(of.runs < of.total);
    CHECK_EQ(of.runs, run_count);
    if (of.programs_met == of.programs) CHECK(budget_verdict(&plan, &of) == NULL);
}

TEST(a_budget_that_meets_not_every_program_fails_and_says_so)
{
    budget plan = plenty;
    plan.seconds = 1e-9;
    budget_outcome of = outcome_of(&plan);
    CHECK_EQ(of.runs, 0);
    CHECK_STR(budget_verdict(&plan, &of), "the budget of 1e-09 s was used when 0 of 4 programs had run");
}

/* Ends as the child does that `work` runs in: its exit status, or -1. */
static int status_of_child(void (*work)(void))
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (setjmp(test_exit) != 0) _exit(1);
        work();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void run_all(void)
{
    budget_outcome of = outcome_of(&plenty);
    CHECK(of.runs == of.total);
}

TEST(a_wrong_answer_fails)
{
    CHECK_EQ(status_of_child(run_all), 0);
    CHECK(setenv("TEST_WRONG", "1", 1) == 0);
    int status = status_of_child(run_all);
    unsetenv("TEST_WRONG");
    CHECK_EQ(status, 1);
}

static void never_ends(void)
{
    budget_guard(0.001);
    snprintf(budget_under_way, sizeof budget_under_way, "    (this line is meant)\n");
    alarm(1);
    for (;;) pause();
}

TEST(a_run_that_does_not_end_ends_the_process) { CHECK_EQ(status_of_child(never_ends), 1); }

TEST(a_budget_is_a_number_of_seconds)
{
    CHECK(setenv("TANDEM_TEST_BUDGET", "2.5", 1) == 0);
    CHECK(budget_seconds() == 2.5);
    unsetenv("TANDEM_TEST_BUDGET");
    CHECK(budget_seconds() == 0);
}

TEST_MAIN
