/* A BVGraph writer for the tests, from the published description of the format
 * and independent of the decoder: one bit at a time, every code and every
 * parameter. References are chosen at random among those allowed, not for size,
 * so that the oddest lists are reached. */
#ifndef TD_TEST_BV_ENCODER_H
#define TD_TEST_BV_ENCODER_H

#include "base/random.h"
#include "test.h"

enum bv_code { BV_DEFAULT, BV_DELTA, BV_GAMMA, BV_GOLOMB, BV_SKEWED_GOLOMB, BV_UNARY, BV_ZETA, BV_NIBBLE };

typedef struct bv_parameters {
    int outdegrees, blocks, residuals, references, block_counts, offsets; /* BV_DEFAULT: left to the default */
    unsigned window, min_interval, k;
    int max_references; /* longest chain, -1: any */
    uint64_t seed;
} bv_parameters;

/* Lists ascending, without repetitions: targets[starts[v]] ... targets[starts[v + 1] - 1]. */
typedef struct bv_graph {
    unsigned vertices;
    unsigned starts[258];
    unsigned targets[16384];
} bv_graph;

typedef struct bv_bits {
    uint8_t bytes[1 << 18];
    uint64_t count;
} bv_bits;

static inline void bv_bit(bv_bits *bits, bool one)
{
    uint64_t byte = bits->count / 8;
    if (byte >= sizeof bits->bytes) TEST_FAIL("the test's graph is too large for its buffer");
    if (bits->count % 8 == 0) bits->bytes[byte] = 0;
    if (one) bits->bytes[byte] |= (uint8_t)(0x80 >> bits->count % 8);
    bits->count++;
}

static inline void bv_number(bv_bits *bits, uint64_t value, unsigned width)
{
    while (width-- > 0) bv_bit(bits, value >> width & 1);
}

static inline unsigned bv_log2(uint64_t value)
{
    unsigned log = 0;
    while (value >>= 1) log++;
    return log;
}

static inline void bv_unary(bv_bits *bits, uint64_t value)
{
    while (value-- > 0) bv_bit(bits, false);
    bv_bit(bits, true);
}

static inline void bv_gamma(bv_bits *bits, uint64_t value)
{
    unsigned log = bv_log2(value + 1);
    bv_unary(bits, log);
    bv_number(bits, value + 1, log);
}

static inline void bv_delta(bv_bits *bits, uint64_t value)
{
    unsigned log = bv_log2(value + 1);
    bv_gamma(bits, log);
    bv_number(bits, value + 1, log);
}

/* One of `bound` values in floor or ceil(log2(bound)) bits. */
static inline void bv_minimal(bv_bits *bits, uint64_t value, uint64_t bound)
{
    unsigned width = bv_log2(bound);
    if (bound > UINT64_C(1) << width) width++;
    uint64_t spare = (UINT64_C(1) << width) - bound;
    if (value < spare)
        bv_number(bits, value, width - 1);
    else
        bv_number(bits, value + spare, width);
}

/* value + 1 lies in [2^(hk), 2^((h+1)k)): h in unary, then where in there. */
static inline void bv_zeta(bv_bits *bits, uint64_t value, unsigned k)
{
    unsigned h = bv_log2(value + 1) / k;
    uint64_t low = UINT64_C(1) << h * k;
    bv_unary(bits, h);
    bv_minimal(bits, value + 1 - low, (low << k) - low);
}

static inline void bv_golomb(bv_bits *bits, uint64_t value, uint64_t modulus)
{
    bv_unary(bits, value / modulus);
    bv_minimal(bits, value % modulus, modulus);
}

/* Golomb with buckets that double: the ith holds modulus << i values. */
static inline void bv_skewed_golomb(bv_bits *bits, uint64_t value, uint64_t modulus)
{
    unsigned bucket = 0;
    while (value >= modulus << bucket) value -= modulus << bucket++;
    bv_unary(bits, bucket);
    bv_minimal(bits, value, modulus << bucket);
}

static inline void bv_nibble(bv_bits *bits, uint64_t value)
{
    for (unsigned groups = bv_log2(value) / 3 + 1; groups-- > 0;) {
        bv_bit(bits, groups == 0);
        bv_number(bits, value >> 3 * groups, 3);
    }
}

static inline void bv_code(bv_bits *bits, int code, int fallback, unsigned k, uint64_t value)
{
    switch (code == BV_DEFAULT ? fallback : code) {
    case BV_DELTA: bv_delta(bits, value); break;
    case BV_GAMMA: bv_gamma(bits, value); break;
    case BV_GOLOMB: bv_golomb(bits, value, k); break;
    case BV_SKEWED_GOLOMB: bv_skewed_golomb(bits, value, k); break;
    case BV_UNARY: bv_unary(bits, value); break;
    case BV_ZETA: bv_zeta(bits, value, k); break;
    case BV_NIBBLE: bv_nibble(bits, value); break;
    default: TEST_FAIL("code %d is not one of the encoder's", code);
    }
}

static inline uint64_t bv_sign(int64_t difference)
{
    return difference >= 0 ? 2 * (uint64_t)difference : 2 * (uint64_t)-difference - 1;
}

/* A random graph in which lists resemble the ones before, hold runs, and are sometimes empty or full. */
static inline void bv_random_graph(bv_graph *graph, unsigned vertices, uint64_t seed)
{
    uint64_t draw = 0;
    graph->vertices = vertices;
    graph->starts[0] = 0;
    for (unsigned v = 0; v < vertices; v++) {
        unsigned kind = (unsigned)(td_random_at(seed, draw++) % 8);
        unsigned like = v > 0 ? (unsigned)(td_random_at(seed, draw++) % (v < 9 ? v : 9)) + 1 : 0;
        unsigned at = graph->starts[v];
        bool run = false;
        for (unsigned t = 0; t < vertices; t++) {
            uint64_t r = td_random_at(seed, draw++);
            bool there = false;
            for (unsigned i = like ? graph->starts[v - like] : 0; like && i < graph->starts[v - like + 1]; i++)
                there |= graph->targets[i] == t;
            run = run ? r % 6 != 0 : r % 40 == 0;
            bool add = kind == 0   ? false
                       : kind == 1 ? r % 9 == 0
                       : kind == 2 ? run
                                   : (there && r % 16 != 0) || run || r % 30 == 0;
            if (add && at < sizeof graph->targets / sizeof graph->targets[0]) graph->targets[at++] = t;
        }
        graph->starts[v + 1] = at;
    }
}

/* The blocks of list v in list v - reference, and which of v's targets they cover. */
static inline unsigned bv_find_blocks(const bv_graph *graph, unsigned v, unsigned reference, unsigned *blocks,
                                      bool *covered)
{
    unsigned from = graph->starts[v - reference], to = graph->starts[v - reference + 1], count = 0;
    bool copying = true;
    blocks[0] = 0;
    for (unsigned i = from; i < to; i++) {
        bool wanted = false;
        for (unsigned j = graph->starts[v]; j < graph->starts[v + 1]; j++) {
            if (graph->targets[j] != graph->targets[i]) continue;
            wanted = covered[j - graph->starts[v]] = true;
        }
        if (wanted != copying) {
            blocks[++count] = 0;
            copying = wanted;
        }
        blocks[count]++;
    }
    return count; /* the last block is left out */
}

static inline void bv_write_extras(bv_bits *bits, const bv_graph *graph, const bv_parameters *p, unsigned v,
                                   const bool *covered)
{
    unsigned rest[256], count = 0, intervals = 0, residuals = 0, start[256], length[256], residual[256];
    for (unsigned i = graph->starts[v]; i < graph->starts[v + 1]; i++)
        if (!covered[i - graph->starts[v]]) rest[count++] = graph->targets[i];
    if (count == 0) return;
    for (unsigned i = 0, run; i < count; i += run) {
        for (run = 1; i + run < count && rest[i + run] == rest[i] + run;) run++;
        if (p->min_interval > 0 && run >= p->min_interval && run >= 2) {
            start[intervals] = rest[i];
            length[intervals++] = run;
        } else {
            for (unsigned j = 0; j < run; j++) residual[residuals++] = rest[i + j];
        }
    }
    if (p->min_interval > 0) bv_gamma(bits, intervals);
    for (unsigned i = 0; i < intervals; i++) {
        bv_gamma(bits, i == 0 ? bv_sign((int64_t)start[0] - v) : start[i] - (start[i - 1] + length[i - 1] + 1));
        bv_gamma(bits, length[i] - p->min_interval);
    }
    for (unsigned i = 0; i < residuals; i++)
        bv_code(bits, p->residuals, BV_ZETA, p->k,
                i == 0 ? bv_sign((int64_t)residual[0] - v) : residual[i] - residual[i - 1] - 1);
}

static inline void bv_write_list(bv_bits *bits, const bv_graph *graph, const bv_parameters *p, unsigned v, int *chains)
{
    bool covered[257] = {0};
    unsigned degree = graph->starts[v + 1] - graph->starts[v], blocks[520], reference = 0;
    chains[v] = 0;
    bv_code(bits, p->outdegrees, BV_GAMMA, p->k, degree);
    if (degree == 0) return;
    if (p->window > 0) {
        unsigned most = v < p->window ? v : p->window;
        reference = (unsigned)(td_random_at(p->seed, v) % (most + 1));
        if (p->max_references >= 0 && reference > 0 && chains[v - reference] >= p->max_references) reference = 0;
        bv_code(bits, p->references, BV_UNARY, p->k, reference);
    }
    if (reference > 0) {
        chains[v] = chains[v - reference] + 1;
        unsigned count = bv_find_blocks(graph, v, reference, blocks, covered);
        bool last_too = (count == 0 || blocks[count] > 0) && td_random_at(p->seed, v + 1000) % 4 == 0;
        count += last_too; /* superfluous, and allowed */
        bv_code(bits, p->block_counts, BV_GAMMA, p->k, count);
        for (unsigned i = 0; i < count; i++)
            bv_code(bits, p->blocks, BV_GAMMA, p->k, i == 0 ? blocks[0] : blocks[i] - 1);
    }
    bv_write_extras(bits, graph, p, v, covered);
}

static inline void bv_write_bits(const char *stem, const char *suffix, const bv_bits *bits)
{
    char path[600];
    snprintf(path, sizeof path, "%s%s", stem, suffix);
    test_write_file(path, bits->bytes, (bits->count + 7) / 8);
}

static inline void bv_flag(FILE *file, bool *some, const char *component, int code)
{
    static const char *const names[] = {"", "DELTA", "GAMMA", "GOLOMB", "SKEWED_GOLOMB", "UNARY", "ZETA", "NIBBLE"};
    if (code == BV_DEFAULT) return;
    fprintf(file, "%s%s_%s", *some ? " | " : "", component, names[code]);
    *some = true;
}

static inline void bv_write_properties(const char *stem, const bv_graph *graph, const bv_parameters *p)
{
    char path[600];
    bool some = false;
    snprintf(path, sizeof path, "%s.properties", stem);
    FILE *file = fopen(path, "w");
    fprintf(file, "#BVGraph properties\nversion=0\ngraphclass=it.unimi.dsi.webgraph.BVGraph\n");
    fprintf(file, "nodes=%u\narcs=%u\nwindowsize=%u\nmaxrefcount=%d\nminintervallength=%u\nzetak=%u\n", graph->vertices,
            graph->starts[graph->vertices], p->window, p->max_references, p->min_interval, p->k);
    fprintf(file, "compressionflags=");
    bv_flag(file, &some, "OUTDEGREES", p->outdegrees);
    bv_flag(file, &some, "BLOCKS", p->blocks);
    bv_flag(file, &some, "RESIDUALS", p->residuals);
    bv_flag(file, &some, "REFERENCES", p->references);
    bv_flag(file, &some, "BLOCK_COUNT", p->block_counts);
    bv_flag(file, &some, "OFFSETS", p->offsets);
    fprintf(file, "\n");
    fclose(file);
}

/* Writes stem.graph, stem.properties and, if asked, stem.offsets. */
static inline void bv_encode(const char *stem, const bv_graph *graph, const bv_parameters *p, bool with_offsets)
{
    static bv_bits bits, offsets;
    static int chains[256];
    uint64_t before = 0;
    bits.count = offsets.count = 0;
    bv_code(&offsets, p->offsets, BV_GAMMA, p->k, 0);
    for (unsigned v = 0; v < graph->vertices; v++) {
        bv_write_list(&bits, graph, p, v, chains);
        bv_code(&offsets, p->offsets, BV_GAMMA, p->k, bits.count - before);
        before = bits.count;
    }
    bv_write_bits(stem, ".graph", &bits);
    if (with_offsets) bv_write_bits(stem, ".offsets", &offsets);
    bv_write_properties(stem, graph, p);
}

#endif
