/* Forged checkpoints, whose checksums are right: every engine refuses a state that it would read or write past its
 * arrays for, or that it would never finish. */
#include "engine/checkpoint_scene.h"

#include "base/hash.h"

typedef struct forger {
    scene *scene;
    char path[PATH];
    td_identity identity;
    td_state state;
    uint32_t n;
} forger;

static const struct {
    const char *name, *settings, *devices;
    double gpu_edges;
} engines[] = {
    {"cpu", "", NULL, 0},
    {"resident", "", "emu:1@unchecked", 0},
    {"stream", "", "emu:1@unchecked", 0.5},
    {"coop", "", "emu:1@unchecked", 0.4},
    {"hybrid", "", NULL, 0},
    {"multi", "", "emu:3@unchecked", 0},
};
enum { ENGINES = sizeof engines / sizeof *engines };

/* A genuine state of the program, after so many iterations. */
static forger *open_forger(const char *program, uint32_t iterations)
{
    static forger self;
    char paths[8][PATH];
    self = (forger){.scene = open_scene()};
    self.n = self.scene->graph->vertices;
    leave_one(self.scene, program, iterations, false, "");
    CHECK_EQ(list_files(self.scene, paths), 1);
    snprintf(self.path, sizeof self.path, "%s", paths[0]);
    CHECK_OK(td_checkpoint_read(self.path, &self.identity, &self.state));
    return &self;
}

static void close_forger(forger *self)
{
    td_state_clear(&self->state);
    close_scene(self->scene);
}

static td_status resume_on(forger *self, int engine)
{
    td_run *run = NULL;
    td_run_options options = options_of(self->scene, self->identity.program);
    options.resume = self->scene->folder;
    options.engine = engines[engine].name;
    options.devices = engines[engine].devices;
    options.gpu_edges = engines[engine].gpu_edges;
    td_status status = attempt(self->scene, &run, self->identity.program, options, engines[engine].settings);
    td_run_destroy(run);
    return status;
}

static void write_state(forger *self)
{
    uint64_t bytes;
    CHECK_OK(td_checkpoint_write(self->path, &self->identity, &self->state, &bytes));
}

/* Every engine names the file and what is wrong with it. */
static void check_refused(forger *self, const char *words)
{
    write_state(self);
    for (int i = 0; i < ENGINES; i++) {
        td_status status = resume_on(self, i);
        if (status != TD_CORRUPT)
            TEST_FAIL("%s goes on from a forged state (%s): %s", engines[i].name, words, td_status_name(status));
        CHECK_CONTAINS(td_last_message(), self->path);
        CHECK_CONTAINS(td_last_message(), words);
        CHECK_CONTAINS(td_last_message(), "remove the file");
    }
}

static void check_taken(forger *self)
{
    write_state(self);
    for (int i = 0; i < ENGINES; i++) CHECK_OK(resume_on(self, i));
}

TEST(a_component_outside_the_graph_is_not_read)
{
    forger *self = open_forger("wcc", 1);
    uint32_t *parents = self->state.values, kept = parents[17];
    check_taken(self);
    parents[17] = UINT32_C(0xfffffff0);
    check_refused(self, "the label of vertex 17 is 4294967280; allowed are 0 to 17");
    parents[17] = kept;
    check_taken(self);
    close_forger(self);
}

TEST(cyclic_parents_are_refused_and_not_followed)
{
    forger *self = open_forger("wcc", 1);
    uint32_t *parents = self->state.values;
    parents[5] = 9;
    parents[9] = 5;
    check_refused(self, "the label of vertex 5 is 9; allowed are 0 to 5");
    close_forger(self);
}

TEST(a_finished_component_names_its_root)
{
    forger *self = open_forger("wcc", 1);
    uint32_t *parents = self->state.values;
    for (uint32_t v = 0; v < self->n; v++) parents[v] = v == 0 ? 0 : v - 1;
    self->state.converged = true;
    check_refused(self, "in a finished run a label is its own");
    close_forger(self);
}

TEST(labels_outside_the_graph_are_no_indices)
{
    forger *self = open_forger("labels", 1);
    uint32_t *labels = self->state.values;
    labels[3] = 0x40000000;
    check_refused(self, "the label of vertex 3 is 1073741824; allowed are 0 to 3");
    self->state.converged = true; /* and as a result that is only counted */
    check_refused(self, "the label of vertex 3 is 1073741824; allowed are 0 to 3");
    close_forger(self);
}

TEST(a_forest_has_as_many_edges_as_components_were_hooked)
{
    forger *self = open_forger("mst", 1);
    td_forest_value *values = self->state.values, *fresh;
    CHECK(self->state.edge_count > 0);
    check_taken(self);
    uint64_t count = self->state.edge_count;
    /* As many edges as there is room for, and everybody still alone: rounds would append to a full array. */
    CHECK_OK(TD_NEW(&fresh, self->n, "values"));
    memcpy(fresh, values, self->n * sizeof *fresh);
    uint64_t *edges = self->state.edges, *sums = self->state.sums[TD_STATE_EDGES];
    CHECK_OK(td_state_new_part(&self->state, TD_STATE_EDGES, self->n * sizeof(uint64_t)));
    for (uint32_t v = 0; v < self->n; v++) {
        values[v] = (td_forest_value){v, 0, {TD_NO_KEY, TD_NO_KEY}};
        self->state.edges[v] = v;
    }
    self->state.edge_count = self->n;
    check_refused(self, "it has 1024 edges of a forest; its 1024 components of 1024 vertices take 0");
    td_free(self->state.edges);
    td_free(self->state.sums[TD_STATE_EDGES]);
    self->state.edges = edges;
    self->state.sums[TD_STATE_EDGES] = sums;
    self->state.edge_count = count;
    memcpy(values, fresh, self->n * sizeof *fresh);
    td_free(fresh);
    check_taken(self);
    self->state.edge_count--;
    check_refused(self, "edges of a forest");
    close_forger(self);
}

TEST(an_edge_of_a_forest_is_in_the_graph_and_there_once)
{
    forger *self = open_forger("mst", 1);
    uint64_t kept = self->state.edges[1];
    self->state.edges[1] = self->scene->graph->edges;
    check_refused(self, "allowed are 0 to");
    self->state.edges[1] = self->state.edges[0];
    check_refused(self, "is in its forest twice");
    self->state.edges[1] = kept;
    check_taken(self);
    close_forger(self);
}

TEST(components_of_a_forest_are_roots_and_have_chosen_nothing)
{
    forger *self = open_forger("mst", 1);
    td_forest_value *values = self->state.values, kept = values[7];
    values[7].component = self->n;
    check_refused(self, "the component of vertex 7 is 1024; allowed are 0 to 1023");
    values[7] = kept;
    uint32_t a = 0;
    while (values[a].component != a) a++;
    uint32_t b = a + 1;
    while (values[b].component != b) b++;
    values[a].component = b;
    values[b].component = a;
    check_refused(self, "a root is in its own");
    values[a].component = a;
    values[b].component = b;
    values[7].best[0] = 12345; /* a key that no edge has: its partner would be used as an index */
    check_refused(self, "vertex 7 has an edge in its key");
    values[7] = kept;
    values[7].chosen = 1;
    check_refused(self, "the mark of a chosen edge of vertex 7 is 1; allowed are 0 to 0");
    values[7] = kept;
    check_taken(self);
    close_forger(self);
}

TEST(levels_and_distances_have_a_limit_and_one_source)
{
    forger *self = open_forger("bfs", 1);
    uint32_t *values = self->state.values;
    uint32_t other = 0;
    while (values[other] != UINT32_MAX) other++;
    values[other] = self->n;
    check_refused(self, "allowed are 0 to 1023");
    values[other] = 0;
    check_refused(self, "only the source 1 may have that");
    values[other] = 500;
    check_refused(self, "all active vertices have the highest level");
    values[other] = UINT32_MAX;
    td_bit_set(self->state.active, other);
    check_refused(self, "is active and unreached");
    close_forger(self);

    self = open_forger("sssp", 1);
    values = self->state.values;
    for (other = 0; values[other] != UINT32_MAX;) other++;
    values[other] = 1000000;
    check_refused(self, "is 1e+06; allowed are 0 to");
    close_forger(self);
}

TEST(numbers_of_a_state_are_in_range)
{
    forger *self = open_forger("kcore", 2);
    uint32_t *values = self->state.values, kept = values[4];
    check_taken(self);
    self->state.phase = UINT32_MAX;
    check_refused(self, "its level of peeling is 4294967295; allowed are 0 to");
    self->state.phase = 1000;
    values[4] = 1000000;
    check_refused(self, "allowed are 0 to");
    values[4] = kept;
    self->state.iteration = UINT32_MAX;
    check_refused(self, "its iteration is 4294967295; allowed are 0 to 2147483647");
    self->state.iteration = 2;
    self->state.has_active = false;
    check_refused(self, "it has no active vertices");
    close_forger(self);

    self = open_forger("pagerank", 2);
    float *ranks = self->state.values, rank = ranks[8];
    ranks[8] = 0.0f / 0.0f;
    check_refused(self, "the value of vertex 8 is");
    ranks[8] = rank;
    self->state.global = 1e308 * 10;
    check_refused(self, "its sum over all vertices is inf; allowed are finite numbers");
    self->state.global = 0.1;
    self->state.change = -1;
    check_refused(self, "its last change is -1; allowed are finite numbers from 0");
    self->state.change = 0;
    self->state.by_levels = true;
    check_refused(self, "pagerank is none");
    close_forger(self);
}

/* Lengths that wrap to those of the file there is, and flags: words of the header, by their place in it. */
static void forge_words(forger *self, uint64_t at, uint32_t word, uint64_t length_at, uint64_t length)
{
    uint64_t hash = 0, hash_at = 16 + sizeof(td_identity) + 24 + 16 + 48;
    char page[TD_OUTFILE_PAGE];
    write_state(self);
    FILE *file = fopen(self->path, "r+b");
    CHECK(file != NULL && fread(page, 1, sizeof page, file) == sizeof page);
    memcpy(page + at, &word, sizeof word);
    if (length_at > 0) memcpy(page + length_at, &length, sizeof length);
    memcpy(page + hash_at, &hash, sizeof hash);
    hash = td_hash64(page, sizeof page);
    memcpy(page + hash_at, &hash, sizeof hash);
    rewind(file);
    CHECK(fwrite(page, 1, sizeof page, file) == sizeof page);
    CHECK(fclose(file) == 0);
}

TEST(a_length_that_wraps_is_refused_before_anything_is_allocated)
{
    forger *self = open_forger("pagerank", 2);
    uint64_t value_bytes_at = 16 + offsetof(td_identity, value_bytes), bytes_at = 16 + sizeof(td_identity) + 24 + 16;
    forge_words(self, value_bytes_at, UINT32_MAX, bytes_at, (uint64_t)self->n * UINT32_MAX);
    for (int i = 0; i < ENGINES; i++) {
        CHECK_STATUS(resume_on(self, i), TD_CORRUPT);
        CHECK_CONTAINS(td_last_message(), "values of 4294967295 bytes; allowed are 1 to 64");
    }
    forge_words(self, 16 + sizeof(td_identity) + 8, 2, 0, 0);
    CHECK_STATUS(resume_on(self, 0), TD_CORRUPT);
    CHECK_CONTAINS(td_last_message(), "the flag converged of its header is 2; allowed are 0 and 1");
    close_forger(self);
}

/* Of two checkpoints the older one is used, as where the newer is damaged. */
TEST(a_forged_state_is_passed_over_for_the_one_before_it)
{
    forger *self = open_forger("wcc", 1);
    char newer[PATH];
    snprintf(newer, sizeof newer, "%s/checkpoint-00000009.tdck", self->scene->folder);
    uint64_t bytes;
    uint32_t *parents = self->state.values, kept = parents[2];
    parents[2] = 3;
    CHECK_OK(td_checkpoint_write(newer, &self->identity, &self->state, &bytes));
    parents[2] = kept;
    CHECK_OK(resume_on(self, 0));
    CHECK_EQ(self->scene->warnings, 1);
    CHECK_CONTAINS(self->scene->warning, "checkpoint-00000009.tdck: the label of vertex 2 is 3");
    CHECK_CONTAINS(self->scene->warning, "the one before it is used");
    close_forger(self);
}

/* Rounds of a forest. */

/* Keys of 32 bits of weight and 16 each of an edge and a vertex: a round takes two sweeps. */
static void take_wide_graph(scene *self)
{
    td_gen_spec spec = {.kind = "rmat", .seed = 3, .rewire = -1, .scale = 16, .degree = 1};
    td_build_options build = {0};
    td_graph_destroy(self->graph);
    CHECK_OK(td_parse_weights("1.0:100.0", &build));
    CHECK_OK(td_graph_generate(&self->graph, &spec, &build, self->pool));
}

TEST(a_state_of_the_middle_of_a_round_goes_on_from_its_beginning)
{
    scene *scene = open_scene();
    forger self = {.scene = scene};
    char paths[8][PATH];
    take_wide_graph(scene);
    td_run *plain = run_of("mst", scene->graph, options_of(scene, "mst"), ""), *run = NULL;
    leave_one(scene, "mst", 1, false, ""); /* stops where the round ends */
    CHECK_EQ(list_files(scene, paths), 1);
    snprintf(self.path, sizeof self.path, "%s", paths[0]);
    CHECK_OK(td_checkpoint_read(self.path, &self.identity, &self.state));
    CHECK_EQ(self.state.iteration, 2);
    td_forest_value *values = self.state.values;
    self.state.iteration = 3;
    for (uint32_t v = 0; v < scene->graph->vertices; v++) values[v].best[0] = v; /* of no edge, or of the wrong one */
    write_state(&self);
    CHECK_OK(resume(scene, &run, "mst", ""));
    CHECK_EQ(run->checkpoint_stats.resumed_iteration, 2);
    CHECK_EQ(run->iterations, plain->iterations);
    CHECK_EQ(run->edge_count, plain->edge_count);
    CHECK(memcmp(run->edges, plain->edges, plain->edge_count * sizeof *plain->edges) == 0);
    td_run_destroy(run);
    td_run_destroy(plain);
    td_state_clear(&self.state);
    close_scene(scene);
}

TEST_MAIN
