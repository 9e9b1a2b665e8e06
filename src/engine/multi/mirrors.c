/* Mirrors: the values, messages and active vertices of owners, sent to the other GPUs before a pull. */
#include "engine/multi/multi.h"

#include <string.h>

static char *array_at(const td_multi_gpu *gpu, size_t place)
{
    char *array;
    memcpy(&array, (const char *)&gpu->job.state + place, sizeof array);
    return array;
}

/* Copies the owners' ranges of an array to all other GPUs. `shift`: vertices per element, as a power of two. */
static td_status share(td_multi_job *self, size_t place, size_t bytes, int shift)
{
    td_gpu_range ranges[TD_FRAGMENTS];
    char *array[TD_FRAGMENTS];
    int count = 0;
    TD_CHECK(td_multi_all_wait(self));
    if (self->shared) return TD_OK;
    for (int i = 0; i < self->count; i++) array[i] = array_at(&self->gpu[i], place);
    TD_EACH_OWNED(self, owner, fragment) {
        uint64_t first = (uint64_t)fragment->first >> shift;
        uint64_t end = ((uint64_t)fragment->end + (UINT64_C(1) << shift) - 1) >> shift;
        ranges[count++] = (td_gpu_range){td_multi_index(self, owner), first * bytes, (end - first) * bytes};
    }
    TD_CHECK(td_gpu_spread(&self->exchange, array, ranges, count));
    return td_multi_all_wait(self);
}

td_status td_multi_share_ranges(td_multi_job *self, size_t place, size_t bytes) { return share(self, place, bytes, 0); }

/* Of first-hit programs the host has waited for the frontier's counters, and with them for its bitmap; levels of peeling
 * are mapped without a wait. */
td_status td_multi_share_active(td_multi_job *self)
{
    if (self->shared && self->gpu[0].job.state.first_hit) return TD_OK;
    return share(self, offsetof(td_gpu_state, active), sizeof(uint32_t), 5);
}

/* Mirrors that changed: a list from each owner, which every other GPU reads. */

/* What mirrors are updated with: messages, or of strict iterations (td_run_strict) the values, of which messages are copies. */
static td_gpu_state sent_state(const td_multi_gpu *gpu)
{
    td_gpu_state state = gpu->job.state;
    if (gpu->job.strict) state.messages = state.values;
    return state;
}

static td_mirror_args mirror_args(const td_multi_gpu *gpu)
{
    return (td_mirror_args){.state = sent_state(gpu), .changed = gpu->changed, .vertices = gpu->mirror_vertices,
                            .messages = gpu->mirror_messages, .length = &gpu->job.state.control->given};
}

static td_status list_changed(td_multi_job *self)
{
    uint64_t began = td_multi_clock(self);
    TD_CHECK(td_multi_reset(self));
    TD_EACH_OWNED(self, gpu, fragment) {
        td_mirror_args args = mirror_args(gpu);
        args.boundary = fragment->boundary;
        args.first_vertex = fragment->first;
        args.end_vertex = fragment->end;
        TD_CHECK(td_gpu_launch(&gpu->job, gpu->job.stream, &gpu->job.kernels->list_mirrored,
                               td_gpu_words(&gpu->job) * 32, &args));
    }
    TD_CHECK(td_multi_wait(self));
    self->times.packing += td_multi_clock(self) - began;
    return TD_OK;
}

/* Brings a list into the memory of the GPU that takes it, unless its kernels can read it where it is. The other GPU's
 * outboxes are not in use between two iterations. */
static td_status bring(td_multi_job *self, td_multi_gpu *to, const td_multi_gpu *from, td_mirror_args *args)
{
    int here = td_multi_index(self, to), there = td_multi_index(self, from);
    td_gpu_mailbox *box = &self->exchange.box[here];
    uint64_t length = from->job.control->given;
    if (box->reads[td_multi_index(self, from)]) return TD_OK;
    TD_CHECK(td_gpu_copy_between(&self->exchange, here, box->in_vertices, there, args->vertices,
                                 length * sizeof(uint32_t)));
    TD_CHECK(td_gpu_copy_between(&self->exchange, here, box->in_values, there, args->messages,
                                 length * to->job.traits->message_bytes));
    TD_CHECK(td_gpu_copy_between(&self->exchange, here, box->in_length, there, args->length, sizeof(uint32_t)));
    args->vertices = box->in_vertices;
    args->messages = box->in_values;
    args->length = box->in_length;
    return TD_OK;
}

static td_status take_list(td_multi_job *self, td_multi_gpu *to, const td_multi_gpu *from, bool twice)
{
    uint64_t length = from->job.control->given;
    td_mirror_args args = mirror_args(from);
    if (length == 0) return TD_OK;
    args.state = sent_state(to);
    args.twice = twice;
    TD_CHECK(bring(self, to, from, &args));
    self->exchange.messages += length;
    self->exchange.bytes += length * (sizeof(uint32_t) + to->job.traits->message_bytes);
    return td_gpu_launch(&to->job, to->job.stream, &to->job.kernels->take_mirrored, length, &args);
}

static td_status take_lists(td_multi_job *self, bool twice)
{
    TD_EACH_GPU(self, gpu)
        TD_EACH_GPU(self, other)
            if (gpu != other) TD_CHECK(take_list(self, gpu, other, twice));
    return td_multi_all_wait(self);
}

/* Whether the lists have fewer bytes than all owned vertices' messages. */
static bool lists_are_less(const td_multi_job *self)
{
    uint64_t listed = 0, entry = sizeof(uint32_t) + self->traits->message_bytes;
    for (int i = 0; i < self->count; i++) listed += self->gpu[i].job.control->given;
    return listed * entry < self->graph->vertices * self->traits->message_bytes;
}

td_status td_multi_update_mirrors(td_multi_job *self)
{
    if (!self->mirrors_stale || self->shared || self->count == 1) return TD_OK;
    self->mirrors_stale = false;
    TD_CHECK(list_changed(self));
    TD_CHECK(lists_are_less(self) ? take_lists(self, false)
                                  : td_multi_share_ranges(self, offsetof(td_gpu_state, values),
                                                          self->traits->value_bytes));
    TD_EACH_GPU(self, gpu) TD_CHECK(td_gpu_clear_map(&gpu->job, gpu->changed));
    return TD_OK;
}

enum { MOST_UNLISTED = 15 };

static bool has_two_buffers(const td_multi_job *self)
{
    return self->gpu[0].job.state.messages != self->gpu[0].job.state.next_messages;
}

bool td_multi_shares_whole(const td_multi_job *self)
{
    return !has_two_buffers(self) || self->shared || self->count == 1 || self->unlisted < self->until_list;
}

/* A list that came out longer than all messages was made in vain: the next ones are left out, first one, then three, seven,
 * fifteen at a time.
 *
 * After an iteration that pulled: `messages` are the new ones, `next_messages` those before. A list of what changed since
 * the last iteration updates a buffer whose mirrors are those of the last iteration. Both buffers are such after lists
 * were taken into both; after whole ranges the other one is older. */
td_status td_multi_share_messages(td_multi_job *self)
{
    const size_t place = offsetof(td_gpu_state, messages), other = offsetof(td_gpu_state, next_messages);
    size_t bytes = self->traits->message_bytes;
    if (self->count == 1) return TD_OK;
    if (!has_two_buffers(self) || self->shared) return td_multi_share_ranges(self, place, bytes);
    if (td_multi_shares_whole(self)) {
        self->unlisted++;
        self->both_buffers = false;
        return td_multi_share_ranges(self, place, bytes);
    }
    TD_CHECK(list_changed(self));
    bool lists = lists_are_less(self);
    self->unlisted = 0;
    self->until_list = lists ? 0 : self->until_list < MOST_UNLISTED ? 2 * self->until_list + 1 : MOST_UNLISTED;
    if (lists && self->both_buffers) return take_lists(self, true);
    TD_CHECK(td_multi_share_ranges(self, place, bytes));
    self->both_buffers = lists;
    if (!lists) return TD_OK;
    TD_EACH_GPU(self, gpu) { /* from now on lists will do: the mirrors of the other buffer, which the next iteration
                              * writes its own vertices' messages to, too */
        uint64_t all = self->graph->vertices * bytes;
        TD_CHECK(td_stream_copy(gpu->job.stream, array_at(gpu, other), array_at(gpu, place), all, TD_ON_DEVICE));
    }
    return TD_OK;
}
