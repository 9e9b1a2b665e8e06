/* The GPU kernels of one program, for one kind of device. */
#ifndef TD_KERNELS_GPU_TABLE_H
#define TD_KERNELS_GPU_TABLE_H

#include "device/device.h"
#include "kernels/gpu/args.h"

typedef struct td_gpu_kernels {
    td_kernel init, useful, widen;
    /* gas */
    td_kernel pull, apply, clear_sums, pull_shards;
    td_kernel pull_narrow, add_given;
    td_kernel list_words, map_queue;
    td_kernel pull_hit, pull_late;
    td_kernel levels, levels_otherwise, find_parents;
    td_kernel push_part, push_part_pieces, push_extracted;
    td_kernel take_changes, settle_changes, weigh_changes, end_changes;
    td_kernel take_given, give_changed;
    td_kernel priorities, priorities_otherwise, list_far, far_lowest, far_split;
    td_kernel peel, fill_left;
    /* sweep */
    td_kernel sweep, sweep_pieces, sample, choose, between, draw, label_all, collect;
    td_kernel sweep_kept, move_kept, close_move, close_part;
    bool (*again)(const td_context *context, uint64_t total);
} td_gpu_kernels;

#endif
