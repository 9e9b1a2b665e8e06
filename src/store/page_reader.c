#include "store/page_reader.h"

#include "base/account.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "store/packed_file.h"
#include "store/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH = 16, PREAD_THREADS = 4 };

/* One directory: its queue of reads and its threads. */
typedef struct lane {
    td_page_reader *reader;
    char *path;
    int direct, cached; /* the file opened with O_DIRECT (-1: not supported) and without */
    struct stat opened; /* its state when it was opened */
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    td_block_read *head, *tail;
    bool closing, has_lock;
    int busy;           /* reads in flight */
    uint64_t busy_since;
    td_reader_counts counts;
    pthread_t threads[PREAD_THREADS];
    int thread_count;
} lane;

struct td_page_reader {
    td_packed *packed;
    td_loop *loop;
    td_reader_options options;
    lane lanes[TD_MOST_STRIPES]; /* one per stripe, or the file itself */
    int lane_count;
    char method[64];
};

static _Atomic uint64_t fault_at, fault_more;
static _Atomic int fault_kind;

void td_page_reader_inject(td_read_fault fault, uint64_t nth, uint64_t more)
{
    fault_kind = fault;
    fault_more = more;
    fault_at = nth;
}

/* Whether a test requested this read to fail. */
static bool injected(void)
{
    uint64_t left = fault_at;
    while (left > 1)
        if (atomic_compare_exchange_weak(&fault_at, &left, left - 1)) return false;
    if (left == 0) return false;
    uint64_t more = fault_more;
    while (more > 0)
        if (atomic_compare_exchange_weak(&fault_more, &more, more - 1)) return true;
    fault_at = 0;
    return true;
}

uint64_t td_page_reader_span(const td_page_reader *self, td_section_kind section, uint64_t first, uint64_t most)
{
    td_packed_spot spot = td_packed_locate(&self->packed->info, section, first * TD_PACKED_BLOCK);
    uint64_t there = (spot.bytes + TD_PACKED_BLOCK - 1) / TD_PACKED_BLOCK;
    uint64_t unit = TD_READ_BLOCKS - first % TD_READ_BLOCKS;
    uint64_t span = there < unit ? there : unit;
    return span < most ? span : most;
}

uint64_t td_page_reader_bytes(const td_page_reader *self, td_section_kind section, uint64_t first, uint64_t blocks)
{
    uint64_t padded = td_packed_padded(self->packed->info.sections[section].bytes), begin = first * TD_PACKED_BLOCK;
    uint64_t whole = blocks * TD_PACKED_BLOCK;
    return padded - begin < whole ? padded - begin : whole;
}

/* Reading. */

static td_status fell_short(const lane *self, const td_block_read *read, int64_t result)
{
    if (result < 0)
        return td_fail_errno(TD_IO, (int)-result, "cannot read %s at byte %" PRIu64, self->path, read->offset);
    return td_fail(TD_CORRUPT, "%s ends at byte %" PRIu64 ": it became shorter while it was read", self->path,
                   read->offset + (uint64_t)result);
}

/* Checks that a read is complete and fits the checksums. */
static td_status check(const lane *self, const td_block_read *read, int64_t result)
{
    bool spoilt = injected();
    if (spoilt && fault_kind == TD_FAULT_ERROR) result = -EIO;
    if (result != (int64_t)read->bytes) return fell_short(self, read, result);
    if (spoilt) read->into[read->bytes / 2] ^= 1;
    return td_packed_verify_content(self->reader->packed, read->section, read->first, read->into, read->bytes);
}

static int64_t read_now(const lane *self, const td_block_read *read)
{
    uint64_t done = 0;
    int file = self->direct >= 0 ? self->direct : self->cached;
    while (done < read->bytes) {
        ssize_t got = pread(file, read->into + done, read->bytes - done, (off_t)(read->offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EINVAL && file != self->cached) {
            file = self->cached; /* the file system accepts O_DIRECT but cannot read with it */
            continue;
        }
        if (got < 0) return -errno;
        if (got == 0) break;
        done += (uint64_t)got;
    }
    if (file == self->cached) posix_fadvise(file, (off_t)read->offset, (off_t)read->bytes, POSIX_FADV_DONTNEED);
    return (int64_t)done;
}

/* Measures how a thread spends its time. */
typedef struct laps {
    uint64_t at, ns[TD_READER_WORK];
} laps;

static void lap(laps *self, td_reader_work of)
{
    uint64_t now = td_clock_ns();
    self->ns[of] += now - self->at;
    self->at = now;
}

static void count(lane *self, const td_block_read *read, bool again, laps *time)
{
    pthread_mutex_lock(&self->lock);
    for (int i = 0; i < TD_READER_WORK; i++) {
        self->counts.ns[i] += time->ns[i];
        time->ns[i] = 0;
    }
    self->counts.reads++;
    self->counts.bytes += read->bytes;
    self->counts.retries += again;
    if (--self->busy == 0) self->counts.busy_ns += td_clock_ns() - self->busy_since;
    pthread_mutex_unlock(&self->lock);
}

/* Ends a read; repeats a failed one once before it is an error. */
static void finish(lane *self, td_block_read *read, int64_t result, laps *time)
{
    td_status status = check(self, read, result);
    bool again = status != TD_OK;
    if (again) status = check(self, read, read_now(self, read));
    if (status != TD_OK) {
        td_failure failure;
        td_failure_keep(&failure);
        td_status changed = td_page_reader_check_file(self->reader);
        if (changed == TD_OK) td_failure_set(&failure);
        status = changed == TD_OK ? td_fail_add(status, " (twice)") : changed;
    }
    lap(time, TD_READER_CHECKING);
    count(self, read, again, time);
    td_loop_complete(self->reader->loop, 0, read->handler, read->context, status, (uint64_t)(uintptr_t)read);
}

/* The next read; NULL when there is none and `wait` is false, or when the lane closes. */
static td_block_read *take(lane *self, bool wait)
{
    pthread_mutex_lock(&self->lock);
    while (wait && self->head == NULL && !self->closing) pthread_cond_wait(&self->arrived, &self->lock);
    td_block_read *read = self->head;
    if (read != NULL) {
        self->head = read->next;
        if (self->head == NULL) self->tail = NULL;
        if (self->busy++ == 0) self->busy_since = td_clock_ns();
    }
    pthread_mutex_unlock(&self->lock);
    return read;
}

static void read_and_finish(lane *self, td_block_read *read, laps *time)
{
    int64_t result = read_now(self, read);
    lap(time, TD_READER_WAITING);
    finish(self, read, result, time);
}

static void serve_ring(lane *self, td_ring *ring, unsigned depth, laps *time)
{
    unsigned under_way = 0;
    for (;;) {
        td_block_read *read;
        while (under_way < depth && (read = take(self, under_way == 0)) != NULL) {
            int file = self->direct >= 0 ? self->direct : self->cached;
            if (under_way == 0) lap(time, TD_READER_IDLE);
            bool asked = td_ring_read(ring, file, read->into, read->bytes, read->offset, read);
            lap(time, TD_READER_ASKING);
            under_way += asked;
            if (!asked) read_and_finish(self, read, time);
        }
        if (under_way == 0) return;
        void *tag;
        int64_t result = td_ring_wait(ring, &tag);
        lap(time, TD_READER_WAITING);
        if (tag == NULL) continue;
        under_way--;
        finish(self, tag, result, time);
    }
}

static void *serve(void *context)
{
    lane *self = context;
    td_account_help(td_account_of(self->reader));
    unsigned depth = self->reader->options.depth;
    td_ring *ring = self->reader->options.threads ? NULL : td_ring_create(depth);
    laps time = {.at = td_clock_ns()};
    if (ring != NULL) serve_ring(self, ring, depth, &time);
    td_block_read *read;
    while ((read = take(self, true)) != NULL) {
        lap(&time, TD_READER_IDLE);
        read_and_finish(self, read, &time);
    }
    td_ring_destroy(ring);
    return NULL;
}

void td_page_reader_ask(td_page_reader *self, td_block_read *read)
{
    td_packed_spot spot = td_packed_locate(&self->packed->info, read->section, read->first * TD_PACKED_BLOCK);
    lane *lane = &self->lanes[self->packed->info.stripes > 0 ? spot.file - 1 : 0];
    read->offset = spot.offset;
    read->bytes = td_page_reader_bytes(self, read->section, read->first, read->blocks);
    read->next = NULL;
    read->asked = td_clock_ns();
    td_loop_expect(self->loop);
    pthread_mutex_lock(&lane->lock);
    if (lane->tail != NULL) lane->tail->next = read;
    else lane->head = read;
    lane->tail = read;
    pthread_cond_signal(&lane->arrived);
    pthread_mutex_unlock(&lane->lock);
}

/* Opening and closing. */

/* The thread that waits for a read also checks it, at one or two GB/s, so that a fast disk keeps several
 * threads busy. */
static int ring_threads(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < 8 ? 1 : processors < 16 ? 2 : PREAD_THREADS;
}

static td_status open_lane(td_page_reader *reader, int index, const char *path)
{
    lane *self = &reader->lanes[index];
    *self = (lane){.reader = reader, .direct = -1, .cached = -1};
    reader->lane_count = index + 1;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->arrived, NULL);
    self->has_lock = true;
    TD_CHECK(td_string_copy(&self->path, path, "file name"));
    self->cached = open(path, O_RDONLY | O_CLOEXEC);
    if (self->cached < 0 || fstat(self->cached, &self->opened) != 0)
        return td_fail_errno(TD_IO, errno, "cannot open %s", path);
    if (!reader->options.cached) self->direct = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
    int threads = reader->options.threads ? PREAD_THREADS : ring_threads();
    for (; self->thread_count < threads; self->thread_count++) {
        int error = pthread_create(&self->threads[self->thread_count], NULL, serve, self);
        if (error != 0) return td_refuse_thread(error, 1, "cannot start a thread to read %s", path);
    }
    return TD_OK;
}

static void close_lane(lane *self)
{
    pthread_mutex_lock(&self->lock);
    self->closing = true;
    pthread_cond_broadcast(&self->arrived);
    pthread_mutex_unlock(&self->lock);
    for (int t = 0; t < self->thread_count; t++) pthread_join(self->threads[t], NULL);
    pthread_cond_destroy(&self->arrived);
    pthread_mutex_destroy(&self->lock);
    if (self->direct >= 0) close(self->direct);
    if (self->cached >= 0) close(self->cached);
    td_free(self->path);
}

/* Tests here whether a ring can be created, while there is still a choice. */
static void choose_method(td_reader_options *options)
{
    if (options->depth == 0) options->depth = DEPTH;
    if (options->threads) return;
    td_ring *ring = td_ring_create(2);
    options->threads = ring == NULL;
    td_ring_destroy(ring);
}

td_status td_page_reader_create(td_page_reader **out, td_packed *packed, td_loop *loop,
                                const td_reader_options *options)
{
    td_status status = TD_OK;
    td_page_reader *self = NULL;
    uint32_t stripes = packed->info.stripes;
    TD_CHECK(td_packed_load_checksums(packed));
    TD_CHECK(TD_NEW_ZEROED(&self, 1, "reader of pages"));
    self->packed = packed;
    self->loop = loop;
    if (options != NULL) self->options = *options;
    choose_method(&self->options);
    for (uint32_t i = 0; i < (stripes > 0 ? stripes : 1); i++)
        TD_TRY(open_lane(self, (int)i, td_packed_path(packed, stripes > 0 ? i + 1 : 0)));
    snprintf(self->method, sizeof self->method, "%s, %s", self->options.threads ? "pread" : "io_uring",
             self->lanes[0].direct >= 0 ? "direct" : "cached");
    *out = self;
    self = NULL;
done:
    td_page_reader_destroy(self);
    return status;
}

void td_page_reader_destroy(td_page_reader *self)
{
    if (self == NULL) return;
    for (int i = 0; i < self->lane_count; i++) close_lane(&self->lanes[i]);
    td_free(self);
}

int td_page_reader_directories(const td_page_reader *self) { return self->lane_count; }
const char *td_page_reader_directory(const td_page_reader *self, int index) { return self->lanes[index].path; }
const char *td_page_reader_method(const td_page_reader *self) { return self->method; }

td_reader_counts td_page_reader_counts(td_page_reader *self, int directory)
{
    lane *lane = &self->lanes[directory];
    pthread_mutex_lock(&lane->lock);
    td_reader_counts counts = lane->counts;
    counts.threads = lane->thread_count;
    if (lane->busy > 0) counts.busy_ns += td_clock_ns() - lane->busy_since;
    pthread_mutex_unlock(&lane->lock);
    return counts;
}

static td_status check_lane(const lane *self)
{
    struct stat now;
    if (fstat(self->cached, &now) != 0) return td_fail_errno(TD_IO, errno, "cannot look at %s", self->path);
    if (now.st_size == self->opened.st_size && now.st_mtim.tv_sec == self->opened.st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == self->opened.st_mtim.tv_nsec)
        return TD_OK;
    return td_fail(TD_CORRUPT, "%s changed while it was used (%" PRIu64 " bytes now, %" PRIu64
                   " when it was opened): run again when it is not being written", self->path, (uint64_t)now.st_size,
                   (uint64_t)self->opened.st_size);
}

td_status td_page_reader_check_file(const td_page_reader *self)
{
    const td_packed *packed = self->packed;
    td_disk_header header;
    for (int i = 0; i < self->lane_count; i++) TD_CHECK(check_lane(&self->lanes[i]));
    TD_CHECK(td_packed_file_read(&packed->files[0], 0, &header, sizeof header, NULL));
    if (header.build_id == packed->info.build_id) return TD_OK;
    return td_fail(TD_CORRUPT, "%s became another graph while it was used: run again", packed->path);
}
