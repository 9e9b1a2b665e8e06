/* Early start (DiGraph, section 3.2.2): a group with fewer partitions than the GPU has warps leaves some idle. These walk
 * partitions of later groups ahead of their turn: first those of the groups with the fewest predecessors that are not
 * final. What they compute may change again, so that vertices may be updated more often. On several GPUs, programs of
 * whole numbers go further: the groups of all layers are walked at once, because an exchange behind every layer takes
 * longer than the updates that layers save. */
#include "engine/paths/gpu.h"

#include <stdlib.h>

enum { WINDOW = 64 }; /* groups that are looked at */

typedef struct candidate {
    uint32_t group, active; /* active: direct predecessors that are not final */
} candidate;

static int by_active(const void *a, const void *b)
{
    const candidate *one = a, *other = b;
    if (one->active != other->active) return one->active < other->active ? -1 : 1;
    return one->group < other->group ? -1 : 1;
}

/* Groups are final in the order of their numbers: those before `current` are. */
static uint32_t count_active(const td_paths *paths, uint32_t node, uint32_t current)
{
    uint32_t active = 0;
    for (uint64_t i = paths->before_offsets[node]; i < paths->before_offsets[node + 1]; i++) {
        uint32_t before = paths->before[i];
        if (before >= paths->groups) active += count_active(paths, before, current); /* through a hub */
        else active += before >= current;
    }
    return active;
}

static uint32_t find(const td_paths *paths, uint32_t current, uint32_t next, candidate *out)
{
    uint32_t count = 0;
    for (uint32_t g = next; g < paths->groups && count < WINDOW; g++)
        out[count++] = (candidate){g, count_active(paths, g, current)};
    qsort(out, count, sizeof *out, by_active);
    return count;
}

bool td_paths_goes_ahead(const td_paths_job *self)
{
    const td_paths_gpu *gpu = self->gpu;
    bool several = self->several != NULL || (gpu != NULL && gpu->post != NULL);
    return several && self->set.early && !self->real && !self->one_group && gpu->batches == NULL;
}

uint32_t td_paths_early_room(const td_device *device)
{
    return (uint32_t)device->properties.multiprocessors * TD_PATHS_RESIDENT_WARPS;
}

td_status td_paths_start_early(const td_paths_job *self, td_paths_job *part, const td_paths_group *group)
{
    td_paths_gpu *gpu = part->gpu;
    candidate found[WINDOW];
    uint32_t next = 0, count = 0, room = td_paths_early_room(gpu->job.device);
    uint64_t warps = td_paths_gpu_warps(part);
    gpu->args.span.early_count = 0;
    if (gpu->early == NULL || group->members == NULL || group->partitions >= warps) return TD_OK;
    uint64_t idle = warps - group->partitions;
    if (idle > room) idle = room;
    (void)td_paths_joined(self, group->number, &next);
    uint32_t groups = find(&self->paths, group->number, next, found);
    for (uint32_t i = 0; i < groups && count < idle; i++) {
        const td_path_group *of = &part->paths.group[found[i].group];
        for (uint32_t k = 0; k < of->partitions && count < idle; k++) gpu->early[count++] = of->first_partition + k;
    }
    gpu->args.span.early_count = count;
    if (count == 0) return TD_OK;
    return td_stream_copy(gpu->job.stream, (void *)(uintptr_t)gpu->args.span.early, gpu->early, count * sizeof(uint32_t),
                          TD_TO_DEVICE);
}
