/* Sweep kernels that do not read edges: included once per program. */
static void between(td_cpu_job *job, int worker)
{
    enum { AHEAD = 24 };
    program_value *values = job->values;
    uint64_t begin, end, n = job->graph->vertices, total = 0;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t v = begin * 64; v < end * 64 && v < n; v++) {
            if (v + AHEAD < n) td_fetch(&values[program_label(values, (uint32_t)v + AHEAD)]);
            total += program_between(&job->context, values, (uint32_t)v, job->sweep.step);
        }
    job->tallies[worker].total += total;
}

static uint32_t label(const td_cpu_job *job, uint32_t v) { return program_label(job->values, v); }

static bool again(const td_cpu_job *job, uint64_t total) { return program_again(&job->context, total); }

#if PROGRAM_LIGHT_FIRST
/* Visits a block's survivors and keeps those that a later sweep needs; returns their number. */
static uint32_t visit_block(td_cpu_job *job, td_survivor *edges, uint32_t count)
{
    enum { AHEAD = 12 };
    program_value *values = job->values;
    uint32_t bits = job->context.edge_bits, kept = 0;
    uint64_t numbers = ((uint64_t)1 << bits) - 1;
    for (uint32_t i = 0; i < count; i++) {
        if (i + AHEAD < count) {
            td_fetch(&values[edges[i + AHEAD].u]);
            td_fetch(&values[edges[i + AHEAD].v]);
        }
        uint32_t u = edges[i].u, v = edges[i].v;
        uint64_t key = edges[i].key;
        if (!program_visit(&job->context, values, u, v, (uint32_t)(key >> bits), key & numbers)) continue;
        edges[kept++] = (td_survivor){program_label(values, u), program_label(values, v), key};
    }
    return kept;
}

static void survivors(td_cpu_job *job, int worker)
{
    td_survivors *self = &job->sweep.survivors;
    uint64_t begin, end, edges = 0;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t block = begin; block < end; block++) {
            edges += self->counts[block];
            self->counts[block] = visit_block(job, self->edges + block * TD_SURVIVOR_BLOCK, self->counts[block]);
        }
    job->tallies[worker].edges += edges;
}
#endif

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
