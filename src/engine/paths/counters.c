/* The run's counters. An update is one apply that changed a vertex. Bytes loaded are those of entries, mirrors, weights
 * and state that the kernels read, without caches: every read counts with the size of what it reads. */
#include "engine/paths/several.h"

static uint64_t bytes_loaded(const td_paths_job *self)
{
    const td_cpu_kernels *k = self->cpu.kernels;
    const td_path_tally *t = &self->sum;
    const td_path_state *s = &self->steps.state;
    uint64_t id = sizeof(uint32_t), offset = sizeof(uint64_t), weight = td_weight_bytes(self->cpu.graph->weights);
    uint64_t master = k->value_bytes + (k->schedule == TD_SCHEDULE_PEEL ? 0 : k->accum_bytes);
    uint64_t message = k->sends_value ? 0 : k->message_bytes;
    uint64_t bytes = t->scanned * master + t->counted * id + t->edges * (master + weight);
    if (k == self->run->program->cpu) bytes -= t->edges * weight; /* weights are not read */
    if (s->plain) return bytes + t->loaded * id + t->reads * (master + 2 * message + 2 * offset + k->message_bytes);
    bytes += t->reads * (message + id) + t->updates * master + t->updates * 2 * offset + t->notices * 2 * id;
    bytes += (t->loaded + t->paths) * id + t->paths * 2 * id; /* entries; the path's beginning and mark */
    return bytes + t->loaded * k->message_bytes * (s->back ? 2 : 1);
}

static void add_batches(td_paths_batches *sum, const td_paths_batches *more)
{
    sum->count += more->count;
    sum->copies += more->copies;
    sum->bytes += more->bytes;
    sum->kept += more->kept;
    sum->prefetched += more->prefetched;
    sum->evictions += more->evictions;
    sum->pinned_bytes += more->packed ? more->packed_bytes : more->pinned_bytes;
    sum->packed |= more->packed;
    sum->residents += more->residents;
    sum->near_bytes += more->near_bytes;
    sum->words_bytes += more->words_bytes;
    sum->chains += more->chains;
}

static void count_packs(const td_paths_job *self, const td_paths_batches *all)
{
    td_run *run = self->run;
    td_run_count(run, "partitions_resident", all->residents);
    td_run_count(run, "partitions_read", self->sum.fetched);
    td_run_count(run, "partitions_repeated", self->sum.repeats);
    td_run_count(run, "partitions_chained", all->chains);
    td_run_count(run, "packed_bytes", all->words_bytes);
    td_run_count(run, "resident_bytes", all->near_bytes);
    td_run_count(run, "link_bytes", all->near_bytes + self->sum.crossed);
    td_run_count(run, "pinned_bytes", all->pinned_bytes);
}

static void count_gpu(td_paths_job *self)
{
    td_run *run = self->run;
    const td_path_tally *t = &self->sum;
    td_run_count(run, "deposits", t->deposits);
    td_run_count(run, "proxied", t->proxied);
    td_run_count(run, "partitions_stolen", t->stolen);
    td_run_count(run, "lane_slots", t->lane_slots);
    td_run_count(run, "late_vertices", t->late);
    td_run_count(run, "partitions_early", t->early);
    td_run_count(run, "rounds_dense", self->dense_rounds);
    if (self->several != NULL) td_paths_several_count(self);
    td_paths_batches all = {0};
    for (int i = 0; i < (self->several != NULL ? self->several->count : 1); i++) {
        const td_paths_batches *b = self->several != NULL ? self->several->part[i].gpu->batches : self->gpu->batches;
        if (b != NULL) add_batches(&all, b);
    }
    td_run_count(run, "batches", all.count);
    td_run_count(run, "partitions_packed", all.packed ? self->paths.partitions : 0);
    if (all.packed) return count_packs(self, &all);
    if (all.count == 0) return;
    td_run_count(run, "batches_copied", all.copies);
    td_run_count(run, "batch_bytes", all.bytes);
    td_run_count(run, "batches_kept", all.kept);
    td_run_count(run, "batches_prefetched", all.prefetched);
    td_run_count(run, "evictions", all.evictions);
    td_run_count(run, "pinned_bytes", all.pinned_bytes);
}

void td_paths_count(td_paths_job *self)
{
    td_run *run = self->run;
    const td_path_tally *t = &self->sum;
    run->updates = t->updates;
    td_run_count(run, "updates", t->updates);
    td_run_count(run, "edges_loaded", t->loaded);
    td_run_count(run, "edges_sent", t->edges);
    td_run_count(run, "bytes_loaded", bytes_loaded(self));
    td_run_count(run, "rounds", self->rounds);
    td_run_count(run, "passes", self->passes);
    td_run_count(run, "reads", t->reads);
    td_run_count(run, "scanned", t->scanned);
    if (self->steps.state.plain) return;
    td_run_count(run, "paths_walked", t->paths);
    td_run_count(run, "marks", t->marks);
    td_run_count(run, "notices", t->notices);
    td_run_count(run, "partitions_walked", self->partitions_walked);
    td_run_count(run, "partitions_sorted", self->sorted);
    td_run_count(run, "balances", self->balanced);
    td_run_count(run, "groups_processed", self->groups_walked);
    td_run_count(run, "bounds_raised", self->raised);
    if (self->gpu != NULL) count_gpu(self);
    td_run_count(run, "layers", self->one_group ? 1 : self->paths.layers);
    td_run_count(run, "paths", self->paths.paths);
    td_run_count(run, "partitions", self->paths.partitions);
    td_run_count(run, "once_vertices", self->paths.stats.once_vertices);
    td_run_count(run, "giant_paths", self->paths.stats.giant_paths);
    td_run_count(run, "prepared", self->prepared);
}
