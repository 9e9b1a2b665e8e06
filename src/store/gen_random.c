/* Kinds drawn edge by edge: rmat, uniform, smallworld.
 *
 * R-MAT (Chakrabarti, Zhan, Faloutsos, SDM 2004) puts an edge into one of the
 * four quadrants of the adjacency matrix with probabilities a, b, c, d, and
 * recursively inside that quadrant. The quadrants of LEVELS levels are drawn at once,
 * by one lookup in a table of all 4^LEVELS paths (the alias method: Walker 1977,
 * Vose 1991), so that a 64-bit random number suffices for twelve levels. The
 * table's probabilities are exact to 2^-32.
 */
#include "store/gen_fill.h"

#include "base/random.h"

enum { LEVELS = 6, PATHS = 1 << 2 * LEVELS, PATH_BITS = 2 * LEVELS, SHARE_BITS = 32 - PATH_BITS };
#define SHARE_ONE (UINT32_C(1) << SHARE_BITS)

typedef struct rmat {
    /* A draw that falls on a path takes it with probability share/SHARE_ONE, else
     * the other path: share in the upper bits, other in the lower. */
    uint32_t table[PATHS];
    int steps; /* lookups per edge */
    int spare; /* levels drawn beyond the scale */
} rmat;

typedef struct rmat_work {
    rmat model;
    double share[PATHS]; /* of the average probability */
    uint32_t small[PATHS], large[PATHS];
} rmat_work;

/* The upper half of a path's number has its row bits, the lower half its column bits. */
static double path_probability(uint32_t path, const double quadrant[4])
{
    double product = 1;
    for (int level = 0; level < LEVELS; level++)
        product *= quadrant[(path >> (LEVELS + level) & 1) << 1 | (path >> level & 1)];
    return product;
}

static void set_entry(rmat *model, uint32_t path, double share, uint32_t other)
{
    uint32_t fixed = (uint32_t)(share * SHARE_ONE + 0.5);
    if (fixed < SHARE_ONE) model->table[path] = fixed << PATH_BITS | other;
    else model->table[path] = path; /* always this one */
}

/* Vose's construction: each path below the average is filled up by one above it. */
static void make_table(rmat_work *work, const double quadrant[4])
{
    uint32_t smalls = 0, larges = 0;
    for (uint32_t path = 0; path < PATHS; path++) {
        work->share[path] = path_probability(path, quadrant) * PATHS;
        if (work->share[path] < 1) work->small[smalls++] = path;
        else work->large[larges++] = path;
    }
    while (smalls > 0 && larges > 0) {
        uint32_t filled = work->small[--smalls], giver = work->large[larges - 1];
        set_entry(&work->model, filled, work->share[filled], giver);
        work->share[giver] -= 1 - work->share[filled];
        if (work->share[giver] >= 1) continue;
        larges--;
        work->small[smalls++] = giver;
    }
    while (smalls > 0) set_entry(&work->model, work->small[--smalls], 1, 0);
    while (larges > 0) set_entry(&work->model, work->large[--larges], 1, 0);
}

static inline uint32_t draw_path(const rmat *model, uint32_t random)
{
    uint32_t path = random >> SHARE_BITS, entry = model->table[path];
    return (random & (SHARE_ONE - 1)) < entry >> PATH_BITS ? path : entry & (PATHS - 1);
}

static inline void emit_rmat_edges(const td_gen_job *job, uint64_t begin, uint64_t end, td_edge_chunk *chunk, int steps)
{
    const rmat *model = job->model;
    uint64_t stream = td_gen_stream(job->spec, 1), words = (uint64_t)(steps + 1) / 2;
    for (uint64_t e = begin; e < end; e++) {
        uint64_t random = 0, row = 0, column = 0;
        for (int step = 0; step < steps; step++) {
            random = step % 2 == 0 ? td_random_at(stream, e * words + (uint64_t)step / 2) : random >> 32;
            uint32_t path = draw_path(model, (uint32_t)random);
            row = row << LEVELS | path >> LEVELS;
            column = column << LEVELS | (path & ((1 << LEVELS) - 1));
        }
        td_gen_put(chunk, row >> model->spare, column >> model->spare);
    }
}

/* The number of steps as a constant, so that the inner loop unrolls. */
static void emit_rmat(const td_gen_job *job, uint64_t begin, uint64_t end, td_edge_chunk *chunk)
{
    switch (((const rmat *)job->model)->steps) {
    case 1: emit_rmat_edges(job, begin, end, chunk, 1); break;
    case 2: emit_rmat_edges(job, begin, end, chunk, 2); break;
    case 3: emit_rmat_edges(job, begin, end, chunk, 3); break;
    case 4: emit_rmat_edges(job, begin, end, chunk, 4); break;
    case 5: emit_rmat_edges(job, begin, end, chunk, 5); break;
    default: emit_rmat_edges(job, begin, end, chunk, 6); break;
    }
}

static td_status quadrants_of(const td_gen_spec *spec, double quadrant[4])
{
    quadrant[0] = spec->a != 0 ? spec->a : 0.57;
    quadrant[1] = spec->b != 0 ? spec->b : 0.19;
    quadrant[2] = spec->c != 0 ? spec->c : 0.19;
    double sum = quadrant[0] + quadrant[1] + quadrant[2];
    for (int i = 0; i < 3; i++)
        if (!(quadrant[i] >= 0 && quadrant[i] <= 1))
            return td_fail(TD_INVALID, "rmat: --%c %g is not a probability", "abc"[i], quadrant[i]);
    if (sum > 1 + 1e-9)
        return td_fail(TD_INVALID, "rmat: {a} %g, {b} %g and {c} %g add up to %g, at most 1 is possible", quadrant[0],
                       quadrant[1], quadrant[2], sum);
    quadrant[3] = sum < 1 ? 1 - sum : 0;
    return TD_OK;
}

td_status td_gen_rmat_size(const td_gen_spec *spec, td_gen_size *size)
{
    double quadrant[4];
    TD_CHECK(quadrants_of(spec, quadrant));
    TD_CHECK(td_gen_vertices(spec, &size->vertices));
    return td_gen_edges(spec, size->vertices, 16, &size->edges);
}

td_status td_gen_rmat_fill(const td_gen_spec *spec, td_edge_list *edges, td_pool *pool)
{
    td_status status = TD_OK;
    td_gen_size size;
    double quadrant[4];
    rmat_work *work = NULL;
    TD_TRY(td_gen_check(spec, &size));
    TD_TRY(quadrants_of(spec, quadrant));
    TD_TRY(TD_NEW_ZEROED(&work, 1, "quadrant table"));
    make_table(work, quadrant);
    work->model.steps = ((int)spec->scale + LEVELS - 1) / LEVELS;
    work->model.spare = work->model.steps * LEVELS - (int)spec->scale;
    td_gen_job job = {.spec = spec, .vertices = size.vertices, .items = size.edges, .model = &work->model,
                      .emit = emit_rmat};
    TD_TRY(td_gen_fill(&job, edges, pool));
done:
    td_free(work);
    return status;
}

static void emit_uniform(const td_gen_job *job, uint64_t begin, uint64_t end, td_edge_chunk *chunk)
{
    uint64_t stream = td_gen_stream(job->spec, 1);
    for (uint64_t e = begin; e < end; e++) {
        uint64_t source = td_random_below(td_random_at(stream, 2 * e), job->vertices);
        td_gen_put(chunk, source, td_random_below(td_random_at(stream, 2 * e + 1), job->vertices));
    }
}

td_status td_gen_uniform_size(const td_gen_spec *spec, td_gen_size *size)
{
    TD_CHECK(td_gen_vertices(spec, &size->vertices));
    return td_gen_edges(spec, size->vertices, 16, &size->edges);
}

td_status td_gen_uniform_fill(const td_gen_spec *spec, td_edge_list *edges, td_pool *pool)
{
    td_gen_size size;
    TD_CHECK(td_gen_check(spec, &size));
    td_gen_job job = {.spec = spec, .vertices = size.vertices, .items = size.edges, .emit = emit_uniform};
    return td_gen_fill(&job, edges, pool);
}

/* Watts and Strogatz (Nature 1998): a ring in which every vertex has edges to its nearest
 * degree / 2 neighbours on either side; each edge's far end is moved to a random vertex
 * with the probability `rewire`. */
typedef struct ring {
    uint64_t half; /* neighbours on one side */
    double rewire;
} ring;

static void emit_ring(const td_gen_job *job, uint64_t begin, uint64_t end, td_edge_chunk *chunk)
{
    const ring *model = job->model;
    uint64_t stream = td_gen_stream(job->spec, 1), vertex = begin / model->half, step = begin % model->half + 1;
    for (uint64_t e = begin; e < end; e++) {
        uint64_t random = td_random_at(stream, e), target = vertex + step;
        if (target >= job->vertices) target -= job->vertices;
        if (td_random_unit(random) < model->rewire) { /* any vertex but itself */
            target = td_random_below(td_mix64(random), job->vertices - 1);
            target += target >= vertex;
        }
        td_gen_put(chunk, vertex, target);
        if (step++ == model->half) {
            step = 1;
            vertex++;
        }
    }
}

static td_status ring_of(const td_gen_spec *spec, uint64_t vertices, ring *model)
{
    uint64_t degree = 0;
    TD_CHECK(td_gen_whole_degree(spec, 8, &degree));
    if (degree % 2 != 0)
        return td_fail(TD_INVALID, "smallworld: {degree} %llu is odd, half of the neighbours stand on either side",
                       (unsigned long long)degree);
    if (degree >= vertices)
        return td_fail(TD_INVALID, "smallworld: {degree} %llu needs more than %llu vertices",
                       (unsigned long long)degree, (unsigned long long)vertices);
    model->half = degree / 2;
    model->rewire = spec->rewire < 0 ? 0.1 : spec->rewire;
    if (!(model->rewire <= 1)) return td_fail(TD_INVALID, "smallworld: {rewire} %g is not a probability", spec->rewire);
    return TD_OK;
}

td_status td_gen_smallworld_size(const td_gen_spec *spec, td_gen_size *size)
{
    ring model = {0};
    TD_CHECK(td_gen_vertices(spec, &size->vertices));
    TD_CHECK(ring_of(spec, size->vertices, &model));
    size->edges = size->vertices * model.half;
    return td_gen_edge_limit(spec, "its vertices and {degree}", size->edges);
}

td_status td_gen_smallworld_fill(const td_gen_spec *spec, td_edge_list *edges, td_pool *pool)
{
    td_gen_size size;
    ring model;
    TD_CHECK(td_gen_check(spec, &size));
    TD_CHECK(ring_of(spec, size.vertices, &model));
    td_gen_job job = {.spec = spec, .vertices = size.vertices, .items = size.edges, .mirror = true, .model = &model,
                      .emit = emit_ring};
    return td_gen_fill(&job, edges, pool);
}
