/* Memory nodes as a folder of the system tells them, made up here: two nodes, numbers with holes, nodes without
 * processors or without memory, and none at all. */
#include "test.h"

#include "base/numa.h"
#include "base/pool.h"

#include <sys/stat.h>

static const char *made_folder(const char *name)
{
    const char *path = test_path(name);
    CHECK_EQ(mkdir(path, 0700), 0);
    return path;
}

static void add_file(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    test_write_file(path, text, strlen(text));
}

static void add_node(const char *folder, int number, const char *processors)
{
    char path[512], name[64];
    snprintf(path, sizeof path, "%s/node%d", folder, number);
    CHECK_EQ(mkdir(path, 0700), 0);
    snprintf(name, sizeof name, "node%d/cpulist", number);
    add_file(folder, name, processors);
}

static cpu_set_t first_processors(int count)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int i = 0; i < count; i++) CPU_SET((size_t)i, &set);
    return set;
}

static void check_alone(const td_numa *numa, int processors)
{
    CHECK_EQ(numa->nodes, 1);
    CHECK_EQ(numa->processors, processors);
    for (int w = 0; w < 4; w++) CHECK_EQ(td_numa_node(numa, w, 4), 0);
}

TEST(workers_are_spread_over_two_nodes)
{
    td_numa numa;
    cpu_set_t all = first_processors(16);
    const char *folder = made_folder("two");
    add_file(folder, "online", "0-1\n");
    add_file(folder, "has_memory", "0-1\n");
    add_node(folder, 0, "0-3,8-11\n");
    add_node(folder, 1, "4-7,12-15\n");
    td_numa_read(&numa, folder, &all);
    CHECK_EQ(numa.nodes, 2);
    CHECK_EQ(numa.processors, 16);
    CHECK_EQ(numa.memories, 3);
    CHECK(CPU_ISSET(8, &numa.usable[0]) && !CPU_ISSET(4, &numa.usable[0]) && CPU_ISSET(15, &numa.usable[1]));
    for (int w = 0; w < 16; w++) CHECK_EQ(td_numa_node(&numa, w, 16), w < 8 ? 0 : 1);
    for (int w = 0; w < 3; w++) CHECK_EQ(td_numa_node(&numa, w, 3), w < 2 ? 0 : 1);
    for (int w = 0; w < 64; w++) CHECK_EQ(td_numa_node(&numa, w, 64), w < 32 ? 0 : 1);
}

TEST(only_processors_that_may_be_used_count)
{
    td_numa numa;
    cpu_set_t some = first_processors(6), few = first_processors(4);
    const char *folder = made_folder("some");
    add_file(folder, "online", "0,1\n");
    add_node(folder, 0, "0-3\n");
    add_node(folder, 1, "4-7\n");
    td_numa_read(&numa, folder, &some);
    CHECK_EQ(numa.nodes, 2);
    CHECK_EQ(CPU_COUNT(&numa.usable[1]), 2);
    CHECK_EQ(td_numa_node(&numa, 3, 6), 0);
    CHECK_EQ(td_numa_node(&numa, 4, 6), 1);
    td_numa_read(&numa, folder, &few); /* bound to one of them by whoever started it */
    check_alone(&numa, 4);
}

TEST(numbers_have_holes_and_nodes_may_lack_either)
{
    td_numa numa;
    cpu_set_t all = first_processors(8);
    const char *folder = made_folder("holes");
    add_file(folder, "online", "0,2-3,5\n");
    add_file(folder, "has_memory", "2,5\n");
    add_node(folder, 0, "0-3\n");
    add_node(folder, 2, "\n");    /* memory alone */
    add_node(folder, 3, "4-7\n"); /* processors alone; 5 tells nothing */
    td_numa_read(&numa, folder, &all);
    CHECK_EQ(numa.nodes, 2);
    CHECK_EQ(numa.memories, 1 << 2 | 1 << 5);
    CHECK_EQ(td_numa_node(&numa, 0, 2), 0);
    CHECK_EQ(td_numa_node(&numa, 1, 2), 1);
}

TEST(without_nodes_nothing_is_done)
{
    td_numa numa;
    cpu_set_t all = first_processors(4), before, after;
    td_numa_read(&numa, test_path("nowhere"), &all);
    check_alone(&numa, 4);
    const char *folder = made_folder("strange");
    add_file(folder, "online", "what is this\n");
    td_numa_read(&numa, folder, &all);
    check_alone(&numa, 4);
    CHECK_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    td_numa_bind(&numa, 1, 2);
    CHECK_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    CHECK(CPU_EQUAL(&before, &after));
}

/* Two nodes made of what this process has. */
typedef struct bound {
    td_numa numa;
    int wrong;
} bound;

static td_status bind_worker(void *context, int worker, int workers)
{
    bound *self = context;
    cpu_set_t own, mine;
    if (worker == 0) return TD_OK;
    CHECK_EQ(sched_getaffinity(0, sizeof own, &own), 0);
    td_numa_bind(&self->numa, worker, workers);
    CHECK_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
    self->wrong += !CPU_EQUAL(&mine, &self->numa.usable[td_numa_node(&self->numa, worker, workers)]);
    CHECK_EQ(sched_setaffinity(0, sizeof own, &own), 0);
    return TD_OK;
}

TEST(a_worker_is_bound_to_its_node)
{
    td_pool *pool;
    cpu_set_t all;
    bound self = {.numa = {.nodes = 2}};
    CHECK_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    if (CPU_COUNT(&all) < 2) SKIP("one processor");
    for (size_t i = 0, n = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all)) CPU_SET(i, &self.numa.usable[n++ % 2]);
    self.numa.processors = CPU_COUNT(&all);
    CHECK_OK(td_pool_create(&pool, 2));
    CHECK_OK(td_pool_run(pool, bind_worker, &self));
    td_pool_destroy(pool);
    CHECK_EQ(self.wrong, 0);
}

/* The system may refuse, but memory is as usable as before. */
TEST(spread_memory_is_memory)
{
    td_numa numa = {.nodes = 2, .memories = 1};
    char *memory = aligned_alloc(4096, 1 << 20);
    CHECK(memory != NULL);
    td_numa_spread(&numa, memory + 10, (1 << 20) - 10);
    memset(memory, 7, 1 << 20);
    CHECK_EQ(memory[12345], 7);
    free(memory);
    td_numa_spread(&numa, NULL, 0);
}

TEST_MAIN
