/* Paths on the CPU's cores (kernels/path_walk.h): a worker takes a partition and walks its marked paths in order. */
#include "kernels/cpu/path_job.h"

#define PATH_FN static inline
#define PATH_NAME(x) NAME_WITH(path_##x, KIND)
#define PATH_GATHER(s, c, message, e) CONTRIBUTION(c, message, (s)->weights, e)
#define PATH_PEEK(place)                                \
    __extension__({                                     \
        __typeof__(*(place)) peeked_;                   \
        __atomic_load((place), &peeked_, __ATOMIC_RELAXED); \
        peeked_;                                        \
    })
#define PATH_POKE(place, value)                         \
    __extension__({                                     \
        __typeof__(*(place)) poked_ = (value);          \
        __atomic_store((place), &poked_, __ATOMIC_RELAXED); \
    })
#define PATH_SWAP(place, old, fresh)                                                                            \
    __extension__({                                                                                             \
        __typeof__(*(place)) old_ = (old), fresh_ = (fresh);                                                    \
        __atomic_compare_exchange((place), &old_, &fresh_, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);          \
    })
#define PATH_ADD(place, value)                                                                                  \
    __extension__({                                                                                             \
        __typeof__(*(place)) old_ = PATH_PEEK(place), sum_;                                                     \
        do sum_ = old_ + (value);                                                                               \
        while (!__atomic_compare_exchange((place), &old_, &sum_, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));     \
        old_;                                                                                                   \
    })
#define PATH_LOWER(place, value) TD_LOWER(place, value)
#define PATH_OR(place, bits) __atomic_fetch_or((place), (bits), __ATOMIC_ACQ_REL)
#define PATH_AND(place, bits) __atomic_fetch_and((place), (bits), __ATOMIC_ACQ_REL)
#define PATH_COUNT(place, more) __atomic_fetch_add((place), (more), __ATOMIC_RELAXED)
#define PATH_FENCE() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define PATH_ORDER() __atomic_thread_fence(__ATOMIC_RELEASE)
#if defined(__x86_64__)
#define PATH_DEPOSITED() __atomic_signal_fence(__ATOMIC_SEQ_CST) /* atomics are fences */
#else
#define PATH_DEPOSITED() PATH_FENCE()
#endif
#define PATH_LEVEL(t, level, change) ((t)->levels[level] += (change))
#define PATH_COARSE(s) false
#define PATH_SEVERAL(s) false
#define PATH_LATE(s, v, t) false
#define PATH_PROXY(s, c, w, brought, t) false
#define PATH_COLLECT(s, c, v, t) ((void)0)

#include "kernels/path_walk.h"

/* Walks the marked paths of one partition, in ascending order. */
static inline void NAME(walk_partition)(const td_path_state *s, const td_context *c, uint32_t k, td_path_tally *t)
{
    for (uint32_t word = s->first_word[k]; word < s->first_word[k + 1]; word++) {
        uint32_t first = (word - s->first_word[k]) * 32, rest;
        for (uint32_t ahead = UINT32_MAX; (rest = PATH_PEEK(&s->marks[word]) & ahead) != 0;) {
            uint32_t bit = (uint32_t)__builtin_ctz(rest);
            ahead = bit == 31 ? 0 : UINT32_MAX << (bit + 1);
            NAME_WITH(path_walk_marked, KIND)(s, c, k, first + bit, t);
        }
    }
}

static void NAME(path_walks)(td_cpu_job *job, int worker)
{
    const td_context context = kernel_context(job);
    const td_path_state s = job->paths->state;
    td_path_tally t = {0};
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t i = begin; i < end; i++)
            NAME(walk_partition)(&s, &context, job->paths->order[i], &t);
    job->paths->tallies[worker] = t;
}

static void NAME(path_pushes)(td_cpu_job *job, int worker)
{
    const td_context context = kernel_context(job);
    const td_path_state s = job->paths->state;
    program_message *sent = s.sent;
    td_path_tally t = {0};
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t w = begin; w < end; w++)
            for (uint32_t rest = PATH_PEEK(&s.marks[w]); rest != 0; rest &= rest - 1) {
                uint32_t v = (uint32_t)w * 32 + (uint32_t)__builtin_ctz(rest);
                (void)PATH_AND(&s.marks[w], ~(rest & -rest));
                program_message message = NAME_WITH(path_read, KIND)(&s, &context, v, 0, &t), before = sent[v];
                if (message == before) continue;
                sent[v] = message;
                for (int l = 0; l < job->view.lists; l++) {
                    td_path_state along = s;
                    along.weights = job->view.push[l].weights;
                    NAME_WITH(path_push_list, KIND)(&along, &context, v, job->view.push[l].targets,
                                                    job->view.push[l].offsets[v],
                                                    job->view.push[l].offsets[v + 1], 1, before, message, &t);
                }
            }
    job->paths->tallies[worker] = t;
}

/* One step over vertices: units are vertices, or positions in a list of vertices. */
#define PATH_STEP(name, call)                                                           \
    static void NAME(name)(td_cpu_job *job, int worker)                                 \
    {                                                                                   \
        const td_context context = kernel_context(job), *c = &context;                  \
        const td_path_state state = job->paths->state, *s = &state;                      \
        td_path_tally tally = {0}, *t = &tally;                                         \
        uint64_t begin, end;                                                            \
        while (td_share_out_take(&job->share, worker, &begin, &end))                    \
            for (uint64_t i = begin; i < end; i++) {                                    \
                uint32_t v = job->paths->list != NULL ? job->paths->list[i] : (uint32_t)i; \
                call;                                                                   \
            }                                                                           \
        job->paths->tallies[worker] = tally;                                             \
    }
PATH_STEP(path_starts, NAME_WITH(path_start, KIND)(s, c, v, t))
PATH_STEP(path_opens, NAME_WITH(path_open, KIND)(s, c, v, t))
PATH_STEP(path_scans, NAME_WITH(path_scan, KIND)(s, c, v, t))
PATH_STEP(path_finishes, NAME_WITH(path_finish, KIND)(s, c, v, t))
#if PROGRAM_MEASURE != TD_MEASURE_NONE
PATH_STEP(path_balances, NAME_WITH(path_balance, KIND)(s, c, v, t))
#endif
#if PROGRAM_LINEAR && PROGRAM_SHARES
PATH_STEP(path_totals, NAME_WITH(path_total, KIND)(s, c, v, t))
PATH_STEP(path_rescales, NAME_WITH(path_rescale, KIND)(s, c, v, job->paths->stores, t))
#endif

/* Units: mirrors. */
static void NAME(path_clears)(td_cpu_job *job, int worker)
{
    program_message nothing = NAME_WITH(path_nothing, KIND)(&job->context);
    uint64_t begin, end;
    while (td_share_out_take(&job->share, worker, &begin, &end))
        for (uint64_t e = begin * TD_PATH_MIRRORS; e < end * TD_PATH_MIRRORS && e < job->paths->mirrors; e++) {
            ((program_message *)job->paths->state.sent)[e] = nothing;
            if (job->paths->state.sent_back != NULL) ((program_message *)job->paths->state.sent_back)[e] = nothing;
        }
}

#undef PATH_STEP
#undef PATH_FN
#undef PATH_NAME
#undef PATH_GATHER
#undef PATH_PEEK
#undef PATH_POKE
#undef PATH_SWAP
#undef PATH_ADD
#undef PATH_LOWER
#undef PATH_OR
#undef PATH_AND
#undef PATH_COUNT
#undef PATH_FENCE
#undef PATH_ORDER
#undef PATH_DEPOSITED
#undef PATH_LEVEL
#undef PATH_LATE
#undef PATH_COARSE
#undef PATH_PROXY
#undef PATH_COLLECT
