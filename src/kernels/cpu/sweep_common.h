/* Sweep kernels that do not look at edges: included once per program. */
static void between(td_cpu_job *job, int worker)
{
    td_cpu_tally *tally = &job->tallies[worker];
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t v = begin * 64; v < end * 64 && v < job->graph->vertices; v++)
            tally->total += program_between(&job->context, job->values, (uint32_t)v, job->step);
}

static uint32_t label(const td_cpu_job *job, uint32_t v) { return program_label(job->values, v); }

static bool again(const td_cpu_job *job, uint64_t total) { return program_again(&job->context, total); }

#if PROGRAM_COLLECTS_EDGES
static uint64_t edge(const td_cpu_job *job, uint32_t v) { return program_edge((const program_value *)job->values + v); }

static void reset(td_cpu_job *job, int worker)
{
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t v = begin * 64; v < end * 64 && v < job->graph->vertices; v++)
            program_reset(&job->context, (program_value *)job->values + v);
}
#endif
