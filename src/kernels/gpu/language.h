/* The language of GPU kernels: constructs that C lacks, defined once for nvcc and once
 * for the emulator. A kernel is
 *
 *     TD_KERNEL(name, args_type)
 *     {
 *         ... a.field ..., td_thread(), TD_BARRIER(), TD_BALLOT(...) ...
 *     }
 *
 * with one argument struct, taken by value and called `a`; its type is name_argument too. Kernels are C that gcc,
 * clang and nvcc accept. A block has a multiple of 32 threads. Warps are not in lockstep: an exchange
 * within a warp names the participating lanes. Words that several threads access concurrently must be accessed
 * through the macros below or TD_LOAD, TD_STORE, TD_SWAP_IF of program.h: the emulator reports plain accesses
 * that race.
 *
 *   td_thread() td_threads() td_block() td_blocks() td_lane() td_warp()   indices and counts
 *   td_global_thread() td_global_threads()                                over the whole launch
 *   TD_SHARED(type, name, count)     shared memory of the block, undefined at its start; one per line of source
 *   TD_SHARED_DYNAMIC(type, name)    the launch's shared_bytes
 *   TD_BARRIER()                     all threads of the block
 *   TD_GRID_BARRIER(cluster, word)   all threads of a cooperative launch; `cluster`: the launch is one cluster; `word`:
 *                                    a word of device memory for the barrier alone, 0 at first
 *   TD_SET_BARRIER(set)              all threads of all members of a joint launch (td_streams_launch_joint); `set`: a
 *                                    pointer to this member's td_set_member, one of the arguments. What any thread of
 *                                    any member wrote before it, all see after it. The kernel ends here when the set
 *                                    is broken
 *   TD_WARP_BARRIER(mask)            the lanes of the mask
 *   TD_BALLOT TD_SHUFFLE TD_SHUFFLE_UP TD_SHUFFLE_DOWN TD_SHUFFLE_XOR   exchanges; 4- and 8-byte values
 *   TD_PEEK TD_POKE                  read, write a value of 4 or 8 bytes under concurrent access
 *   TD_READ_FOUR(words, place)       four consecutive words; the index of the first is a multiple of four
 *   TD_PREFETCH(place) TD_UNROLL     hints: read soon; unroll the following loop
 *   TD_READ_ONLY(place)              a value that no thread writes during the launch; TD_READ_ONCE: and that is not
 *                                    read again soon
 *   TD_ADD TD_MIN TD_MAX TD_OR TD_AND TD_EXCHANGE   atomics, return the old value
 *   TD_ADD_SYSTEM TD_MIN_SYSTEM TD_OR_SYSTEM   atomics on words that other devices access too; those without SYSTEM are
 *                                    atomic among the threads of one device only
 *   TD_LOAD_SYSTEM TD_STORE_SYSTEM   read, write a value of 4 or 8 bytes that other devices access concurrently
 *   TD_SWAP_VALUE(place, old, fresh) whether a value of 4 or 8 bytes, of any type, was the old one and is the fresh one now
 *   TD_CLOCK()                       nanoseconds of a clock that all devices share; between two launches it goes on
 *   TD_FENCE()                       other threads see writes before it no later than writes after it
 */
#ifndef TD_KERNELS_GPU_LANGUAGE_H
#define TD_KERNELS_GPU_LANGUAGE_H

#include "device/set.h"
#include "kernels/program.h"

enum { TD_WARP = 32 };
#define TD_ALL_LANES 0xffffffffu

#if defined(__CUDACC__)
#include "kernels/gpu/language_cuda.h"
#else
#include "device/emulator/language.h"
#endif

TD_DEVICE uint32_t td_global_thread(void) { return td_block() * td_threads() + td_thread(); }
TD_DEVICE uint32_t td_global_threads(void) { return td_blocks() * td_threads(); }

/* Lanes below this one. */
TD_DEVICE uint32_t td_lanes_below(void) { return (1u << td_lane()) - 1; }

#endif
