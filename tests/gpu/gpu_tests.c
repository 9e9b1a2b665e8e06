/* All tests on a GPU in one program: `gpu_tests NAME [WORD]` runs test_NAME.c, and so does a link called NAME; without a name
 * it lists them. One program has the kernels once, and is what another machine needs to run them. */
#include <stdio.h>
#include <string.h>

#define GPU_TEST(name) int main_of_##name(int argc, char **argv);
#include "gpu_tests.def"
#undef GPU_TEST

typedef struct gpu_test {
    const char *name;
    int (*main)(int argc, char **argv);
} gpu_test;

static const gpu_test tests[] = {
#define GPU_TEST(name) {#name, main_of_##name},
#include "gpu_tests.def"
#undef GPU_TEST
};
enum { TESTS = sizeof tests / sizeof *tests };

static const gpu_test *test_named(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL, *name = slash != NULL ? slash + 1 : path;
    for (int i = 0; i < TESTS && name != NULL; i++)
        if (strcmp(tests[i].name, name) == 0) return &tests[i];
    return NULL;
}

int main(int argc, char **argv)
{
    const gpu_test *test = test_named(argv[0]);
    if (test != NULL) return test->main(argc, argv);
    test = test_named(argc > 1 ? argv[1] : NULL);
    if (test != NULL) return test->main(argc - 1, argv + 1);
    for (int i = 0; i < TESTS; i++) puts(tests[i].name);
    return argc > 1 ? 2 : 0;
}
