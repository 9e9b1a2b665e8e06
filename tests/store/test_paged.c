/* Pages that come and go in any order, whole and in parts: their edges are those of the graph whatever memory they were
 * read into, and that memory is handed on instead of being given back. */
#include "sample.h"

#include "base/bitmap.h"
#include "base/random.h"
#include "store/paged.h"

typedef struct place {
    td_graph *graph, *paged;
    td_page_set *set;
    uint32_t *order;
    uint64_t *only;
} place;

/* Pages of half a megabyte and more: a few units of memory each, that begin and end anywhere. */
static place open_place(uint64_t page_edges)
{
    place self = {
        .graph = sample_graph((sample){.vertices = 30000, .edges = 3000000, .weights = TD_WEIGHT_U16, .seed = 9})};
    const char *path = test_path("pages.tg");
    CHECK_OK(td_packed_write(self.graph, path, NULL));
    CHECK_OK(td_paged_open(&self.paged, path, NULL, NULL));
    CHECK_OK(td_page_set_create(&self.set, self.paged, TD_LIST_BOTH, page_edges));
    CHECK_OK(TD_NEW(&self.order, self.set->count, "order"));
    CHECK_OK(TD_NEW_ZEROED(&self.only, td_bitmap_words(self.graph->vertices), "map"));
    return self;
}

static void close_place(place *self)
{
    td_page_set_destroy(self->set);
    td_graph_destroy(self->paged);
    td_graph_destroy(self->graph);
    td_free(self->order);
    td_free(self->only);
}

static void check_list(const td_adjacency *seen, const td_adjacency *wanted, uint32_t v)
{
    uint64_t first = wanted->offsets[v], count = wanted->offsets[v + 1] - first;
    if (memcmp(seen->targets + first, wanted->targets + first, count * 4) != 0)
        TEST_FAIL("vertex %u has other targets", v);
    if (memcmp((char *)seen->weights + first * 2, (char *)wanted->weights + first * 2, count * 2) != 0)
        TEST_FAIL("vertex %u has other weights", v);
}

static void check_page(const place *self, const td_held_page *page, bool parts)
{
    for (uint32_t v = page->begin; v < page->end; v++) {
        if (parts && !td_bit_get(self->only, v)) continue;
        check_list(&self->paged->out, &self->graph->out, v);
        check_list(&self->paged->in, &self->graph->in, v);
    }
}

/* A pass over some pages in some order; a few vertices of each where it is about parts. */
static void pass(place *self, uint64_t seed)
{
    uint32_t count = 0;
    bool parts = seed % 3 == 0;
    for (uint32_t p = 0; p < self->set->count; p++)
        if (td_random_at(seed, p) % 4 != 0) self->order[count++] = p;
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = (uint32_t)(td_random_at(seed + 1, i) % i), keep = self->order[i - 1];
        self->order[i - 1] = self->order[j];
        self->order[j] = keep;
    }
    memset(self->only, 0, td_bitmap_words(self->graph->vertices) * 8);
    for (uint32_t v = 0; parts && v < self->graph->vertices; v++)
        if (td_random_at(seed + 2, v) % 512 == 0) td_bit_set(self->only, v);
    CHECK_OK(td_paged_begin(self->paged->paged, &(td_page_pass){.set = self->set, .needs = TD_WITH_WEIGHTS,
                                                                .order = self->order, .count = count,
                                                                .only = parts ? self->only : NULL,
                                                                .part = parts ? 1 : 0}));
    for (uint32_t i = 0; i < count; i++) {
        CHECK_OK(td_paged_wait(self->paged->paged, i));
        check_page(self, &self->set->pages[self->order[i]], parts);
        CHECK_OK(td_paged_leave(self->paged->paged, i, (double)(td_random_at(seed + 3, i) % 3)));
    }
}

static void check_passes(uint64_t page_edges, uint64_t room)
{
    place self = open_place(page_edges);
    uint64_t before = td_memory().now;
    room = room > 3 * self.set->largest ? room : 3 * self.set->largest;
    CHECK_OK(td_paged_set_room(self.paged->paged, room));
    for (uint64_t seed = 10; seed < 22; seed++) {
        pass(&self, seed);
        CHECK(td_memory().now <= before + room);
    }
    CHECK(td_paged_count(self.paged->paged).reused > 0);
    close_place(&self);
}

TEST(edges_are_right_whatever_memory_they_come_to) { check_passes(150000, 8 << 20); }
TEST(edges_of_large_pages_are_right) { check_passes(600000, 0); }
TEST(edges_are_right_where_most_pages_stay) { check_passes(100000, 28 << 20); }

TEST(memory_put_aside_counts_and_goes_with_the_pages)
{
    place self = open_place(300000);
    uint64_t held = td_memory().now;
    CHECK_OK(td_paged_set_room(self.paged->paged, 3 * self.set->largest));
    pass(&self, 7);
    CHECK(td_memory().now <= held + 3 * self.set->largest);
    CHECK_OK(td_paged_set_room(self.paged->paged, 3 * self.set->largest));
    CHECK(td_memory().now - held < td_paged_count(self.paged->paged).held + 4096); /* and some of the loop's */
    close_place(&self);
}

TEST_MAIN
