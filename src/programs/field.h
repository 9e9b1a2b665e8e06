/* The common part of programs that compute a field: one real number per vertex, which
 * every vertex recomputes in every iteration from a weighted sum of its neighbours'
 * numbers, until the largest change is small. Such a program is
 *
 *   program_value, PROGRAM_VIEW   defined before this is included
 *   program_flow                  one edge's contribution, for any kind of weight; proportional to the number
 *   program_init, program_apply   as in every gas program
 */
#define PROGRAM_GAS 1
#define PROGRAM_WEIGHTED 1
#define PROGRAM_SUM TD_SUM_ADD
#define PROGRAM_SCHEDULE TD_SCHEDULE_ROUNDS
#define PROGRAM_FUSED 0
#define PROGRAM_FIRST_HIT 0
#define PROGRAM_SENDS_VALUE 1
#define PROGRAM_MEASURE TD_MEASURE_MAX
#define PROGRAM_PROPORTIONAL 1

typedef program_value program_message;
typedef double program_accum;

TD_INLINE double program_flow(double value, double weight);

TD_INLINE bool program_starts(const td_context *c, uint32_t v, program_value value)
{
    (void)c, (void)v, (void)value;
    return true;
}

TD_INLINE program_message program_send(const td_context *c, program_value value, uint32_t degree)
{
    (void)c, (void)degree;
    return value;
}

TD_INLINE program_accum program_zero(const td_context *c)
{
    (void)c;
    return 0;
}

TD_INLINE program_accum program_gather_real(const td_context *c, program_message value, double weight)
{
    (void)c;
    return program_flow((double)value, weight);
}

TD_INLINE program_accum program_gather(const td_context *c, program_message value, uint32_t weight)
{
    (void)c;
    return program_flow((double)value, (double)weight);
}

TD_INLINE program_accum program_sum(program_accum a, program_accum b) { return a + b; }

TD_INLINE bool program_activates(const td_context *c, program_value fresh, program_value old)
{
    (void)c;
    return fresh != old;
}

TD_INLINE double program_change(const td_context *c, program_value fresh, program_value old)
{
    (void)c;
    return fresh > old ? (double)fresh - (double)old : (double)old - (double)fresh;
}
