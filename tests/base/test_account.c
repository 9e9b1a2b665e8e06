/* Accounts: who is charged for a block, whose budget refuses it, what makes way, and who stops. */
#include "test.h"

#include "base/cancel.h"
#include "base/loop.h"
#include "base/pool.h"
#include "base/task.h"

#include <pthread.h>

enum { MIB = 1 << 20 };

static td_account *account_of(uint64_t budget)
{
    td_account *account = NULL;
    CHECK_OK(td_account_create(&account, NULL));
    account->budget = budget;
    return account;
}

static void *new_in(td_account *account, uint64_t bytes)
{
    void *block = NULL;
    td_account *before = td_account_enter(account);
    td_status status = td_new_bytes(&block, bytes, 1, "block");
    (void)td_account_enter(before);
    return status == TD_OK ? block : NULL;
}

static void *free_elsewhere(void *block)
{
    td_free(block);
    return NULL;
}

TEST(a_block_is_credited_to_its_account_by_any_thread_after_the_owner_is_gone)
{
    uint64_t before = td_memory().now;
    td_account *account = account_of(0);
    void *small = new_in(account, 100), *large = new_in(account, 3 * MIB);
    CHECK(td_account_memory(account).now >= 3 * MIB + 100);
    CHECK(td_memory().now >= before + td_account_memory(account).now); /* the process holds what its accounts hold */
    td_free(small);
    CHECK(td_account_memory(account).now < 3 * MIB + 8192);
    td_account_release(account);
    CHECK(td_account_memory(account).now >= 3 * MIB); /* the block still refers to it */
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, free_elsewhere, large), 0);
    pthread_join(thread, NULL);
    CHECK_EQ(td_memory().now, before);
}

TEST(a_block_that_grows_stays_in_its_account)
{
    td_account *account = account_of(0);
    for (uint64_t bytes = 100; bytes <= 3 * MIB; bytes += 3 * MIB - 100) {
        void *block = new_in(account, bytes);
        uint64_t held = td_account_memory(account).now;
        CHECK_OK(td_resize_bytes(&block, bytes + 2 * MIB, 1, "block"));
        CHECK(td_account_memory(account).now >= held + 2 * MIB);
        CHECK(td_account_of(block) == account);
        td_free(block);
        CHECK_EQ(td_account_memory(account).now, 0);
    }
    CHECK(td_account_memory(account).peak >= 5 * MIB);
    td_account_release(account);
}

TEST(the_budgets_of_the_account_and_of_the_process_both_apply)
{
    td_account *poor = account_of(2 * MIB), *rich = account_of(0);
    CHECK(new_in(poor, 3 * MIB) == NULL);
    CHECK_EQ(td_last_refusal()->resource, TD_RESOURCE_SESSION_BUDGET);
    CHECK_EQ(td_last_refusal()->allowed, 2 * MIB);
    CHECK(td_last_refusal()->needed > 3 * MIB && td_last_refusal()->needed < 3 * MIB + 16384);
    CHECK(!td_last_refusal()->minimum_known);
    void *block = new_in(rich, 3 * MIB);
    CHECK(block != NULL);
    td_memory_set_budget(td_memory().now + MIB);
    CHECK(new_in(rich, 2 * MIB) == NULL);
    CHECK_EQ(td_last_refusal()->resource, TD_RESOURCE_PROCESS_BUDGET);
    CHECK(td_account_memory(rich).budget >= td_account_memory(rich).now + MIB / 2); /* what it could hold at most */
    CHECK(td_account_memory(rich).budget <= td_account_memory(rich).now + MIB);
    td_memory_set_budget(0);
    CHECK_EQ(td_account_memory(rich).budget, 0);
    CHECK_EQ(td_account_memory(poor).now, 0);
    td_free(block);
    td_account_release(poor);
    td_account_release(rich);
}

TEST(a_failure_of_another_kind_is_no_refusal)
{
    td_account *poor = account_of(MIB);
    CHECK(new_in(poor, 2 * MIB) == NULL);
    td_fail_context(TD_NO_MEMORY, "reading");
    td_fail_add(TD_NO_MEMORY, " (%d)", 7);
    CHECK_EQ(td_last_refusal()->resource, TD_RESOURCE_SESSION_BUDGET);
    CHECK(strncmp(td_last_message(), "reading: ", 9) == 0);
    CHECK_CONTAINS(td_last_message(), "(7)");
    td_failure kept;
    td_failure_keep(&kept);
    td_fail(TD_IO, "no such file");
    CHECK_EQ(td_last_refusal()->resource, TD_RESOURCE_NONE);
    td_failure_set(&kept);
    CHECK_EQ(td_last_refusal()->allowed, MIB);
    td_account_release(poor);
}

/* Threads that work for somebody. */

static td_status note_account(void *context, int worker, int workers)
{
    (void)workers;
    ((td_account **)context)[worker] = td_account_current();
    return TD_OK;
}

static td_status ask_too_much(void *context, int worker, int workers)
{
    (void)context, (void)workers;
    void *block = NULL;
    return worker == 1 ? td_new_bytes(&block, 8 * MIB, 1, "block of a worker") : TD_OK;
}

TEST(workers_work_for_the_account_of_the_caller_and_hand_over_what_was_refused)
{
    td_pool *pool = NULL;
    td_account *account = account_of(4 * MIB), *seen[3];
    CHECK_OK(td_pool_create(&pool, 3));
    td_account *before = td_account_enter(account);
    CHECK_OK(td_pool_run(pool, note_account, seen));
    for (int i = 0; i < 3; i++) CHECK(seen[i] == account);
    td_status status = td_pool_run(pool, ask_too_much, NULL);
    (void)td_account_enter(before);
    CHECK_EQ(status, TD_NO_MEMORY);
    CHECK_EQ(td_last_refusal()->resource, TD_RESOURCE_SESSION_BUDGET);
    CHECK_EQ(td_last_refusal()->allowed, 4 * MIB);
    CHECK_OK(td_pool_run(pool, note_account, seen));
    for (int i = 0; i < 3; i++) CHECK(seen[i] == td_account_process());
    td_pool_destroy(pool);
    td_account_release(account);
}

typedef struct errand {
    td_task task;
    td_account *seen;
    td_status status;
} errand;

static td_status do_errand(void *context, uint64_t *time)
{
    (void)time;
    void *block = NULL;
    ((errand *)context)->seen = td_account_current();
    return td_new_bytes(&block, 8 * MIB, 1, "block of a task");
}

static void errand_done(void *context, td_status status, uint64_t value)
{
    (void)value;
    errand *self = context;
    self->status = td_last_refusal()->resource == TD_RESOURCE_SESSION_BUDGET ? status : TD_INTERNAL;
    td_task_join(&self->task);
    td_loop_stop(self->task.loop);
}

TEST(a_task_works_for_the_account_of_whoever_started_it)
{
    td_loop *loop = NULL;
    td_account *account = account_of(4 * MIB);
    td_account *before = td_account_enter(account);
    CHECK_OK(td_loop_create(&loop));
    errand self = {.task = {.loop = loop, .work = do_errand, .handler = errand_done}};
    self.task.context = &self;
    td_task_start(&self.task);
    CHECK_OK(td_loop_run(loop));
    CHECK(self.seen == account);
    CHECK_EQ(self.status, TD_NO_MEMORY); /* with the refusal of the other thread */
    td_loop_destroy(loop);
    (void)td_account_enter(before);
    td_account_release(account);
}

/* What makes way. */

typedef struct hoard {
    td_kept kept;
    void *block;
    int *turn, released; /* the how-manyeth it was, 0: not yet */
} hoard;

static void give_up(td_kept *kept)
{
    hoard *self = (hoard *)kept;
    td_free(self->block);
    self->block = NULL;
    self->released = ++*self->turn;
}

static void offer(hoard *self, int *turn)
{
    self->turn = turn;
    if (self->block == NULL) CHECK_OK(td_new_bytes(&self->block, MIB, 1, "hoard"));
    td_kept_offer(&self->kept, give_up);
}

TEST(what_is_cached_makes_way_oldest_first_and_only_as_much_as_needed)
{
    int turn = 0;
    hoard hoards[3] = {0};
    td_account *account = account_of(4 * MIB), *before = td_account_enter(account);
    for (int i = 0; i < 3; i++) offer(&hoards[i], &turn);
    td_kept_take(&hoards[0].kept); /* used again: from now on the youngest */
    offer(&hoards[0], &turn);
    void *block = NULL;
    CHECK_OK(td_new_bytes(&block, 5 * MIB / 2, 1, "block"));
    CHECK_EQ(hoards[1].released, 1);
    CHECK_EQ(hoards[2].released, 2);
    CHECK_EQ(hoards[0].released, 0);
    td_free(block);
    td_kept_take(&hoards[0].kept);
    td_free(hoards[0].block);
    (void)td_account_enter(before);
    td_account_release(account);
}

TEST(what_is_in_use_or_another_accounts_stays)
{
    int turn = 0;
    hoard used = {0}, other = {0};
    td_account *account = account_of(4 * MIB), *stranger = account_of(0);
    td_account *before = td_account_enter(stranger);
    offer(&other, &turn);
    (void)td_account_enter(account);
    offer(&used, &turn);
    td_kept_take(&used.kept);
    void *block = NULL;
    td_status status = td_new_bytes(&block, 7 * MIB / 2, 1, "block");
    (void)td_account_enter(before);
    CHECK_EQ(status, TD_NO_MEMORY);
    CHECK_EQ(turn, 0);
    td_kept_take(&other.kept);
    td_free(other.block);
    td_free(used.block);
    td_account_release(account);
    td_account_release(stranger);
}

static td_status ask_for_room(void *context, int worker, int workers)
{
    (void)worker, (void)workers;
    void *block = NULL;
    td_status status = td_new_bytes(&block, 7 * MIB / 4, 1, "block of a worker");
    pthread_barrier_wait(context); /* both hold theirs */
    td_free(block);
    return status;
}

static void give_up_slowly(td_kept *kept)
{
    usleep(5000);
    give_up(kept);
}

/* The caller waits for its workers. Whoever comes while the other one's eviction is under way waits for the memory. */
TEST(what_is_cached_makes_way_for_workers_too)
{
    td_pool *pool = NULL;
    pthread_barrier_t both;
    CHECK_EQ(pthread_barrier_init(&both, NULL, 2), 0);
    CHECK_OK(td_pool_create(&pool, 2));
    td_account *account = account_of(4 * MIB), *before = td_account_enter(account);
    for (int round = 0; round < 20; round++) {
        int turn = 0;
        hoard all = {.turn = &turn};
        CHECK_OK(td_new_bytes(&all.block, 3 * MIB, 1, "hoard"));
        td_kept_offer(&all.kept, give_up_slowly);
        CHECK_OK(td_pool_run(pool, ask_for_room, &both));
        CHECK_EQ(turn, 1);
    }
    (void)td_account_enter(before);
    pthread_barrier_destroy(&both);
    td_pool_destroy(pool);
    td_account_release(account);
}

static td_status ask_beside(void *context, uint64_t *time)
{
    void *block = NULL;
    (void)context, (void)time;
    td_status status = td_new_bytes(&block, 7 * MIB / 2, 1, "block of a task");
    td_free(block);
    return status;
}

TEST(a_task_does_not_release_what_its_starter_may_be_about_to_use)
{
    int turn = 0;
    hoard one = {0};
    td_loop *loop = NULL;
    td_account *account = account_of(4 * MIB), *before = td_account_enter(account);
    CHECK_OK(td_loop_create(&loop));
    offer(&one, &turn);
    errand self = {.task = {.loop = loop, .work = ask_beside, .handler = errand_done}};
    self.task.context = &self;
    td_task_start(&self.task);
    CHECK_OK(td_loop_run(loop));
    CHECK_EQ(self.status, TD_NO_MEMORY);
    CHECK_EQ(turn, 0);
    td_kept_take(&one.kept);
    td_free(one.block);
    td_loop_destroy(loop);
    (void)td_account_enter(before);
    td_account_release(account);
}

/* A release that asks for memory itself gets it or is refused. */
static void ask_and_give_up(td_kept *kept)
{
    void *block = NULL;
    CHECK_STATUS(td_new_bytes(&block, 8 * MIB, 1, "block of a release"), TD_NO_MEMORY);
    give_up(kept);
}

TEST(a_release_may_be_refused_memory_itself)
{
    int turn = 0;
    hoard one = {0};
    td_account *account = account_of(4 * MIB), *before = td_account_enter(account);
    offer(&one, &turn);
    td_kept_offer(&one.kept, ask_and_give_up);
    void *block = NULL;
    CHECK_OK(td_new_bytes(&block, 7 * MIB / 2, 1, "block"));
    CHECK_EQ(turn, 1);
    td_free(block);
    (void)td_account_enter(before);
    td_account_release(account);
}

/* Stopping. */

static td_status check_cancel(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)context, (void)begin, (void)end, (void)worker;
    return TD_OK;
}

TEST(a_request_to_stop_concerns_its_account_and_the_processs_all)
{
    td_pool *pool = NULL;
    td_account *one = account_of(0), *other = account_of(0);
    CHECK_OK(td_pool_create(&pool, 2));
    td_cancel_account(one, true);
    CHECK_OK(td_cancel_check());
    td_account *before = td_account_enter(other);
    CHECK_OK(td_pool_for(pool, 100, 1, check_cancel, NULL));
    (void)td_account_enter(one);
    CHECK(td_cancel_requested());
    CHECK_STATUS(td_pool_for(pool, 100, 1, check_cancel, NULL), TD_CANCELLED);
    td_cancel_hold(); /* of this account alone */
    CHECK_OK(td_cancel_check());
    td_cancel_account(other, true);
    (void)td_account_enter(other);
    CHECK_STATUS(td_cancel_check(), TD_CANCELLED);
    td_cancel_account(other, false);
    (void)td_account_enter(one);
    td_cancel_release();
    td_cancel_account(one, false);
    CHECK_OK(td_cancel_check());
    td_cancel_request();
    td_status status = td_cancel_check();
    td_cancel_clear();
    (void)td_account_enter(before);
    CHECK_EQ(status, TD_CANCELLED);
    td_pool_destroy(pool);
    td_account_release(one);
    td_account_release(other);
}

TEST_MAIN
