/* The GPU kernels of one program, for one kind of device. */
#ifndef TD_KERNELS_GPU_TABLE_H
#define TD_KERNELS_GPU_TABLE_H

#include "device/device.h"
#include "kernels/gpu/args.h"

/* A kernel and the type of its argument: a launch with another type does not compile (td_gpu_launch). */
#define TD_GPU_KERNEL(name, type)  \
    struct {                       \
        td_kernel kernel;          \
        const type *takes;         \
    } name

typedef struct td_gpu_kernels {
    TD_GPU_KERNEL(init, td_init_args);
    TD_GPU_KERNEL(useful, td_useful_args);
    TD_GPU_KERNEL(decompress, td_decompress_args);
    TD_GPU_KERNEL(mark_targets, td_targets_args);
    TD_GPU_KERNEL(report, td_report_args);
    TD_GPU_KERNEL(carry, td_carry_args);
    /* gas */
    TD_GPU_KERNEL(pull, td_pull_args);
    TD_GPU_KERNEL(apply, td_apply_args);
    TD_GPU_KERNEL(clear_sums, td_apply_args);
    TD_GPU_KERNEL(pull_shards, td_shard_args);
    TD_GPU_KERNEL(pull_compressed, td_pull_compressed_args);
    TD_GPU_KERNEL(merge_sums, td_merge_args);
    TD_GPU_KERNEL(list_words, td_queue_args);
    TD_GPU_KERNEL(map_queue, td_queue_args);
    TD_GPU_KERNEL(pull_hit, td_hit_args);
    TD_GPU_KERNEL(pull_late, td_hit_args);
    TD_GPU_KERNEL(levels, td_loop_args);
    TD_GPU_KERNEL(levels_lean, td_loop_args);
    TD_GPU_KERNEL(levels_otherwise, td_loop_args);
    TD_GPU_KERNEL(find_parents, td_parents_args);
    TD_GPU_KERNEL(push_fragment, td_push_part_args); /* with args.push.fragments */
    TD_GPU_KERNEL(push_fragment_pieces, td_push_part_args);
    TD_GPU_KERNEL(push_part, td_push_part_args);
    TD_GPU_KERNEL(push_part_pieces, td_push_part_args);
    TD_GPU_KERNEL(push_extracted, td_push_extracted_args);
    TD_GPU_KERNEL(settle_differences, td_differences_args);
    TD_GPU_KERNEL(take_changes, td_changes_args);
    TD_GPU_KERNEL(settle_changes, td_changes_args);
    TD_GPU_KERNEL(weigh_changes, td_changes_args);
    TD_GPU_KERNEL(end_changes, td_changes_args);
    TD_GPU_KERNEL(take_frontier, td_exchange_args);
    TD_GPU_KERNEL(push_queue, td_push_queue_args);
    TD_GPU_KERNEL(list_changed, td_exchange_args);
    TD_GPU_KERNEL(priorities, td_loop_args);
    TD_GPU_KERNEL(priorities_lean, td_loop_args);
    TD_GPU_KERNEL(priorities_otherwise, td_loop_args);
    TD_GPU_KERNEL(list_far, td_far_args);
    TD_GPU_KERNEL(far_lowest, td_far_args);
    TD_GPU_KERNEL(far_split, td_far_args);
    TD_GPU_KERNEL(peel, td_peel_args);
    TD_GPU_KERNEL(fill_left, td_peel_args);
    TD_GPU_KERNEL(cores_peel, td_cores_args);
    TD_GPU_KERNEL(cores_peel_parts, td_cores_args);
    TD_GPU_KERNEL(cores_histogram, td_cores_args);
    TD_GPU_KERNEL(pack, td_pack_args);
    TD_GPU_KERNEL(take, td_take_args);
    TD_GPU_KERNEL(measure, td_measure_args);
    TD_GPU_KERNEL(cut_frontier, td_cut_args);
    TD_GPU_KERNEL(adopt, td_adopt_args);
    TD_GPU_KERNEL(levels_joint, td_joint_args);
    TD_GPU_KERNEL(levels_common, td_joint_args);
    TD_GPU_KERNEL(round_apart, td_joint_args);
    TD_GPU_KERNEL(priorities_joint, td_joint_args);
    TD_GPU_KERNEL(priorities_common, td_joint_args);
    TD_GPU_KERNEL(search_common, td_search_args);
    TD_GPU_KERNEL(list_mirrored, td_mirror_args);
    TD_GPU_KERNEL(take_mirrored, td_mirror_args);
    TD_GPU_KERNEL(path_starts, td_paths_args);
    TD_GPU_KERNEL(path_opens, td_paths_args);
    TD_GPU_KERNEL(path_scans, td_paths_args);
    TD_GPU_KERNEL(path_finishes, td_paths_args);
    TD_GPU_KERNEL(path_balances, td_paths_args);
    TD_GPU_KERNEL(path_totals, td_paths_args);
    TD_GPU_KERNEL(path_rescales, td_paths_args);
    TD_GPU_KERNEL(path_clears, td_paths_args);
    TD_GPU_KERNEL(path_ranks, td_paths_args);
    TD_GPU_KERNEL(path_orders, td_paths_args);
    TD_GPU_KERNEL(path_walks, td_paths_args);
    TD_GPU_KERNEL(path_notices, td_paths_args);
    TD_GPU_KERNEL(path_pushes, td_paths_args);
    TD_GPU_KERNEL(path_batch_walks, td_paths_args);
    TD_GPU_KERNEL(path_rounds, td_path_rounds_args);
    TD_GPU_KERNEL(path_push_rounds, td_path_rounds_args);
    TD_GPU_KERNEL(path_steals, td_path_steal_args);
    TD_GPU_KERNEL(path_pack_deposits, td_path_pack_args);
    TD_GPU_KERNEL(path_pack_messages, td_path_pack_args);
    TD_GPU_KERNEL(path_take_deposits, td_path_take_args);
    TD_GPU_KERNEL(path_take_messages, td_path_take_args);
    TD_GPU_KERNEL(path_warp_walks, td_paths_args); /* of programs without levels; values flow forward */
    TD_GPU_KERNEL(path_warp_rounds, td_path_rounds_args);
    TD_GPU_KERNEL(path_packed_walks, td_paths_args); /* likewise */
    TD_GPU_KERNEL(path_packed_rounds, td_path_rounds_args);
    TD_GPU_KERNEL(bits_start_32, td_bits_args); /* searches from many sources at once */
    TD_GPU_KERNEL(bits_push_32, td_bits_args);
    TD_GPU_KERNEL(bits_push_pieces_32, td_bits_args);
    TD_GPU_KERNEL(bits_settle_32, td_bits_args);
    TD_GPU_KERNEL(bits_pull_32, td_bits_args);
    TD_GPU_KERNEL(bits_list_32, td_bits_args);
    TD_GPU_KERNEL(bits_start_64, td_bits_args);
    TD_GPU_KERNEL(bits_push_64, td_bits_args);
    TD_GPU_KERNEL(bits_push_pieces_64, td_bits_args);
    TD_GPU_KERNEL(bits_settle_64, td_bits_args);
    TD_GPU_KERNEL(bits_pull_64, td_bits_args);
    TD_GPU_KERNEL(bits_list_64, td_bits_args);
    /* sweep */
    TD_GPU_KERNEL(sweep, td_sweep_args);
    TD_GPU_KERNEL(sweep_pieces, td_sweep_args);
    TD_GPU_KERNEL(sweep_extracted, td_sweep_extracted_args);
    TD_GPU_KERNEL(sample, td_sample_args);
    TD_GPU_KERNEL(choose, td_choose_args);
    TD_GPU_KERNEL(between, td_between_args);
    TD_GPU_KERNEL(draw, td_labels_args);
    TD_GPU_KERNEL(label_all, td_labels_args);
    TD_GPU_KERNEL(collect, td_collect_args);
    TD_GPU_KERNEL(span_components, td_hook_args);
    TD_GPU_KERNEL(hook_within, td_hook_args);
    TD_GPU_KERNEL(pack_best, td_best_args);
    TD_GPU_KERNEL(take_best, td_best_args);
    TD_GPU_KERNEL(join, td_join_args);
    TD_GPU_KERNEL(sweep_survivors, td_survivor_args);
    TD_GPU_KERNEL(move_survivors, td_survivor_args);
    TD_GPU_KERNEL(close_move, td_survivor_args);
    TD_GPU_KERNEL(close_part, td_survivor_args);
    bool (*again)(const td_context *context, uint64_t total);
    /* before a run and after it */
    TD_GPU_KERNEL(count_neighbours, td_neighbours_args);
    TD_GPU_KERNEL(mark_forest, td_forest_args);
    TD_GPU_KERNEL(count_forest, td_forest_args);
    TD_GPU_KERNEL(place_forest, td_forest_args);
    TD_GPU_KERNEL(list_forest, td_forest_args);
} td_gpu_kernels;

#endif
