/* Sweep kernels that do not read edges: included once per program. */
static void between(td_cpu_job *job, int worker)
{
    enum { AHEAD = 24 };
    program_value *values = job->values;
    uint64_t begin, end, n = job->graph->vertices, total = 0;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t v = begin * 64; v < end * 64 && v < n; v++) {
            if (v + AHEAD < n) td_fetch(&values[program_label(values, (uint32_t)v + AHEAD)]);
            total += program_between(&job->context, values, (uint32_t)v, job->step);
        }
    job->tallies[worker].total += total;
}

static uint32_t label(const td_cpu_job *job, uint32_t v) { return program_label(job->values, v); }

static bool again(const td_cpu_job *job, uint64_t total) { return program_again(&job->context, total); }

#if PROGRAM_COLLECTS_EDGES
static uint64_t edge(const td_cpu_job *job, uint32_t v)
{
    return program_edge(&job->context, (const program_value *)job->values + v);
}

static void reset(td_cpu_job *job, int worker)
{
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t v = begin * 64; v < end * 64 && v < job->graph->vertices; v++)
            program_reset(&job->context, (program_value *)job->values + v);
}
#endif
