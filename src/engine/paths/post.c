/* What GPUs send each other behind a walk (DiGraph, section 3.2.2: messages are sorted by destination partition and sent
 * in batches). Deposits at a vertex whose master is elsewhere are aggregated on the GPU that makes them and go to the
 * master; the message of a master that changed goes to the GPUs with paths that read it. */
#include "engine/paths/several.h"

#include "base/alloc.h"

enum { ID = sizeof(uint32_t) };

static uint64_t value_bytes(const td_paths_job *part, td_paths_mail mail)
{
    const td_cpu_kernels *traits = part->gpu->job.traits;
    if (mail == TD_PATHS_MESSAGES) return traits->message_bytes;
    return traits->schedule == TD_SCHEDULE_PEEL ? sizeof(uint64_t) : traits->accum_bytes;
}

/* Messages that a receiver may get at once. Of core numbers one for every count that changes: two for every edge that
 * deposits, as many as the vertex has at most. */
static uint64_t most_messages(const td_paths_job *part, const td_paths_list *list, td_paths_mail mail, int to)
{
    uint64_t begin = (uint64_t)list->first[to] * TD_GPU_THREADS, sum = 0;
    if (mail == TD_PATHS_MESSAGES || part->gpu->job.traits->schedule != TD_SCHEDULE_PEEL) return list->count[to];
    for (uint64_t i = begin; i < begin + list->count[to]; i++) {
        uint64_t counts = td_cpu_pull_degree(&part->cpu, list->vertices[i]) + 1, uses = 2 * (uint64_t)list->uses[i];
        sum += uses < counts ? uses : counts;
    }
    return sum;
}

void td_paths_shape_post(td_paths_job *part)
{
    td_paths_post *post = part->gpu->post;
    for (td_paths_mail mail = 0; mail < TD_PATHS_MAILS; mail++) {
        td_paths_box *box = &post->box[mail];
        const td_paths_list *list = &post->share->list[post->number][mail];
        box->value_bytes = value_bytes(part, mail);
        for (int to = 0; to < post->share->count; to++)
            box->room[to + 1] = box->room[to] + most_messages(part, list, mail, to);
    }
}

/* The inbox has room for all that the GPUs whose memory this one cannot read may send. */
static uint64_t count_inbox(const td_paths_post *post, td_paths_mail mail)
{
    const td_paths_several *all = post->all;
    uint64_t sum = 0;
    for (int from = 0; from < all->count; from++) {
        const uint64_t *room = all->post[from].box[mail].room;
        if (!all->exchange.box[post->number].reads[from]) sum += room[post->number + 1] - room[post->number];
    }
    return sum;
}

static td_status declare_box(td_gpu_job *job, td_paths_post *post, td_paths_mail mail)
{
    td_paths_box *box = &post->box[mail];
    const td_paths_list *list = &post->share->list[post->number][mail];
    uint64_t length = (uint64_t)list->first[post->share->count] * TD_GPU_THREADS, out = box->room[post->share->count];
    box->in_room = count_inbox(post, mail);
    TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &box->list, length, ID, "vertices of messages"));
    TD_CHECK(td_gpu_new(job, &box->vertices, out, ID, "outboxes"));
    TD_CHECK(td_gpu_new(job, &box->values, out, box->value_bytes, "outboxes"));
    TD_CHECK(td_gpu_new(job, &box->in_vertices, box->in_room, ID, "inbox"));
    return td_gpu_new(job, &box->in_values, box->in_room, box->value_bytes, "inbox");
}

td_status td_paths_declare_post(td_paths_job *part)
{
    td_gpu_job *job = &part->gpu->job;
    td_paths_post *post = part->gpu->post;
    td_path_state *s = &part->gpu->args.paths;
    uint64_t words = td_gpu_words(job);
    for (td_paths_mail mail = 0; mail < TD_PATHS_MAILS; mail++) TD_CHECK(declare_box(job, post, mail));
    TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &s->foreign, words, ID, "vertices of other GPUs"));
    TD_CHECK(td_gpu_new_for(job, TD_FOR_LISTS, &s->read, words, ID, "vertices that are read"));
    TD_CHECK(td_gpu_new(job, &s->owed, words, ID, "deposits to send"));
    TD_CHECK(td_gpu_new(job, &s->changed, words, ID, "messages to send"));
    TD_CHECK(td_gpu_new(job, &post->lengths, TD_PATHS_MAILS * TD_GPUS, ID, "lengths of outboxes"));
    TD_CHECK(td_gpu_new(job, &post->tally, 1, sizeof(td_path_tally), "counters"));
    if (post->all->steals)
        TD_CHECK(td_gpu_new(job, &post->peers, (uint64_t)post->all->count, sizeof *post->peers, "walks of other GPUs"));
    if (post->all->steals && job->memory.measures) /* the set of the GPUs allocates its words itself */
        job->memory.bytes[TD_FOR_PROGRAM] += (post->number == 0 ? 2 : 1) * TD_SET_WORDS * sizeof(uint32_t);
    return td_gpu_routes_declare(&post->all->exchange, post->number, job);
}

static td_status send(td_gpu_job *job, const void *to, const void *from, uint64_t bytes)
{
    return bytes > 0 ? td_stream_copy(job->stream, (void *)(uintptr_t)to, from, bytes, TD_TO_DEVICE) : TD_OK;
}

/* Bitmaps of the vertices whose masters are elsewhere, and of those that any GPU reads. */
static td_status send_maps(td_paths_job *part, const td_paths_index *all)
{
    td_gpu_job *job = &part->gpu->job;
    td_paths_post *post = part->gpu->post;
    const td_path_state *s = &part->gpu->args.paths;
    uint64_t n = job->graph->vertices, words = td_gpu_words(job);
    TD_CHECK(TD_NEW_ZEROED(&post->foreign, words, "vertices of other GPUs"));
    TD_CHECK(TD_NEW_ZEROED(&post->read, words, "vertices that are read"));
    for (uint64_t v = 0; v < n; v++) {
        if (post->share->gpu[v] != post->number) post->foreign[v / 32] |= 1u << (v & 31u);
        if (all->place_offsets[v] < all->place_offsets[v + 1]) post->read[v / 32] |= 1u << (v & 31u);
    }
    TD_CHECK(send(job, s->foreign, post->foreign, words * ID));
    return send(job, s->read, post->read, words * ID);
}

td_status td_paths_fill_post(td_paths_job *part)
{
    td_gpu_job *job = &part->gpu->job;
    td_paths_post *post = part->gpu->post;
    td_path_state *s = &part->gpu->args.paths;
    uint64_t words = td_gpu_words(job);
    TD_CHECK(send_maps(part, post->all->index));
    for (td_paths_mail mail = 0; mail < TD_PATHS_MAILS; mail++) {
        const td_paths_list *list = &post->share->list[post->number][mail];
        TD_CHECK(send(job, post->box[mail].list, list->vertices,
                      (uint64_t)list->first[post->share->count] * TD_GPU_THREADS * ID));
    }
    TD_CHECK(td_stream_fill(job->stream, s->owed, 0, words * ID));
    TD_CHECK(td_stream_fill(job->stream, s->changed, 0, words * ID));
    TD_CHECK(td_stream_fill(job->stream, post->tally, 0, sizeof *post->tally));
    TD_CHECK(td_stream_synchronize(job->stream));
    td_free(post->foreign);
    td_free(post->read);
    post->foreign = post->read = NULL;
    return TD_OK;
}

void td_paths_close_post(td_paths_job *part)
{
    td_paths_post *post = part->gpu->post;
    td_free(post->foreign);
    td_free(post->read);
    if (post->taken != NULL) td_event_destroy(part->gpu->job.device, post->taken);
    post->taken = NULL;
    post->foreign = post->read = NULL;
}

/* Packing. */

static td_status pack_box(td_paths_job *part, td_paths_mail mail)
{
    td_gpu_job *job = &part->gpu->job;
    td_paths_post *post = part->gpu->post;
    const td_paths_box *box = &post->box[mail];
    const td_paths_list *list = &post->share->list[post->number][mail];
    const td_path_state *s = &part->gpu->args.paths;
    td_paths_args now = td_paths_gpu_args(part);
    uint32_t *map = mail == TD_PATHS_DEPOSITS ? s->owed : s->changed;
    td_path_pack_args args = {.state = now.state, .paths = now.paths, .list = box->list, .map = map,
                              .count = (uint32_t)post->share->count, .vertices = box->vertices,
                              .values = box->values, .lengths = post->lengths + mail * TD_GPUS};
    uint32_t parts = list->first[post->share->count];
    for (int to = 0; to < post->share->count; to++) {
        args.first[to + 1] = list->first[to + 1];
        args.room[to] = box->room[to];
    }
    if (parts > 0 && mail == TD_PATHS_DEPOSITS)
        TD_CHECK(td_gpu_launch_blocks(job, job->stream, &job->kernels->path_pack_deposits, parts, 0, &args));
    if (parts > 0 && mail == TD_PATHS_MESSAGES)
        TD_CHECK(td_gpu_launch_blocks(job, job->stream, &job->kernels->path_pack_messages, parts, 0, &args));
    return td_stream_fill(job->stream, map, 0, td_gpu_words(job) * ID);
}

td_status td_paths_pack(td_paths_job *part)
{
    td_gpu_job *job = &part->gpu->job;
    td_paths_post *post = part->gpu->post;
    const td_paths_several *all = post->all;
    uint64_t bytes = TD_PATHS_MAILS * TD_GPUS * ID;
    for (int i = 0; i < all->count; i++)
        if (i != post->number && all->post[i].taken != NULL) TD_CHECK(td_stream_wait(job->stream, all->post[i].taken));
    TD_CHECK(td_stream_fill(job->stream, post->lengths, 0, bytes));
    for (td_paths_mail mail = 0; mail < TD_PATHS_MAILS; mail++) TD_CHECK(pack_box(part, mail));
    return td_stream_copy(job->stream, part->gpu->seen->lengths, post->lengths, bytes, TD_TO_HOST);
}

/* Taking. */

/* Where a receiver finds a sender's messages: in the sender's memory, or copied into its inbox. */
static td_status carry(td_paths_several *all, int from, int to, td_paths_mail mail, uint32_t length, uint64_t *used,
                       td_path_take_args *args)
{
    const td_paths_box *out = &all->post[from].box[mail], *in = &all->post[to].box[mail];
    const uint32_t *vertices = out->vertices + out->room[to];
    const char *values = (const char *)out->values + out->room[to] * out->value_bytes;
    if (!all->exchange.box[to].reads[from]) {
        uint32_t *here = in->in_vertices + *used;
        char *there = (char *)in->in_values + *used * in->value_bytes;
        TD_CHECK(td_gpu_copy_between(&all->exchange, to, here, from, vertices, length * (uint64_t)ID));
        TD_CHECK(td_gpu_copy_between(&all->exchange, to, there, from, values, length * out->value_bytes));
        vertices = here;
        values = there;
        *used += length;
    }
    args->box[args->count].vertices = vertices;
    args->box[args->count].values = values;
    args->box[args->count++].length = length;
    return TD_OK;
}

static td_status take_box(td_paths_job *part, td_paths_mail mail, uint64_t *sent)
{
    td_gpu_job *job = &part->gpu->job;
    td_paths_post *post = part->gpu->post;
    td_paths_several *all = post->all;
    td_paths_args now = td_paths_gpu_args(part);
    td_path_take_args args = {.state = now.state, .paths = now.paths, .tally = post->tally};
    uint64_t used = 0, most = 0;
    for (int from = 0; from < all->count; from++) {
        uint32_t length = all->part[from].gpu->seen->lengths[mail][post->number];
        uint64_t bytes = length * (ID + all->post[from].box[mail].value_bytes);
        if (length == 0) continue;
        TD_CHECK(carry(all, from, post->number, mail, length, &used, &args));
        all->link_bytes[from][post->number] += bytes;
        all->bytes += bytes;
        *sent += length;
        if (length > most) most = length;
    }
    if (most == 0) return TD_OK;
    return mail == TD_PATHS_DEPOSITS ? td_gpu_launch(job, job->stream, &job->kernels->path_take_deposits, most, &args)
                                     : td_gpu_launch(job, job->stream, &job->kernels->path_take_messages, most, &args);
}

static bool has_mail(const td_paths_post *post)
{
    uint32_t any = 0;
    for (td_paths_mail mail = 0; mail < TD_PATHS_MAILS; mail++)
        for (int from = 0; from < post->all->count; from++)
            any |= post->all->part[from].gpu->seen->lengths[mail][post->number];
    return any > 0;
}

/* The messages change marks: paths of vertices with many edges are marked by blocks, as behind a walk. */
static td_status take(td_paths_job *part, uint64_t *sent)
{
    td_gpu_job *job = &part->gpu->job;
    td_paths_post *post = part->gpu->post;
    uint64_t before = *sent;
    if (!has_mail(post)) return TD_OK;
    TD_CHECK(td_paths_gpu_clear_words(part));
    for (td_paths_mail mail = 0; mail < TD_PATHS_MAILS; mail++) TD_CHECK(take_box(part, mail, sent));
    if (*sent == before) return TD_OK;
    TD_CHECK(td_paths_gpu_notice(part, post->tally));
    if (post->taken != NULL) td_event_destroy(job->device, post->taken);
    post->taken = NULL;
    return td_stream_record(job->stream, &post->taken);
}

td_status td_paths_deliver(td_paths_job *self, uint64_t *sent)
{
    td_paths_several *all = self->several;
    *sent = 0;
    for (int i = 0; i < all->count; i++) TD_CHECK(take(&all->part[i], sent));
    all->messages += *sent;
    all->exchanges += *sent > 0;
    return TD_OK;
}
