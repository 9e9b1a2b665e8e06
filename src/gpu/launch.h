/* Launches of a program's kernels. A launch names its stream, its kernel, its size and the kernel's argument struct;
 * td_gpu_job has the state that persists between launches. */
#ifndef TD_GPU_LAUNCH_H
#define TD_GPU_LAUNCH_H

#include "gpu/job.h"

/* The td_kernel in `entry`, an entry of td_gpu_kernels. Does not compile if `args` points to another struct than the
 * kernel's. */
#define TD_GPU_CHECKED(entry, args)                                                                            \
    (&(entry)->kernel +                                                                                        \
     0 * sizeof(struct {                                                                                       \
         _Static_assert(__builtin_types_compatible_p(__typeof__(*(entry)->takes), __typeof__(*(args))),        \
                        "the kernel takes another struct");                                                    \
         char member;                                                                                          \
     }))

/* Launches `threads` threads, or fewer if the kernel has a grid-stride loop. */
#define td_gpu_launch(job, stream, entry, threads, args) \
    td_gpu_launch_bytes(job, stream, TD_GPU_CHECKED(entry, args), threads, args, sizeof *(args))
td_status td_gpu_launch_bytes(const td_gpu_job *job, td_stream *stream, const td_kernel *kernel, uint64_t threads,
                              const void *args, size_t bytes);

/* Launches one thread per element: blocks are short, so that blocks of other streams interleave. */
#define td_gpu_launch_each(stream, entry, threads, args) \
    td_gpu_launch_each_bytes(stream, TD_GPU_CHECKED(entry, args), threads, args, sizeof *(args))
td_status td_gpu_launch_each_bytes(td_stream *stream, const td_kernel *kernel, uint64_t threads, const void *args,
                                   size_t bytes);

/* Launches so many blocks, at most as many as can be resident at once. */
#define td_gpu_launch_blocks(job, stream, entry, blocks, shared_bytes, args) \
    td_gpu_launch_blocks_bytes(job, stream, TD_GPU_CHECKED(entry, args), blocks, shared_bytes, args, sizeof *(args))
td_status td_gpu_launch_blocks_bytes(const td_gpu_job *job, td_stream *stream, const td_kernel *kernel, uint64_t blocks,
                                     uint32_t shared_bytes, const void *args, size_t bytes);

/* The part that covers all lists; the threads of a launch over a part, one per vertex, rounded to words of bitmaps. */
td_gpu_part td_gpu_all(const td_gpu_job *job);
static inline uint64_t td_gpu_part_threads(const td_gpu_part *part)
{
    return ((uint64_t)part->end_vertex + 31) / 32 * 32 - part->first_vertex / 32 * 32;
}

/* Clears sums; arguments of a gather along all pieces that contain edges first .. end - 1; applies sums to vertices. */
td_status td_gpu_clear_sums(const td_gpu_job *job, void *sums);
td_pull_args td_gpu_pull_args(const td_gpu_job *job, td_gpu_list list, const td_gpu_segments *segments, uint64_t first,
                              uint64_t end, void *sums);
td_status td_gpu_apply(const td_gpu_job *job, td_stream *stream, void *sums, uint64_t first, uint64_t end);

/* First-hit pull: unvisited vertices of the part look for an active neighbour; adds to the results of earlier
 * launches. */
td_status td_gpu_pull_hit(const td_gpu_job *job, td_stream *stream, td_gpu_list list, const td_gpu_part *part,
                          bool adding);

/* Pushes from active vertices along a part of the lists; high-degree vertices in pieces. */
td_push_args td_gpu_push_args(const td_gpu_job *job, td_gpu_list list);
td_push_part_args td_gpu_push_part_args(const td_gpu_job *job, td_gpu_list list, const td_gpu_part *part);
td_status td_gpu_push_part(const td_gpu_job *job, td_stream *stream, const td_push_part_args *args);
td_status td_gpu_push_queue(const td_gpu_job *job, td_stream *stream, const td_push_queue_args *args);

/* Empties the list of pieces, before a launch that divides high-degree vertices. */
td_status td_gpu_clear_pieces(const td_gpu_job *job, td_stream *stream);

/* Sweeps along a part of the lists; the second launch takes the pieces of high-degree vertices. */
td_sweep_args td_gpu_sweep_args(const td_gpu_job *job, td_gpu_list list, const td_gpu_part *part);
td_status td_gpu_sweep_part(const td_gpu_job *job, td_stream *stream, const td_sweep_args *args);

/* Finds parents of the part's vertices that have none from earlier launches. */
td_status td_gpu_find_parents(const td_gpu_job *job, td_stream *stream, td_gpu_list list, const td_gpu_part *part,
                              bool adding);

#endif
