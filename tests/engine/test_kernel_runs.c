/* The runs that launch every kernel (engine/kernel_runs.h), on emulated GPUs: they launch the kernels of the list and no
 * others, and the list has every kernel of the programs, but for those that no engine launches. With TANDEM_TEST_GPU=cuda:0
 * the same runs on a GPU; TANDEM_TEST_BUDGET=50 bounds the seconds of each engine. scripts/test-gpu.sh --sanitize runs them
 * under compute-sanitizer, an engine at a time: the test's name is that of the engine. */
#include "engine/budget.h"
#include "engine/kernel_runs.h"
#include "engine/multi_machines.h"

/* The GPU, or `slices` of it. An emulated one is so small that its warps steal from one another. */
static const char *gpu_of(int slices, const char *more)
{
    static char name[64];
    const char *gpu = getenv("TANDEM_TEST_GPU");
    bool emulates = gpu == NULL || strncmp(gpu, "emu", 3) == 0;
    if (emulates && slices > 1) return machine_of("slices.topology", slices, "slices all\n", more);
    if (emulates)
        return emulated("whole.topology", "gpus 1\nmultiprocessors 1\nresident-threads 1024\ncluster 2\ncheck off\n");
    if (slices <= 1) return gpu;
    snprintf(name, sizeof name, "%s/%d", gpu, slices);
    return name;
}

static int listed_kernels(const char *engine)
{
    int count = 0;
    for (int i = 0; i < KERNELS_LISTED; i++) {
        if (strcmp(kernels_listed[i].engine, engine) != 0) continue;
        for (const char *at = kernels_listed[i].instances; at != NULL; at = strchr(at + 1, ' ')) count++;
    }
    return count;
}

/* The first of the engine's list that was not launched; NULL: all were. */
static const char *not_launched(const char *engine)
{
    static char name[96];
    for (int i = 0; i < kernel_instance_count; i++)
        for (int k = 0; k < KERNELS; k++) {
            if (kernel_name(i, k) == NULL || kernels_launched.has[i][k] || !is_listed(engine, i, k)) continue;
            snprintf(name, sizeof name, "%s/%s", kernel_instances[i].name, kernel_name(i, k));
            return name;
        }
    return NULL;
}

/* The runs so far: under a budget printed after every run, because a time limit may end the process. */
static void show(const kernel_place *place, const char *engine)
{
    printf("     %s: %d of %d runs in %.1f s, %d of %d kernels\n", engine, place->made, place->of,
           td_seconds_since(place->began), kernels_in(&kernels_launched), listed_kernels(engine));
    fflush(stdout);
}

static void check_engine(const char *engine, int slices, const char *more)
{
    kernel_place place;
    char names[600];
    double seconds = budget_seconds();
    bool is_real = strncmp(gpu_of(slices, more), "cuda", 4) == 0;
    budget_guard(seconds);
    kernel_place_open(&place, gpu_of(slices, more), seconds);
    kernels_watch();
    begin_kernel_runs(&place, engine);
    while (make_next_kernel_run(&place, engine))
        if (seconds > 0) show(&place, engine);
    if (seconds == 0) show(&place, engine);
    int made = place.made, of = place.of;
    kernel_place_close(&place);
    budget_guard(0);
    if (made < of) TEST_FAIL("the budget of %g s was used when %d of %d runs were made", seconds, made, of);
    if (is_real) return; /* what is launched depends on the size of the GPU, too; the line above says how many are */
    if (kernels_not_listed(engine, names, sizeof names) > 0)
        TEST_FAIL("kernels_launched.def does not have%s (engine %s)", names, engine);
    if (not_launched(engine) != NULL) TEST_FAIL("no run of %s launches %s", engine, not_launched(engine));
}

TEST(resident) { check_engine("resident", 1, NULL); }
TEST(stream) { check_engine("stream", 1, NULL); }
TEST(coop) { check_engine("coop", 1, NULL); }
TEST(hybrid) { check_engine("hybrid", 1, NULL); }
TEST(multi) { check_engine("multi", 4, "check off\n"); }
TEST(paths) { check_engine("paths", 1, NULL); }
TEST(slices) { check_engine("slices", 4, "resident-threads 512\ncheck off\n"); } /* paths on four slices */

/* Whether some engine's runs launch it. */
static bool is_launched(int instance, int kernel)
{
    static const char *const engines[] = {"resident", "stream", "coop", "hybrid", "multi", "paths", "slices"};
    bool launched = false;
    for (int e = 0; e < 7; e++) launched = launched || is_listed(engines[e], instance, kernel);
    return launched;
}

TEST(the_list_has_every_kernel_of_every_program)
{
    int launched = 0, none = 0;
    kernels_watch();
    for (int i = 0; i < kernel_instance_count; i++)
        for (int k = 0; k < KERNELS; k++) {
            if (kernel_name(i, k) == NULL) continue;
            bool listed = is_launched(i, k), never = is_listed("none", i, k);
            if (listed == never)
                TEST_FAIL("%s/%s is %s", kernel_instances[i].name, kernel_name(i, k),
                          listed ? "launched, and in the list \"none\"" : "in no list");
            launched += listed;
            none += never;
        }
    printf("     %d kernels are launched, %d are not\n", launched, none);
}

TEST_MAIN
