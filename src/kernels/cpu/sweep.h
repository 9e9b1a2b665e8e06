/* The CPU's kernels for a sweep program, for one kind of weight. When the graph stores both
 * directions of an edge, PROGRAM_ONCE visits it from its lower end only; job->from_above from
 * its higher end only, so that the random reads go to hot vertices with low numbers.
 * Otherwise an edge is visited from every list that has it. */

TD_INLINE void NAME(visit_list)(td_cpu_job *job, const td_adjacency *list, uint32_t u, uint64_t begin, uint64_t end,
                                bool mapped)
{
    const void *weights = list->weights;
    bool from_above = job->sweep.from_above;
    (void)weights, (void)from_above;
    for (uint64_t e = begin; e < end; e++) {
        uint32_t v;
        if (!read_target(job, list, e, mapped, &v)) continue;
        if (PROGRAM_ONCE && job->graph->symmetric && v <= u) continue;
        if (!PROGRAM_ONCE && from_above && v >= u) continue;
        program_visit(&job->context, job->values, u, v, ORDERED_WEIGHT(weights, e), e);
    }
}

#if PROGRAM_LIGHT_FIRST
/* Collects the edges whose keys are asked for and whose ends have different labels: few, so that the branch is
 * foreseen and the reads of labels overlap. */
static inline void NAME(collect_list)(td_cpu_job *job, td_survivor_box *box, const td_adjacency *list, uint32_t u,
                                      uint64_t begin, uint64_t end)
{
    const void *weights = list->weights;
    const program_value *values = job->values;
    const uint32_t *targets = list->targets, bits = job->context.edge_bits, mine = program_label(values, u);
    uint64_t high = job->sweep.survivors.high;
    uint32_t above = job->graph->symmetric ? u : 0;
    bool every = !job->graph->symmetric;
    (void)weights;
    for (uint64_t e = begin; e < end; e++) {
        uint32_t v = targets[e];
        uint64_t key = (uint64_t)ORDERED_WEIGHT(weights, e) << bits | e;
        if (!(v > above || every) || key >= high || program_label(values, v) == mine) continue;
        td_survivor_put(box, u, v, key);
    }
}
#endif

/* Visits a part of a list, or collects its survivors in the box. */
TD_INLINE void NAME(sweep_list)(td_cpu_job *job, td_survivor_box *box, const td_adjacency *list, uint32_t u,
                                uint64_t begin, uint64_t end, bool mapped)
{
#if PROGRAM_LIGHT_FIRST
    if (box != NULL) {
        NAME(collect_list)(job, box, list, u, begin, end);
        return;
    }
#endif
    (void)box;
    NAME(visit_list)(job, list, u, begin, end, mapped);
}

TD_INLINE void NAME(sweep_lists)(td_cpu_job *job, int worker, td_survivor_box *box, bool mapped)
{
    td_cpu_tally *tally = &job->tallies[worker];
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t u = begin * 64; u < end * 64 && u < job->graph->vertices; u++) {
#if PROGRAM_SAMPLES
            if (job->sweep.skipping && program_label(job->values, (uint32_t)u) == job->sweep.left_out) continue;
#endif
            if (td_cpu_push_degree(job, (uint32_t)u) >= job->high.degree) {
                job->high.list[job->high.count++] = (uint32_t)u;
                continue;
            }
            for (int l = 0; l < job->view.lists; l++) {
                const td_adjacency *list = &job->view.push[l];
                uint64_t first = list->offsets[u], last = list->offsets[u + 1];
                if (l == 0 && job->sweep.skipping)
                    first = first + (uint64_t)job->setup.samples < last ? first + (uint64_t)job->setup.samples : last;
                NAME(sweep_list)(job, box, list, (uint32_t)u, first, last, mapped);
                tally->edges += last - first;
            }
        }
}

/* The same for the edges of all high-degree vertices, in equal pieces. */
TD_INLINE void NAME(sweep_pieces)(td_cpu_job *job, int worker, td_survivor_box *box, bool mapped)
{
    td_cpu_tally *tally = &job->tallies[worker];
    uint64_t begin, end;
    td_high_degree_part part;
    while (td_share_out_take(&job->share, worker, &begin, &end)) {
        td_high_degree_walk walk = td_high_degree_pieces_from(job->high.start, job->high.count, begin,
                                                              end);
        while (td_high_degree_next(&walk, &part)) {
            uint32_t u = job->high.list[part.which];
            uint64_t base = 0;
            for (int l = 0; l < job->view.lists; l++) {
                const td_adjacency *list = &job->view.push[l];
                uint64_t first = list->offsets[u], length = list->offsets[u + 1] - first;
                uint64_t from = part.begin > base ? part.begin - base : 0, to = part.end > base ? part.end - base : 0;
                to = to < length ? to : length;
                if (from < to) NAME(sweep_list)(job, box, list, u, first + from, first + to, mapped);
                base += length;
            }
            tally->edges += part.end - part.begin;
        }
    }
}

static void NAME(sweep)(td_cpu_job *job, int worker) { NAME(sweep_lists)(job, worker, NULL, false); }

static void NAME(sweep_high_degree)(td_cpu_job *job, int worker) { NAME(sweep_pieces)(job, worker, NULL, false); }

#if PROGRAM_LIGHT_FIRST
static void NAME(collect)(td_cpu_job *job, int worker)
{
    td_survivor_box box = {.into = &job->sweep.survivors};
    NAME(sweep_lists)(job, worker, &box, false);
    td_survivor_box_close(&box);
}

static void NAME(collect_high_degree)(td_cpu_job *job, int worker)
{
    td_survivor_box box = {.into = &job->sweep.survivors};
    NAME(sweep_pieces)(job, worker, &box, false);
    td_survivor_box_close(&box);
}
#endif

/* Visits edge number `step` of every vertex. Prefetches in two stages: the edge, then the
 * value of its target. */
enum { NAME(FAR) = 32, NAME(NEAR) = 12 };

TD_INLINE void NAME(sample_lists)(td_cpu_job *job, int worker, bool mapped)
{
    const uint64_t *offsets = job->view.push[0].offsets;
    const uint32_t *targets = job->view.push[0].targets;
    uint64_t begin, end, n = job->graph->vertices, edges = 0, place = (uint64_t)job->sweep.step;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t u = begin * 64; u < end * 64 && u < n; u++) {
            if (u + NAME(FAR) < n) td_fetch(targets + offsets[u + NAME(FAR)] + place);
            if (u + NAME(NEAR) < n && offsets[u + NAME(NEAR)] + place < offsets[u + NAME(NEAR) + 1])
                td_fetch((const program_value *)job->values + targets[offsets[u + NAME(NEAR)] + place]);
            uint64_t e = offsets[u] + place;
            if (e >= offsets[u + 1]) continue;
            NAME(visit_list)(job, &job->view.push[0], (uint32_t)u, e, e + 1, mapped);
            edges++;
        }
    job->tallies[worker].edges += edges;
}

static void NAME(sample)(td_cpu_job *job, int worker) { NAME(sample_lists)(job, worker, false); }

#if PROGRAM_MAPS
static void NAME(sweep_mapped)(td_cpu_job *job, int worker) { NAME(sweep_lists)(job, worker, NULL, true); }

static void NAME(sweep_high_degree_mapped)(td_cpu_job *job, int worker) { NAME(sweep_pieces)(job, worker, NULL, true); }

static void NAME(sample_mapped)(td_cpu_job *job, int worker) { NAME(sample_lists)(job, worker, true); }
#endif
