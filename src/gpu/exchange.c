#include "gpu/exchange.h"

#include "gpu/route.h"

#include <string.h>

/* Who reads whose memory. */

static td_status open_pair(td_gpu_exchange *exchange, int reader, int owner)
{
    td_device *device = exchange->box[reader].job->device, *peer = exchange->box[owner].job->device;
    td_link link;
    td_status status = td_device_link(peer, device, &link);
    if (status == TD_UNSUPPORTED) return TD_OK; /* of another kind: copies go through the host's memory */
    TD_CHECK(status);
    if (!link.direct && !link.same_memory) return TD_OK;
    status = td_device_enable_peer(device, peer);
    if (status == TD_UNSUPPORTED) return TD_OK;
    TD_CHECK(status);
    exchange->box[reader].reads[owner] = true;
    return TD_OK;
}

static td_status find_link(td_gpu_exchange *exchange, int from, int to)
{
    td_link link = {0};
    td_status status = td_device_link(exchange->box[from].job->device, exchange->box[to].job->device, &link);
    if (status != TD_OK && status != TD_UNSUPPORTED) return status;
    exchange->linked[from][to] = from == to || link.direct || link.same_memory;
    return TD_OK;
}

td_status td_gpu_exchange_open(td_gpu_exchange *exchange, bool copies)
{
    for (int i = 0; i < exchange->count; i++)
        for (int j = 0; j < exchange->count; j++) {
            TD_CHECK(find_link(exchange, i, j));
            exchange->box[i].reads[j] = i == j;
            if (i != j && !copies) TD_CHECK(open_pair(exchange, i, j));
        }
    return TD_OK;
}

bool td_gpu_exchange_copies(const td_gpu_exchange *exchange)
{
    for (int i = 0; i < exchange->count; i++)
        for (int j = 0; j < exchange->count; j++)
            if (!exchange->box[i].reads[j]) return true;
    return false;
}

void td_gpu_exchange_forget(td_gpu_mailbox *box)
{
    if (box->packed != NULL) td_event_destroy(box->job->device, box->packed);
    box->packed = NULL;
}

void td_gpu_exchange_close(td_gpu_exchange *exchange)
{
    for (int i = 0; i < exchange->count; i++) {
        td_gpu_exchange_forget(&exchange->box[i]);
        if (exchange->box[i].brought != NULL) td_event_destroy(exchange->box[i].job->device, exchange->box[i].brought);
        exchange->box[i].brought = NULL;
    }
}

td_status td_gpu_exchange_declare(td_gpu_mailbox *box, td_gpu_job *job, size_t entry_bytes, bool inbox)
{
    uint64_t n = job->graph->vertices;
    TD_CHECK(td_gpu_new(job, &box->vertices, n, sizeof(uint32_t), "outboxes"));
    TD_CHECK(td_gpu_new(job, &box->values, n, entry_bytes, "outboxes"));
    if (!inbox) return TD_OK;
    TD_CHECK(td_gpu_new(job, &box->in_vertices, n, sizeof(uint32_t), "inbox"));
    TD_CHECK(td_gpu_new(job, &box->in_values, n, entry_bytes, "inbox"));
    return td_gpu_new(job, &box->in_length, TD_GPU_FRAGMENTS, sizeof(uint32_t), "inbox");
}

td_status td_gpu_exchange_own(td_gpu_mailbox *box, uint32_t owned)
{
    box->fragments.owned = owned;
    return td_stream_copy(box->job->stream, box->on_device, &box->fragments, sizeof box->fragments, TD_TO_DEVICE);
}

td_status td_gpu_pack(td_gpu_exchange *exchange, int gpu, uint32_t *far_map)
{
    td_gpu_mailbox *box = &exchange->box[gpu];
    td_gpu_job *job = box->job;
    td_pack_args args = {.state = job->state, .fragments = box->on_device, .far_map = far_map,
                         .sums = job->arrays.sums, .vertices = box->vertices, .values = box->values};
    TD_CHECK(td_gpu_launch(job, job->stream, &job->kernels->pack, td_gpu_words(job) * 32, &args));
    td_gpu_exchange_forget(box);
    return td_stream_record(job->stream, &box->packed);
}

/* One GPU's entries of a fragment, into the owner's inbox. */
static td_status copy_box(td_gpu_exchange *exchange, int owner, int sender, int fragment, td_gpu_box *out)
{
    td_gpu_mailbox *to = &exchange->box[owner];
    const td_gpu_mailbox *from = &exchange->box[sender];
    uint64_t first = from->fragments.first[fragment], length = from->job->control->lengths[fragment];
    const char *values = (const char *)from->values + first * exchange->entry_bytes;
    TD_CHECK(td_gpu_copy_between(exchange, owner, to->in_vertices, sender, from->vertices + first,
                                 length * sizeof(uint32_t)));
    TD_CHECK(td_gpu_copy_between(exchange, owner, to->in_values, sender, values, length * exchange->entry_bytes));
    TD_CHECK(td_gpu_copy_between(exchange, owner, to->in_length, sender, &from->job->state.control->lengths[fragment],
                                 sizeof(uint32_t)));
    *out = (td_gpu_box){to->in_vertices, to->in_values, to->in_length};
    return TD_OK;
}

/* Carrying. */

static td_gpu_box outbox(const td_gpu_exchange *exchange, int sender, int fragment)
{
    const td_gpu_mailbox *from = &exchange->box[sender];
    uint64_t first = from->fragments.first[fragment];
    return (td_gpu_box){from->vertices + first, (const char *)from->values + first * exchange->entry_bytes,
                        &from->job->state.control->lengths[fragment]};
}

/* The relay; -1: no GPU's kernels reach the memory of both. */
static int carrier_of(const td_gpu_exchange *exchange, int sender, int owner)
{
    int by = exchange->relay_of[sender][owner] - 1;
    return by >= 0 && exchange->box[by].reads[sender] && exchange->box[by].reads[owner] ? by : -1;
}

/* Adds one sender's entries of a fragment; false: there is no relay, or no room. */
static bool add_item(td_gpu_exchange *exchange, int owner, int sender, int fragment, td_carry_args *args)
{
    td_gpu_mailbox *to = &exchange->box[owner];
    td_gpu_carried *carried = &exchange->carried[owner];
    uint64_t length = exchange->box[sender].job->control->lengths[fragment], at = carried->entries;
    int by = carrier_of(exchange, sender, owner);
    if (by < 0 || carried->count == TD_GPU_FRAGMENTS || args[by].count == TD_GPU_FRAGMENTS ||
        at + length > to->job->graph->vertices) return false;
    td_gpu_box here = {to->in_vertices + at, (char *)to->in_values + at * exchange->entry_bytes, to->in_length + carried->count};
    uint32_t i = args[by].count++;
    args[by].item[i].from = outbox(exchange, sender, fragment);
    args[by].item[i].vertices = to->in_vertices + at;
    args[by].item[i].values = (uint32_t *)here.values;
    args[by].item[i].length = to->in_length + carried->count;
    carried->box[carried->count++] = here;
    carried->by |= 1u << by;
    carried->entries += length;
    exchange->relayed += length * (sizeof(uint32_t) + exchange->entry_bytes);
    return true;
}

/* All entries that the owner cannot read where they are, or none. */
static void carry_for(td_gpu_exchange *exchange, int owner, td_carry_args *args)
{
    const td_gpu_mailbox *to = &exchange->box[owner];
    uint32_t before[TD_GPU_FRAGMENTS];
    uint64_t relayed = exchange->relayed;
    for (int i = 0; i < exchange->count; i++) before[i] = args[i].count;
    exchange->carried[owner] = (td_gpu_carried){.all = true};
    for (int k = 0; k < (int)to->fragments.count && exchange->carried[owner].all; k++)
        for (int sender = 0; sender < exchange->count && (to->fragments.owned >> k & 1u); sender++) {
            const td_gpu_mailbox *from = &exchange->box[sender];
            if (sender == owner || from->packed == NULL || to->reads[sender] || from->job->control->lengths[k] == 0) continue;
            if (!add_item(exchange, owner, sender, k, args)) exchange->carried[owner].all = false;
        }
    if (exchange->carried[owner].all) return;
    exchange->carried[owner] = (td_gpu_carried){0};
    exchange->relayed = relayed;
    for (int i = 0; i < exchange->count; i++) args[i].count = before[i];
}

static td_status launch_carry(td_gpu_exchange *exchange, int by, const td_carry_args *args)
{
    td_gpu_mailbox *box = &exchange->box[by];
    uint64_t entries = 0;
    if (args->count == 0) return TD_OK;
    for (int sender = 0; sender < exchange->count; sender++)
        if (sender != by && exchange->box[sender].packed != NULL)
            TD_CHECK(td_stream_wait(box->job->stream, exchange->box[sender].packed));
    for (int owner = 0; owner < exchange->count; owner++)
        if (exchange->carried[owner].by >> by & 1u) entries += exchange->carried[owner].entries;
    TD_CHECK(td_gpu_launch(box->job, box->job->stream, &box->job->kernels->carry, entries * args->value_words, args));
    if (box->brought != NULL) td_event_destroy(box->job->device, box->brought);
    box->brought = NULL;
    return td_stream_record(box->job->stream, &box->brought);
}

td_status td_gpu_carry(td_gpu_exchange *exchange)
{
    td_carry_args args[TD_GPU_FRAGMENTS];
    for (int i = 0; i < exchange->count; i++)
        args[i] = (td_carry_args){.value_words = (uint32_t)(exchange->entry_bytes / sizeof(uint32_t))};
    for (int owner = 0; owner < exchange->count; owner++) carry_for(exchange, owner, args);
    for (int by = 0; by < exchange->count; by++) TD_CHECK(launch_carry(exchange, by, &args[by]));
    return TD_OK;
}

static td_status launch_take(td_gpu_job *job, td_take_args *args, uint64_t entries)
{
    if (args->count == 0) return TD_OK;
    TD_CHECK(td_gpu_launch(job, job->stream, &job->kernels->take, entries, args));
    args->count = 0;
    return TD_OK;
}

static td_status take_fragment(td_gpu_exchange *exchange, int gpu, int fragment, td_take_args *args)
{
    td_gpu_mailbox *box = &exchange->box[gpu];
    td_gpu_job *job = box->job;
    uint64_t first = box->fragments.first[fragment], most = box->fragments.first[fragment + 1] - first;
    for (int sender = 0; sender < exchange->count; sender++) {
        const td_gpu_mailbox *from = &exchange->box[sender];
        if (sender == gpu || from->packed == NULL) continue;
        if (box->reads[sender]) args->box[args->count++] = outbox(exchange, sender, fragment);
        if (box->reads[sender] || exchange->carried[gpu].all) continue;
        uint64_t length = from->job->control->lengths[fragment];
        if (length == 0) continue;
        TD_CHECK(launch_take(job, args, most)); /* those before it; the inbox has room for one */
        TD_CHECK(copy_box(exchange, gpu, sender, fragment, &args->box[args->count++]));
        TD_CHECK(launch_take(job, args, length));
    }
    return launch_take(job, args, most);
}

static td_status take_carried(td_gpu_exchange *exchange, int gpu, td_take_args *args)
{
    const td_gpu_carried *carried = &exchange->carried[gpu];
    td_gpu_job *job = exchange->box[gpu].job;
    if (carried->count == 0) return TD_OK;
    for (int by = 0; by < exchange->count; by++)
        if (carried->by >> by & 1u) TD_CHECK(td_stream_wait(job->stream, exchange->box[by].brought));
    memcpy(args->box, carried->box, carried->count * sizeof *args->box);
    args->count = carried->count;
    return launch_take(job, args, carried->entries);
}

td_status td_gpu_take(td_gpu_exchange *exchange, int gpu, uint32_t *far_map)
{
    td_gpu_mailbox *box = &exchange->box[gpu];
    td_gpu_job *job = box->job;
    td_take_args args = {.state = job->state, .far_map = far_map, .one_over_delta = job->one_over_delta,
                         .bound = job->bound};
    for (int sender = 0; sender < exchange->count; sender++)
        if (sender != gpu && exchange->box[sender].packed != NULL)
            TD_CHECK(td_stream_wait(job->stream, exchange->box[sender].packed));
    for (int k = 0; k < (int)box->fragments.count; k++)
        if (box->fragments.owned >> k & 1u) TD_CHECK(take_fragment(exchange, gpu, k, &args));
    return take_carried(exchange, gpu, &args);
}
