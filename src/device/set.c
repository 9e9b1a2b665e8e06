/* Sets of devices and joint launches: device.h says what they promise.
 *
 * The words of the barrier lie in device memory: one that counts the members, on the first device, and each member's
 * own. The word that breaks a set lies in pinned host memory, so that the host can write it while every device is busy
 * and no stream would carry a copy. */
#include "device/kinds.h"
#include "device/launched.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <string.h>

enum { PAGE = 4096 };

struct td_set {
    int count;
    td_device *device[TD_SET_MOST];
    uint32_t *words[TD_SET_MOST]; /* TD_SET_WORDS of each; of the first as many again, for all members */
    const volatile uint32_t *seen[TD_SET_MOST];
    uint32_t *broken; /* a page of pinned host memory */
    int pinned;       /* members that it is pinned for */
};

/* "cuda:0/8#3" is one of eight slices; slices of one division share no multiprocessor. */
static bool share_processors(const td_device *a, const td_device *b)
{
    const char *end = strchr(a->name, '#');
    if (end == NULL || strcmp(a->name, b->name) == 0) return true;
    size_t division = (size_t)(end - a->name) + 1;
    return strncmp(a->name, b->name, division) != 0;
}

static td_status check_pair(td_device *from, td_device *to)
{
    td_link link = {0};
    TD_CHECK(td_device_link(from, to, &link));
    if (from == to || (link.same_memory && share_processors(from, to)))
        return td_fail(TD_UNSUPPORTED, "%s and %s share multiprocessors: their kernels cannot be sure to run at the same "
                       "time; give every device once, slices of one division (cuda:0/4)", from->name, to->name);
    if (link.same_memory || link.enabled) return TD_OK;
    return td_fail(TD_UNSUPPORTED, "kernels of %s cannot follow pointers of %s: %s; a set needs that between all of its "
                   "devices, both ways", to->name, from->name,
                   link.direct ? "access is not enabled (td_device_enable_peer)" : "no link joins them");
}

static td_status check_devices(td_device *const *devices, int count)
{
    if (count < 1 || count > TD_SET_MOST)
        return td_fail(TD_INVALID, "a set of %d devices; 1 to %d are possible", count, TD_SET_MOST);
    for (int i = 0; i < count; i++) {
        if (!td_device_supports(devices[i], TD_FEATURE_COOPERATIVE))
            return td_fail(TD_UNSUPPORTED, "%s: no launches whose blocks all run at once, so none that wait for other "
                           "devices", devices[i]->name);
        for (int j = 0; j < count; j++)
            if (i != j) TD_CHECK(check_pair(devices[i], devices[j]));
    }
    return TD_OK;
}

static uint64_t words_of(int member) { return member == 0 ? 2 * TD_SET_WORDS : TD_SET_WORDS; }

static td_status take_words(td_set *set, int member)
{
    td_stream *stream = NULL;
    td_device *device = set->device[member];
    uint32_t **words = &set->words[member];
    void *seen = NULL;
    TD_CHECK(td_device_pin(device, set->broken, PAGE, &seen));
    set->pinned = member + 1;
    set->seen[member] = seen;
    TD_CHECK(td_device_new(device, words, words_of(member), sizeof **words, "words of a set barrier"));
    TD_CHECK(td_stream_open(device, &stream));
    td_status status = td_stream_fill(stream, *words, 0, words_of(member) * sizeof **words);
    if (status == TD_OK) status = td_stream_synchronize(stream);
    td_stream_close(stream);
    return status;
}

td_status td_set_open(td_set **out, td_device *const *devices, int count)
{
    td_status status = TD_OK;
    td_set *set = NULL;
    void *page = NULL;
    TD_CHECK(check_devices(devices, count));
    TD_CHECK(TD_NEW_ZEROED(&set, 1, "set of devices"));
    set->count = count;
    memcpy(set->device, devices, (size_t)count * sizeof *devices);
    TD_TRY(td_new_pages(&page, PAGE, "set of devices"));
    set->broken = memset(page, 0, PAGE);
    for (int i = 0; i < count; i++) TD_TRY(take_words(set, i));
    *out = set;
    return TD_OK;
done:
    td_set_close(set);
    return status;
}

void td_set_close(td_set *set)
{
    if (set == NULL) return;
    if (set->broken != NULL) td_set_break(set);
    for (int i = 0; i < set->count; i++) td_device_free(set->device[i], set->words[i]);
    for (int i = 0; i < set->pinned; i++) td_device_unpin(set->device[i], set->broken);
    td_free(set->broken);
    td_free(set);
}

td_set_member td_set_member_of(const td_set *set, int member)
{
    return (td_set_member){.met = set->words[0] + TD_SET_WORDS, .grid = set->words[member], .broken = set->seen[member],
                           .members = (uint32_t)set->count, .member = (uint32_t)member};
}

void td_set_break(td_set *set) { __atomic_store_n(set->broken, 1u, __ATOMIC_RELEASE); }
static bool is_broken(const td_set *set) { return __atomic_load_n(set->broken, __ATOMIC_ACQUIRE) != 0; }

/* The kernels have ended, so nobody counts: all begin at 0 again. */
td_status td_set_mend(td_set *set, td_stream *const *streams)
{
    if (!is_broken(set)) return TD_OK;
    for (int i = 0; i < set->count; i++) TD_CHECK(td_stream_synchronize(streams[i]));
    for (int i = 0; i < set->count; i++)
        TD_CHECK(td_stream_fill(streams[i], set->words[i], 0, words_of(i) * sizeof *set->words[i]));
    for (int i = 0; i < set->count; i++) TD_CHECK(td_stream_synchronize(streams[i]));
    __atomic_store_n(set->broken, 0u, __ATOMIC_RELEASE);
    return TD_OK;
}

td_status td_set_occupancy(td_set *set, int member, const td_kernel *kernel, uint32_t threads, uint32_t shared_bytes,
                           uint32_t *blocks)
{
    td_device *device = set->device[member];
    TD_CHECK(td_device_occupancy(device, kernel, threads, shared_bytes, blocks));
    if (device->ops->joint_threads == NULL || threads == 0) return TD_OK;
    uint32_t most = device->ops->joint_threads(device) / (uint32_t)set->count / threads;
    if (*blocks > most) *blocks = most;
    return TD_OK;
}

/* All that could make a launch fail later is looked at before the first is queued. Asking for the occupancy also has
 * CUDA load the kernel, which it could not do while another member waits. */
static td_status check_launch(td_set *set, int member, const td_stream *stream, const td_kernel *kernel,
                              const td_launch *shape)
{
    uint32_t most = 0;
    const td_device *device = set->device[member];
    if (stream->device != device)
        return td_fail(TD_INVALID, "%s: stream %d of a joint launch is one of %s", device->name, member,
                       stream->device->name);
    if (shape->blocks == 0 || shape->threads == 0)
        return td_fail(TD_INVALID, "%s: kernel %s launched with %" PRIu32 " blocks of %" PRIu32 " threads", device->name,
                       kernel->name, shape->blocks, shape->threads);
    if (shape->cluster)
        return td_fail(TD_INVALID, "%s: kernel %s: a joint launch has no clusters", device->name, kernel->name);
    TD_CHECK(td_set_occupancy(set, member, kernel, shape->threads, shape->shared_bytes, &most));
    if (shape->blocks <= most) return TD_OK;
    return td_fail(TD_INVALID, "%s: kernel %s: %" PRIu32 " blocks of %" PRIu32 " threads in a joint launch of %d devices; "
                   "%" PRIu32 " run at once (td_set_occupancy)", device->name, kernel->name, shape->blocks,
                   shape->threads, set->count, most);
}

/* What comes next in these streams comes after all that is in `other`. */
static td_status follow(td_stream *const *streams, int count, td_stream *other)
{
    td_event *event = NULL;
    td_status status = TD_OK;
    TD_CHECK(td_stream_record(other, &event));
    for (int i = 0; i < count && status == TD_OK; i++) status = td_stream_wait(streams[i], event);
    td_event_destroy(other->device, event);
    return status;
}

/* What comes next in any of the streams comes after all that is in them. */
static td_status order(td_stream *const *streams, int count)
{
    if (count == 1) return TD_OK;
    for (int i = 1; i < count; i++) TD_CHECK(follow(streams, 1, streams[i]));
    return follow(streams + 1, count - 1, streams[0]);
}

/* Streams may share a queue of the hardware, in which the event behind one member's launch would hold up the launch of
 * another: no event is recorded before all launches are queued. Several members are launched plainly, each no larger
 * than what runs at once: CUDA does not promise that cooperative launches of one GPU run beside each other. */
static td_status launch_each(td_set *set, td_stream *const *streams, const td_kernel *const *kernels,
                             const td_launch *shapes, const void *const *arguments, size_t bytes)
{
    TD_CHECK(order(streams, set->count));
    for (int i = 0; i < set->count; i++) {
        if (td_device_is_lost_in_joint(set->device[i])) continue; /* the others wait for it */
        td_launch shape = shapes[i];
        shape.cooperative = set->count == 1;
        td_status status = td_stream_launch(streams[i], kernels[i], shape, arguments[i], bytes);
        if (status == TD_OK) continue;
        td_set_break(set);
        return td_fail_context(status, "joint launch of %d devices", set->count);
    }
    td_status status = order(streams, set->count);
    if (status != TD_OK) td_set_break(set);
    return status;
}

static td_status launch_as_one(td_set *set, td_stream *const *streams, const td_kernel *const *kernels,
                               const td_launch *shapes, const void *const *arguments, size_t bytes)
{
    td_launch together[TD_SET_MOST];
    const uint32_t *until = NULL;
    for (int i = 0; i < set->count; i++) {
        together[i] = shapes[i];
        together[i].cooperative = true;
        TD_CHECK(td_device_operation(set->device[i], "launch"));
    }
    for (int i = 0; i < set->count; i++)
        if (td_device_is_lost_in_joint(set->device[i])) until = set->broken;
    TD_CHECK(set->device[0]->ops->launch_joint(streams, set->count, kernels, together, arguments, bytes, until));
    for (int i = 0; i < set->count; i++) td_device_launched(set->device[i], kernels[i]);
    return TD_OK;
}

td_status td_streams_launch_joint(td_set *set, td_stream *const *streams, const td_kernel *const *kernels,
                                  const td_launch *shapes, const void *const *arguments, size_t bytes)
{
    const void *caller = __builtin_return_address(0);
    if (is_broken(set))
        return td_fail(TD_INVALID, "%s: the set of %d devices is broken; td_set_mend makes it usable again",
                       set->device[0]->name, set->count);
    for (int i = 0; i < set->count; i++) {
        set->device[i]->caller = caller;
        TD_CHECK(check_launch(set, i, streams[i], kernels[i], &shapes[i]));
    }
    return set->device[0]->ops->launch_joint != NULL
               ? launch_as_one(set, streams, kernels, shapes, arguments, bytes)
               : launch_each(set, streams, kernels, shapes, arguments, bytes);
}
