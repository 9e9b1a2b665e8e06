/* Runs on lists that stay in the mapped file. A program that reads the edges about once spares the copy, which takes
 * longer than its iterations. Offsets are copied and checked when the file is opened. Targets are checked as they are
 * read (read_target in kernels/cpu/common.h): whatever the file holds, also while another process writes to it, no
 * kernel uses a number as an index that is no vertex. Checksums of the lists are not computed: that would read all of
 * them. */
#include "cpu/cpu.h"

#include "base/alloc.h"
#include "store/checks.h"

bool td_cpu_has_mapped(const td_program *program)
{
    const td_cpu_mapped_kernels *mapped = &program->cpu[TD_WEIGHT_NONE].mapped;
    return program->info->weights == TD_WEIGHTS_UNUSED && (mapped->push != NULL || mapped->sweep != NULL);
}

/* Parents, notify-pulls, batches, deferred sinks and runs that resume have kernels or steps that read lists, too. */
td_status td_cpu_can_map(const td_program *program, const td_run_options *options, bool *out)
{
    double direction, sinks;
    *out = false;
    if (!td_cpu_has_mapped(program)) return TD_OK;
    TD_CHECK(td_settings_number(options->settings, "cpu", td_cpu_settings, "direction", &direction));
    TD_CHECK(td_settings_number(options->settings, "cpu", td_cpu_settings, "sinks", &sinks));
    *out = !options->parents && options->sources == NULL && options->resume == NULL &&
           options->mode != TD_MODE_ASYNC && (td_direction)direction != TD_DIRECTION_NOTIFY && sinks == 0;
    return TD_OK;
}

td_status td_cpu_use_mapping(td_cpu_job *job)
{
    const td_cpu_mapped_kernels *mapped = &job->kernels->mapped;
    td_cpu_kernels *own;
    bool pending = td_checks_pending(job->graph, job->view.push[0].targets);
    if (!td_cpu_has_mapped(job->run->program) || !pending) return TD_OK;
    TD_CHECK(TD_NEW(&job->mapped.kernels, 1, "kernels"));
    own = job->mapped.kernels;
    *own = *job->kernels;
    if (mapped->push != NULL) {
        own->pull_hit = mapped->pull_hit;
        own->push = mapped->push;
        own->push_high_degree = mapped->push_high_degree;
    } else {
        own->sweep = mapped->sweep;
        own->sweep_high_degree = mapped->sweep_high_degree;
        own->sample = mapped->sample;
    }
    job->kernels = own;
    return TD_OK;
}

void td_cpu_find_wild(td_cpu_wild *wild, bool out, uint64_t edge, uint32_t target)
{
    bool none = false;
    if (!atomic_compare_exchange_strong(&wild->claimed, &none, true)) return;
    wild->out = out;
    wild->edge = edge;
    wild->target = target;
    wild->found = true;
}

td_status td_cpu_check_wild(const td_cpu_job *job)
{
    const td_cpu_wild *wild = &job->mapped.wild;
    if (!wild->found) return TD_OK;
    return td_checks_wild(job->graph, wild->out ? TD_SECTION_OUT_TARGETS : TD_SECTION_IN_TARGETS, wild->edge,
                          wild->target);
}
