/* A run in another numbering: everything that goes in comes out as it was, and groups keep their lowest vertex. */
#include "test.h"

#include "base/alloc.h"
#include "base/bitmap.h"
#include "base/random.h"
#include "run/numbering.h"

enum { VERTICES = 1000, BYTES = 12 };

typedef struct scene {
    uint32_t order[VERTICES], place[VERTICES];
    td_numbering numbering;
    td_pool *pool;
    td_run run;
    td_state state;
} scene;

static void shuffle(scene *self)
{
    for (uint32_t v = 0; v < VERTICES; v++) self->order[v] = v;
    for (uint32_t v = VERTICES - 1; v > 0; v--) {
        uint32_t other = (uint32_t)(td_random_at(7, v) % (v + 1)), kept = self->order[v];
        self->order[v] = self->order[other];
        self->order[other] = kept;
    }
    for (uint32_t v = 0; v < VERTICES; v++) self->place[self->order[v]] = v;
    self->numbering = (td_numbering){VERTICES, self->order, self->place};
}

static scene make_scene(const td_program *program)
{
    scene self = {0};
    shuffle(&self);
    CHECK_OK(td_pool_create(&self.pool, 3));
    self.run.program = program;
    return self;
}

static const td_program *program_of(const char *name)
{
    const td_program *program = td_program_named(name);
    CHECK(program != NULL);
    return program;
}

TEST(values_come_back_as_they_went)
{
    scene self = make_scene(program_of("bfs"));
    unsigned char own[VERTICES * BYTES], inside[VERTICES * BYTES], back[VERTICES * BYTES];
    for (uint32_t i = 0; i < sizeof own; i++) own[i] = (unsigned char)td_random_at(3, i);
    self.numbering = (td_numbering){VERTICES, self.order, self.place};
    CHECK_OK(td_numbering_values_in(&self.numbering, inside, own, BYTES, self.pool));
    for (uint32_t v = 0; v < VERTICES; v++)
        CHECK(memcmp(inside + self.place[v] * BYTES, own + v * BYTES, BYTES) == 0);
    CHECK_OK(td_numbering_values_out(&self.numbering, back, inside, BYTES, self.pool));
    CHECK(memcmp(back, own, sizeof own) == 0);
    td_pool_destroy(self.pool);
}

TEST(source_inputs_and_a_resumed_state_go_in_and_the_graphs_own_return)
{
    scene self = make_scene(program_of("bfs"));
    double *input;
    uint64_t words = td_bitmap_words(VERTICES);
    td_renumbered saved;
    self.numbering = (td_numbering){VERTICES, self.order, self.place};
    CHECK_OK(TD_NEW(&input, VERTICES, "input"));
    for (uint32_t v = 0; v < VERTICES; v++) input[v] = v;
    self.run.inputs[1] = input;
    self.run.context.input[1] = input;
    self.run.context.source = 17;
    uint32_t *values;
    CHECK_OK(TD_NEW(&values, VERTICES, "values"));
    for (uint32_t v = 0; v < VERTICES; v++) values[v] = v * 3;
    self.state.values = values;
    CHECK_OK(TD_NEW_ZEROED(&self.state.active, words, "active"));
    self.state.has_active = true;
    td_bit_set(self.state.active, 17);
    td_bit_set(self.state.active, 999);
    self.run.resumed = &self.state;
    CHECK_OK(td_numbering_enter(&self.numbering, &self.run, sizeof *values, &saved, self.pool));
    CHECK_EQ(self.run.context.source, self.place[17]);
    CHECK(self.run.inputs[1] != input && self.run.context.input[1] == self.run.inputs[1]);
    for (uint32_t v = 0; v < VERTICES; v++) {
        CHECK_EQ((uint32_t)self.run.inputs[1][self.place[v]], v);
        CHECK_EQ(((const uint32_t *)self.state.values)[self.place[v]], v * 3);
        CHECK_EQ(td_bit_get(self.state.active, self.place[v]), v == 17 || v == 999);
    }
    uint64_t *out;
    CHECK_OK(TD_NEW_ZEROED(&out, words, "bits"));
    td_numbering_bits_out(&self.numbering, out, self.state.active);
    for (uint32_t v = 0; v < VERTICES; v++) CHECK_EQ(td_bit_get(out, v), v == 17 || v == 999);
    td_numbering_leave(&self.run, &saved);
    CHECK_EQ(self.run.context.source, 17);
    CHECK(self.run.inputs[1] == input && self.run.context.input[1] == input);
    td_numbering_leave(&self.run, &saved); /* once more changes nothing */
    CHECK(self.run.inputs[1] == input);
    td_free(out);
    td_free(input);
    td_free(self.state.values);
    td_free(self.state.active);
    td_pool_destroy(self.pool);
}

/* Three groups, each named by one of its numbers inside the numbering. */
TEST(groups_are_named_by_their_lowest_vertex)
{
    scene self = make_scene(program_of("labels"));
    uint32_t names[3], inside[VERTICES];
    self.numbering = (td_numbering){VERTICES, self.order, self.place};
    for (uint32_t group = 0; group < 3; group++) names[group] = self.place[900 + group];
    for (uint32_t v = 0; v < VERTICES; v++) inside[self.place[v]] = names[v % 3];
    CHECK_OK(td_numbering_copy_result(&self.numbering, &self.run, inside, sizeof *inside, self.pool));
    for (uint32_t v = 0; v < VERTICES; v++) CHECK_EQ(((const uint32_t *)self.run.values)[v], v % 3);
    td_free(self.run.values);
    td_pool_destroy(self.pool);
}

TEST(no_numbering_is_the_graphs_own)
{
    scene self = make_scene(program_of("labels"));
    td_numbering own = {VERTICES, NULL, NULL};
    uint32_t inside[VERTICES];
    for (uint32_t v = 0; v < VERTICES; v++) inside[v] = v / 2;
    CHECK_OK(td_numbering_copy_result(&own, &self.run, inside, sizeof *inside, self.pool));
    CHECK(memcmp(self.run.values, inside, sizeof inside) == 0);
    td_free(self.run.values);
    td_pool_destroy(self.pool);
}

TEST_MAIN
