/* Arrays in host memory that are filled and pinned at the same time (gpu/pinning.h): what has been filled is pinned before
 * more is, every byte is filled once, and a refusal or a failure leaves nothing pinned. */
#include "engine/ways.h"

#include "base/alloc.h"
#include "base/loop.h"
#include "gpu/pinning.h"

enum { PIECE = 4096, GROUP = 64, PIECES = 5 * GROUP + 7 };

typedef struct scene {
    td_loop *loop;
    td_device *device;
    td_pinning pins[2];
    uint8_t *arrays[2];
    uint64_t fails_at;
    bool alone; /* one thread, whose steps are known */
} scene;

static scene open_scene(void)
{
    scene self = {.fails_at = UINT64_MAX};
    CHECK_OK(td_loop_create(&self.loop));
    CHECK_OK(td_devices_open(&self.device, "emu:1@unchecked", &(td_device_options){.loop = self.loop}));
    for (int i = 0; i < 2; i++) {
        uint64_t of_piece = PIECE << i;
        CHECK_OK(td_new_pages((void **)&self.arrays[i], PIECES * of_piece - 5, "array"));
        memset(self.arrays[i], 0, PIECES * of_piece - 5);
        self.pins[i] = (td_pinning){.array = self.arrays[i], .bytes = PIECES * of_piece - 5, .of_piece = of_piece,
                                    .step = GROUP * of_piece};
    }
    return self;
}

static void close_scene(scene *self)
{
    for (int i = 0; i < 2; i++) {
        td_pinning_unpin(self->device, &self->pins[i]);
        td_free(self->arrays[i]);
    }
    td_devices_close(self->device);
    td_loop_destroy(self->loop);
}

/* Pieces before the last whole group are pinned when the next one is filled. */
static td_status fill(void *context, uint64_t piece, int worker)
{
    scene *self = context;
    (void)worker;
    if (piece == self->fails_at) return td_fail(TD_IO, "piece %llu", (unsigned long long)piece);
    for (int i = 0; i < 2; i++) {
        uint64_t begin = piece * self->pins[i].of_piece, end = begin + self->pins[i].of_piece;
        if (end > self->pins[i].bytes) end = self->pins[i].bytes;
        if (self->alone && !self->pins[i].refused) CHECK_EQ(self->pins[i].pinned, piece / GROUP * self->pins[i].step);
        for (uint64_t at = begin; at < end; at++) self->arrays[i][at]++;
    }
    return TD_OK;
}

static void check_filled(const scene *self)
{
    for (int i = 0; i < 2; i++)
        for (uint64_t at = 0; at < self->pins[i].bytes; at++) CHECK_EQ(self->arrays[i][at], 1);
}

TEST(what_is_filled_is_pinned_before_more_is)
{
    pools pools = make_pools();
    for (int p = 0; p < WAY_THREADS; p++) {
        scene self = open_scene();
        self.alone = way_threads[p] == 1;
        CHECK_OK(td_pinning_run(self.device, self.pins, 2, PIECES, fill, &self, pools.of[p]));
        check_filled(&self);
        for (int i = 0; i < 2; i++) {
            CHECK(td_pinning_done(&self.pins[i]) && !self.pins[i].refused);
            CHECK(self.pins[i].seen == (char *)self.arrays[i]);
        }
        close_scene(&self);
    }
    destroy_pools(&pools);
}

TEST(memory_that_may_not_be_pinned_is_filled_all_the_same)
{
    scene self = open_scene();
    td_device_refuse_pins(true);
    CHECK_OK(td_pinning_run(self.device, self.pins, 2, PIECES, fill, &self, NULL));
    td_device_refuse_pins(false);
    check_filled(&self);
    for (int i = 0; i < 2; i++) CHECK(self.pins[i].refused && self.pins[i].pinned == 0 && !td_pinning_done(&self.pins[i]));
    CHECK_CONTAINS(td_last_message(), "cannot be pinned");
    td_pinning_pin(self.device, &self.pins[0]); /* once is enough */
    CHECK_EQ(self.pins[0].pinned, 0);
    close_scene(&self);
}

TEST(a_piece_that_fails_leaves_nothing_pinned_and_is_named)
{
    pools pools = make_pools();
    for (int p = 0; p < WAY_THREADS; p++) {
        scene self = open_scene();
        self.fails_at = 3 * GROUP + 1;
        CHECK_STATUS(td_pinning_run(self.device, self.pins, 2, PIECES, fill, &self, pools.of[p]), TD_IO);
        CHECK_CONTAINS(td_last_message(), "piece 193");
        for (int i = 0; i < 2; i++) CHECK_EQ(self.pins[i].pinned, 0);
        close_scene(&self);
    }
    destroy_pools(&pools);
}

TEST_MAIN
