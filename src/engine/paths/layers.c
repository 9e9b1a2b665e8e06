/* What settings mean for a program and a GPU: whether groups of paths are processed layer by layer, where the settings do
 * not say it, whether warps walk together, and whether vertices have proxies. */
#include "engine/paths/gpu.h"

static bool is_given(const td_paths_job *self, const char *key)
{
    return self->options->settings != NULL && td_settings_given(self->options->settings, key);
}

/* On several GPUs an exchange behind every layer takes longer than the updates that layers save: programs of whole
 * numbers start early, those of real numbers have no layers. */
void td_paths_set_defaults(td_paths_job *self)
{
    bool early = is_given(self, "paths.early");
    if (!early) self->set.early = !self->real && self->set.streams == 0;
    if (!self->real || self->set.early || is_given(self, "paths.layers")) return;
    self->set.layers = false;
    self->one_group = true;
}

bool td_paths_walks_by_warps(const td_paths_job *self)
{
    return self->set.warp && !self->steps.state.back && self->cpu.kernels->schedule != TD_SCHEDULE_PEEL;
}

/* Core numbers have counts, not sums. Warps that walk together deposit sums, so that proxies save nothing there
 * (docs/lab/paths.md). */
bool td_paths_has_proxies(const td_paths_job *self, bool batched)
{
    bool sums = !batched && td_paths_walks_by_warps(self) && !is_given(self, "paths.proxy");
    return self->set.proxy > 0 && self->cpu.kernels->schedule != TD_SCHEDULE_PEEL && !sums;
}

bool td_paths_chooses_layers(const td_paths_job *self)
{
    bool given = is_given(self, "paths.layers") || self->set.early || is_given(self, "paths.early") || self->set.layout.acyclic;
    return !self->one_group && !given && self->set.streams == 0 && (self->options->gpu_edges == 0 || td_paths_can_pack(self));
}

/* About what the paths, their mirrors and places and the vertices' state take: where that is more than the GPU has, paths
 * stay at the host, and layers save copies of batches. Packed partitions are read once in every round, and layers make more
 * rounds (docs/lab/paths.md). */
static bool may_fit(const td_paths_job *self, const td_device *device)
{
    const td_paths *paths = &self->paths;
    uint64_t bytes = td_paths_bytes(paths) + 2 * sizeof(uint32_t) * paths->edges + (uint64_t)64 * paths->graph_vertices;
    return bytes <= td_device_left(device) + device->now;
}

/* Layers with fewer partitions than a GPU has warps leave most of it idle, and their launches take longer than the updates
 * that they save (docs/lab/paths.md). Where no path depends on itself, every vertex is updated once, and layers stay. */
void td_paths_choose_layers(td_paths_job *self, const td_device *device)
{
    const td_paths *paths = &self->paths;
    uint64_t warps = (uint64_t)device->properties.multiprocessors * TD_PATHS_RESIDENT_WARPS;
    if (!td_paths_chooses_layers(self) || paths->stats.cyclic == 0) return;
    if (paths->partitions >= warps * paths->layers || (!may_fit(self, device) && !td_paths_can_pack(self))) return;
    self->set.layers = false;
    self->one_group = true;
}
