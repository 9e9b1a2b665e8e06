/* All CPU kernels of one program: included behind the program's header by the
 * translation units that the build makes for it, one per level of the
 * instruction set, with PROGRAM_SYMBOL naming the td_program it defines. */
#include "kernels/cpu/job.h"
#include "kernels/traits.h"

/* Programs that read the edges about once: lists that stay in a mapped file cost less than a copy. */
#if PROGRAM_GAS
#define PROGRAM_MAPS PROGRAM_FIRST_HIT
#else
#define PROGRAM_MAPS PROGRAM_SAMPLES
#endif

#include "kernels/cpu/common.h"
#if !PROGRAM_GAS
#include "kernels/cpu/sweep_common.h"
#endif

#define KIND none
#include "kernels/cpu/kind.h"
#if PROGRAM_FIRST_HIT
enum { BITS_AHEAD = 32 }; /* prefetch distance along a list, in edges */
#define WORD uint8_t
#define BITS(x) x##_8
#include "kernels/cpu/bits.h"
#define WORD uint16_t
#define BITS(x) x##_16
#include "kernels/cpu/bits.h"
#define WORD uint32_t
#define BITS(x) x##_32
#include "kernels/cpu/bits.h"
#define WORD uint64_t
#define BITS(x) x##_64
#include "kernels/cpu/bits.h"
#endif
#if PROGRAM_WEIGHTED
#define KIND u8
#define KIND_TYPE uint8_t
#include "kernels/cpu/kind.h"
#define KIND u16
#define KIND_TYPE uint16_t
#include "kernels/cpu/kind.h"
#define KIND u32
#define KIND_TYPE uint32_t
#include "kernels/cpu/kind.h"
#define KIND f32
#define KIND_TYPE float
#define KIND_REAL 1
#include "kernels/cpu/kind.h"
#if PROGRAM_GAS
#define KIND f64
#define KIND_TYPE double
#define KIND_REAL 1
#include "kernels/cpu/kind.h"
#endif
#endif

/* The table. */
#if PROGRAM_GAS
#define TABLE_GAS(kind)                                                                                     \
    .message_bytes = sizeof(program_message), .accum_bytes = sizeof(program_accum), .sum = PROGRAM_SUM,     \
    .schedule = PROGRAM_SCHEDULE, .measure = PROGRAM_MEASURE, .fused = PROGRAM_FUSED,                       \
    .linear = PROGRAM_LINEAR, .proportional = PROGRAM_PROPORTIONAL, .own_value = PROGRAM_OWN_VALUE,         \
    .shares = PROGRAM_SHARES,                                                                               \
    .first_hit = PROGRAM_FIRST_HIT, .sends_value = PROGRAM_SENDS_VALUE, .pull = pull_##kind,                \
    .merge = merge_##kind, .pull_marked = pull_marked_##kind, .notify = notify, .commit_marked = commit_marked,
#if !PROGRAM_FUSED
#define TABLE_COOP(kind) .gather = gather_##kind, .gather_cut = gather_cut_##kind, .clear_sums = clear_sums_##kind,
#elif PROGRAM_SUM == TD_SUM_MIN
#define TABLE_COOP(kind) \
    .take_back = take_back_##kind, .count_blocks = count_blocks_##kind, .list_blocks = list_blocks_##kind,
#else
#define TABLE_COOP(kind)
#endif
#if PROGRAM_FUSED
#define TABLE_FUSED(kind)                                                                                   \
    .push = push_##kind, .push_high_degree = push_high_degree_##kind, .push_words = push_words_##kind,                  \
    .find_parents = find_parents_##kind,
#else
#define TABLE_FUSED(kind)
#endif
#if PROGRAM_FIRST_HIT
#define BITS_ROW(width)                                                                                     \
    {                                                                                                       \
        .pull = bits_pull_##width, .list = bits_list_##width, .push = bits_push_##width,                    \
        .clear = bits_clear_##width, .push_high_degree = bits_push_high_degree_##width,                     \
        .settle = bits_settle_##width                                                                       \
    }
static const td_cpu_bits_kernels bits_kernels[] = {
    [TD_BITS_8] = BITS_ROW(8), [TD_BITS_16] = BITS_ROW(16), [TD_BITS_32] = BITS_ROW(32), [TD_BITS_64] = BITS_ROW(64),
};
#define TABLE_HIT(kind)                                                                                     \
    .pull_hit = pull_hit_##kind, .settle_words = settle_words_##kind, .bits = bits_kernels,                  \
    .mapped = {.pull_hit = pull_hit_mapped_##kind, .push = push_mapped_##kind,                               \
               .push_high_degree = push_high_degree_mapped_##kind},
#else
#define TABLE_HIT(kind)
#endif
#if PROGRAM_PEELS
#define TABLE_PEEL .peel = peel, .peel_words = peel_words,
#else
#define TABLE_PEEL
#endif
#if PROGRAM_HAS_PRIORITY
#define TABLE_PRIORITY(kind) .bucket = bucket_##kind, .fill_buckets = fill_buckets_##kind,
#else
#define TABLE_PRIORITY(kind)
#endif
#if PROGRAM_LINEAR && PROGRAM_SHARES
#define TABLE_SHARES(kind) .path_totals = path_totals_##kind, .path_rescales = path_rescales_##kind,
#else
#define TABLE_SHARES(kind)
#endif
#if PROGRAM_MEASURE != TD_MEASURE_NONE
#define TABLE_BALANCES(kind) .path_balances = path_balances_##kind,
#else
#define TABLE_BALANCES(kind)
#endif
#define TABLE_PATHS(kind)                                                                                   \
    .path_walks = path_walks_##kind, .path_pushes = path_pushes_##kind, .path_starts = path_starts_##kind,  \
    .path_opens = path_opens_##kind, .path_scans = path_scans_##kind,                                       \
    .path_finishes = path_finishes_##kind, .path_clears = path_clears_##kind,                               \
    TABLE_BALANCES(kind) TABLE_SHARES(kind)
#define TABLE_KIND(kind) \
    TABLE_PATHS(kind) TABLE_GAS(kind) TABLE_FUSED(kind) TABLE_COOP(kind) TABLE_HIT(kind) TABLE_PEEL TABLE_PRIORITY(kind)
#else
#if PROGRAM_COLLECTS_EDGES
#define TABLE_EDGES .edge = edge, .reset = reset,
#else
#define TABLE_EDGES
#endif
#if PROGRAM_LIGHT_FIRST
#define TABLE_SURVIVORS(kind) \
    .collect = collect_##kind, .collect_high_degree = collect_high_degree_##kind, .survivors = survivors,
#else
#define TABLE_SURVIVORS(kind)
#endif
#if PROGRAM_SAMPLES
#define TABLE_SAMPLES(kind)                                                                                 \
    .mapped = {.sweep = sweep_mapped_##kind, .sweep_high_degree = sweep_high_degree_mapped_##kind,           \
               .sample = sample_mapped_##kind},
#else
#define TABLE_SAMPLES(kind)
#endif
#define TABLE_KIND(kind)                                                                                    \
    .steps = PROGRAM_STEPS, .samples = PROGRAM_SAMPLES, .once = PROGRAM_ONCE,                               \
    .light_first = PROGRAM_LIGHT_FIRST, .sweep = sweep_##kind, .sweep_high_degree = sweep_high_degree_##kind,           \
    .sample = sample_##kind, .between = between, .label = label, .again = again, TABLE_EDGES                     \
    TABLE_SURVIVORS(kind) TABLE_SAMPLES(kind)
#endif

#define ROW(kind) {.value_bytes = sizeof(program_value), .view = PROGRAM_VIEW, .init = init, TABLE_KIND(kind)}

static const td_cpu_kernels kernels[] = {
    [TD_WEIGHT_NONE] = ROW(none),
#if PROGRAM_WEIGHTED
    [TD_WEIGHT_U8] = ROW(u8), [TD_WEIGHT_U16] = ROW(u16), [TD_WEIGHT_U32] = ROW(u32), [TD_WEIGHT_F32] = ROW(f32),
#if PROGRAM_GAS
    [TD_WEIGHT_F64] = ROW(f64),
#else
    [TD_WEIGHT_F64] = ROW(u32), /* ranks of the weights (store/ranks.h) */
#endif
#endif
};

extern const td_program PROGRAM_SYMBOL;
const td_program PROGRAM_SYMBOL = {&program_info, kernels, 0};
