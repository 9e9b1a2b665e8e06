/* All GPU kernels of one program: included behind the program's header by the translation units that the build makes
 * for it, one for the emulator and one for CUDA, with PROGRAM_SYMBOL naming the table that it defines. */
#include "kernels/traits.h"
#include "kernels/gpu/language.h"
#include "kernels/gpu/table.h"
#include "layout/compressed.h"
#include "store/graph.h"

#include "kernels/gpu/collective.h"
#include "kernels/gpu/common.h"
#include "kernels/gpu/useful.h"
#include "kernels/gpu/decompress.h"
#if PROGRAM_GAS
#include "kernels/gpu/pull.h"
#include "kernels/gpu/shards.h"
#if PROGRAM_FIRST_HIT
#include "kernels/gpu/pull_hit.h"
#define WORD uint32_t
#define BITS(x) x##_32
#include "kernels/gpu/bits.h"
#define WORD uint64_t
#define BITS(x) x##_64
#include "kernels/gpu/bits.h"
#endif
#if PROGRAM_FUSED
#include "kernels/gpu/push.h"
#include "kernels/gpu/parents.h"
#elif PROGRAM_PROPORTIONAL
#include "kernels/gpu/push_sums.h"
#include "kernels/gpu/differences.h"
#endif
#if PROGRAM_LINEAR
#include "kernels/gpu/changes.h"
#endif
#if PROGRAM_FUSED || PROGRAM_PROPORTIONAL
#include "kernels/gpu/stream.h"
#endif
#include "kernels/gpu/exchange.h"
#include "kernels/gpu/paths.h"
#include "kernels/gpu/path_rounds.h"
#include "kernels/gpu/path_post.h"
#if PROGRAM_HAS_PRIORITY
#include "kernels/gpu/priority.h"
#endif
#if PROGRAM_PEELS
#include "kernels/gpu/peel.h"
#include "kernels/gpu/cores.h"
#endif
#else
#include "kernels/gpu/survivors.h"
#include "kernels/gpu/sweep.h"
#if PROGRAM_COLLECTS_EDGES
#include "kernels/gpu/forest.h"
#endif

static bool again(const td_context *context, uint64_t total) { return program_again(context, total); }
#endif
#include "kernels/gpu/fragments.h"
#if PROGRAM_GAS && PROGRAM_FUSED && PROGRAM_SUM == TD_SUM_MIN
#include "kernels/gpu/joint.h"
#include "kernels/gpu/common_queue.h"
#if PROGRAM_FIRST_HIT
#include "kernels/gpu/common_search.h"
#endif
#endif

#define KERNEL(name) .name = {{#name, (const void *)name}, (const name##_argument *)0}

#if defined(__cplusplus)
extern "C" const td_gpu_kernels PROGRAM_SYMBOL;
#else
extern const td_gpu_kernels PROGRAM_SYMBOL;
#endif
const td_gpu_kernels PROGRAM_SYMBOL = { /* in the table's order, as C++ requires */
    KERNEL(init), KERNEL(useful), KERNEL(decompress), KERNEL(mark_targets), KERNEL(report), KERNEL(carry),
#if PROGRAM_GAS
    KERNEL(pull), KERNEL(apply), KERNEL(clear_sums), KERNEL(pull_shards),
#if !PROGRAM_FUSED
    KERNEL(pull_compressed), KERNEL(merge_sums),
#endif
#if PROGRAM_FUSED
    KERNEL(list_words), KERNEL(map_queue),
#endif
#if PROGRAM_FIRST_HIT
    KERNEL(pull_hit), KERNEL(pull_late),
#endif
#if PROGRAM_FUSED
    KERNEL(levels), KERNEL(levels_lean), KERNEL(levels_otherwise), KERNEL(find_parents), KERNEL(push_fragment),
    KERNEL(push_fragment_pieces),
#endif
#if PROGRAM_FUSED || PROGRAM_PROPORTIONAL
    KERNEL(push_part), KERNEL(push_part_pieces), KERNEL(push_extracted),
#endif
#if !PROGRAM_FUSED && PROGRAM_PROPORTIONAL
    KERNEL(settle_differences),
#endif
#if PROGRAM_LINEAR
    KERNEL(take_changes), KERNEL(settle_changes), KERNEL(weigh_changes), KERNEL(end_changes),
#endif
#if PROGRAM_FUSED && PROGRAM_SUM == TD_SUM_MIN
    KERNEL(take_frontier), KERNEL(push_queue), KERNEL(list_changed),
#endif
#if PROGRAM_HAS_PRIORITY
    KERNEL(priorities), KERNEL(priorities_lean), KERNEL(priorities_otherwise), KERNEL(list_far), KERNEL(far_lowest), KERNEL(far_split),
#endif
#if PROGRAM_PEELS
    KERNEL(peel), KERNEL(fill_left), KERNEL(cores_peel), KERNEL(cores_peel_parts),
    KERNEL(cores_histogram),
#endif
#if PROGRAM_FUSED
    KERNEL(pack), KERNEL(take), KERNEL(measure), KERNEL(cut_frontier),
#endif
#if PROGRAM_FIRST_HIT
    KERNEL(adopt),
#endif
#if PROGRAM_FUSED && PROGRAM_SUM == TD_SUM_MIN
    KERNEL(levels_joint), KERNEL(levels_common), KERNEL(round_apart),
#if PROGRAM_HAS_PRIORITY
    KERNEL(priorities_joint), KERNEL(priorities_common),
#endif
#if PROGRAM_FIRST_HIT
    KERNEL(search_common),
#endif
#endif
    KERNEL(list_mirrored), KERNEL(take_mirrored),
    KERNEL(path_starts), KERNEL(path_opens), KERNEL(path_scans), KERNEL(path_finishes),
#if PROGRAM_MEASURE != TD_MEASURE_NONE
    KERNEL(path_balances),
#endif
#if PROGRAM_LINEAR && PROGRAM_SHARES
    KERNEL(path_totals), KERNEL(path_rescales),
#endif
    KERNEL(path_clears), KERNEL(path_ranks), KERNEL(path_orders), KERNEL(path_walks), KERNEL(path_notices),
    KERNEL(path_pushes), KERNEL(path_batch_walks), KERNEL(path_rounds), KERNEL(path_push_rounds), KERNEL(path_steals),
    KERNEL(path_pack_deposits), KERNEL(path_pack_messages), KERNEL(path_take_deposits), KERNEL(path_take_messages),
#if PATH_HAS_WARPS
    KERNEL(path_warp_walks), KERNEL(path_warp_rounds), KERNEL(path_packed_walks), KERNEL(path_packed_rounds),
#endif
#if PROGRAM_FIRST_HIT
    KERNEL(bits_start_32), KERNEL(bits_push_32), KERNEL(bits_push_pieces_32), KERNEL(bits_settle_32),
    KERNEL(bits_pull_32), KERNEL(bits_list_32),
    KERNEL(bits_start_64), KERNEL(bits_push_64), KERNEL(bits_push_pieces_64), KERNEL(bits_settle_64),
    KERNEL(bits_pull_64), KERNEL(bits_list_64),
#endif
#else
    KERNEL(sweep), KERNEL(sweep_pieces), KERNEL(sweep_extracted), KERNEL(sample), KERNEL(choose), KERNEL(between),
    KERNEL(draw), KERNEL(label_all),
#if PROGRAM_COLLECTS_EDGES
    KERNEL(collect), KERNEL(span_components), KERNEL(hook_within), KERNEL(pack_best), KERNEL(take_best),
#else
    KERNEL(join),
#endif
#if PROGRAM_LIGHT_FIRST
    KERNEL(sweep_survivors), KERNEL(move_survivors), KERNEL(close_move), KERNEL(close_part),
#endif
    .again = again,
#endif
#if PROGRAM_GAS && PROGRAM_PEELS
    KERNEL(count_neighbours),
#endif
#if !PROGRAM_GAS && PROGRAM_COLLECTS_EDGES
    KERNEL(mark_forest), KERNEL(count_forest), KERNEL(place_forest), KERNEL(list_forest),
#endif
};
