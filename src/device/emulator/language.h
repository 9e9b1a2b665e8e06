/* The kernel language on the emulator: every thread of a block is a fiber (fiber.h) that runs until it must wait for
 * others. Calls pass their site (file and line), so that errors name it.
 *
 * Kernels are compiled with the compiler's thread-sanitizer instrumentation and linked with the emulator's runtime
 * (watch.c), which sees every memory access. */
#ifndef TD_DEVICE_EMULATOR_LANGUAGE_H
#define TD_DEVICE_EMULATOR_LANGUAGE_H

#include "device/emulator/runtime.h"

#define TD_SITE ((td_site){__FILE__, __LINE__})
#define TD_DEVICE static inline __attribute__((always_inline, unused))
#define TD_DENSE_KERNEL(name, type, threads, blocks) TD_KERNEL(name, type)
#define TD_KERNEL(name, type)                                                       \
    typedef type name##_argument;                                                   \
    static void name##_body(const type a);                                          \
    static void name(const void *arguments) { name##_body(*(const type *)arguments); } \
    static void name##_body(const type a)

TD_DEVICE uint32_t td_thread(void) { return td_emu_self->thread; }
TD_DEVICE uint32_t td_threads(void) { return td_emu_self->threads; }
TD_DEVICE uint32_t td_block(void) { return td_emu_self->block; }
TD_DEVICE uint32_t td_blocks(void) { return td_emu_self->blocks; }
TD_DEVICE uint32_t td_lane(void) { return td_emu_self->thread & 31u; }
TD_DEVICE uint32_t td_warp(void) { return td_emu_self->thread >> 5; }

#define TD_SHARED(type, name, count) \
    type *name = (type *)td_emu_shared(sizeof(type) * (size_t)(count), _Alignof(type), TD_SITE)
#define TD_SHARED_DYNAMIC(type, name) type *name = (type *)td_emu_shared_dynamic(TD_SITE)

#define TD_BARRIER() td_emu_barrier(TD_SITE)
#define TD_GRID_BARRIER(cluster, word) ((void)(cluster), td_emu_grid_barrier(TD_SITE))
#define TD_SET_BARRIER(set) td_emu_set_barrier((set), TD_SITE)
#define TD_CLOCK() td_emu_clock()
#define TD_WARP_BARRIER(mask) td_emu_warp_barrier((mask), TD_SITE)
#define TD_FENCE() __asm__ volatile("" ::: "memory") /* fibers of one thread: only the compiler could reorder */

/* Exchanges move 8 bytes whatever the type. */
#define TD_EMU_MOVE(mask, value, lane)                                            \
    __extension__({                                                               \
        __typeof__(value) mine_ = (value), theirs_;                               \
        uint64_t packed_ = 0;                                                     \
        _Static_assert(sizeof mine_ <= 8, "exchanges move at most 8 bytes");      \
        __builtin_memcpy(&packed_, &mine_, sizeof mine_);                         \
        packed_ = td_emu_shuffle((mask), packed_, (lane), TD_SITE);               \
        __builtin_memcpy(&theirs_, &packed_, sizeof theirs_);                     \
        theirs_;                                                                  \
    })
#define TD_BALLOT(mask, predicate) td_emu_ballot((mask), !!(predicate), TD_SITE)
#define TD_SHUFFLE(mask, value, lane) TD_EMU_MOVE(mask, value, (uint32_t)(lane) & 31u)
#define TD_SHUFFLE_UP(mask, value, by) \
    TD_EMU_MOVE(mask, value, td_lane() >= (uint32_t)(by) ? td_lane() - (uint32_t)(by) : 32u)
#define TD_SHUFFLE_DOWN(mask, value, by) TD_EMU_MOVE(mask, value, td_lane() + (uint32_t)(by))
#define TD_SHUFFLE_XOR(mask, value, by) TD_EMU_MOVE(mask, value, td_lane() ^ (uint32_t)(by))

#define TD_POPCOUNT(word) ((uint32_t)__builtin_popcount(word))
#define TD_LOWEST_BIT(word) ((uint32_t)__builtin_ctz(word))

TD_DEVICE float td_emu_add_float(float *word, float value, int order)
{
    float old, sum;
    __atomic_load(word, &old, __ATOMIC_RELAXED);
    do sum = old + value;
    while (!__atomic_compare_exchange(word, &old, &sum, 0, order, __ATOMIC_RELAXED));
    return old;
}

TD_DEVICE double td_emu_add_double(double *word, double value, int order)
{
    double old, sum;
    __atomic_load(word, &old, __ATOMIC_RELAXED);
    do sum = old + value;
    while (!__atomic_compare_exchange(word, &old, &sum, 0, order, __ATOMIC_RELAXED));
    return old;
}

TD_DEVICE uint32_t td_emu_add_u32(uint32_t *word, uint32_t value, int order)
{
    return __atomic_fetch_add(word, value, order);
}

TD_DEVICE uint64_t td_emu_add_u64(uint64_t *word, uint64_t value, int order)
{
    return __atomic_fetch_add(word, value, order);
}

#define TD_EMU_ADD(word, value, order)                                                                  \
    _Generic((word), uint32_t *: td_emu_add_u32, uint64_t *: td_emu_add_u64, float *: td_emu_add_float, \
             double *: td_emu_add_double)((word), (value), order)
#define TD_ADD(word, value) TD_EMU_ADD(word, value, TD_EMU_DEVICE)
#define TD_ADD_SYSTEM(word, value) TD_EMU_ADD(word, value, TD_EMU_SYSTEM)

#define TD_EMU_BEST(word, value, better, order)                                                            \
    __extension__({                                                                                        \
        __typeof__(*(word)) now_ = __atomic_load_n((word), __ATOMIC_RELAXED), value_ = (value);            \
        while (value_ better now_ && !__atomic_compare_exchange_n((word), &now_, value_, 0, order,            \
                                                                  __ATOMIC_RELAXED)) {}                    \
        now_;                                                                                              \
    })
#define TD_MIN(word, value) TD_EMU_BEST(word, value, <, TD_EMU_DEVICE)
#define TD_MAX(word, value) TD_EMU_BEST(word, value, >, TD_EMU_DEVICE)
#define TD_MIN_SYSTEM(word, value) TD_EMU_BEST(word, value, <, TD_EMU_SYSTEM)
#define TD_OR(word, value) __atomic_fetch_or((word), (value), __ATOMIC_RELAXED)
#define TD_AND(word, value) __atomic_fetch_and((word), (value), __ATOMIC_RELAXED)
#define TD_EXCHANGE(word, value) __atomic_exchange_n((word), (value), __ATOMIC_RELAXED)
#define TD_OR_SYSTEM(word, value) __atomic_fetch_or((word), (value), TD_EMU_SYSTEM)
#define TD_LOAD_SYSTEM(place) TD_PEEK(place)
#define TD_STORE_SYSTEM(place, value) TD_POKE(place, value)
#define TD_PEEK(place)                                    \
    __extension__({                                       \
        __typeof__(+*(place)) seen_;                      \
        __atomic_load((place), &seen_, __ATOMIC_RELAXED); \
        seen_;                                            \
    })
#define TD_POKE(place, value)                                  \
    __extension__({                                            \
        __typeof__(+*(place)) fresh_ = (value);                 \
        __atomic_store((place), &fresh_, __ATOMIC_RELAXED);    \
    })
#define TD_SWAP_VALUE(place, old, fresh)                                                                            \
    __extension__({                                                                                                 \
        __typeof__(+*(place)) was_ = (old), is_ = (fresh);                                                          \
        (bool)__atomic_compare_exchange((place), &was_, &is_, 0, TD_EMU_DEVICE, __ATOMIC_RELAXED);                  \
    })
#define TD_READ_ONLY(place) (*(place))
#define TD_READ_ONCE(place) (*(place))
#define TD_READ_FOUR(words, place) \
    do                             \
        for (int i_ = 0; i_ < 4; i_++) (words)[i_] = (place)[i_]; \
    while (0)
#define TD_WRITE_FOUR(place, words) \
    do                              \
        for (int i_ = 0; i_ < 4; i_++) (place)[i_] = (words)[i_]; \
    while (0)
#define TD_PREFETCH(place) ((void)(place))
#define TD_UNROLL

#endif
