#include "test.h"

#include "base/log.h"
#include "base/pool.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

static char lines[1 << 20];
static int line_count;
static td_log_level last_level;

static void collect(void *context, td_log_level level, const char *line)
{
    CHECK(context == &line_count);
    line_count++;
    last_level = level;
    size_t used = strlen(lines);
    snprintf(lines + used, sizeof lines - used, "%s\n", line);
}

static void start_collecting(void)
{
    lines[0] = '\0';
    line_count = 0;
    td_log_set_sink(collect, &line_count);
}

static void stop_collecting(void)
{
    td_log_set_sink(NULL, NULL);
    td_log_set_level(TD_LOG_INFO);
}

/* The first two tests stand first because whether stderr is a terminal is asked once. */

/* A child process with a terminal as its stderr. */
static void in_terminal(const char *terminal)
{
    int slave = open(terminal, O_RDWR | O_NOCTTY);
    if (slave < 0 || dup2(slave, STDERR_FILENO) < 0) _exit(1);
    td_progress("reading", 1, 4);
    td_progress("reading", 2, 4); /* too soon after the first */
    td_info("a line");
    td_progress_end();
    td_progress_text("phase %d", 2);
    td_progress_end();
    _exit(td_progress_visible() ? 0 : 1);
}

TEST(a_terminal_gets_a_progress_line_that_is_wiped)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) SKIP("there are no pseudo-terminals");
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY); /* held open: what the child wrote stays readable */
    CHECK(slave >= 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) in_terminal(ptsname(master));
    int outcome = 0;
    CHECK_EQ(waitpid(child, &outcome, 0), child);
    static const char wanted[] = "\r\033[Kreading  25%  1 of 4\r\033[Ktandem: a line\r\n\r\033[Kphase 2\r\033[K";
    char seen[4096];
    size_t bytes = 0;
    struct pollfd ready = {.fd = master, .events = POLLIN};
    while (bytes + 1 < sizeof wanted && poll(&ready, 1, 5000) == 1) { /* a terminal may deliver in pieces */
        ssize_t more = read(master, seen + bytes, sizeof seen - 1 - bytes);
        if (more <= 0) break;
        bytes += (size_t)more;
    }
    close(slave);
    close(master);
    CHECK_EQ(outcome, 0);
    seen[bytes] = '\0';
    CHECK_STR(seen, wanted);
}

/* Runs `what` with stderr going to a file, and returns what came. */
static const char *stderr_of(void (*what)(void))
{
    static char seen[4096];
    const char *path = test_path("stderr");
    fflush(stderr);
    int keep = dup(STDERR_FILENO), file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(keep >= 0 && file >= 0);
    dup2(file, STDERR_FILENO);
    what();
    fflush(stderr);
    dup2(keep, STDERR_FILENO);
    ssize_t bytes = pread(file, seen, sizeof seen - 1, 0);
    close(keep);
    close(file);
    CHECK(bytes >= 0);
    seen[bytes] = '\0';
    return seen;
}

static void say_all(void)
{
    td_warn("look out");
    td_info("by the way");
    td_debug("hidden");
    td_progress("reading", 1, 2);
    td_progress("reading", 7, 0);
    td_progress_text("phase %d", 3);
    td_progress_end();
}

TEST(lines_go_to_stderr_and_progress_stays_silent_in_a_pipe)
{
    CHECK_STR(stderr_of(say_all), "tandem: warning: look out\ntandem: by the way\n");
    CHECK(!td_progress_visible());
}

TEST(the_level_decides_what_is_said)
{
    static const int wanted[] = {0, 1, 2, 3};
    CHECK_EQ(td_log_get_level(), TD_LOG_INFO);
    for (int level = TD_LOG_QUIET; level <= TD_LOG_DEBUG; level++) {
        start_collecting();
        td_log_set_level((td_log_level)level);
        CHECK_EQ(td_log_get_level(), level);
        td_warn("w");
        td_info("i");
        td_debug("d");
        stop_collecting();
        CHECK_EQ(line_count, wanted[level]);
    }
}

TEST(a_sink_gets_level_and_line)
{
    start_collecting();
    td_warn("%d of %s", 3, "four");
    CHECK_EQ(last_level, TD_LOG_WARN);
    td_info("plain");
    CHECK_EQ(last_level, TD_LOG_INFO);
    stop_collecting();
    CHECK_STR(lines, "3 of four\nplain\n");
}

TEST(a_long_line_is_cut)
{
    static char longer[5000];
    memset(longer, 'y', sizeof longer - 1);
    start_collecting();
    td_info("%s", longer);
    stop_collecting();
    CHECK_EQ(strlen(lines), TD_MESSAGE_BYTES - 1 + 1);
}

static td_status say_much(void *context, int worker, int workers)
{
    (void)context, (void)workers;
    for (int i = 0; i < 200; i++) {
        td_info("worker %d says %d", worker, i);
        td_progress("working", (uint64_t)i, 200);
    }
    return TD_OK;
}

TEST(lines_of_several_threads_stay_whole)
{
    td_pool *pool = NULL;
    CHECK_OK(td_pool_create(&pool, 4));
    start_collecting();
    td_status status = td_pool_run(pool, say_much, NULL);
    stop_collecting();
    td_pool_destroy(pool);
    CHECK_EQ(status, TD_OK);
    CHECK_EQ(line_count, 800);
    CHECK_CONTAINS(lines, "worker 3 says 199\n");
}

TEST_MAIN
