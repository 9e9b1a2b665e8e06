/* METIS runs in a child process. It takes over the handlers of SIGTERM and SIGABRT while it works, prints to standard
 * output, draws from the process's rand() and has no way to be stopped: in a child, none of this reaches the caller,
 * and a cancelled call kills it. The child reads the graph that the parent made, and leaves the parts in memory that
 * both share. */
#include "layout/partition_metis.h"

#include "base/account.h"
#include "base/alloc.h"
#include "base/cancel.h"
#include "base/size.h"

#ifdef TANDEM_HAVE_METIS

#include "base/library.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <metis.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Bytes that METIS takes per byte of the graph that it gets, its coarser graphs included: 4 on meshes, 13.5 on rmat
 * (docs/lab/layout.md). */
enum { METIS_FACTOR = 14, GRAIN = 1 << 12 };

/* The sum of all weights: METIS multiplies it by a tolerance. */
#define WEIGHT_MOST ((uint64_t)IDX_MAX / 2)

#define FUNCTIONS(F) F(METIS_SetDefaultOptions) F(METIS_PartGraphKway)
#define POINTER(name) __typeof__(name) *name;
#define NAME(name) #name,

static struct {
    FUNCTIONS(POINTER)
} metis;
static bool metis_loaded;
static int metis_bits; /* of the loaded library's numbers */

static void load_library(void)
{
    static const char *const names[] = {FUNCTIONS(NAME) NULL};
    int32_t words[2 * METIS_NOPTIONS] = {0};
    metis_loaded = td_library_load("libmetis.so.5", names, &metis);
    if (!metis_loaded) return;
    metis.METIS_SetDefaultOptions((idx_t *)words); /* sets all options to -1 */
    metis_bits = words[METIS_NOPTIONS] == -1 ? 64 : 32;
}

td_status td_metis_check(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_library);
    if (!metis_loaded)
        return td_fail(TD_UNSUPPORTED, "the partitioner metis needs libmetis.so.5, which cannot be loaded; install it "
                       "(Debian: libmetis5), or use seg or random");
    if (metis_bits != IDXTYPEWIDTH)
        return td_fail(TD_UNSUPPORTED, "the partitioner metis was built for a METIS with %d-bit numbers, and "
                       "libmetis.so.5 has %d; build Tandem with the headers of that library, or use seg or random",
                       (int)IDXTYPEWIDTH, metis_bits);
    return TD_OK;
}

/* The undirected simple graph. */

typedef struct task {
    const td_graph *graph;
    const td_adjacency *const *lists; /* whose entries weigh */
    int list_count, shift;            /* weights are divided by 2^shift, so that METIS can sum them */
    idx_t vertices, parts, seed;
    idx_t *offsets, *targets, *weights;
    real_t shares[16];
} task;

/* Neighbours of a vertex in either direction, each once, without itself; written to `out` unless that is NULL. */
static uint64_t neighbours(const task *self, uint32_t v, idx_t *out)
{
    const td_graph *graph = self->graph;
    const uint32_t *a = graph->out.targets + graph->out.offsets[v], *a_end = a + td_degree(&graph->out, v);
    const uint32_t *b = NULL, *b_end = NULL;
    uint32_t last = v;
    uint64_t count = 0;
    if (!graph->symmetric) {
        b = graph->in.targets + graph->in.offsets[v];
        b_end = b + td_degree(&graph->in, v);
    }
    while (a < a_end || b < b_end) {
        uint32_t next = b >= b_end || (a < a_end && *a <= *b) ? *a++ : *b++;
        if (next == v || (next == last && count > 0)) continue;
        if (out != NULL) out[count] = (idx_t)next;
        count++;
        last = next;
    }
    return count;
}

static td_status count_neighbours(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const task *self = context;
    for (uint64_t v = begin; v < end; v++) {
        uint64_t entries = 0;
        for (int l = 0; l < self->list_count; l++) entries += td_degree(self->lists[l], (uint32_t)v);
        self->offsets[v + 1] = (idx_t)neighbours(self, (uint32_t)v, NULL);
        self->weights[v] = (idx_t)((entries >> self->shift) + 1);
    }
    return TD_OK;
}

static td_status fill_neighbours(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const task *self = context;
    for (uint64_t v = begin; v < end; v++) neighbours(self, (uint32_t)v, self->targets + self->offsets[v]);
    return TD_OK;
}

static td_status too_large(uint64_t count, uint64_t most, const char *what)
{
    char seen[TD_NUMBER_BYTES], allowed[TD_NUMBER_BYTES];
    return td_fail(TD_LIMIT, "METIS as installed has %d-bit numbers: it takes at most %s %s, and the graph has %s; use "
                   "seg or random, or a METIS with 64-bit numbers", (int)IDXTYPEWIDTH,
                   td_format_count(allowed, most), what, td_format_count(seen, count));
}

static td_status make_graph(task *self, td_pool *pool)
{
    const td_graph *graph = self->graph;
    uint64_t n = graph->vertices, entries = graph->edges * (uint64_t)self->list_count, sum = 0;
    if (!graph->symmetric && graph->in.offsets == NULL)
        return td_fail(TD_INVALID, "the graph was built without its in-adjacency, which METIS needs; build it anew, "
                       "without {out_only}, or use seg or random");
    if (n > WEIGHT_MOST / 2) return too_large(n, WEIGHT_MOST / 2, "vertices");
    while ((entries >> self->shift) + n > WEIGHT_MOST) self->shift++;
    self->vertices = (idx_t)n;
    TD_CHECK(TD_NEW(&self->offsets, n + 1, "graph for METIS"));
    TD_CHECK(TD_NEW(&self->weights, n, "graph for METIS"));
    TD_CHECK(td_pool_for(pool, n, GRAIN, count_neighbours, self));
    self->offsets[0] = 0;
    for (uint64_t v = 0; v < n; v++) {
        sum += (uint64_t)self->offsets[v + 1];
        if (sum > (uint64_t)IDX_MAX)
            return too_large(2 * graph->edges, (uint64_t)IDX_MAX, "edges, each counted in both directions,");
        self->offsets[v + 1] = (idx_t)sum;
    }
    TD_CHECK(TD_NEW(&self->targets, sum, "graph for METIS"));
    return td_pool_for(pool, n, GRAIN, fill_neighbours, self);
}

/* The child. */

/* What parent and child share. */
typedef struct answer {
    int status; /* METIS's; 0: it has not ended */
    idx_t parts[];
} answer;

static void partition_as_child(const task *self, answer *out)
{
    idx_t options[METIS_NOPTIONS], constraints = 1, cut = 0, vertices = self->vertices, parts = self->parts;
    int nowhere = open("/dev/null", O_WRONLY);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0) _exit(1);
    for (int s = 0; s < 3; s++) signal((int[]){SIGINT, SIGTERM, SIGHUP}[s], SIG_DFL);
    metis.METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = self->seed;
    out->status = metis.METIS_PartGraphKway(&vertices, &constraints, self->offsets, self->targets, self->weights, NULL,
                                            NULL, &parts, (real_t *)self->shares, NULL, options, &cut, out->parts);
    _exit(0);
}

/* Waits until the child has ended, or kills it if the call is cancelled. */
static td_status wait_for(pid_t child)
{
    struct timespec pause = {.tv_nsec = 200000};
    for (;;) {
        pid_t ended = waitpid(child, NULL, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR)) return TD_OK;
        td_status status = td_cancel_check();
        if (status != TD_OK) {
            kill(child, SIGKILL);
            while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
            return status;
        }
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 20000000) pause.tv_nsec += pause.tv_nsec / 4;
    }
}

static td_status run_child(const task *self, answer *shared)
{
    pid_t child = fork();
    if (child < 0) return td_fail_errno(TD_NO_MEMORY, errno, "cannot start a process for METIS");
    if (child == 0) partition_as_child(self, shared);
    TD_CHECK(wait_for(child));
    if (shared->status == METIS_OK) return TD_OK;
    if (shared->status == METIS_ERROR_MEMORY || shared->status == 0)
        return td_fail(TD_NO_MEMORY, "METIS %s; seg and random need less memory",
                       shared->status == 0 ? "ended before it had an answer, perhaps for lack of memory"
                                           : "has run out of memory");
    return td_fail(TD_INTERNAL, "METIS fails with status %d; use seg or random", shared->status);
}

static td_status read_parts(const task *self, const answer *shared, uint8_t *owner)
{
    for (idx_t v = 0; v < self->vertices; v++) {
        if (shared->parts[v] < 0 || shared->parts[v] >= self->parts)
            return td_fail(TD_INTERNAL, "METIS gives vertex %" PRId64 " to part %" PRId64 " of %" PRId64 "; use seg or "
                           "random", (int64_t)v, (int64_t)shared->parts[v], (int64_t)self->parts);
        owner[v] = (uint8_t)shared->parts[v];
    }
    return TD_OK;
}

/* The parts that parent and child share. */
static uint64_t shared_bytes_of(uint64_t vertices) { return sizeof(answer) + vertices * sizeof(idx_t); }

/* Beyond its graph, of `pairs` distinct neighbours. */
static uint64_t metis_bytes_of(uint64_t vertices, uint64_t pairs)
{
    return shared_bytes_of(vertices) + METIS_FACTOR * (pairs + 2 * vertices) * sizeof(idx_t);
}

uint64_t td_metis_bytes(uint64_t vertices, uint64_t edges, bool symmetric)
{
    uint64_t pairs = symmetric ? edges : 2 * edges;
    return (pairs + 2 * vertices + 1) * sizeof(idx_t) + metis_bytes_of(vertices, pairs);
}

static td_status ask_metis(const task *self, uint8_t *owner)
{
    td_account *account = td_account_current();
    uint64_t n = (uint64_t)self->vertices, shared_bytes = shared_bytes_of(n);
    uint64_t bytes = metis_bytes_of(n, (uint64_t)self->offsets[n]);
    if (!td_space_take(account, bytes)) {
        td_refusal lack = td_memory_lack(bytes);
        char size[TD_NUMBER_BYTES];
        return td_refuse(&lack, "METIS takes about %s, which is beyond the budget ({memory}); use seg or random",
                         td_format_size(size, bytes));
    }
    answer *shared = mmap(NULL, shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    td_status status = shared != MAP_FAILED ? run_child(self, shared)
                                            : td_fail_errno(TD_NO_MEMORY, errno, "parts of METIS");
    if (status == TD_OK) status = read_parts(self, shared, owner);
    if (shared != MAP_FAILED) munmap(shared, shared_bytes);
    td_account_credit(account, bytes);
    return status;
}

td_status td_metis_cut(const td_graph *graph, const td_adjacency *const *lists, int list_count, int parts,
                       const double *shares, uint64_t seed, uint8_t *owner, td_pool *pool)
{
    td_status status = TD_OK;
    task self = {.graph = graph, .lists = lists, .list_count = list_count, .parts = (idx_t)parts,
                 .seed = (idx_t)(seed & 0x7fffffff)};
    for (int k = 0; k < parts; k++) self.shares[k] = (real_t)shares[k];
    if (parts == 1) {
        memset(owner, 0, graph->vertices);
        return TD_OK;
    }
    TD_TRY(make_graph(&self, pool));
    TD_TRY(ask_metis(&self, owner));
done:
    td_free(self.offsets);
    td_free(self.targets);
    td_free(self.weights);
    return status;
}

#else

td_status td_metis_check(void)
{
    return td_fail(TD_UNSUPPORTED, "the partitioner metis needs METIS, and Tandem was built without it; install its "
                   "headers (Debian: libmetis-dev) and build again, or use seg or random");
}

uint64_t td_metis_bytes(uint64_t vertices, uint64_t edges, bool symmetric)
{
    (void)vertices, (void)edges, (void)symmetric;
    return 0;
}

td_status td_metis_cut(const td_graph *graph, const td_adjacency *const *lists, int list_count, int parts,
                       const double *shares, uint64_t seed, uint8_t *owner, td_pool *pool)
{
    (void)graph, (void)lists, (void)list_count, (void)parts, (void)shares, (void)seed, (void)owner, (void)pool;
    return td_metis_check();
}

#endif
