/* Rounds over paths at the host. A round visits the batches of a group that have marked partitions: first those that
 * are in slots, then by the number of their marked partitions. A visit walks a batch until nothing of it is marked, a
 * few times at most: what was copied is used as often as it can be. */
#include "engine/paths/batches.h"

#include "base/bitmap.h"
#include "base/cancel.h"

#include <string.h>

enum { ID = sizeof(uint32_t), MOST_WALKS = 8 };

/* What is marked. */

static bool is_marked(const td_paths_batches *b, uint32_t k) { return b->marks[k / 32] >> (k & 31u) & 1u; }

/* Marked partitions of a batch between two partitions. */
static uint32_t count_marked(const td_paths_batches *b, uint32_t i, uint32_t first, uint32_t end)
{
    uint32_t count = 0;
    for (uint32_t k = b->batch[i].first > first ? b->batch[i].first : first; k < b->batch[i].end && k < end; k++)
        count += is_marked(b, k);
    return count;
}

static void find_active(td_paths_batches *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (count_marked(b, i, 0, UINT32_MAX) > 0) td_bit_set(b->active, i);
        else td_bit_clear(b->active, i);
}

static td_status read_marks(td_paths_job *self, td_stream *stream)
{
    td_paths_batches *b = self->gpu->batches;
    TD_CHECK(td_stream_copy(stream, b->marks, self->gpu->args.paths.marks, (uint64_t)b->words * ID, TD_TO_HOST));
    TD_CHECK(td_stream_synchronize(stream));
    find_active(b);
    return TD_OK;
}

/* Whether a batch has something to do: of the group, in this round; or of any group. */

static bool is_waiting(const td_paths_batches *b, uint32_t i, const td_paths_group *group, bool of_group,
                       uint32_t *marked)
{
    uint32_t first = of_group ? group->first_partition : 0;
    uint32_t end = of_group ? group->first_partition + group->partitions : UINT32_MAX;
    if (of_group && b->batch[i].visited == b->rounds) return false;
    if (b->batch[i].end <= first || b->batch[i].first >= end) return false;
    *marked = count_marked(b, i, first, end);
    return *marked > 0;
}

/* Slots. */

/* Active direct successors of a batch. */
static uint64_t count_active(const td_paths_batches *b, int batch)
{
    uint64_t words = td_bitmap_words(b->count), count = 0;
    for (uint64_t w = 0; w < words; w++)
        count += td_popcount(b->successors[(uint64_t)batch * words + w] & b->active[w]);
    return count;
}

/* Whether the batch of a slot was copied ahead and is still to be walked: in this round, or after this group. */
static bool is_ahead(const td_paths_batches *b, const td_paths_slot *slot, const td_paths_group *group)
{
    uint32_t marked;
    return slot->ahead && (!group->cyclic || is_waiting(b, (uint32_t)slot->batch, group, true, &marked));
}

/* The slot that makes way: an empty one, or that whose batch has the fewest active direct successors, or (`oldest`)
 * that which was used longest ago. Not one that was copied ahead; for copies ahead neither `busy` (-1: a copy that is
 * needed now) nor one that this round still needs. */
static int choose_slot(const td_paths_job *self, const td_paths_group *group, int busy)
{
    const td_paths_batches *b = self->gpu->batches;
    uint64_t least = UINT64_MAX;
    uint32_t marked;
    int chosen = -1;
    for (int i = 0; i < (int)b->slots; i++) {
        const td_paths_slot *slot = &b->slot[i];
        if (slot->batch < 0) return i;
        if (i == busy || is_ahead(b, slot, group)) continue;
        if (busy >= 0 && is_waiting(b, (uint32_t)slot->batch, group, true, &marked)) continue;
        uint64_t active = self->set.evict_oldest ? 0 : count_active(b, slot->batch);
        if (chosen < 0 || active < least || (active == least && slot->used < b->slot[chosen].used)) {
            least = active;
            chosen = i;
        }
    }
    return chosen;
}

static td_status move(td_paths_job *self, td_stream *stream, void *to, const void *from, uint64_t bytes,
                      td_copy_kind kind)
{
    self->gpu->batches->bytes += bytes;
    return td_stream_copy(stream, to, from, bytes, kind);
}

/* Copies the mirrors of a batch, both directions' if there are two. */
static td_status move_mirrors(td_paths_job *self, const td_paths_slot *slot, td_copy_kind kind)
{
    td_paths_batches *b = self->gpu->batches;
    const td_paths_batch *batch = &b->batch[slot->batch];
    td_paths_batch_parts at = td_paths_parts_of(self, batch->first, batch->end);
    uint64_t message = self->gpu->job.traits->message_bytes, first = td_paths_first_edge(self, batch->first);
    uint64_t bytes = (td_paths_first_edge(self, batch->end) - first) * message;
    void *host[] = {(char *)b->sent + first * message, (char *)b->sent_back + first * message};
    void *device[] = {slot->memory + at.sent, slot->memory + at.sent_back};
    for (int i = 0; i < (self->steps.state.back ? 2 : 1); i++)
        TD_CHECK(kind == TD_TO_HOST ? move(self, slot->stream, host[i], device[i], bytes, kind)
                                    : move(self, slot->stream, device[i], host[i], bytes, kind));
    return TD_OK;
}

/* Programs whose sum is the least of the deposits need no mirrors of earlier visits: a deposit that was made before
 * changes nothing. Core numbers count deposits. */
static bool needs_mirrors(const td_paths_job *self)
{
    return self->real || self->cpu.kernels->schedule == TD_SCHEDULE_PEEL;
}

static td_status evict(td_paths_job *self, td_paths_slot *slot)
{
    td_paths_batches *b = self->gpu->batches;
    td_paths_batch *batch = &b->batch[slot->batch];
    if (slot->dirty && needs_mirrors(self)) {
        TD_CHECK(move_mirrors(self, slot, TD_TO_HOST));
        batch->mirrored = true;
        batch->leaving = slot->stream;
    }
    b->evictions++;
    batch->slot = -1;
    slot->batch = -1;
    slot->dirty = slot->ahead = false;
    return TD_OK;
}

/* The state of a launch whose paths are in a slot: tables are addressed by the numbers of the whole decomposition. */
static void aim(const td_paths_job *self, const td_paths_slot *slot, td_path_state *s)
{
    const td_paths *p = &self->paths;
    const td_paths_batch *batch = &self->gpu->batches->batch[slot->batch];
    td_paths_batch_parts at = td_paths_parts_of(self, batch->first, batch->end);
    uint64_t weight = td_gpu_weight_bytes(&self->gpu->job), message = self->gpu->job.traits->message_bytes;
    uint64_t edge = td_paths_first_edge(self, batch->first);
    uintptr_t memory = (uintptr_t)slot->memory;
    s->entries = (const uint32_t *)(memory + at.entries - p->partition[batch->first].first_entry * ID);
    s->starts = (const uint32_t *)(memory + at.starts - p->partition[batch->first].first_path * ID);
    s->lanes = (const uint32_t *)(memory + at.lanes - (uint64_t)batch->first * (TD_PATH_LANES + 1) * ID);
    s->weights = weight > 0 ? (const void *)(memory + at.weights - edge * weight) : NULL;
    s->sent = (void *)(memory + at.sent - edge * message);
    s->sent_back = s->back ? (void *)(memory + at.sent_back - edge * message) : NULL;
}

/* Mirrors of a batch that was never walked, or whose mirrors are not kept. */
static td_status clear_mirrors(td_paths_job *self, const td_paths_slot *slot)
{
    const td_gpu_job *job = &self->gpu->job;
    const td_paths_batch *batch = &self->gpu->batches->batch[slot->batch];
    td_paths_batch_parts at = td_paths_parts_of(self, batch->first, batch->end);
    td_paths_args args = td_paths_gpu_args(self);
    args.paths.sent = slot->memory + at.sent;
    args.paths.sent_back = args.paths.back ? slot->memory + at.sent_back : NULL;
    args.units = td_paths_first_edge(self, batch->end) - td_paths_first_edge(self, batch->first);
    return td_gpu_launch(job, slot->stream, &job->kernels->path_clears, args.units, &args);
}

/* Queues the copies of a batch into a slot, on the slot's stream. */
static td_status load(td_paths_job *self, uint32_t i, int into)
{
    td_paths_batches *b = self->gpu->batches;
    const td_paths *p = &self->paths;
    td_paths_slot *slot = &b->slot[into];
    td_paths_batch *batch = &b->batch[i];
    uint64_t weight = td_gpu_weight_bytes(&self->gpu->job), edge = td_paths_first_edge(self, batch->first);
    uint64_t edges = td_paths_first_edge(self, batch->end) - edge;
    if (slot->batch >= 0) TD_CHECK(evict(self, slot));
    if (batch->leaving != NULL) TD_CHECK(td_stream_synchronize(batch->leaving));
    batch->leaving = NULL;
    batch->slot = into;
    slot->batch = (int)i;
    slot->used = ++b->clock;
    b->copies++;
    td_paths_batch_parts at = td_paths_parts_of(self, batch->first, batch->end);
    uint64_t first_entry = p->partition[batch->first].first_entry, first_path = p->partition[batch->first].first_path;
    uint64_t end_path = batch->end < p->partitions ? p->partition[batch->end].first_path : p->paths;
    uint64_t paths = end_path - first_path, entries = edges + paths;
    TD_CHECK(move(self, slot->stream, slot->memory + at.entries, p->vertices + first_entry, entries * ID,
                  TD_TO_DEVICE));
    TD_CHECK(move(self, slot->stream, slot->memory + at.starts, p->starts + first_path, paths * ID, TD_TO_DEVICE));
    TD_CHECK(move(self, slot->stream, slot->memory + at.lanes, p->lanes + (uint64_t)batch->first * (TD_PATH_LANES + 1),
                  (uint64_t)(batch->end - batch->first) * (TD_PATH_LANES + 1) * ID, TD_TO_DEVICE));
    if (weight > 0)
        TD_CHECK(move(self, slot->stream, slot->memory + at.weights, (const char *)p->weights + edge * weight,
                      edges * weight, TD_TO_DEVICE));
    return batch->mirrored ? move_mirrors(self, slot, TD_TO_DEVICE) : clear_mirrors(self, slot);
}

/* Which batch. */

/* The next batch of this round; -1: none is left. `absent`: only one that is in no slot. */
static int choose_batch(const td_paths_job *self, const td_paths_group *group, bool absent)
{
    const td_paths_batches *b = self->gpu->batches;
    uint32_t most = 0, marked;
    int chosen = -1;
    for (uint32_t i = 0; i < b->count; i++) {
        bool here = b->batch[i].slot >= 0;
        if ((absent && here) || !is_waiting(b, i, group, true, &marked)) continue;
        uint32_t rank = here ? UINT32_MAX : marked;
        if (rank <= most) continue;
        most = rank;
        chosen = (int)i;
    }
    return chosen;
}

/* The batch that is needed next: of this round, or, behind a group that is walked once, of a later one in the order of
 * the layers. */
static int foresee(const td_paths_job *self, const td_paths_group *group)
{
    const td_paths_batches *b = self->gpu->batches;
    uint32_t end = group->first_partition + group->partitions, marked;
    int next = choose_batch(self, group, true);
    for (uint32_t i = 0; next < 0 && !group->cyclic && i < b->count; i++)
        if (b->batch[i].slot < 0 && b->batch[i].end > end && is_waiting(b, i, group, false, &marked)) next = (int)i;
    return next;
}

/* Copies the batch that is needed next while `busy` is walked. */
static td_status copy_ahead(td_paths_job *self, const td_paths_group *group, int busy)
{
    td_paths_batches *b = self->gpu->batches;
    if (!self->set.prefetch) return TD_OK;
    for (uint32_t i = 0; i < b->slots; i++)
        if (b->slot[i].batch >= 0 && is_ahead(b, &b->slot[i], group)) return TD_OK;
    int next = foresee(self, group), slot = next < 0 ? -1 : choose_slot(self, group, busy);
    if (slot < 0) return TD_OK;
    TD_CHECK(load(self, (uint32_t)next, slot));
    b->slot[slot].ahead = true;
    return TD_OK;
}

/* Walks. */

static void add(td_path_tally *sum, const td_path_tally *more)
{
#define ADD(field) sum->field += more->field;
    TD_PATH_COUNTS(ADD)
#undef ADD
}

/* Walks what is marked of a batch in a slot, once. */
static td_status walk_once(td_paths_job *self, const td_paths_group *group, const td_paths_batch *batch, bool first,
                           td_path_tally *out)
{
    td_paths_batches *b = self->gpu->batches;
    td_paths_slot *slot = &b->slot[batch->slot];
    uint32_t from = batch->first > group->first_partition ? batch->first : group->first_partition;
    uint32_t end = group->first_partition + group->partitions;
    td_paths_args args = td_paths_gpu_args(self);
    aim(self, slot, &args.paths);
    args.span = (td_path_span){.first_partition = from, .partitions = (batch->end < end ? batch->end : end) - from};
    TD_CHECK(td_paths_gpu_queue_walk(self, slot->stream, &args));
    if (first) TD_CHECK(copy_ahead(self, group, batch->slot));
    TD_CHECK(read_marks(self, slot->stream));
    add(out, &self->gpu->seen->tally);
    slot->dirty = true;
    return td_cancel_check();
}

static td_status visit(td_paths_job *self, const td_paths_group *group, uint32_t i, td_path_tally *out)
{
    td_paths_batches *b = self->gpu->batches;
    td_paths_batch *batch = &b->batch[i];
    uint32_t first = group->first_partition, end = first + group->partitions;
    if (batch->slot < 0) TD_CHECK(load(self, i, choose_slot(self, group, -1)));
    else if (b->slot[batch->slot].ahead) b->prefetched++;
    else b->kept++;
    td_paths_slot *slot = &b->slot[batch->slot];
    slot->ahead = false;
    slot->used = ++b->clock;
    batch->visited = b->rounds;
    for (int walks = 0; walks < MOST_WALKS && count_marked(b, i, first, end) > 0; walks++) {
        if (walks > 0) self->steps.state.round++;
        TD_CHECK(walk_once(self, group, batch, walks == 0, out));
    }
    return TD_OK;
}

td_status td_paths_batch_walk(td_paths_job *self, const td_paths_group *group, td_path_tally *out)
{
    td_paths_batches *b = self->gpu->batches;
    *out = (td_path_tally){0};
    b->rounds++;
    TD_CHECK(read_marks(self, self->gpu->job.stream));
    for (int i = choose_batch(self, group, false); i >= 0; i = choose_batch(self, group, false))
        TD_CHECK(visit(self, group, (uint32_t)i, out));
    return TD_OK;
}
