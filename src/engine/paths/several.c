/* Steps and walks on several GPUs, and what belongs to all of them. */
#include "engine/paths/several.h"

#include "base/alloc.h"

#include <string.h>

/* Parts. */

/* The job of a GPU: the run's, with the tables of its share. */
static void make_part(td_paths_job *self, const td_paths_share *share, int i)
{
    td_paths_job *part = &self->several->part[i];
    td_path_state *s = &part->steps.state;
    *part = *self;
    part->several = NULL;
    part->gpu = NULL;
    part->borrows = true;
    part->has_paths = false;
    part->paths = share->paths[i];
    part->index = share->index[i];
    s->first_word = part->index.first_word;
    s->place_offsets = part->index.place_offsets;
    s->places = part->index.places;
    s->home = part->index.home;
    self->several->post[i] = (td_paths_post){.all = self->several, .share = share, .number = i};
}

td_status td_paths_several_parts(td_paths_job *self, const td_paths_share *share)
{
    TD_CHECK(TD_NEW_ZEROED(&self->several, 1, "GPUs of the engine paths"));
    TD_CHECK(TD_NEW_ZEROED(&self->several->part, (uint64_t)share->count, "GPUs of the engine paths"));
    self->several->index = &self->index;
    for (int i = 0; i < share->count; i++) {
        td_paths_job *part = &self->several->part[i];
        make_part(self, share, i);
        TD_CHECK(TD_NEW_ZEROED(&part->gpu, 1, "GPU of the engine paths"));
        part->gpu->post = &self->several->post[i];
        self->several->count = i + 1;
        self->several->exchange.box[i].job = &part->gpu->job;
    }
    self->several->exchange.count = share->count;
    return TD_OK;
}

/* Device-wide atomics of one GPU are not atomic beside another's: GPUs steal where they are slices of one. */
td_status td_paths_choose_steals(td_paths_job *self)
{
    td_paths_several *all = self->several;
    all->steals = self->set.steal && self->set.streams == 0;
    for (int i = 0; i < all->count; i++)
        for (int j = 0; j < i; j++) {
            td_device *one = all->part[i].gpu->job.device, *other = all->part[j].gpu->job.device;
            td_link link = {0};
            td_status status = td_device_link(one, other, &link);
            if (status != TD_OK && status != TD_UNSUPPORTED) return status;
            all->steals &= status == TD_OK && link.same_memory;
        }
    return TD_OK;
}

void td_paths_several_free(td_paths_job *self)
{
    td_paths_several *all = self->several;
    if (all == NULL) return;
    for (int i = 0; i < all->count; i++) td_free(all->part[i].gpu);
    td_free(all->part);
    td_free(all);
    self->several = NULL;
}

td_status td_paths_several_open(td_paths_job *self, const td_paths_share *share, td_device *const *devices,
                                td_stream *const *streams)
{
    uint64_t none[TD_GPUS] = {0};
    TD_CHECK(td_paths_several_parts(self, share));
    td_paths_several *all = self->several;
    self->gpu = all->part[0].gpu;
    for (int i = 0; i < all->count; i++) TD_CHECK(td_paths_gpu_start(&all->part[i], devices[i], streams[i]));
    TD_CHECK(td_gpu_exchange_open(&all->exchange, self->set.copies));
    TD_CHECK(td_gpu_measure_links(&all->exchange, none));
    TD_CHECK(td_paths_choose_steals(self));
    for (int i = 0; i < all->count; i++) td_paths_shape_post(&all->part[i]);
    for (int i = 0; i < all->count; i++) TD_CHECK(td_paths_gpu_set_up(&all->part[i]));
    self->set = all->part[0].set; /* paths at the host have other defaults */
    self->steps.mirrors = self->paths.edges;
    if (all->steals) TD_CHECK(td_set_open(&all->set, devices, all->count));
    return td_gpu_routes_open(&all->exchange);
}

void td_paths_several_close(td_paths_job *self)
{
    td_paths_several *all = self->several;
    if (all == NULL) return;
    for (int i = 0; i < all->count; i++)
        if (all->part[i].gpu->job.stream != NULL) (void)td_stream_synchronize(all->part[i].gpu->job.stream);
    td_set_close(all->set);
    for (int i = 0; i < all->count; i++) td_paths_close_post(&all->part[i]);
    td_gpu_exchange_close(&all->exchange);
    td_gpu_routes_close(&all->exchange);
    for (int i = 0; i < all->count; i++) {
        td_free(all->part[i].count_offsets); /* core numbers */
        td_paths_gpu_shut(&all->part[i]);
    }
    self->gpu = NULL;
    td_paths_several_free(self);
}

/* Steps. */

/* A part has the run's settings of this step. */
static void follow(const td_paths_job *self, td_paths_job *part)
{
    const td_path_state *from = &self->steps.state;
    td_path_state *to = &part->steps.state;
    part->cpu.context = self->cpu.context;
    part->steps.stores = self->steps.stores;
    to->least = from->least;
    to->one_over_delta = from->one_over_delta;
    to->bound = from->bound;
    to->scale = from->scale;
    to->round = from->round;
    to->all = from->all;
}

/* The partitions and vertices of a group on a GPU. */
static td_paths_group group_on(const td_paths_job *part, const td_paths_group *group)
{
    const td_paths_post *post = part->gpu->post;
    uint32_t next;
    if (group != NULL && group->members != NULL) return td_paths_joined(part, group->number, &next);
    return (td_paths_group){0, 0, 0, part->paths.partitions, part->index.members, post->share->members[post->number], 0,
                            true};
}

static td_status synchronize(const td_paths_several *all)
{
    td_stream *streams[TD_GPUS];
    for (int i = 0; i < all->count; i++) streams[i] = all->part[i].gpu->job.stream;
    return td_streams_synchronize(streams, all->count);
}

/* All GPUs have ended what is queued: the sum of their tallies. */
static td_status collect(td_paths_job *self, td_path_tally *out)
{
    td_paths_several *all = self->several;
    TD_CHECK(synchronize(all));
    for (int i = 0; i < all->count; i++)
        td_path_tally_add(out, &all->part[i].gpu->seen->tally, self->cpu.kernels->measure);
    return TD_OK;
}

static td_status queue_step(td_paths_job *part, td_paths_step step, const td_paths_group *group)
{
    td_paths_group here = group_on(part, group);
    uint64_t units = step == TD_PATHS_OPEN ? here.openers : here.member_count;
    part->steps.list = here.members;
    if (step == TD_PATHS_INIT) { /* of foreign vertices too */
        part->steps.list = NULL;
        units = part->cpu.graph->vertices;
    }
    td_status status = td_paths_gpu_queue(part, step, units);
    part->steps.list = NULL;
    return status;
}

td_status td_paths_several_do(td_paths_job *self, td_paths_step step, td_path_tally *out)
{
    td_paths_several *all = self->several;
    bool changes = step == TD_PATHS_OPEN || step == TD_PATHS_BALANCE;
    uint64_t sent;
    for (int i = 0; i < all->count; i++) {
        td_paths_job *part = &all->part[i];
        td_gpu_job *job = &part->gpu->job;
        follow(self, part);
        TD_CHECK(queue_step(part, step, self->group));
        if (changes) TD_CHECK(td_paths_pack(part));
        if (step == TD_PATHS_INIT) /* all GPUs have the first values */
            TD_CHECK(td_stream_fill(job->stream, part->gpu->args.paths.changed, 0,
                                    td_gpu_words(job) * sizeof(uint32_t)));
    }
    TD_CHECK(collect(self, out));
    return changes ? td_paths_deliver(self, &sent) : TD_OK;
}

/* Walks. */

static td_status walk_part(td_paths_job *self, td_paths_job *part, const td_paths_group *group)
{
    td_paths_group here = group_on(part, group);
    follow(self, part);
    if (group->members != NULL) TD_CHECK(td_paths_start_early(self, part, &here));
    if (part->gpu->loops) return td_paths_queue_rounds(part, &here, self->set.rounds);
    if (part->gpu->batches == NULL) return td_paths_gpu_queue_span(part, &here, td_paths_is_ranked(part, &here));
    TD_CHECK(td_paths_batch_walk(part, &here, &part->gpu->seen->walked));
    if (part->steps.state.round > self->steps.state.round) self->steps.state.round = part->steps.state.round;
    return TD_OK;
}

/* Adds what a GPU's walk has done; returns its rounds. */
static uint32_t count_part(td_paths_job *self, td_paths_job *part, bool joint, td_path_tally *out)
{
    const td_paths_seen *seen = part->gpu->seen;
    td_path_tally done = {0};
    uint32_t rounds = 1;
    if (part->gpu->loops && !joint) rounds = td_paths_count_rounds(part, &done);
    else done = part->gpu->batches != NULL ? seen->walked : seen->tally;
    if (part->gpu->loops && !joint && seen->loop.round > self->steps.state.round)
        self->steps.state.round = seen->loop.round;
    td_path_tally_add(out, &done, self->cpu.kernels->measure);
    self->several->edges[part->gpu->post->number] += done.edges;
    self->several->walked[part->gpu->post->number] = done.listed;
    return rounds;
}

/* Stealing between GPUs pays where one had more partitions than warps while another had warps to spare. */
static bool is_uneven(const td_paths_several *all)
{
    bool busy = false, idle = false;
    for (int i = 0; i < all->count; i++) {
        uint64_t warps = td_paths_gpu_warps(&all->part[i]);
        busy |= all->walked[i] > warps;
        idle |= all->walked[i] < warps / 2;
    }
    return all->steals && busy && idle;
}

/* One walk of all GPUs at the same time, each of whose warps take the others' partitions when their own are taken. */
static td_status walk_joint(td_paths_job *self, const td_paths_group *group)
{
    td_paths_several *all = self->several;
    td_path_peer peers[TD_GPUS];
    td_path_steal_args args[TD_GPUS];
    td_stream *streams[TD_GPUS];
    const td_kernel *kernels[TD_GPUS];
    const void *arguments[TD_GPUS];
    td_launch shapes[TD_GPUS];
    for (int i = 0; i < all->count; i++) {
        td_paths_job *part = &all->part[i];
        td_paths_group here = group_on(part, group);
        follow(self, part);
        part->gpu->args.span.early_count = 0;
        args[i] = (td_path_steal_args){.peers = all->post[i].peers, .count = (uint32_t)all->count,
                                       .number = (uint32_t)i};
        TD_CHECK(td_paths_gpu_begin_span(part, &here, &args[i].of));
        peers[i] = (td_path_peer){args[i].of.paths, args[i].of.span};
    }
    for (int i = 0; i < all->count; i++) {
        const td_gpu_job *job = &all->part[i].gpu->job;
        uint32_t most;
        streams[i] = job->stream;
        kernels[i] = TD_GPU_CHECKED(&job->kernels->path_steals, &args[i]);
        arguments[i] = &args[i];
        TD_CHECK(td_set_occupancy(all->set, i, kernels[i], TD_GPU_THREADS, 0, &most));
        shapes[i] = (td_launch){.blocks = most, .threads = TD_GPU_THREADS};
        TD_CHECK(td_stream_copy(job->stream, all->post[i].peers, peers, (uint64_t)all->count * sizeof *peers,
                                TD_TO_DEVICE));
    }
    all->joint++;
    TD_CHECK(td_streams_launch_joint(all->set, streams, kernels, shapes, arguments, sizeof *args));
    for (int i = 0; i < all->count; i++) TD_CHECK(td_paths_gpu_end_span(&all->part[i], &args[i].of));
    return TD_OK;
}

td_status td_paths_several_walk(td_paths_job *self, const td_paths_group *group, td_path_tally *out)
{
    td_paths_several *all = self->several;
    uint64_t sent;
    uint32_t rounds = 1;
    bool joint = is_uneven(all);
    *out = (td_path_tally){0};
    if (joint) TD_CHECK(walk_joint(self, group));
    for (int i = 0; i < all->count; i++) {
        if (!joint) TD_CHECK(walk_part(self, &all->part[i], group));
        TD_CHECK(td_paths_pack(&all->part[i]));
    }
    TD_CHECK(synchronize(all));
    for (int i = 0; i < all->count; i++) {
        uint32_t of = count_part(self, &all->part[i], joint, out);
        if (of > rounds) rounds = of;
    }
    self->rounds += rounds - 1; /* the caller counts one */
    TD_CHECK(td_paths_deliver(self, &sent));
    if (sent > 0 && out->listed == 0) out->listed = 1; /* there may be something to walk now */
    return TD_OK;
}

/* Results. */

td_status td_paths_several_values(td_paths_job *self, void *values)
{
    td_paths_several *all = self->several;
    uint64_t n = self->cpu.graph->vertices, bytes = self->cpu.kernels->value_bytes;
    void *copy;
    td_status status = TD_OK;
    TD_CHECK(td_new_bytes(&copy, n, bytes, "vertex values"));
    char *to = values, *from = copy;
    for (int i = 0; i < all->count; i++) {
        td_gpu_job *job = &all->part[i].gpu->job;
        const td_paths_post *post = &all->post[i];
        TD_TRY(td_stream_copy(job->stream, from, job->state.values, n * bytes, TD_TO_HOST));
        TD_TRY(td_stream_synchronize(job->stream));
        for (uint64_t m = 0; m < post->share->members[i]; m++) {
            uint64_t v = all->part[i].index.members[m];
            memcpy(to + v * bytes, from + v * bytes, bytes);
        }
    }
done:
    td_free(from);
    return status;
}

td_status td_paths_several_end(td_paths_job *self)
{
    td_paths_several *all = self->several;
    for (int i = 0; i < all->count; i++) {
        td_paths_gpu *gpu = all->part[i].gpu;
        TD_CHECK(td_stream_copy(gpu->job.stream, &gpu->seen->tally, all->post[i].tally, sizeof gpu->seen->tally,
                                TD_TO_HOST));
    }
    td_path_tally taken = {0};
    TD_CHECK(collect(self, &taken));
    td_paths_add(self, &taken);
    return TD_OK;
}

void td_paths_several_count(const td_paths_job *self)
{
    const td_paths_several *all = self->several;
    const td_paths_share *share = all->post[0].share;
    uint64_t most = 0;
    for (int i = 0; i < all->count; i++)
        for (int j = 0; j < all->count; j++)
            if (all->link_bytes[i][j] > most) most = all->link_bytes[i][j];
    td_run_count(self->run, "gpus", (uint64_t)all->count);
    td_run_count(self->run, "exchanges", all->exchanges);
    td_run_count(self->run, "messages", all->messages);
    td_run_count(self->run, "message_bytes", all->bytes);
    td_run_count(self->run, "message_runs", self->sum.runs);
    td_run_count(self->run, "busiest_link_bytes", most);
    td_run_count(self->run, "partitions_far", self->sum.far);
    td_run_count(self->run, "joint_walks", all->joint);
    td_run_count(self->run, "groups_spread", share->spread);
    td_run_count(self->run, "affine_partitions", share->affine);
}
