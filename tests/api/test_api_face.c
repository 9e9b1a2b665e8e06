/* The API as a face needs it: names of its own for options, refusals as structs, descriptions of what there is, files
 * that are made and opened for a run, reports. What the tool does goes through these calls. */
#include "map.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* A face as a binding for another language would have it. */
static const td_option_name keywords[] = {
    {"memory", "memory="}, {"devices", "devices="}, {"gpu_edges", "gpu_edges="}, {"source", "source="}, {NULL, NULL}};

static td_session *session_with(const td_option_name *names)
{
    td_session *session = NULL;
    td_session_options options = {.size = sizeof options, .threads = 1, .names = names};
    CHECK_OK(td_session_open(&options, &session));
    return session;
}

TEST(every_session_speaks_with_the_names_of_its_face)
{
    td_session *ours = session_with(keywords), *plain = session_with(NULL);
    td_graph *graph = map_of(ours);
    td_result *result = NULL;
    td_request request = {.size = sizeof request, .devices = "abacus"};
    td_plan *plan = NULL;
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(td_session_run(ours, graph, "wcc", &request, &result), TD_USAGE);
        CHECK_CONTAINS(td_last_message(), "devices= abacus");
        CHECK_STR(td_last_refusal()->option, "devices");
        CHECK_STATUS(td_session_run(plain, graph, "wcc", &request, &result), TD_USAGE);
        CHECK_CONTAINS(td_last_message(), "td_request.devices abacus");
        CHECK_STR(td_last_refusal()->option, "devices");
    }
    CHECK_STATUS(td_session_run(ours, graph, "sssp", NULL, &result), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "give one with source=");
    request.devices = "emu";
    CHECK_OK(td_session_plan(ours, graph, "wcc", &request, &plan));
    CHECK_STR(td_plan_why(plan), "a GPU is among devices=");
    CHECK(td_plan_uses_gpu(plan));
    td_plan_destroy(plan);
    td_memory_set_budget(td_memory_held() + 64);
    td_status status = td_session_run(ours, graph, "wcc", NULL, &result);
    td_memory_set_budget(0);
    CHECK_EQ(status, TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "memory= allows more");
    CHECK_STR(td_last_refusal()->option, "memory");
    td_graph_destroy(graph);
    td_session_destroy(plain);
    td_session_destroy(ours);
}

TEST(a_session_that_cannot_be_opened_says_so_with_its_names)
{
    td_session *session = NULL;
    td_session_options options = {.size = sizeof options, .threads = 1, .names = keywords};
    td_memory_set_budget(td_memory_held() + 64);
    td_status status = td_session_open(&options, &session);
    td_memory_set_budget(0);
    CHECK_EQ(status, TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "memory= allows more");
    options.size = 0;
    CHECK_STATUS(td_session_open(&options, &session), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "sizeof(td_session_options)");
    CHECK_STATUS(td_session_open(NULL, NULL), TD_INVALID);
    CHECK(session == NULL);
}

/* Refusals. */

TEST(too_many_threads_are_refused_with_how_many_are_allowed)
{
    td_session *session = NULL;
    CHECK_STATUS(td_session_create(1 << 20, &session), TD_LIMIT);
    const td_refusal *refusal = td_last_refusal();
    CHECK_EQ(refusal->resource, TD_RESOURCE_THREADS);
    CHECK_EQ(refusal->needed, 1 << 20);
    CHECK(refusal->allowed > 0 && refusal->allowed < refusal->needed);
    CHECK_STR(refusal->option, "threads");
    CHECK(strstr(td_last_message(), "tandem help") == NULL);
}

TEST(a_file_that_cannot_be_opened_because_too_many_are_says_so)
{
    td_session *session = session_of(1);
    td_graph *graph = NULL;
    struct rlimit before, none;
    char path[] = "/dev/shm/tandem-face-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, "1 2\n", 4) == 4);
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){(rlim_t)fd, before.rlim_max}; /* every number below is taken */
    for (int i = 0; i < fd; i++) CHECK(fcntl(i, F_GETFD) >= 0);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    td_status status = td_graph_open(session, path, NULL, &graph);
    setrlimit(RLIMIT_NOFILE, &before);
    td_resource resource = td_last_refusal()->resource;
    close(fd);
    unlink(path);
    CHECK_EQ(status, TD_IO);
    CHECK_EQ(resource, TD_RESOURCE_FILES);
    td_session_destroy(session);
}

TEST(settings_that_are_wrong_name_their_topics)
{
    static const char *const range[] = {"pagerank.damping=2", NULL}, *const unknown[] = {"cpu.colour=red", NULL};
    td_session *session = session_of(1);
    td_request request = {.size = sizeof request, .settings = range};
    CHECK_STATUS(td_request_check(session, "pagerank", &request), TD_USAGE);
    CHECK_STR(td_last_refusal()->topics, "pagerank");
    CHECK(strstr(td_last_message(), "tandem help") == NULL);
    request.settings = unknown;
    CHECK_STATUS(td_request_check(session, "pagerank", &request), TD_USAGE);
    CHECK_CONTAINS(td_last_refusal()->topics, "cpu");
    request.settings = NULL;
    CHECK_OK(td_request_check(session, "pagerank", &request));
    CHECK_STR(td_last_refusal()->option, "");
    CHECK_STATUS(td_request_check(session, "frobnicate", &request), TD_NOT_FOUND);
    CHECK_STATUS(td_request_check(NULL, "pagerank", &request), TD_INVALID);
    td_session_destroy(session);
}

/* NULL. */

TEST(accessors_of_no_plan_give_nothing)
{
    td_session *session = session_of(1);
    td_plan_memory row = {.size = sizeof row};
    td_result *result = NULL;
    char *text = NULL;
    CHECK(td_plan_engine(NULL) == NULL);
    CHECK(td_plan_why(NULL) == NULL);
    CHECK(!td_plan_fits(NULL));
    CHECK(!td_plan_uses_gpu(NULL));
    CHECK_EQ(td_plan_counter(NULL, "room_bytes"), 0);
    CHECK(td_plan_counter_name(NULL, 0) == NULL);
    CHECK_STATUS(td_plan_memory_row(NULL, 0, &row), TD_INVALID);
    CHECK_STATUS(td_plan_run(session, NULL, &result), TD_INVALID);
    CHECK_STATUS(td_report_json(session, NULL, NULL, NULL, &text), TD_INVALID);
    td_plan_destroy(NULL);
    td_graph *graph = map_of(session);
    td_plan *plan = NULL;
    CHECK_OK(td_session_plan(session, graph, "wcc", NULL, &plan));
    CHECK_EQ(td_plan_counter(plan, NULL), 0);
    CHECK(td_plan_counter_name(plan, -1) == NULL);
    CHECK_STATUS(td_plan_memory_row(plan, 0, NULL), TD_INVALID);
    CHECK_STATUS(td_plan_memory_row(plan, -1, &row), TD_NOT_FOUND);
    CHECK_STATUS(td_plan_run(NULL, plan, &result), TD_INVALID);
    CHECK_STATUS(td_plan_run(session, plan, NULL), TD_INVALID);
    td_plan_destroy(plan);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

/* Descriptions. */

TEST(everything_that_has_a_name_can_be_described)
{
    td_program_facts program = {.size = sizeof program};
    td_engine_facts engine = {.size = sizeof engine};
    td_setting_facts setting = {.size = sizeof setting};
    td_format_facts format = {.size = sizeof format};
    td_generator_facts generator = {.size = sizeof generator};
    const char *name;
    int programs = 0, engines = 0, settings = 0, formats = 0, kinds = 0;
    for (; (name = td_program_name(programs)) != NULL; programs++) CHECK_OK(td_program_describe(name, &program));
    for (; (name = td_engine_name(engines)) != NULL; engines++) CHECK_OK(td_engine_describe(name, &engine));
    for (; (name = td_format_name(formats)) != NULL; formats++) CHECK_OK(td_format_describe(name, &format));
    for (; (name = td_generator_kind(kinds)) != NULL; kinds++) CHECK_OK(td_generator_describe(name, &generator));
    while (td_setting_describe("stream", settings, &setting) == TD_OK) settings++;
    CHECK(programs > 5 && engines == 7 && formats > 10 && kinds > 5 && settings > 5);
    CHECK_OK(td_program_describe("sssp", &program));
    CHECK(program.needs_source && program.needs_weights && program.gives_parents && !program.groups);
    CHECK_STR(program.result, "distance");
    CHECK_OK(td_engine_describe("hybrid", &engine));
    CHECK(engine.uses_gpu && engine.from_disk);
    CHECK_OK(td_setting_describe("pagerank", 0, &setting));
    CHECK_STR(setting.name, "damping");
    CHECK_STR(setting.fallback, "0.85");
    CHECK_STATUS(td_program_describe("frobnicate", &program), TD_NOT_FOUND);
    CHECK_STATUS(td_program_describe(NULL, &program), TD_NOT_FOUND);
    CHECK_STATUS(td_engine_describe("abacus", &engine), TD_NOT_FOUND);
    CHECK_STATUS(td_setting_describe("abacus", 0, &setting), TD_NOT_FOUND);
    CHECK_STATUS(td_setting_describe("cpu", -1, &setting), TD_NOT_FOUND);
    CHECK_STATUS(td_format_describe("papyrus", &format), TD_NOT_FOUND);
    CHECK(td_engine_name(-1) == NULL && td_format_name(-1) == NULL && td_generator_kind(-1) == NULL);
    CHECK(td_generator_fixed("k20") && !td_generator_fixed("rmat") && !td_generator_fixed(NULL));
    program.size = 0;
    CHECK_STATUS(td_program_describe("bfs", &program), TD_INVALID);
}

/* A struct of an older program is filled as far as it goes. */
TEST(a_description_keeps_to_the_size_that_the_caller_has)
{
    td_program_facts program;
    memset(&program, 0x55, sizeof program);
    program.size = offsetof(td_program_facts, groups);
    CHECK_OK(td_program_describe("wcc", &program));
    CHECK_EQ(program.size, offsetof(td_program_facts, groups));
    CHECK_EQ(((const unsigned char *)&program.groups)[0], 0x55);
    CHECK(program.result != NULL);
}

/* Files. */

TEST(a_file_is_generated_converted_described_and_opened_for_a_run)
{
    td_session *session = session_of(2);
    td_generation generation = {.size = sizeof generation, .kind = "rmat", .scale = 8, .has_seed = true, .seed = 7};
    td_graph_options options = {.size = sizeof options, .weights = "1:100"};
    td_file_options file = {.size = sizeof file, .order = "hot"};
    td_made made = {.size = sizeof made};
    td_file_facts facts = {.size = sizeof facts};
    td_graph *drawn = NULL, *read = NULL, *ordered = NULL;
    td_request request = {.size = sizeof request, .has_source = true, .source = 1};
    char path[256], copy[256];
    uint64_t one, two, three;
    double lowest, highest;
    snprintf(path, sizeof path, "%s", test_path("drawn.tg"));
    snprintf(copy, sizeof copy, "%s", test_path("copy.el"));
    CHECK_EQ(td_generation_seed(&generation), 7);
    CHECK_OK(td_generation_check(session, &generation));
    CHECK_OK(td_file_generate(session, &generation, path, &options, NULL, &made, &drawn));
    CHECK(!made.out_of_memory && made.format == NULL && made.peak > 0);
    CHECK(td_graph_weight_range(drawn, &lowest, &highest) && lowest >= 1 && highest <= 100);
    CHECK_OK(td_file_describe(path, NULL, &facts));
    CHECK(facts.packed && facts.bytes == facts.plain_bytes && facts.checksum != 0 && facts.stripes == 0);
    CHECK_OK(td_file_convert(session, path, copy, NULL, &file, &made, &ordered));
    CHECK_STR(made.format, "tg");
    CHECK_EQ(made.input_bytes, facts.bytes);
    CHECK_OK(td_graph_open_for(session, path, NULL, "sssp", &request, &read));
    CHECK_OK(td_graph_digest_of(session, drawn, &one));
    CHECK_OK(td_graph_digest_of(session, ordered, &two));
    CHECK_OK(td_graph_digest_of(session, read, &three));
    CHECK(one == three && one != two);
    CHECK_OK(td_graph_set_order(session, &read, "hot", 1));
    CHECK_OK(td_graph_digest_of(session, read, &three));
    CHECK_EQ(three, two);
    CHECK_STATUS(td_graph_set_order(session, &read, "alphabetical", 1), TD_USAGE);
    CHECK(read != NULL);
    CHECK_STATUS(td_order_check("alphabetical"), TD_USAGE);
    td_graph_destroy(drawn);
    td_graph_destroy(read);
    td_graph_destroy(ordered);
    td_session_destroy(session);
}

TEST(what_cannot_be_made_is_refused_before_anything_is_written)
{
    td_session *session = session_of(1);
    td_generation odd = {.size = sizeof odd, .kind = "smallworld", .vertices = 100, .degree = 5};
    td_generation grid = {.size = sizeof grid, .kind = "grid"}, none = {.size = sizeof none, .kind = "abacus"};
    td_file_options striped = {.size = sizeof striped, .stripes = "/tmp"};
    td_graph *graph = NULL;
    const char *name;
    CHECK_STATUS(td_generation_check(session, &odd), TD_INVALID);
    CHECK_STR(td_last_refusal()->option, "degree");
    CHECK_STATUS(td_generation_check(session, &grid), TD_USAGE);
    CHECK_CONTAINS(td_last_message(), "give width (and height)");
    CHECK_STATUS(td_generation_check(session, &none), TD_USAGE);
    CHECK_STATUS(td_generation_check(session, NULL), TD_INVALID);
    CHECK_STATUS(td_file_generate(session, &odd, test_path("odd.el"), NULL, &striped, NULL, &graph), TD_USAGE);
    CHECK_STATUS(td_file_convert(session, test_path("absent.el"), test_path("x.tg"), NULL, NULL, NULL, &graph), TD_IO);
    CHECK_STATUS(td_format_of_output("graph.papyrus", NULL, &name), TD_USAGE);
    CHECK_OK(td_format_of_output("graph.tg", NULL, &name));
    CHECK_STR(name, "tg");
    CHECK(graph == NULL);
    td_session_destroy(session);
}

/* A program that needs weights is refused before the file is loaded: with no memory left it would fail otherwise. */
TEST(a_graph_is_opened_only_for_a_run_that_is_possible)
{
    td_session *session = session_of(1);
    td_generation generation = {.size = sizeof generation, .kind = "uniform", .scale = 12};
    td_request request = {.size = sizeof request, .has_source = true, .engine = "cpu"};
    td_graph *graph = NULL;
    CHECK_OK(td_file_generate(session, &generation, test_path("plain.tg"), NULL, NULL, NULL, NULL));
    td_memory_set_budget(td_memory_held() + (64 << 10));
    td_status status = td_graph_open_for(session, test_path("plain.tg"), NULL, "sssp", &request, &graph);
    td_status large = td_graph_open_for(session, test_path("plain.tg"), NULL, "bfs", &request, &graph);
    td_refusal refusal = *td_last_refusal();
    td_memory_set_budget(0);
    CHECK_EQ(status, TD_INVALID);
    CHECK_EQ(large, TD_NO_MEMORY);
    CHECK(refusal.minimum_known && refusal.needed > refusal.allowed);
    CHECK(graph == NULL);
    td_session_destroy(session);
}

/* Reports. */

static int begun;
static void count_begin(void *context)
{
    (void)context;
    begun++;
}

TEST(a_run_is_described_summarised_and_reported)
{
    td_session *session = session_of(1);
    td_graph *graph = map_of(session);
    td_request request = {.size = sizeof request, .has_source = true, .source = 10, .traces = true,
                          .begins = count_begin};
    td_plan *plan = NULL;
    td_result *result = NULL;
    td_result_facts facts = {.size = sizeof facts};
    td_summary summary = {.size = sizeof summary};
    td_report_facts report = {.size = sizeof report, .load = {.done = true, .start = 5, .seconds = 0.25}};
    char *text = NULL, *trace = NULL;
    const char *claims = NULL;
    CHECK_OK(td_session_plan(session, graph, "sssp", &request, &plan));
    CHECK_EQ(begun, 0);
    CHECK_OK(td_plan_run(session, plan, &result));
    CHECK_EQ(begun, 1);
    CHECK_OK(td_result_describe(result, &facts));
    CHECK_STR(facts.program, "sssp");
    CHECK_STR(facts.engine, "cpu");
    CHECK(facts.device == NULL && facts.disk_method == NULL && facts.rows > 0);
    CHECK(td_result_iteration(result, facts.first_row + facts.rows - 1) != NULL);
    CHECK_OK(td_result_summarise(session, result, &summary));
    CHECK_EQ(summary.reached, 6);
    CHECK(summary.highest == 12);
    CHECK_OK(td_result_claims(session, result, &claims));
    report.claims = claims;
    CHECK_OK(td_report_json(session, plan, result, &report, &text));
    CHECK_CONTAINS(text, "\"program\": \"sssp\"");
    CHECK_CONTAINS(text, "\"load\": 0.25");
    CHECK_CONTAINS(text, "\"reached\": 6");
    CHECK_CONTAINS(text, claims);
    CHECK_OK(td_trace_json(session, plan, result, NULL, &trace));
    CHECK_CONTAINS(trace, "\"traceEvents\"");
    report.repeats = 1 << 20;
    CHECK_STATUS(td_report_json(session, plan, result, &report, &text), TD_LIMIT);
    td_text_free(text);
    td_text_free(trace);
    CHECK_STATUS(td_result_format_check("papyrus"), TD_USAGE);
    td_result_destroy(result);
    td_plan_destroy(plan);
    td_graph_destroy(graph);
    td_session_destroy(session);
}

TEST(the_limit_of_the_process_counts_its_code_when_a_graph_is_opened)
{
    td_session *session = session_of(1);
    td_generation generation = {.size = sizeof generation, .kind = "uniform", .scale = 10};
    td_graph *graph = NULL;
    uint64_t limit = UINT64_C(1) << 30;
    CHECK_OK(td_file_generate(session, &generation, test_path("small.tg"), NULL, NULL, NULL, NULL));
    td_memory_set_limit(limit);
    td_status status = td_graph_open(session, test_path("small.tg"), NULL, &graph);
    td_graph_destroy(graph);
    graph = NULL;
    td_graph_options whole = {.size = sizeof whole, .edges = TD_PLACE_MEMORY};
    td_memory_set_limit(1 << 12);
    td_status small = td_graph_open(session, test_path("small.tg"), &whole, &graph);
    td_refusal refusal = *td_last_refusal();
    td_memory_set_budget(0);
    CHECK_EQ(status, TD_OK);
    CHECK_EQ(small, TD_NO_MEMORY);
    CHECK_EQ(refusal.resource, TD_RESOURCE_PROCESS_BUDGET);
    td_session_destroy(session);
}

/* Threads. */

typedef struct destroying {
    td_graph *graph;
    pthread_barrier_t start;
} destroying;

static void *destroy_graph(void *context)
{
    destroying *self = context;
    pthread_barrier_wait(&self->start);
    td_graph_destroy(self->graph);
    return NULL;
}

/* As many vertices and edges as the map, but in two components: its arrays may take the addresses of a destroyed one. */
static td_graph *halves_of(td_session *session)
{
    static const uint64_t from[] = {10, 10, 20, 40, 40, 50}, to[] = {20, 30, 30, 50, 60, 60};
    td_edges edges = map_edges;
    td_graph *graph = NULL;
    td_graph_options options = {.size = sizeof options, .symmetrize = true};
    edges.sources = from;
    edges.targets = to;
    CHECK_OK(td_graph_from_edges(session, &edges, &options, &graph));
    return graph;
}

static void check_components(td_session *session, const td_graph *graph, td_result *result, uint64_t components)
{
    td_summary summary = {.size = sizeof summary};
    CHECK_OK(td_result_verify(session, result));
    CHECK_OK(td_result_summarise(session, result, &summary));
    CHECK_EQ(summary.groups, components);
    CHECK_EQ(summary.reached, td_graph_vertices(graph));
    td_result_destroy(result);
}

/* The session caches the layout of the first graph on its GPU. Another thread destroys that graph while the session runs
 * on the second one: on the GPU, which replaces the layout, or on the CPU, which leaves it to be released. A third graph
 * must not be mistaken for the first. */
TEST(another_thread_destroys_a_graph_whose_layout_a_running_session_caches)
{
    uint64_t held = td_memory_held();
    td_session *session = session_of(2);
    td_request gpu = {.size = sizeof gpu, .engine = "resident", .devices = "emu@unchecked"};
    td_request cpu = {.size = sizeof cpu, .engine = "cpu"};
    td_graph *second = halves_of(session);
    for (int i = 0; i < 60; i++) {
        destroying other = {.graph = map_of(session)};
        td_result *result = NULL;
        pthread_t thread;
        CHECK_OK(td_session_run(session, other.graph, "wcc", &gpu, &result));
        check_components(session, other.graph, result, 1);
        CHECK_EQ(pthread_barrier_init(&other.start, NULL, 2), 0);
        CHECK_EQ(pthread_create(&thread, NULL, destroy_graph, &other), 0);
        pthread_barrier_wait(&other.start);
        td_status status = td_session_run(session, second, "wcc", i % 2 == 0 ? &cpu : &gpu, &result);
        pthread_join(thread, NULL);
        pthread_barrier_destroy(&other.start);
        CHECK_OK(status);
        check_components(session, second, result, 2);
        td_graph *third = halves_of(session);
        CHECK_OK(td_session_run(session, third, "wcc", &gpu, &result));
        check_components(session, third, result, 2);
        td_graph_destroy(third);
    }
    td_graph_destroy(second);
    td_session_destroy(session);
    CHECK_EQ(td_memory_held(), held);
}

TEST_MAIN
