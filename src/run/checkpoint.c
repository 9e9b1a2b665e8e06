/* Writing checkpoints, and choosing the one to resume. One thread writes, concurrent with the run: the run fills the
 * only state and continues; it gets the state back when the write has ended. A checkpoint after every iteration costs a
 * copy of the values, and a slow disk makes checkpoints rarer, not the run slower. The run waits for its last
 * checkpoint. */
#include "run/checkpoint.h"

#include "base/account.h"
#include "base/alloc.h"
#include "base/bitmap.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/names.h"
#include "run/checkpoint_file.h"
#include "kernels/cpu/job.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Without --every: minimum seconds between checkpoints, and the disk is busy at most one part in BUSY_PART. */
static const double EVERY_SECONDS = 10, BUSY_PART = 20;
enum { KEPT = 2 };

#define NAME_FORMAT "checkpoint-%08" PRIu64 ".tdck"

struct td_checkpoints {
    char *folder;
    int folder_fd;              /* locked during the run */
    uint32_t every;             /* iterations; 0: by time */
    td_identity identity;
    td_state state;             /* owned by the run while `writing` is false, else by the writer */
    uint64_t number;            /* number of the next file */
    uint32_t last_iteration;
    uint64_t last_began;
    double last_seconds;
    pthread_t writer;
    bool has_writer;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool writing, ending;
    bool holds;                 /* requests to stop wait for the end of an iteration */
    bool reported;              /* a failed write has been reported */
    td_status status;           /* result of the last write, and its message */
    char message[TD_MESSAGE_BYTES];
};

/* Folders. */

static void path_of(char path[PATH_MAX], const char *folder, uint64_t number)
{
    snprintf(path, PATH_MAX, "%s/" NAME_FORMAT, folder, number);
}

/* The number in a checkpoint's name, or 0. */
static uint64_t number_of(const char *name)
{
    uint64_t number = 0;
    char again[64];
    if (sscanf(name, "checkpoint-%" SCNu64, &number) != 1) return 0;
    snprintf(again, sizeof again, NAME_FORMAT, number);
    return strcmp(again, name) == 0 && number < UINT64_C(1) << 60 ? number : 0; /* bounded, so that a next number
                                                                                 * exists */
}

/* The highest number below `limit`, or 0. */
static td_status find_newest(const char *folder, uint64_t limit, uint64_t *number)
{
    DIR *open = opendir(folder);
    *number = 0;
    if (open == NULL) return td_fail_errno(TD_IO, errno, "cannot read the folder %s", folder);
    for (const struct dirent *entry; (entry = readdir(open)) != NULL;) {
        uint64_t one = number_of(entry->d_name);
        if (one < limit && one > *number) *number = one;
    }
    closedir(open);
    return TD_OK;
}

/* Removes temporary files of killed runs, and checkpoints older than the last two. */
static void tidy(const char *folder, uint64_t newest, bool temporaries)
{
    DIR *open = opendir(folder);
    if (open == NULL) return;
    for (const struct dirent *entry; (entry = readdir(open)) != NULL;) {
        const char *name = entry->d_name;
        size_t length = strlen(name);
        uint64_t number = number_of(name);
        bool temporary = length > 4 && strncmp(name, ".checkpoint-", 12) == 0 && strcmp(name + length - 4, ".tmp") == 0;
        bool old = number > 0 && number + KEPT <= newest;
        if (old || (temporary && temporaries)) (void)unlinkat(dirfd(open), name, 0);
    }
    closedir(open);
}

static td_status check_folder(const char *option, const char *folder, int access_mode)
{
    struct stat info;
    if (folder == NULL) return TD_OK;
    if (strlen(folder) > PATH_MAX - 64) return td_fail_errno(TD_USAGE, ENAMETOOLONG, "%s", option);
    if (stat(folder, &info) != 0)
        return td_fail_errno(TD_USAGE, errno, "%s %s: give a folder that exists", option, folder);
    if (!S_ISDIR(info.st_mode)) return td_fail(TD_USAGE, "%s %s: it is not a folder", option, folder);
    if (access(folder, access_mode) != 0) return td_fail_errno(TD_USAGE, errno, "%s %s", option, folder);
    return TD_OK;
}

static bool same_folder(const char *one, const char *other)
{
    struct stat a, b;
    return one != NULL && other != NULL && stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Resuming. */

static td_status check_iterations(const td_run_options *options, const char *path, uint32_t done)
{
    if (!options->has_iterations || options->iterations >= done) return TD_OK;
    return td_fail(TD_USAGE, "{iterations} %" PRIu32 ": %s is from after iteration %" PRIu32
                   "; give at least that many, or start anew",
                   options->iterations, path, done);
}

static bool is_unreadable(td_status status)
{
    return status == TD_CORRUPT || status == TD_FORMAT || status == TD_IO || status == TD_UNSUPPORTED;
}

/* The run that resumes. */
typedef struct resuming {
    td_run *run;
    const td_run_options *options;
    const td_identity *mine;
} resuming;

/* Compares the identity first: arrays of another graph are not read. */
static td_status read_state(const char *path, const resuming *by)
{
    td_identity written, again;
    uint32_t iterations;
    td_state *state = by->run->resumed;
    TD_CHECK(td_checkpoint_peek(path, &written, &iterations));
    TD_CHECK(td_identity_compare(&written, by->mine, by->run, by->options->pool, path));
    TD_CHECK(td_checkpoint_read(path, &again, state));
    td_status status = memcmp(&written, &again, sizeof again) == 0
                           ? td_state_check(state, by->run, by->options->pool, path)
                           : td_fail(TD_IO, "%s changed while it was read", path);
    if (status == TD_OK) return check_iterations(by->options, path, state->iteration);
    td_state_clear(state);
    return status;
}

/* Finds the newest intact checkpoint with a valid state or, without a run, with an intact header. *number 0: none. */
static td_status read_newest(const char *folder, td_identity *identity, uint32_t *iteration, const resuming *by,
                             uint64_t *number)
{
    char path[PATH_MAX];
    td_status status = TD_OK;
    for (uint64_t limit = UINT64_MAX;; limit = *number) {
        TD_CHECK(find_newest(folder, limit, number));
        if (*number == 0) return status; /* status of the last one tried */
        if (status != TD_OK && by != NULL) td_warn("%s; the one before it is used", td_last_message());
        path_of(path, folder, *number);
        status = by == NULL ? td_checkpoint_peek(path, identity, iteration) : read_state(path, by);
        if (status == TD_OK || !is_unreadable(status)) return status;
    }
}

/* Checks the header of the newest checkpoint; its arrays are checked when it is read. */
static td_status check_newest(const td_program *program, const td_run_options *options)
{
    char path[PATH_MAX];
    td_identity written;
    uint64_t newest;
    uint32_t iterations;
    if (options->resume == NULL) return TD_OK;
    TD_CHECK(read_newest(options->resume, &written, &iterations, NULL, &newest));
    if (newest == 0 && same_folder(options->resume, options->checkpoint)) return TD_OK;
    if (newest == 0) return td_fail(TD_USAGE, "{resume} %s: there is no checkpoint in it", options->resume);
    path_of(path, options->resume, newest);
    TD_CHECK(td_identity_check_program(&written, program->info, path));
    return check_iterations(options, path, iterations);
}

uint32_t td_checkpoint_value_bytes(const td_program *program, const td_run_options *options)
{
    td_identity written;
    uint64_t newest;
    uint32_t iterations;
    if (options->resume == NULL || read_newest(options->resume, &written, &iterations, NULL, &newest) != TD_OK) return 0;
    return newest > 0 && td_identity_check_program(&written, program->info, options->resume) == TD_OK
               ? written.value_bytes
               : 0;
}

td_status td_checkpoints_check(const td_program *program, const td_run_options *options)
{
    TD_CHECK(check_folder(td_named("checkpoint"), options->checkpoint, R_OK | W_OK | X_OK));
    TD_CHECK(check_folder(td_named("resume"), options->resume, R_OK | X_OK));
    return check_newest(program, options);
}

static td_status resume(td_run *run, const td_run_options *options, const td_identity *mine)
{
    char path[PATH_MAX];
    const resuming by = {run, options, mine};
    uint64_t number = 0;
    TD_CHECK(TD_NEW_ZEROED(&run->resumed, 1, "state of a checkpoint"));
    TD_CHECK(read_newest(options->resume, NULL, NULL, &by, &number));
    if (number == 0) { /* so the run's folder has none either */
        td_info("there is no checkpoint in %s yet: %s starts from the beginning", options->resume,
                run->program->info->name);
        td_free(run->resumed);
        run->resumed = NULL;
        return TD_OK;
    }
    path_of(path, options->resume, number);
    TD_CHECK(td_string_copy(&run->checkpoint_stats.resumed_from, path, "name of a checkpoint"));
    run->checkpoint_stats.resumed_iteration = run->iterations = run->resumed->iteration;
    run->final_change = run->resumed->change;
    if (run->program->cpu[TD_WEIGHT_NONE].first_hit && !run->resumed->by_levels) run->async = true;
    td_info("%s goes on after iteration %" PRIu32 ", from %s", run->program->info->name, run->resumed->iteration, path);
    return TD_OK;
}

/* Writing. */

static td_status write_one(struct td_checkpoints *self, uint64_t *bytes)
{
    char path[PATH_MAX];
    path_of(path, self->folder, self->number);
    TD_CHECK(td_checkpoint_write(path, &self->identity, &self->state, bytes));
    tidy(self->folder, self->number, false);
    self->number++;
    return TD_OK;
}

/* Reports the first failed write; the run continues. */
static void note_write(struct td_checkpoints *self, td_checkpoint_stats *stats, td_status status, uint64_t bytes,
                       double seconds)
{
    self->status = status;
    self->last_seconds = seconds;
    stats->seconds += seconds;
    stats->processor = td_thread_seconds();
    if (status == TD_OK) {
        stats->written++;
        stats->bytes += bytes;
        return;
    }
    stats->failed++;
    snprintf(self->message, sizeof self->message, "%s", td_last_message());
    if (!self->reported) td_warn("%s; the run goes on, and what was written before stays", self->message);
    self->reported = true;
}

static void *writer_main(void *context)
{
    td_run *run = context;
    struct td_checkpoints *self = run->checkpoints;
    td_account_help(td_account_of(self));
    td_cancel_ignore(); /* a write that has begun is finished */
    pthread_mutex_lock(&self->lock);
    for (;;) {
        while (!self->writing && !self->ending) pthread_cond_wait(&self->changed, &self->lock);
        if (!self->writing) break;
        pthread_mutex_unlock(&self->lock);
        uint64_t began = td_clock_ns(), bytes = 0;
        td_status status = write_one(self, &bytes);
        pthread_mutex_lock(&self->lock);
        note_write(self, &run->checkpoint_stats, status, bytes, td_seconds_since(began));
        self->writing = false;
        pthread_cond_broadcast(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

static bool is_writing(struct td_checkpoints *self)
{
    pthread_mutex_lock(&self->lock);
    bool writing = self->writing;
    pthread_mutex_unlock(&self->lock);
    return writing;
}

static void wait_for_writer(struct td_checkpoints *self)
{
    pthread_mutex_lock(&self->lock);
    while (self->writing) pthread_cond_wait(&self->changed, &self->lock);
    pthread_mutex_unlock(&self->lock);
}

static bool is_stopping(const td_run *run) { return run->stop || td_cancel_requested(); }

static bool is_time(const struct td_checkpoints *self, uint32_t iteration)
{
    if (self->every > 0) return iteration - self->last_iteration >= self->every;
    double since = td_seconds_since(self->last_began);
    return since >= EVERY_SECONDS && since >= BUSY_PART * self->last_seconds;
}

td_state *td_checkpoint_due(td_run *run, const td_context *context)
{
    struct td_checkpoints *self = run->checkpoints;
    if (self == NULL || !td_state_ends_round(run, context->iteration)) return NULL;
    bool stopping = is_stopping(run);
    uint64_t began = td_clock_ns();
    if (!stopping && (is_writing(self) || !is_time(self, context->iteration))) return NULL;
    wait_for_writer(self);
    td_state *state = &self->state;
    if (state->has_active) memset(state->active, 0, td_bitmap_words(run->graph->vertices) * sizeof(uint64_t));
    state->has_active = state->by_levels = false;
    memset(state->is_summed, 0, sizeof state->is_summed);
    state->edge_count = 0;
    state->iteration = context->iteration;
    state->phase = context->phase;
    state->global = context->global;
    state->change = run->final_change;
    state->converged = run->converged;
    self->last_began = began;
    return state;
}

/* The run was asked to stop: says how to resume it. */
static td_status stop(struct td_checkpoints *self)
{
    wait_for_writer(self);
    if (self->status != TD_OK)
        return td_fail(TD_CANCELLED, "interrupted, and not where it can go on: %s", self->message);
    return td_fail(TD_CANCELLED, "interrupted after iteration %" PRIu32 "; go on with {resume} %s",
                   self->state.iteration, self->folder);
}

td_status td_checkpoint_save(td_run *run, td_state *state)
{
    struct td_checkpoints *self = run->checkpoints;
    self->last_iteration = state->iteration;
    pthread_mutex_lock(&self->lock);
    run->checkpoint_stats.waited += td_seconds_since(self->last_began);
    self->writing = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    return is_stopping(run) ? stop(self) : TD_OK;
}

uint32_t td_checkpoint_rounds(const td_run *run, uint32_t iteration)
{
    const struct td_checkpoints *self = run->checkpoints;
    if (self == NULL || self->every == 0) return UINT32_MAX;
    uint32_t since = iteration - self->last_iteration;
    return since < self->every ? self->every - since : self->every; /* the disk is late: the usual interval */
}

/* Opening and closing. */

static td_status lock_folder(struct td_checkpoints *self)
{
    self->folder_fd = open(self->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (self->folder_fd < 0) return td_fail_errno(TD_USAGE, errno, "{checkpoint} %s", self->folder);
    bool locked = flock(self->folder_fd, LOCK_EX | LOCK_NB) == 0;
    if (locked || errno != EWOULDBLOCK) return TD_OK; /* some file systems do not support locks */
    return td_fail(TD_USAGE, "{checkpoint} %s: another run is writing its checkpoints there; give another folder",
                   self->folder);
}

static bool is_one_folder(const char *a, const char *b)
{
    struct stat first, second;
    if (a == NULL || stat(a, &first) != 0 || stat(b, &second) != 0) return false;
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/* A new run replaces checkpoints of the same run, no others. A run that resumes from this folder may also replace those
 * of another version of Tandem or another machine. */
static td_status check_contents(const td_run *run, const td_run_options *options, struct td_checkpoints *self)
{
    char path[PATH_MAX];
    td_identity written;
    uint64_t newest;
    TD_CHECK(find_newest(self->folder, UINT64_MAX, &newest));
    self->number = newest + 1;
    if (newest == 0) return TD_OK;
    path_of(path, self->folder, newest);
    uint32_t iterations;
    td_status status = td_checkpoint_peek(path, &written, &iterations);
    bool strange = status == TD_UNSUPPORTED && !is_one_folder(options->resume, self->folder);
    if (status != TD_OK && !strange) return TD_OK;
    if (!strange && td_identity_compare(&written, &self->identity, run, options->pool, path) == TD_OK) return TD_OK;
    return td_fail_context(TD_USAGE, "{checkpoint} %s holds those of another run; remove them or give another folder",
                           self->folder);
}

static td_status start_writer(td_run *run)
{
    struct td_checkpoints *self = run->checkpoints;
    int error = pthread_create(&self->writer, NULL, writer_main, run);
    self->has_writer = error == 0;
    return error == 0 ? TD_OK : td_refuse_thread(error, 1, "cannot start the thread that writes checkpoints");
}

static td_status open_writing(td_run *run, const td_run_options *options, const td_identity *identity)
{
    struct td_checkpoints *self;
    TD_CHECK(TD_NEW_ZEROED(&run->checkpoints, 1, "checkpoints"));
    self = run->checkpoints;
    self->folder_fd = -1;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    self->identity = *identity;
    self->every = options->every;
    self->last_iteration = run->resumed != NULL ? run->resumed->iteration : 0;
    self->last_began = td_clock_ns();
    TD_CHECK(td_string_copy(&self->folder, options->checkpoint, "folder of checkpoints"));
    TD_CHECK(lock_folder(self));
    TD_CHECK(check_contents(run, options, self));
    tidy(self->folder, 0, true);
    TD_CHECK(td_state_new(&self->state, run, options->pool));
    return start_writer(run);
}

td_status td_checkpoints_open(td_run *run, const td_run_options *options)
{
    td_identity identity;
    if (options->checkpoint == NULL && options->resume == NULL) return TD_OK;
    TD_CHECK(td_checkpoints_check(run->program, options));
    TD_CHECK(td_identity_of(&identity, run, options->pool));
    if (options->resume != NULL) TD_CHECK(resume(run, options, &identity));
    return options->checkpoint != NULL ? open_writing(run, options, &identity) : TD_OK;
}

td_status td_checkpoints_begin(td_run *run)
{
    struct td_checkpoints *self = run->checkpoints;
    if (self == NULL || self->holds) return TD_OK;
    TD_CHECK(td_cancel_check());
    td_cancel_hold();
    self->holds = true;
    return TD_OK;
}

void td_checkpoints_finish(td_run *run)
{
    struct td_checkpoints *self = run->checkpoints;
    if (self == NULL || !self->holds) return;
    td_cancel_release();
    self->holds = false;
}

static td_status explain_lost(td_run *run, td_status status)
{
    td_failure failure;
    td_failure_keep(&failure);
    wait_for_writer(run->checkpoints);
    td_failure_set(&failure);
    if (run->checkpoint_stats.written == 0) return status;
    return td_fail(status, "%s; go on with {resume} %s", td_last_message(), run->checkpoints->folder);
}

td_status td_checkpoints_explain(td_run *run, td_status status)
{
    struct td_checkpoints *self = run->checkpoints;
    if (status == TD_DEVICE && self != NULL) return explain_lost(run, status);
    if (status != TD_CANCELLED || self == NULL || self->holds) return status;
    wait_for_writer(self);
    if (run->checkpoint_stats.written == 0) return status;
    return td_fail(TD_CANCELLED, "interrupted after the last iteration, before its result was ready; go on with "
                                 "{resume} %s", self->folder);
}

static void end_writer(td_run *run)
{
    struct td_checkpoints *self = run->checkpoints;
    uint64_t began = td_clock_ns();
    pthread_mutex_lock(&self->lock);
    self->ending = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->writer, NULL);
    run->checkpoint_stats.waited_last = td_seconds_since(began);
    run->checkpoint_stats.waited += run->checkpoint_stats.waited_last;
}

void td_checkpoints_close(td_run *run)
{
    struct td_checkpoints *self = run->checkpoints;
    if (run->resumed != NULL) td_state_clear(run->resumed);
    td_free(run->resumed);
    run->resumed = NULL;
    if (self == NULL) return;
    if (self->has_writer) end_writer(run);
    td_checkpoints_finish(run);
    td_state_clear(&self->state);
    if (self->folder_fd >= 0) close(self->folder_fd);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    td_free(self->folder);
    td_free(self);
    run->checkpoints = NULL;
}

uint64_t td_checkpoint_bytes(const td_program *program, const td_graph *graph, const td_run_options *options)
{
    const td_cpu_kernels *traits = &program->cpu[TD_WEIGHT_NONE];
    uint64_t n = graph->vertices;
    uint64_t state = td_state_padded(n * traits->value_bytes) + td_state_padded(td_bitmap_words(n) * sizeof(uint64_t)) +
                     td_state_padded(traits->edge != NULL ? n * sizeof(uint64_t) : 0);
    return state * ((options->checkpoint != NULL) + (options->resume != NULL));
}
