/* Cores, caches and memory nodes of machines that hwloc makes up from a description, and of this one. */
#include "base/machine.h"
#include "base/numa.h"
#include "base/processors.h"
#include "test.h"

#include <stdarg.h>
#include <sys/stat.h>

static void needs_hwloc(void)
{
#ifdef TANDEM_HAVE_HWLOC
    CHECK(td_processors_available());
#else
    SKIP("this build has no hwloc");
#endif
}

static td_processors described(const char *synthetic)
{
    td_processors found;
    CHECK(td_processors_read(&found, synthetic));
    return found;
}

TEST(two_nodes_with_caches_of_their_own)
{
    needs_hwloc();
    td_processors found = described("pack:2 [numa] l3:4(size=32MB) l2:8(size=1MB) l1d:1(size=48kB) core:1 pu:2");
    CHECK_EQ(found.nodes, 2);
    CHECK_EQ(found.cores, 64);
    CHECK_EQ(found.cache_bytes, 32000000);
}

TEST(a_core_is_counted_once_whatever_its_threads)
{
    needs_hwloc();
    CHECK_EQ(described("core:8 pu:1").cores, 8);
    CHECK_EQ(described("core:8 pu:2").cores, 8);
    CHECK_EQ(described("core:8 pu:4").cores, 8);
    CHECK_EQ(described("core:8 pu:1").nodes, 1);
}

TEST(caches_of_instructions_do_not_count)
{
    needs_hwloc();
    CHECK_EQ(described("l1i:2(size=4MB) l1d:1(size=64kB) core:1 pu:1").cache_bytes, 64000);
}

TEST(a_machine_that_does_not_tell_has_no_caches)
{
    needs_hwloc();
    CHECK_EQ(described("core:2 pu:1").cache_bytes, 0);
}

TEST(what_hwloc_refuses_is_zeros)
{
    td_processors found = {1, 2, 3};
    CHECK(!td_processors_read(&found, "eight cores"));
    CHECK_EQ(found.cores, 0);
    CHECK_EQ(found.nodes, 0);
    CHECK_EQ(found.cache_bytes, 0);
}

/* Writes PATH, a file under `root`, with its folders. */
static void add_file(const char *root, const char *text, const char *format, ...)
{
    char path[512];
    va_list list;
    size_t used = (size_t)snprintf(path, sizeof path, "%s/sys/devices/system/", root);
    va_start(list, format);
    vsnprintf(path + used, sizeof path - used, format, list);
    va_end(list);
    for (char *slash = path + strlen(root); (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    test_write_file(path, text, strlen(text));
}

/* A tree of two nodes with two cores of two threads each: processors 0, 1, 4, 5 and 2, 3, 6, 7. */
static const char *tree_of_two_nodes(void)
{
    static const char *const core[] = {"11\n", "22\n", "44\n", "88\n"};
    const char *root = test_path("machine");
    CHECK_EQ(mkdir(root, 0700), 0);
    add_file(root, "0-7\n", "cpu/online");
    add_file(root, "0-7\n", "cpu/possible");
    for (int i = 0; i < 8; i++) {
        char number[8];
        snprintf(number, sizeof number, "%d\n", i % 4);
        add_file(root, number, "cpu/cpu%d/topology/core_id", i);
        add_file(root, core[i % 4], "cpu/cpu%d/topology/core_cpus", i);
        add_file(root, core[i % 4], "cpu/cpu%d/topology/thread_siblings", i);
        add_file(root, i % 4 < 2 ? "0\n" : "1\n", "cpu/cpu%d/topology/physical_package_id", i);
    }
    add_file(root, "0-1\n", "node/online");
    add_file(root, "0-1\n", "node/has_memory");
    for (int i = 0; i < 2; i++) {
        add_file(root, i == 0 ? "0-1,4-5\n" : "2-3,6-7\n", "node/node%d/cpulist", i);
        add_file(root, i == 0 ? "33\n" : "cc\n", "node/node%d/cpumap", i);
        add_file(root, "Node 0 MemTotal: 1048576 kB\n", "node/node%d/meminfo", i);
    }
    return root;
}

/* The hand-written reader, which runs use when they begin, sees the nodes that hwloc sees in the same tree. */
TEST(both_readers_see_the_same_two_nodes)
{
    needs_hwloc();
    td_processors found;
    td_numa numa;
    cpu_set_t all;
    char folder[512];
    const char *root = tree_of_two_nodes();
    CHECK_EQ(setenv("HWLOC_FSROOT", root, 1), 0);
    CHECK_EQ(setenv("HWLOC_COMPONENTS", "linux,stop", 1), 0);
    bool read = td_processors_read(&found, NULL);
    unsetenv("HWLOC_FSROOT");
    unsetenv("HWLOC_COMPONENTS");
    CHECK(read);
    CHECK_EQ(found.nodes, 2);
    CHECK_EQ(found.cores, 4);
    CPU_ZERO(&all);
    for (size_t i = 0; i < 8; i++) CPU_SET(i, &all);
    snprintf(folder, sizeof folder, "%s/sys/devices/system/node", root);
    td_numa_read(&numa, folder, &all);
    CHECK_EQ(numa.nodes, found.nodes);
    CHECK_EQ(numa.processors, 8);
}

TEST(this_machine_has_the_same_nodes_for_both_readers)
{
    needs_hwloc();
    td_machine machine;
    td_machine_describe(&machine);
    if (machine.usable < machine.processors) SKIP("some processors are not usable");
    CHECK(td_numa_here()->nodes <= machine.numa_nodes); /* nodes of memory alone have no workers */
    CHECK_EQ(td_numa_here()->processors, machine.processors);
}

TEST_MAIN
