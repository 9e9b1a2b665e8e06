/* The stream of a compressed file's content, cut into pieces while it is decoded.
 *
 * One worker at a time cuts: it fills a buffer with the content that follows, up to its size, and the piece ends with
 * the last line that ends in it. So pieces depend on the content alone, however it is decoded:
 *
 *   in sequence  the cutting worker decodes straight into the piece's buffer, while the others parse pieces. That keeps
 *                one decoder busy with any number of workers, one included, and needs workers + 2 buffers.
 *   by units     (units.h) workers without a piece to parse decode the next units, each into a buffer of its own, and
 *                the cutting worker copies from them in the order of the file. A unit that is not what it seemed ends
 *                this: from there on the file is decoded in sequence.
 */
#include "store/input_flow.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/log.h"
#include "base/machine.h"
#include "store/units.h"

#include <pthread.h>
#include <string.h>

#define LINE_LIMIT ((size_t)1 << 30)  /* the longest line a compressed file may have */
#define UNIT_MOST ((uint64_t)1 << 28) /* bytes of content of one unit: a block of xz -9 has 192 MiB */

/* Units may take this part of the memory that is free. */
enum { UNITS_SHARE = 8 };

/* A buffer and the piece in it. */
typedef struct slot {
    td_piece piece;
    char *buffer;
    size_t room;
    struct slot *next; /* in the queue or among the free */
} slot;

typedef enum unit_state { UNIT_FREE, UNIT_CLAIMED, UNIT_DONE } unit_state;

/* A unit that is decoded, or waits to be copied into pieces. */
typedef struct unit_slot {
    unit_state state;
    td_unit unit;
    char *buffer;
    size_t room, got, copied;
    bool whole;
    td_status status;
    td_failure failure;
} unit_slot;

typedef struct flow {
    const td_input *input;
    const char *data;
    const td_flow_settings *settings;
    pthread_mutex_t lock; /* guards what follows, up to the cutting worker's own */
    pthread_cond_t change;
    slot *slots, *free, *queue, **queue_end;
    bool cutting, ended;
    uint64_t failed_at; /* the earliest piece that failed, UINT64_MAX: none */
    td_status status;
    td_failure failure;
    td_units *units;    /* NULL: in sequence */
    td_unit_decoder **unit_decoders; /* of the workers */
    unit_slot *ring;    /* unit i is in ring[i % ring_size] */
    uint64_t ring_size, claimed, copied;
    bool scanned;       /* there are no further units */
    td_decoder *decoder; /* from here on: of the worker that cuts; NULL: by units */
    slot *partial;       /* a piece that waits for more content */
    size_t filled;
    char *carry;         /* the beginning of the next piece's first line */
    size_t carried, carry_room;
    bool drained;        /* the content has ended */
    uint64_t index, byte, line, content;
    td_decoding *decoding;
} flow;

/* Content, from units or from the sequential decoder. */

static bool unit_ready(const flow *job)
{
    if (job->copied == job->claimed) return job->scanned;
    return job->ring[job->copied % job->ring_size].state == UNIT_DONE;
}

static td_status go_on_in_sequence(flow *job, size_t begin)
{
    pthread_mutex_lock(&job->lock);
    job->scanned = true; /* units that are being decoded are left alone */
    pthread_mutex_unlock(&job->lock);
    return td_units_resume(job->units, begin, job->content, &job->decoder);
}

static void release_unit(flow *job, unit_slot *unit)
{
    pthread_mutex_lock(&job->lock);
    unit->state = UNIT_FREE;
    job->copied++;
    pthread_cond_broadcast(&job->change);
    pthread_mutex_unlock(&job->lock);
}

/* Copies content from units as far as they are decoded; *starved: the next one is not. */
static td_status copy_from_units(flow *job, char *into, size_t room, size_t *got, bool *starved)
{
    while (*got < room && !job->drained && job->decoder == NULL) {
        pthread_mutex_lock(&job->lock);
        bool ready = unit_ready(job), over = job->copied == job->claimed;
        pthread_mutex_unlock(&job->lock);
        *starved = !ready;
        if (!ready) return TD_OK;
        if (over) {
            job->drained = td_units_position(job->units) == td_input_bytes(job->input);
            if (!job->drained) TD_CHECK(go_on_in_sequence(job, td_units_position(job->units)));
            continue;
        }
        unit_slot *unit = &job->ring[job->copied % job->ring_size];
        if (unit->status != TD_OK) {
            td_failure_set(&unit->failure);
            return unit->status;
        }
        if (!unit->whole) {
            TD_CHECK(go_on_in_sequence(job, unit->unit.begin));
            continue;
        }
        size_t left = unit->got - unit->copied, part = left < room - *got ? left : room - *got;
        if (part > 0) memcpy(into + *got, unit->buffer + unit->copied, part);
        *got += part;
        unit->copied += part;
        job->content += part;
        if (unit->copied < unit->got) continue;
        job->decoding->members += unit->unit.members;
        job->decoding->parallel += unit->unit.members;
        release_unit(job, unit);
    }
    return TD_OK;
}

static td_status decode_in_sequence(flow *job, char *into, size_t room, size_t *got)
{
    uint64_t before = td_decoder_position(job->decoder);
    td_progress("reading", before, td_input_bytes(job->input));
    TD_CHECK(td_decoder_read(job->decoder, into, room, got));
    td_input_let_go(job->input, job->data + before, job->data + td_decoder_position(job->decoder));
    job->drained = *got < room;
    job->content += *got;
    return TD_OK;
}

/* The content that follows, *got bytes of it: less than `room` at its end, or if *starved. */
static td_status read_content(flow *job, char *into, size_t room, size_t *got, bool *starved)
{
    size_t more = 0;
    *got = 0;
    *starved = false;
    if (job->decoder == NULL) TD_CHECK(copy_from_units(job, into, room, got, starved));
    if (job->decoder == NULL || *got == room) return TD_OK;
    TD_CHECK(decode_in_sequence(job, into + *got, room - *got, &more));
    *got += more;
    return TD_OK;
}

/* Pieces. */

static td_status skip_header(flow *job, bool *starved)
{
    char buffer[4096];
    uint64_t skip = job->settings->skip;
    while (job->byte < skip && !*starved && !job->drained) {
        size_t got, part = skip - job->byte < sizeof buffer ? (size_t)(skip - job->byte) : sizeof buffer;
        TD_CHECK(read_content(job, buffer, part, &got, starved));
        job->byte += got;
        job->line += td_count_lines(buffer, buffer + got);
    }
    return TD_OK;
}

static td_status make_room(const flow *job, slot *mine, size_t wanted)
{
    if (mine->room >= wanted) return TD_OK;
    if (wanted > LINE_LIMIT)
        return td_fail(TD_LIMIT, "%s:%llu: a line longer than %zu bytes, too long for a compressed file",
                       td_input_path(job->input), (unsigned long long)job->line, LINE_LIMIT);
    size_t room = mine->room == 0 ? job->settings->size : mine->room;
    while (room < wanted) room = 2 * room < LINE_LIMIT ? 2 * room : LINE_LIMIT;
    TD_CHECK(TD_RESIZE(&mine->buffer, room, "decompressed text"));
    mine->room = room;
    return TD_OK;
}

static td_status keep_rest(flow *job, const char *rest, size_t bytes)
{
    if (bytes > job->carry_room) {
        TD_CHECK(TD_RESIZE(&job->carry, bytes, "unfinished line"));
        job->carry_room = bytes;
    }
    if (bytes > 0) memcpy(job->carry, rest, bytes);
    job->carried = bytes;
    return TD_OK;
}

static td_status begin_piece(flow *job, slot *mine)
{
    TD_CHECK(make_room(job, mine, job->carried > 0 ? job->carried : 1));
    if (job->carried > 0) memcpy(mine->buffer, job->carry, job->carried);
    job->filled = job->carried;
    job->carried = 0;
    return TD_OK;
}

/* Fills `mine` until it ends a line, or the content ends, or the next content is not decoded yet. */
static td_status fill_piece(flow *job, slot *mine, bool *starved)
{
    const char *newline = NULL;
    *starved = false;
    if (job->byte < job->settings->skip) TD_CHECK(skip_header(job, starved));
    while (!job->drained && newline == NULL && !*starved) {
        TD_CHECK(make_room(job, mine, job->filled + 1));
        size_t got;
        TD_CHECK(read_content(job, mine->buffer + job->filled, mine->room - job->filled, &got, starved));
        job->filled += got;
        if (job->filled == mine->room) newline = memrchr(mine->buffer, '\n', job->filled);
    }
    if (*starved) return TD_OK;
    char *end = job->drained ? mine->buffer + job->filled : (char *)newline + 1;
    TD_CHECK(keep_rest(job, end, (size_t)(mine->buffer + job->filled - end)));
    mine->piece = (td_piece){job->input, job->index, job->byte, job->line, mine->buffer, end};
    job->byte += (uint64_t)(end - mine->buffer);
    job->line += td_count_lines(mine->buffer, end);
    return TD_OK;
}

/* The steps of a worker: they are called with the lock held and return with it held. */

static void record(flow *job, uint64_t index, td_status status)
{
    if (status == TD_OK || index >= job->failed_at) return;
    job->failed_at = index;
    job->status = status;
    td_failure_keep(&job->failure);
}

static void release(flow *job, slot *mine)
{
    if (mine->room > job->settings->size) { /* grown for one long line */
        td_free(mine->buffer);
        mine->buffer = NULL;
        mine->room = 0;
    }
    mine->next = job->free;
    job->free = mine;
}

static bool can_cut(const flow *job)
{
    if (job->cutting || (job->partial == NULL && job->free == NULL)) return false;
    return job->decoder != NULL || unit_ready(job);
}

static void cut_next(flow *job)
{
    bool starved = false, fresh = job->partial == NULL;
    slot *mine = fresh ? job->free : job->partial;
    if (fresh) job->free = mine->next;
    job->cutting = true;
    pthread_mutex_unlock(&job->lock);
    td_status status = fresh ? begin_piece(job, mine) : TD_OK;
    if (status == TD_OK) status = fill_piece(job, mine, &starved);
    pthread_mutex_lock(&job->lock);
    job->cutting = false;
    job->partial = starved && status == TD_OK ? mine : NULL;
    job->ended = status != TD_OK || job->drained;
    record(job, job->index, status);
    if (job->partial != NULL) {
        /* goes on when the next unit is decoded */
    } else if (status == TD_OK && mine->piece.text < mine->piece.end) {
        mine->next = NULL;
        *job->queue_end = mine;
        job->queue_end = &mine->next;
        job->index++;
    } else {
        release(job, mine);
    }
    pthread_cond_broadcast(&job->change);
}

static void parse_next(flow *job, int worker)
{
    slot *mine = job->queue;
    job->queue = mine->next;
    if (job->queue == NULL) job->queue_end = &job->queue;
    pthread_mutex_unlock(&job->lock);
    td_status status = td_cancel_check();
    if (status == TD_OK) status = job->settings->read(job->settings->context, &mine->piece, worker);
    pthread_mutex_lock(&job->lock);
    record(job, mine->piece.index, status);
    release(job, mine);
    pthread_cond_broadcast(&job->change);
}

static bool can_decode(const flow *job)
{
    return job->units != NULL && !job->scanned && job->claimed - job->copied < job->ring_size;
}

static td_status decode_unit(flow *job, unit_slot *mine, int worker)
{
    TD_CHECK(td_cancel_check());
    if (job->unit_decoders[worker] == NULL)
        TD_CHECK(td_unit_decoder_create(&job->unit_decoders[worker], job->units));
    if (mine->unit.room > mine->room) {
        td_free(mine->buffer);
        mine->buffer = NULL;
        mine->room = 0;
        TD_CHECK(TD_NEW(&mine->buffer, mine->unit.room, "decompressed block"));
        mine->room = mine->unit.room;
    }
    td_progress("reading", mine->unit.begin, td_input_bytes(job->input));
    TD_CHECK(td_unit_decode(job->unit_decoders[worker], &mine->unit, mine->buffer, &mine->got, &mine->whole));
    td_input_let_go(job->input, job->data + mine->unit.begin, job->data + mine->unit.end);
    return TD_OK;
}

static void decode_next(flow *job, int worker)
{
    unit_slot *mine = &job->ring[job->claimed % job->ring_size];
    mine->got = mine->copied = 0;
    mine->whole = false;
    job->scanned = !td_units_next(job->units, &mine->unit);
    if (!job->scanned) {
        mine->state = UNIT_CLAIMED;
        job->claimed++;
        pthread_mutex_unlock(&job->lock);
        mine->status = decode_unit(job, mine, worker);
        if (mine->status != TD_OK) td_failure_keep(&mine->failure);
        pthread_mutex_lock(&job->lock);
        mine->state = UNIT_DONE;
    }
    pthread_cond_broadcast(&job->change);
}

/* Pieces before a failed one are still read: an earlier failure takes precedence. */
static td_status flow_worker(void *context, int worker, int workers)
{
    (void)workers;
    flow *job = context;
    pthread_mutex_lock(&job->lock);
    for (;;) {
        bool more = !job->ended && job->failed_at == UINT64_MAX;
        if (more && can_cut(job))
            cut_next(job);
        else if (job->queue != NULL && job->queue->piece.index < job->failed_at)
            parse_next(job, worker);
        else if (more && can_decode(job))
            decode_next(job, worker);
        else if (job->cutting || more)
            pthread_cond_wait(&job->change, &job->lock);
        else
            break;
    }
    pthread_mutex_unlock(&job->lock);
    return TD_OK;
}

/* Finds units, and how many of them may be in memory at once; with fewer than two, or one worker, the file is decoded
 * in sequence. */
static td_status find_units(flow *job, int threads)
{
    td_decoder_choice choice;
    TD_CHECK(td_decoder_chosen(&choice));
    if (threads < 2 || choice.sequential) return TD_OK;
    td_memory_stats memory = td_memory();
    uint64_t room = memory.budget == 0 ? td_machine_memory_free() : memory.budget - memory.now;
    if (memory.budget != 0 && memory.now > memory.budget) room = 0;
    room /= UNITS_SHARE;
    TD_CHECK(td_units_open(&job->units, job->data, td_input_bytes(job->input), td_input_path(job->input),
                           job->settings->size, room / 2 < UNIT_MOST ? room / 2 : UNIT_MOST));
    if (job->units == NULL) return TD_OK;
    uint64_t decoder = td_units_decoder_bytes(job->units), largest = td_units_largest(job->units);
    job->ring_size = room / (largest + decoder);
    if (job->ring_size > (uint64_t)threads + 2) job->ring_size = (uint64_t)threads + 2;
    if (job->ring_size < 2) {
        td_units_close(job->units);
        job->units = NULL;
        return TD_OK;
    }
    td_units_limit(job->units, room / job->ring_size - decoder);
    TD_CHECK(TD_NEW_ZEROED(&job->unit_decoders, (uint64_t)threads, "decoders of workers"));
    return TD_NEW_ZEROED(&job->ring, job->ring_size, "decompressed blocks");
}

static void tear_down(flow *job, int threads)
{
    for (int i = 0; job->unit_decoders != NULL && i < threads; i++) td_unit_decoder_destroy(job->unit_decoders[i]);
    for (uint64_t i = 0; job->ring != NULL && i < job->ring_size; i++) td_free(job->ring[i].buffer);
    for (int i = 0; job->slots != NULL && i < threads + 2; i++) td_free(job->slots[i].buffer);
    td_free(job->unit_decoders);
    td_free(job->ring);
    td_free(job->slots);
    td_free(job->carry);
    td_units_close(job->units);
    td_decoder_destroy(job->decoder);
}

td_status td_flow_read(const td_input *input, td_pool *pool, const td_flow_settings *settings, td_decoding *decoding,
                       uint64_t *pieces)
{
    td_status status = TD_OK;
    int threads = td_pool_threads(pool);
    const void *data = td_input_data(input);
    size_t bytes = td_input_bytes(input);
    flow job = {.input = input, .data = data, .settings = settings, .lock = PTHREAD_MUTEX_INITIALIZER,
                .change = PTHREAD_COND_INITIALIZER, .failed_at = UINT64_MAX, .line = 1, .decoding = decoding};
    job.queue_end = &job.queue;
    *decoding = (td_decoding){.format = td_decoder_format_of(data, bytes),
                              .library = td_decoder_library_of(data, bytes)};
    TD_TRY(TD_NEW_ZEROED(&job.slots, (uint64_t)threads + 2, "buffers of decompressed text"));
    for (int i = 0; i < threads + 2; i++) release(&job, &job.slots[i]);
    TD_TRY(find_units(&job, threads));
    if (job.units == NULL) TD_TRY(td_decoder_create(&job.decoder, data, bytes, td_input_path(input), 0));
    TD_TRY(td_pool_run(pool, flow_worker, &job));
    if (job.status != TD_OK) td_failure_set(&job.failure);
    status = job.status;
    *pieces = job.index;
    decoding->content = job.content;
    if (job.decoder != NULL) decoding->members += td_decoder_members(job.decoder);
done:
    tear_down(&job, threads);
    return status;
}
