#include "gpu/exchange.h"

#include "gpu/route.h"

#include <string.h>

/* Who reads whose memory. */

static td_status open_pair(td_gpu_exchange *exchange, int reader, int owner)
{
    td_device *device = exchange->box[reader].job->device, *peer = exchange->box[owner].job->device;
    td_link link;
    td_status status = td_device_link(peer, device, &link);
    if (status == TD_UNSUPPORTED) return TD_OK; /* of another kind: there is no way but the host's memory */
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
    for (int i = 0; i < exchange->count; i++) td_gpu_exchange_forget(&exchange->box[i]);
}

td_status td_gpu_exchange_declare(td_gpu_mailbox *box, td_gpu_job *job, size_t entry_bytes, bool inbox)
{
    uint64_t n = job->graph->vertices;
    TD_CHECK(td_gpu_new(job, &box->vertices, n, sizeof(uint32_t), "outboxes"));
    TD_CHECK(td_gpu_new(job, &box->values, n, entry_bytes, "outboxes"));
    if (!inbox) return TD_OK;
    TD_CHECK(td_gpu_new(job, &box->in_vertices, n, sizeof(uint32_t), "inbox"));
    TD_CHECK(td_gpu_new(job, &box->in_values, n, entry_bytes, "inbox"));
    return td_gpu_new(job, &box->in_length, 1, sizeof(uint32_t), "inbox");
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
        if (box->reads[sender]) {
            args->box[args->count++] =
                (td_gpu_box){from->vertices + first, (const char *)from->values + first * exchange->entry_bytes,
                             &from->job->state.control->lengths[fragment]};
            continue;
        }
        uint64_t length = from->job->control->lengths[fragment];
        if (length == 0) continue;
        TD_CHECK(launch_take(job, args, most)); /* those before it; the inbox has room for one */
        TD_CHECK(copy_box(exchange, gpu, sender, fragment, &args->box[args->count++]));
        TD_CHECK(launch_take(job, args, length));
    }
    return launch_take(job, args, most);
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
    return TD_OK;
}
