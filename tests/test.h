/* The tests' harness: a test is a function, a file's tests are a table, a
 * failed check names file, line and values and ends that test. No dependency,
 * so that the tests run wherever the compiler does.
 *
 *     TEST(a_pool_runs_every_worker_once) { CHECK(...); CHECK_EQ(a, b); }
 *     TEST_MAIN
 *
 * `test_x NAME` runs the tests whose name contains NAME. Exit status 0, 1, or 77
 * when every test was skipped (CTest shows that as skipped).
 */
#ifndef TD_TEST_H
#define TD_TEST_H

#include "base/account.h"
#include "base/alloc.h"
#include "base/status.h"

#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct test_case {
    const char *name;
    void (*run)(void);
    struct test_case *next;
} test_case;

static test_case *test_first, **test_last = &test_first;
static jmp_buf test_exit;
static const char *test_skipped;

#define TEST(name_)                                                              \
    static void test_##name_(void);                                              \
    __attribute__((constructor)) static void test_add_##name_(void)              \
    {                                                                            \
        static test_case self = {#name_, test_##name_, NULL};                    \
        *test_last = &self;                                                      \
        test_last = &self.next;                                                  \
    }                                                                            \
    static void test_##name_(void)

#define TEST_FAIL(...)                                      \
    do {                                                    \
        printf("    %s:%d: ", __FILE__, __LINE__);          \
        printf(__VA_ARGS__);                                \
        printf("\n");                                       \
        longjmp(test_exit, 1);                              \
    } while (0)

#define CHECK(condition)                                                 \
    do {                                                                 \
        if (!(condition)) TEST_FAIL("does not hold: %s", #condition);    \
    } while (0)

#define CHECK_EQ(seen, wanted)                                                                             \
    do {                                                                                                   \
        int64_t seen_ = (int64_t)(seen), wanted_ = (int64_t)(wanted);                                      \
        if (seen_ != wanted_)                                                                              \
            TEST_FAIL("%s is %" PRId64 ", not %s = %" PRId64, #seen, seen_, #wanted, wanted_);             \
    } while (0)

#define CHECK_STR(seen, wanted)                                                                 \
    do {                                                                                        \
        const char *seen_ = (seen), *wanted_ = (wanted);                                        \
        if (strcmp(seen_, wanted_) != 0) TEST_FAIL("%s is '%s', not '%s'", #seen, seen_, wanted_); \
    } while (0)

#define CHECK_CONTAINS(text, part)                                                              \
    do {                                                                                        \
        const char *text_ = (text), *part_ = (part);                                            \
        if (strstr(text_, part_) == NULL) TEST_FAIL("'%s' does not contain '%s'", text_, part_); \
    } while (0)

#define CHECK_OK(call)                                                                       \
    do {                                                                                     \
        td_status status_ = (call);                                                          \
        if (status_ != TD_OK)                                                                \
            TEST_FAIL("%s: %s: %s", #call, td_status_name(status_), td_last_message());      \
    } while (0)

#define CHECK_STATUS(call, wanted)                                                           \
    do {                                                                                     \
        td_status status_ = (call);                                                          \
        if (status_ != (wanted))                                                             \
            TEST_FAIL("%s gives %s (%s), not %s", #call, td_status_name(status_),            \
                      status_ == TD_OK ? "" : td_last_message(), td_status_name(wanted));    \
    } while (0)

#define SKIP(why)               \
    do {                        \
        test_skipped = (why);   \
        longjmp(test_exit, 2);  \
    } while (0)

/* A folder of this test's own, removed at the end by test_main. */
static inline const char *test_folder(void)
{
    static char folder[256];
    if (folder[0] == '\0') {
        const char *base = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/tandem-test-XXXXXX", base != NULL ? base : "/tmp");
        if (mkdtemp(folder) == NULL) {
            perror(folder);
            exit(1);
        }
    }
    return folder;
}

static inline const char *test_path(const char *name)
{
    static char path[4][512];
    static int turn;
    char *mine = path[turn++ % 4];
    snprintf(mine, sizeof path[0], "%s/%s", test_folder(), name);
    return mine;
}

static inline void test_write_file(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

/* Files of the test's folder whose names begin so; "": all. */
static inline int test_files(const char *prefix)
{
    int count = 0;
    DIR *folder = opendir(test_folder());
    CHECK(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) count += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    closedir(folder);
    return count;
}

/* The folder of real graphs beside the project, or a skip. */
static inline const char *test_shared_data(void)
{
    const char *folder = getenv("TANDEM_SHARED_DATA");
    if (folder == NULL || access(folder, R_OK) != 0) SKIP("the folder of real graphs is absent (TANDEM_SHARED_DATA)");
    return folder;
}

/* 0 passed, 1 failed, 2 skipped. */
static inline int test_run(const test_case *test)
{
    int outcome = setjmp(test_exit);
    if (outcome == 0) test->run();
    return outcome;
}

static inline bool test_remove_folder(void)
{
    char command[512];
    snprintf(command, sizeof command, "rm -rf '%s'", test_folder());
    return system(command) == 0;
}

/* A test that fails leaves its stack behind, with a cache of GPUs or a graph's watch that is still on a list: the next test
 * would follow it and hang. The tests behind it therefore run in a new process, which goes on counting. */
#define TEST_GOES_ON "TANDEM_TEST_GOES_ON"

static inline void test_go_on(char **argv, int number, int passed, int failed, int skipped)
{
    char text[64];
    snprintf(text, sizeof text, "%d %d %d %d", number, passed, failed, skipped);
    if (!test_remove_folder() || setenv(TEST_GOES_ON, text, 1) != 0) return;
    execv("/proc/self/exe", argv);
    unsetenv(TEST_GOES_ON);
}

static inline int test_main(int argc, char **argv)
{
    int passed = 0, failed = 0, skipped = 0, first = 0, number = 0;
    const char *before = getenv(TEST_GOES_ON);
    if (before != NULL && sscanf(before, "%d %d %d %d", &first, &passed, &failed, &skipped) != 4) return 1;
    unsetenv(TEST_GOES_ON);
    td_log_set_level(TD_LOG_INFO); /* what is said to people is tested too */
    for (test_case *test = test_first; test != NULL; test = test->next) {
        if (argc > 1 && strstr(test->name, argv[1]) == NULL) continue;
        if (number++ < first) continue;
        uint64_t held = td_memory().now;
        int outcome = test_run(test);
        (void)td_account_enter(NULL); /* a test may have ended in another account */
        if (outcome == 0 && td_memory().now != held) {
            printf("    leaks %lld bytes\n", (long long)(td_memory().now - held));
            outcome = 1;
        }
        printf("%s %s%s%s\n", outcome == 0 ? "ok  " : outcome == 2 ? "skip" : "FAIL", test->name,
               outcome == 2 ? ": " : "", outcome == 2 ? test_skipped : "");
        fflush(stdout);
        passed += outcome == 0;
        failed += outcome == 1;
        skipped += outcome == 2;
        if (outcome == 1 && test->next != NULL) test_go_on(argv, number, passed, failed, skipped);
    }
    if (!test_remove_folder()) failed++;
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    if (passed == 0 && failed == 0) return skipped > 0 ? 77 : 1;
    return failed == 0 ? 0 : 1;
}

/* A program of several tests (gpu/gpu_tests.c) names the function of each. */
#ifndef TEST_PROGRAM
#define TEST_PROGRAM main
#endif
#define TEST_MAIN                         \
    int TEST_PROGRAM(int argc, char **argv); \
    int TEST_PROGRAM(int argc, char **argv) { return test_main(argc, argv); }

#endif
