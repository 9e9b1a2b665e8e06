/* The contract between a program and every kernel of every device.
 *
 * A program is one header of small inline functions and compile-time constants,
 * compiled into the kernels by inclusion; docs/guide/writing-a-program.md explains it with a
 * complete example. The header is read by gcc, clang and nvcc: keep to what C11
 * and C++17 share, no function pointers, no host library.
 *
 * A *gas* program says what flows along an edge and what a vertex makes of it:
 *
 *   program_init       the value a vertex starts with
 *   program_starts     whether it is active in the first iteration
 *   program_send       what its neighbours read: the value itself, or something
 *                      computed from it once instead of once per edge
 *   program_gather     one edge's contribution, from the message and the weight
 *   program_zero, _sum no contribution; two contributions in one (commutative,
 *                      associative)
 *   program_apply      the new value from the old one and the sum
 *   program_activates  whether the change activates the vertex (it must be pushed)
 *
 * A *sweep* program sees every edge once per sweep, on shared per-vertex state:
 *
 *   program_init       the state a vertex starts with
 *   program_visit      one edge; whether it may matter to a later sweep
 *   program_between    one vertex, after a sweep, in PROGRAM_STEPS steps
 *   program_again      whether another sweep is needed
 */
#ifndef TD_KERNELS_PROGRAM_H
#define TD_KERNELS_PROGRAM_H

#include "base/setting.h"

#include <stdbool.h>
#include <stdint.h>

#if defined(__CUDACC__)
#define TD_INLINE static __host__ __device__ __forceinline__
#else
#define TD_INLINE static inline __attribute__((always_inline, unused))
#endif

/* 1 in the second instance of a program, whose values have 8 bytes (docs/design/precision.md). */
#ifndef PROGRAM_WIDE
#define PROGRAM_WIDE 0
#endif

enum { TD_PARAMETERS = 8, TD_INPUTS = 3 };

/* What a program's functions may read. Plain data: kernels take it by value. */
typedef struct td_context {
    uint32_t vertices;
    uint64_t edges;
    double one_over_vertices;
    uint32_t source;
    uint32_t iteration;   /* 0 in the first; of a sweep program: the sweep's number */
    uint32_t phase;       /* peeling programs: the level being peeled */
    uint8_t vertex_bits, edge_bits, weight_bits; /* widths that hold any vertex, edge number, ordered weight (sweeps) */
    bool real_weights;    /* program_gather_real is called instead of program_gather */
    double global;        /* the sum of program_share over all vertices in the previous iteration */
    double round[2];      /* computed by program_begin from the other fields, once per kernel */
    double parameter[TD_PARAMETERS]; /* in the order of the program's table */
    const double *input[TD_INPUTS];  /* one number per vertex, or NULL; made by prepare.c */
} td_context;

/* PROGRAM_SUM: the operation of program_sum, so that a device may use one native atomic. */
#define TD_SUM_MIN 1
#define TD_SUM_MAX 2
#define TD_SUM_ADD 3
#define TD_SUM_OR 4

/* PROGRAM_VIEW: the edges along which a vertex receives messages. */
enum {
    TD_VIEW_FORWARD, /* values flow from source to target */
    TD_VIEW_BOTH,    /* the undirected view: both ways along every edge */
};

enum { TD_VIEW_NEIGHBOURS = 2 }; /* of forward_choice */

/* PROGRAM_SCHEDULE: the order of work. */
enum {
    TD_SCHEDULE_ROUNDS,   /* all active vertices, round by round */
    TD_SCHEDULE_PRIORITY, /* lowest program_priority first (delta-stepping) */
    TD_SCHEDULE_PEEL,     /* level by level: first the vertices whose value is at most the level */
};

/* PROGRAM_OWN_VALUE 1: apply depends on the old value, so that a vertex may change although
 * none of its neighbours did; in notify-pull an active vertex then marks itself too. */

/* PROGRAM_PROPORTIONAL 1, accumulating programs: program_gather is proportional to the message, so that a vertex may
 * push the difference between its message and the one it pushed before instead of being gathered anew; only vertices
 * whose message differs are then active (docs/design/stream.md). Implied by PROGRAM_LINEAR. */

/* PROGRAM_LOOPLESS 1: loops have no effect: program_apply takes what they brought off the sum again, which is right if
 * that was the old value. program_apply_loopless applies a sum without loops, where it may have been an older one. */

/* PROGRAM_LINEAR 1: a value is program_offset plus program_answer of the sum, and what a vertex sends and shares is in
 * proportion to its value; program_arrives is the part of a change that comes back in the values of all vertices. Then
 * its changes can be pushed instead of its value (docs/design/stream.md). */

/* PROGRAM_MEASURE: how program_change over all vertices becomes the number that
 * is compared with the tolerance. */
#define TD_MEASURE_NONE 0 /* program_change is not called */
#define TD_MEASURE_SUM 1
#define TD_MEASURE_MAX 2

/* The larger of two changes. A NaN stays in every order, so that it never counts as convergence: the first comparison
 * takes a new one, the second keeps it. */
TD_INLINE double td_larger_change(double so_far, double change)
{
    if (change <= so_far) return so_far;
    return so_far == so_far ? change : so_far;
}

/* Bit patterns: distances of either kind of weight are kept as ordered words, because non-negative floats compare like
 * their bits. */
TD_INLINE float td_bits_to_float(uint32_t bits)
{
    union { uint32_t word; float real; } both;
    both.word = bits;
    return both.real;
}

/* The same with 64 bits. */
TD_INLINE double td_bits_to_double(uint64_t bits)
{
    union { uint64_t word; double real; } both;
    both.word = bits;
    return both.real;
}

TD_INLINE uint64_t td_double_to_bits(double real)
{
    union { uint64_t word; double real; } both;
    both.real = real;
    return both.word;
}

TD_INLINE uint32_t td_float_to_bits(float real)
{
    union { uint32_t word; float real; } both;
    both.real = real;
    return both.word;
}

/* Floats of either sign in the order of unsigned numbers. */
TD_INLINE uint32_t td_ordered_bits(float real)
{
    uint32_t bits = td_float_to_bits(real + 0.0f); /* -0 and 0 are one */
    return bits >> 31 ? ~bits : bits | UINT32_C(0x80000000);
}

/* Words that several workers or threads access concurrently. TD_LOAD_LAZY may return an older value than TD_LOAD: a GPU
 * reads it through the L1 cache. It is for words that many threads read and where a stale value does no harm. */
#if defined(__CUDA_ARCH__)
static __device__ __forceinline__ void td_lower(uint32_t *word, uint32_t value) { atomicMin(word, value); }
static __device__ __forceinline__ void td_lower(uint64_t *word, uint64_t value)
{
    atomicMin((unsigned long long *)word, (unsigned long long)value);
}
/* The cast makes a value of it: an lvalue in a choice between memory and a kernel's parameter lets nvcc choose between
 * their addresses, and a parameter has none. */
#define TD_LOAD(word) ((__typeof__(*(word)))*(const volatile __typeof__(*(word)) *)(word))
#define TD_LOAD_LAZY(word) __ldca(word)
#define TD_STORE(word, value) (*(volatile __typeof__(*(word)) *)(word) = (value))
#define TD_SWAP_IF(word, old, fresh) (atomicCAS((word), (old), (fresh)) == (old))
#define TD_LOWER(word, value) td_lower((word), (value))
#else
#define TD_LOAD(word) __atomic_load_n((word), __ATOMIC_RELAXED)
#define TD_LOAD_LAZY(word) TD_LOAD(word)
#define TD_STORE(word, value) __atomic_store_n((word), (value), __ATOMIC_RELAXED)
#define TD_SWAP_IF(word, old, fresh)                                                                        \
    __extension__({                                                                                         \
        __typeof__(*(word)) old_ = (old);                                                                   \
        __atomic_compare_exchange_n((word), &old_, (fresh), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);     \
    })
#define TD_LOWER(word, value)                                                                               \
    __extension__({                                                                                         \
        __typeof__(*(word)) now_ = TD_LOAD(word), value_ = (value);                                         \
        while (value_ < now_ && !__atomic_compare_exchange_n((word), &now_, value_, true, __ATOMIC_RELAXED, \
                                                             __ATOMIC_RELAXED)) {}                          \
    })
#endif

/* The value of a program that grows a forest (TD_RULE_FOREST). All fields but `component` matter only for roots. */
#define TD_NO_KEY UINT64_C(0xffffffffffffffff)
typedef struct td_forest_value {
    uint32_t component; /* the root of the vertex's component; a root names itself */
    uint32_t chosen;    /* the best edge belongs to the forest */
    uint64_t best[2];   /* the smallest key as two halves; TD_NO_KEY: none */
} td_forest_value;

/* The rest is for the host: the descriptor that every header defines as `program_info`. */
enum { TD_KIND_GAS, TD_KIND_SWEEP };
enum { TD_WEIGHTS_UNUSED, TD_WEIGHTS_OPTIONAL, TD_WEIGHTS_NEEDED };

/* The values that a program's state may contain. run/checkpoint_check.c refuses a checkpoint with others, because
 * engines use some values as indices and follow others as pointers until they reach a root. */
typedef enum td_value_rule {
    TD_RULE_ANY,       /* any bit pattern: values are only compared */
    TD_RULE_PARENTS,   /* 32 bits: a vertex number, at most the vertex's own; a root once the run has finished */
    TD_RULE_LABELS,    /* 32 bits: a rank, at most the vertex's own, which is input[0] or, without it, its number */
    TD_RULE_LEVELS,    /* 32 bits: 0 for the source; for others below the number of vertices, or TD_UNREACHED */
    TD_RULE_DISTANCES, /* 0 for the source; for others at most the sum of every vertex's heaviest edge */
    TD_RULE_DEGREES,   /* 32 bits: at most input[0]; for active vertices at most the phase */
    TD_RULE_REALS,     /* finite */
    TD_RULE_FOREST,    /* td_forest_value: components that name their roots, nothing chosen */
} td_value_rule;

typedef struct td_program_info {
    const char *name, *summary;
    const char *result;           /* the column's name: "level", "distance", ... */
    int kind;                     /* TD_KIND_GAS, TD_KIND_SWEEP */
    int weights;                  /* unused, optional (then 1) or needed */
    td_value_kind value;
    td_value_rule rule;
    bool needs_source;
    bool takes_source;            /* --source is allowed, but there is a default */
    bool vertex_values;           /* a value is the number of a vertex that names a group; shown as its original id */
    bool any_member;              /* vertex_values: any vertex of the group may name it, not only the first */
    bool non_negative;            /* negative weights are refused */
    bool positive;                /* zero and negative weights are refused */
    uint32_t largest_weight;      /* upper limit of integer weights; 0: none */
    bool saturates;               /* distances stop at a largest value; a result that contains it is an error */
    int sinks_choice;             /* 1 + the parameter whose first choice needs sinks' values all the time; 0: none */
    bool gives_parents;           /* --parents is allowed */
    bool order_free;              /* may run asynchronously */
    bool renumbers;               /* the result does not depend on vertex numbers: a run may renumber the vertices */
    bool real_follows_weights;    /* values are the bits of floats when the weights are floats (of doubles if wide) */
    bool wide;                    /* the second instance, with values of 8 bytes (docs/design/precision.md) */
    int precision_choice;         /* 1 + the parameter auto|single|double of a program with two instances; 0: none */
    int forward_choice;           /* 1 + the parameter both|in|neighbours: the undirected view, the view forward, or the
                                   * undirected graph of distinct neighbours (TD_VIEW_NEIGHBOURS); 0: none */
    uint32_t iterations;          /* default of --iterations; 0: no limit */
    double tolerance;             /* default of --tolerance */
    const td_setting *parameters; /* keys are "<program>.<name>"; ends with a NULL name */
    const char *edges;            /* what it makes of direction, loops and parallel edges, for its help page */
    const char *directed;         /* what surprises on a graph that is not symmetric, for the run's lines; or NULL */
} td_program_info;

/* A program as the registry knows it. */
typedef struct td_program {
    const td_program_info *info;
    const struct td_cpu_kernels *cpu; /* by weight kind, TD_WEIGHT_NONE to TD_WEIGHT_F64; `init` NULL: not supported */
    const struct td_program *wide;    /* its second instance, or NULL; run/precision.h chooses one of them */
} td_program;

extern const td_program *const td_programs[]; /* ends with NULL */
const td_program *td_program_named(const char *name);

#endif
